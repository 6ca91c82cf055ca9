-- |
-- Module      : Capstan.Task.Thread.Briefly
-- Description : Polls briefly for a result that another thread is about to give
module Capstan.Task.Thread.Briefly
  ( briefly,
  )
where

import Capstan.Task.Thread.Seeded (asMember)
import Data.Maybe (isJust)
import Data.Word (Word64)
import GHC.Clock (getMonotonicTimeNSec)

-- | Repeats an action until it has a result, for at most the given number of microseconds: the
-- thread that computes the result rarely needs longer. In a seeded run it runs the action once.
briefly :: Word64 -> IO (Maybe a) -> IO (Maybe a)
briefly microseconds attempt = asMember (const attempt) (attempt >>= maybe again (pure . Just))
  where
    again = getMonotonicTimeNSec >>= go
    go begun = do
      found <- attempt
      now <- getMonotonicTimeNSec
      if isJust found || now - begun > 1000 * microseconds then pure found else go begun
