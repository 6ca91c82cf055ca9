{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Work.Border
-- Description : What an exception would end
--
-- Whatever an exception from outside ends, it must not end a task that lives on without the thread. So where a group's own code begins
-- ("Capstan.Task.Work.Group") there is a /border/ on the stack. A task of the same group is run by the thread itself only where nothing
-- above the border would catch an exception: then an exception ends the whole group, the task too, whoever runs it.
module Capstan.Task.Work.Border
  ( aboveBorder,
    aboveBorderUnmasked,
    isOpen,
  )
where

import GHC.Exts
import GHC.IO (IO (..))

foreign import prim "cst_task_aboveBorderzh"
  aboveBorder# :: Any -> State# RealWorld -> (# State# RealWorld, Any #)

foreign import prim "cst_task_aboveBorderUnmaskedzh"
  aboveBorderUnmasked# :: Any -> State# RealWorld -> (# State# RealWorld, Any #)

foreign import prim "cst_task_isOpenzh"
  isOpen# :: State# RealWorld -> (# State# RealWorld, Int# #)

-- | Runs the code of a group: what throws there, and does not catch, fails the group.
aboveBorder :: IO a -> IO a
aboveBorder (IO action) = IO $ \s -> case aboveBorder# (unsafeCoerce# action) s of
  (# s1, x #) -> (# s1, unsafeCoerce# x #)
{-# INLINE aboveBorder #-}

-- | As 'aboveBorder', with exceptions unmasked.
aboveBorderUnmasked :: IO a -> IO a
aboveBorderUnmasked (IO action) = IO $ \s -> case aboveBorderUnmasked# (unsafeCoerce# action) s of
  (# s1, x #) -> (# s1, unsafeCoerce# x #)
{-# INLINE aboveBorderUnmasked #-}

-- | Whether an exception to the calling thread would cross the next border: nothing catches it before. 'False' too where the border is far
-- away. Costs a nanosecond or two for each frame of the stack.
isOpen :: IO Bool
isOpen = IO $ \s -> case isOpen# s of
  (# s1, answer #) -> (# s1, isTrue# (answer /=# 0#) #)
