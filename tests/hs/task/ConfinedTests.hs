-- | A program that gives up system calls (seccomp) after its first loop. The loops go on without
-- membarrier(2), and an action may still wait for a later action.
module ConfinedTests (tests, inside) where

import Capstan.Task
import Control.Concurrent
import Control.Monad
import Data.Maybe (isNothing)
import Foreign.C.Types (CInt (..))
import System.Environment (getExecutablePath)
import System.Exit
import System.Posix.Process
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests = testCase "loops of a confined program" $ do
  self <- getExecutablePath
  child <- forkProcess (executeFile self False ["--confined"] Nothing)
  getProcessStatus True False child >>= (@?= Just (Exited ExitSuccess))

-- | The work of the child.
inside :: IO ()
inside = do
  setNumCapabilities 2
  chain
  confined <- confine
  when (confined /= 0) (replicateM_ 100 chain)

-- | Each action waits for the next, so each owner of a stretch blocks.
chain :: IO ()
chain = do
  gates <- replicateM (count + 1) newEmptyMVar
  putMVar (gates !! count) ()
  done <- timeout 20000000 . parFor_ [0 .. count - 1] $ \i ->
    takeMVar (gates !! (i + 1)) >> putMVar (gates !! i) ()
  when (isNothing done) (die "an action was not run")
  takeMVar (head gates)
  where
    count = 20

foreign import ccall unsafe "capstan_test_confine" confine :: IO CInt
