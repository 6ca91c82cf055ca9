-- | A solver in C, parallel by OpenMP, whose equation is a Haskell function: reaction and diffusion
-- in one dimension, with a known solution.
--
-- > solver [CELLS [TIME]]
module Main (main) where

import Capstan.Array (Array)
import qualified Capstan.Array as Array
import Capstan.Callback
import Capstan.OpenMP (Settings (..), getSettings)
import Control.Monad (forM_, when)
import Data.Maybe (fromMaybe)
import Foreign.C.Types (CDouble (..), CInt (..), CLong (..))
import Foreign.Ptr (FunPtr, Ptr)
import Foreign.Storable (peekElemOff, pokeElemOff)
import GHC.Clock (getMonotonicTime)
import System.Environment (getArgs)
import System.Exit (die)
import Text.Printf (printf)

-- | The time, the number of the cells, their values, and the place of their rates.
type Rates = CDouble -> CLong -> Ptr Double -> Ptr Double -> IO ()

foreign import ccall safe "solver_run"
  c_solve :: FunPtr Rates -> Ptr Double -> CLong -> CDouble -> CDouble -> CLong -> IO CInt

main :: IO ()
main = do
  arguments <- getArgs
  case arguments of
    [] -> compareModes 1201 10
    [cells] -> compareModes (read cells) 10
    [cells, time] -> compareModes (read cells) (read time)
    _ -> die "usage: solver [CELLS [TIME]]"

-- | Solves the equation in both modes of callbacks, and prints the errors.
compareModes :: Int -> Double -> IO ()
compareModes cells time = do
  when (cells < 16 || time <= 0) $ die "solver: at least 16 cells, and a time above 0"
  team <- fromMaybe 1 . settingsThreads <$> getSettings
  printf "%d cells, %d steps, a team of %d\n" cells steps team
  forM_ [Released, Kept] $ \mode -> do
    u <- Array.generate Array.CacheLine cells (front 0 . position)
    start <- getMonotonicTime
    solve mode (nagumo threshold) dx dt steps u
    end <- getMonotonicTime
    worst <- deviation (fromIntegral steps * dt) u
    printf "%-9s %8.1f ms, largest error %.2e\n" (show mode) (1000 * (end - start)) worst
    when (isNaN worst || worst > 0.003 * (1 + time) * dx * dx) $ die "solver: the error is too large"
  where
    steps = ceiling (time / (0.4 * dx * dx)) :: Int
    dt = time / fromIntegral steps
    dx = 60 / fromIntegral (cells - 1)
    position i = fromIntegral i * dx - 30
    deviation t u = do
      values <- Array.toList u
      pure (maximum [abs (value - front t (position i)) | (i, value) <- zip [0 :: Int ..] values])

-- | The solver for Haskell programs: the reaction is any function of one cell.
solve :: Mode -> (Double -> Double) -> Double -> Double -> Int -> Array Double -> IO ()
solve mode reaction dx dt steps u = do
  code <- withCallback mode rates $ \f -> Array.withPointer u $ \p ->
    c_solve f p (fromIntegral (Array.length u)) (CDouble dx) (CDouble dt) (fromIntegral steps)
  when (code /= 0) $ ioError (userError "solver: out of memory")
  where
    rates :: Rates
    rates _ count from to = go 0
      where
        go i
          | i >= fromIntegral count = pure ()
          | otherwise = peekElemOff from i >>= pokeElemOff to i . reaction >> go (i + 1)

-- | The reaction of Nagumo's equation, a model of a nerve: a value below the threshold decays, and
-- a value above it grows.
nagumo :: Double -> Double -> Double
nagumo a u = u * (1 - u) * (u - a)

threshold :: Double
threshold = 0.25

-- | The exact solution of the equation: a front that moves to the right.
front :: Double -> Double -> Double
front t x = 1 / (1 + exp ((x - speed * t) / sqrt 2))
  where
    speed = sqrt 2 * (0.5 - threshold)
