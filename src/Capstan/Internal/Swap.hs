{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Internal.Swap
-- Description : Compare-and-swap of a mutable variable
module Capstan.Internal.Swap
  ( swapVariable,
    modifyEvaluated,
  )
where

import GHC.Exts
import GHC.IO (IO (..))
import GHC.IORef (IORef (..), readIORef)
import GHC.STRef (STRef (..))

-- | Writes the new value if the old one is there; the answer is whether it was.
--
-- Pointers are compared. So what is stored is evaluated: the pointer to a thunk is another once the thunk is. And the old
-- value must be what was read, not one that was built anew. Even then a failure proves nothing, as the collector may have
-- replaced the pointer; each caller looks again.
swapVariable :: MutVar# RealWorld a -> a -> a -> IO Bool
swapVariable variable old !new = IO $ \s -> case casMutVar# variable old new s of
  (# s1, failed, _ #) -> (# s1, isTrue# (failed ==# 0#) #)
{-# INLINE swapVariable #-}

-- | As 'Data.IORef.atomicModifyIORef'', of a reference that has been evaluated from the beginning on and is changed in no other way. There
-- is never a value in it that one thread evaluates and others wait for.
modifyEvaluated :: IORef a -> (a -> a) -> IO ()
modifyEvaluated reference@(IORef (STRef variable)) change = do
  !old <- readIORef reference
  swapped <- swapVariable variable old (change old)
  if swapped then pure () else modifyEvaluated reference change
