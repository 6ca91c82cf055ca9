-- | @example-tasks [--small] [NAME [SIZE...]]@: runs examples, sequentially and with tasks, compares the results
-- and says how long each took. The exit code is 1 if results differ.
module Main (main) where

import Control.Concurrent (runInUnboundThread)
import Control.Monad (unless)
import Example
import Examples (examples)
import GHC.Clock (getMonotonicTime)
import GHC.Conc (getNumCapabilities)
import System.Environment (getArgs)
import System.Exit (die, exitFailure)
import Text.Printf (printf)
import Text.Read (readMaybe)

main :: IO ()
main = do
  arguments <- getArgs
  cores <- getNumCapabilities
  printf "%-24s %-16s %10s %10s   on %d Capabilities\n" "example" "size" "sequential" "tasks" cores
  same <- case arguments of
    [] -> mapM (\e -> compared e (usual e)) examples
    ["--small"] -> mapM (\e -> compared e (small e)) examples
    title : sizes -> case ([e | e <- examples, name e == title], mapM readMaybe sizes) of
      ([e], Just []) -> (: []) <$> compared e (usual e)
      ([e], Just numbers) | length numbers == length (usual e) -> (: []) <$> compared e numbers
      _ -> die ("usage: example-tasks [--small | NAME [SIZE...]], one of\n" ++ unlines ["  " ++ name e ++ " " ++ sizeNames e | e <- examples])
  unless (and same) exitFailure

-- | Whether both versions have the same result. The main thread is bound to an OS thread, and
-- switches to it are slow, so another thread does the work.
compared :: Example -> Sizes -> IO Bool
compared (Example title _ _ _ make alone together) sizes = runInUnboundThread $ do
  (expected, before) <- timed alone
  (result, after) <- timed together
  let same = expected == result
  printf "%-24s %-16s %8.1f ms %8.1f ms   %.2f x%s\n" title (unwords (map show sizes)) (1000 * before) (1000 * after) (before / after) (if same then "" else "   WRONG")
  pure same
  where
    timed version = do
      input <- make sizes
      begin <- getMonotonicTime
      result <- version input
      end <- getMonotonicTime
      pure (result, end - begin)
