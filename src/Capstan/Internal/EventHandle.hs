{-# LANGUAGE DerivingStrategies #-}
{-# LANGUAGE GeneralizedNewtypeDeriving #-}
{-# LANGUAGE TypeFamilies #-}
{-# LANGUAGE UndecidableInstances #-}

-- |
-- Module      : Capstan.Internal.EventHandle
-- Description : The handle of an OpenMP task that is complete when an event is fulfilled
module Capstan.Internal.EventHandle (EventHandle (..)) where

import Capstan.Internal.Value (Argument, Returned)
import Foreign.Ptr (Ptr)
import Foreign.Storable (Storable)

-- | C's @omp_event_handle_t@, which the clause @detach@ fills. C code can pass it to a callback.
-- "Capstan.OpenMP" fulfils its event from Haskell code. A 'Capstan.Event.Target' of "Capstan.Event"
-- fulfils it when a descriptor or a timer is ready.
newtype EventHandle = EventHandle (Ptr ())
  deriving newtype (Eq, Ord, Show, Storable, Argument, Returned)
