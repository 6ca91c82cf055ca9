{-# LANGUAGE GHCForeignImportPrim #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}
{-# LANGUAGE UnliftedFFITypes #-}

-- |
-- Module      : Capstan.Task.Work.Border
-- Description : The border on the stack up to which an exception would unwind
--
-- An asynchronous exception to a thread must not end a task that would survive without the thread.
-- So a /border/ on the stack marks the beginning of a group's own code ("Capstan.Task.Work.Group").
-- A thread runs a task of its group itself only if no handler above the border would catch an
-- exception. Then an exception ends the whole group, and so the task, whichever thread runs it.
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

-- | Runs the code of a group. An exception that this code does not catch makes the group fail.
aboveBorder :: IO a -> IO a
aboveBorder (IO action) = IO $ \s -> case aboveBorder# (unsafeCoerce# action) s of
  (# s1, x #) -> (# s1, unsafeCoerce# x #)
{-# INLINE aboveBorder #-}

-- | As 'aboveBorder', with exceptions unmasked.
aboveBorderUnmasked :: IO a -> IO a
aboveBorderUnmasked (IO action) = IO $ \s -> case aboveBorderUnmasked# (unsafeCoerce# action) s of
  (# s1, x #) -> (# s1, unsafeCoerce# x #)
{-# INLINE aboveBorderUnmasked #-}

-- | Whether an exception to the calling thread would cross the next border, because no handler
-- catches it before. Also 'False' if the border is far away. Costs a nanosecond or two for each
-- frame of the stack.
isOpen :: IO Bool
isOpen = IO $ \s -> case isOpen# s of
  (# s1, answer #) -> (# s1, isTrue# (answer /=# 0#) #)
