{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Internal.Swap
-- Description : Compare-and-swap of a mutable variable
module Capstan.Internal.Swap
  ( swapVariable,
    modifyEvaluated,
    changeEvaluated,
    swapEvaluated,
  )
where

import GHC.Exts
import GHC.IO (IO (..))
import GHC.IORef (IORef (..), readIORef)
import GHC.STRef (STRef (..))

-- | Writes the new value if the variable holds the old value. Returns whether it did.
--
-- The comparison is of pointers. So the new value is evaluated first, because the pointer to a
-- thunk changes when the thunk is evaluated. The old value must be the very object that was read,
-- not an equal object. Even then the swap may fail without a reason, as the collector may have
-- replaced the pointer. So each caller reads again.
swapVariable :: MutVar# RealWorld a -> a -> a -> IO Bool
swapVariable variable old !new = IO $ \s -> case casMutVar# variable old new s of
  (# s1, failed, _ #) -> (# s1, isTrue# (failed ==# 0#) #)
{-# INLINE swapVariable #-}

-- | As 'Data.IORef.atomicModifyIORef'', for a reference whose first value was evaluated, and that
-- is changed in no other way. So the reference never holds a value that one thread evaluates while
-- others wait for it.
modifyEvaluated :: IORef a -> (a -> a) -> IO ()
modifyEvaluated reference change = changeEvaluated reference (\old -> (change old, ()))
{-# INLINE modifyEvaluated #-}

-- | As 'modifyEvaluated', with a result.
changeEvaluated :: IORef a -> (a -> (a, b)) -> IO b
changeEvaluated reference change = do
  !old <- readIORef reference
  let (new, !result) = change old
  swapped <- swapEvaluated reference old new
  if swapped then pure result else changeEvaluated reference change
{-# INLINE changeEvaluated #-}

-- | As 'swapVariable', for such a reference.
swapEvaluated :: IORef a -> a -> a -> IO Bool
swapEvaluated (IORef (STRef variable)) = swapVariable variable
{-# INLINE swapEvaluated #-}
