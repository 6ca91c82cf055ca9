{-# LANGUAGE ForeignFunctionInterface #-}

-- | A test is an action that throws if it fails. The tests on the command line run, or all tests if
-- it names none. A name with a minus excludes its test. Each name must belong to one test.
module Check (Test, test, equal, throws, findingDeadlocks, runTests) where

import Control.Concurrent (forkIO, killThread, threadDelay)
import Control.Exception
import Control.Monad (forM, forM_, unless, void)
import Data.List (isPrefixOf, partition)
import Foreign.C.Types (CUInt (..))
import System.Environment (getArgs)
import System.Exit (exitFailure)
import System.IO (hPutStrLn, stderr)
import System.Mem (performMajorGC)

data Test = Test String (IO ())

test :: String -> IO () -> Test
test = Test

equal :: (Eq a, Show a) => String -> a -> a -> IO ()
equal what wanted got =
  unless (wanted == got) . throwIO . userError $ what ++ ": " ++ show got ++ ", not " ++ show wanted

-- | Returns the exception of type @e@ with which the action ends.
throws :: Exception e => IO a -> IO e
throws action = try action >>= either pure (const (throwIO (userError "no exception")))

-- | Collects memory while the action runs, after ever longer pauses. In a requested collection the
-- non-moving collector may take a thread for alive because a weak pointer names it. This happened
-- in 10 of 4000 runs of a program with GHC's own libraries alone. A collection of an idle program
-- looks closer (rts/Schedule.c: @deadlock_detect@).
findingDeadlocks :: IO a -> IO a
findingDeadlocks = bracket (forkIO (forM_ (iterate (* 2) 1000) collectAfter)) killThread . const
  where
    collectAfter pause = threadDelay pause >> performMajorGC

foreign import ccall unsafe "alarm" alarm :: CUInt -> IO CUInt

runTests :: [Test] -> IO ()
runTests tests = do
  void (alarm 300) -- a hang is a failure
  (without, names) <- partition ("-" `isPrefixOf`) <$> getArgs
  let isChosen name = (null names || name `elem` names) && ('-' : name) `notElem` without
      chosen = [t | t@(Test name _) <- tests, isChosen name]
      unclear = [n | n <- map (drop 1) without ++ names, length [() | Test name _ <- tests, name == n] /= 1]
  unless (null unclear) $ ioError (userError ("not the name of one test: " ++ show unclear))
  results <- forM chosen $ \(Test name action) -> do
    outcome <- try action
    case outcome of
      Right () -> pure True
      Left e -> False <$ hPutStrLn stderr (name ++ ": " ++ show (e :: SomeException))
  unless (and results && not (null chosen)) exitFailure
