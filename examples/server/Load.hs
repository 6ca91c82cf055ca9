-- | Clients that send the next request as soon as they have an answer.
module Load (load) where

import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Exception (SomeException, try)
import Control.Monad (forM, unless)
import qualified Data.ByteString.Lazy.Char8 as Bytes
import Data.List (sort)
import GHC.Clock (getMonotonicTime)
import Network.HTTP.Client hiding (port)
import System.Exit (die)
import Text.Printf (printf)
import Text.Read (readMaybe)

-- | Runs a number of clients for a number of seconds, with systems of a size. Fails if any answer
-- is wrong.
load :: Int -> Int -> Double -> Int -> IO ()
load port clients seconds size = do
  manager <- newManager defaultManagerSettings {managerConnCount = clients}
  start <- getMonotonicTime
  ends <- forM [1 .. clients] $ \number -> do
    end <- newEmptyMVar
    _ <- forkIO (try (client manager (start + seconds) number) >>= putMVar end)
    pure end
  results <- mapM takeMVar ends
  end <- getMonotonicTime
  times <- sort . concat <$> mapM (either failed pure) results
  unless (null times) $
    printf
      "%.1f requests/s, p50 %.2f ms, p99 %.2f ms, %d requests\n"
      (fromIntegral (length times) / (end - start))
      (1000 * quantile 0.5 times)
      (1000 * quantile 0.99 times)
      (length times)
  where
    client manager until' number = go (1000000 * number) []
      where
        go seed times = do
          begun <- getMonotonicTime
          if begun >= until'
            then pure times
            else do
              ask manager seed
              end <- getMonotonicTime
              let time = end - begun
              time `seq` go (seed + 1) (time : times)

    ask :: Manager -> Int -> IO ()
    ask manager seed = do
      request <- parseRequest (concat ["http://127.0.0.1:", show port, "/solve/", show size, "/", show seed])
      answer <- Bytes.unpack . responseBody <$> httpLbs request manager
      case readMaybe answer of
        Just deviation | deviation < (1e-9 :: Double) -> pure ()
        _ -> ioError (userError ("the server answered " ++ answer))

failed :: SomeException -> IO a
failed e = die ("load: " ++ show e)

quantile :: Double -> [Double] -> Double
quantile q values = values !! min (length values - 1) (floor (q * fromIntegral (length values)))
