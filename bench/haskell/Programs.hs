-- | Ten sequential programs (sequential/), each linked with the package and without it, run in turn:
-- geometric means of their times, and the memory that they took from the system.
module Programs (sequential) where

import Bench
import Control.Monad (forM, forM_, replicateM, when)
import System.Environment (getExecutablePath)
import System.Exit (ExitCode (..))
import System.FilePath (takeDirectory, (</>))
import System.Process (readProcessWithExitCode)

sequential :: Arguments -> IO ()
sequential a = when (any (wanted a) [name | (name, _, _) <- cases]) $ do
  folder <- takeDirectory <$> getExecutablePath
  let without = folder </> "sequential"
      with = folder </> "sequential-capstan"
  names <- lines . fst <$> started without ["--list"]
  results <- forM names $ \name ->
    -- Runs with and without the package alternate, so that the machine is the same for both.
    replicateM (max 3 (argSamples a)) ((,) <$> one with name <*> one without name)
  forM_ cases $ \(name, unit, measured) -> emit name unit (geometric (map (minimum . map measured) results))
  where
    cases =
      [ ("sequential-geomean", "ms", fst . fst),
        ("sequential-geomean-without", "ms", fst . snd),
        ("sequential-memory", "MiB", snd . fst),
        ("sequential-memory-without", "MiB", snd . snd)
      ]
    geometric xs = exp (sum (map log xs) / fromIntegral (length xs))

-- | The milliseconds from start to end, and the MiB by the count of GHC's runtime system.
one :: FilePath -> String -> IO (Double, Double)
one program name = do
  start <- now
  (_, report) <- started program [name, "+RTS", "-t", "--machine-readable", "-RTS"]
  end <- now
  let pairs = read (dropWhile (/= '[') report) :: [(String, String)]
  case lookup "max_mem_in_use_bytes" pairs of
    Just bytes -> pure ((end - start) / 1e6, read bytes / 1048576)
    Nothing -> fail (name ++ " did not say how much memory it took: " ++ report)

started :: FilePath -> [String] -> IO (String, String)
started program arguments = do
  (code, output, report) <- readProcessWithExitCode program arguments ""
  when (code /= ExitSuccess) (fail (unwords (program : arguments) ++ ": " ++ report))
  pure (output, report)
