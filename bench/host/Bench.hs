-- | Arguments, time and output of the host programs, like bench.h for programs in C.
module Bench
  ( Arguments (..),
    parseArguments,
    wanted,
    emit,
    median,
    quantile,
    now,
    timed,
    growUntil,
  )
where

import Control.Monad (replicateM)
import Data.List (isPrefixOf, isSuffixOf, sort)
import Foreign.C.Types (CInt (..))
import GHC.Clock (getMonotonicTimeNSec)
import System.Console.GetOpt
import System.Exit (die)
import System.IO (hFlush, stdout)
import Text.Printf (printf)

data Arguments = Arguments
  { argThreads :: CInt,
    argSamples :: Int,
    -- | Least length of a sample, in nanoseconds.
    argSampleTime :: Double,
    argCases :: [String]
  }

parseArguments :: [String] -> IO Arguments
parseArguments words' = case getOpt Permute descriptions words' of
  (changes, cases, []) -> pure (foldl (flip id) (Arguments 2 5 2e6 cases) changes)
  (_, _, problems) -> die (concat problems)
  where
    descriptions =
      [ Option "t" [] (ReqArg (\v a -> a {argThreads = read v}) "THREADS") "",
        Option "r" [] (ReqArg (\v a -> a {argSamples = read v}) "SAMPLES") "",
        Option "u" [] (ReqArg (\v a -> a {argSampleTime = 1000 * read v}) "MICROSECONDS") ""
      ]

wanted :: Arguments -> String -> Bool
wanted a name = null (argCases a) || any fits (argCases a)
  where
    fits c = if "-" `isSuffixOf` c then c `isPrefixOf` name else c == name

emit :: String -> String -> Double -> IO ()
emit name unit value = printf "%s\t%s\t%.6g\n" name unit value >> hFlush stdout

median :: [Double] -> Double
median = quantile 0.5

-- | The quantile, by the nearest rank.
quantile :: Double -> [Double] -> Double
quantile q values = sort values !! min (length values - 1) (floor (q * fromIntegral (length values)))

now :: IO Double
now = fromIntegral <$> getMonotonicTimeNSec

-- | The time of an action, in nanoseconds.
timed :: IO a -> IO Double
timed action = do
  start <- now
  _ <- action
  subtract start <$> now

-- | The first count, doubled from 1 on, with which the action takes at least this time in three
-- runs. A single run may be long because a thread was slow to start.
growUntil :: Double -> (Int -> IO Double) -> IO Int
growUntil time action = go 1
  where
    go n = do
      taken <- minimum <$> replicateM 3 (action n)
      if taken >= time || n >= 2 ^ (30 :: Int) then pure n else go (2 * n)
