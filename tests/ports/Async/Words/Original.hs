-- | Counts the words of texts in an application's own monad, with what it shares in its environment.
module Async.Words.Original (program) where

import Control.Exception (evaluate)
import Control.Monad.Reader (ReaderT (..), asks, liftIO)
import Data.Char (isSpace)
import Data.IORef
import UnliftIO.Async (pooledForConcurrently_)

data Application = Application
  { separators :: Char -> Bool,
    counted :: IORef Int
  }

program :: Int -> IO Int
program count = do
  counter <- newIORef 0
  runReaderT (countAll [1 .. count]) (Application isSpace counter)
  readIORef counter

countAll :: [Int] -> ReaderT Application IO ()
countAll numbers = pooledForConcurrently_ numbers $ \number -> do
  separates <- asks separators
  counter <- asks counted
  here <- liftIO (evaluate (wordsBy separates (text number)))
  liftIO (atomicModifyIORef' counter (\n -> (n + here, ())))

text :: Int -> String
text number = unwords (replicate (3 + number `mod` 20) "word")

wordsBy :: (Char -> Bool) -> String -> Int
wordsBy separates = go 0 . dropWhile separates
  where
    go n [] = n :: Int
    go n rest = let n' = n + 1 in n' `seq` go n' (dropWhile separates (dropWhile (not . separates) rest))
