-- | How many edits lie between words; each worker has a row of the table, which it writes again and again.
module Loops.Distances.Port (program) where

import Capstan.Task (newWorkerStates, parFor, withWorkerState)
import Control.Monad (forM_)
import qualified Data.Vector.Unboxed as Vector
import qualified Data.Vector.Unboxed.Mutable as Mutable

program :: Int -> IO Int
program count = do
  rows <- newWorkerStates (Mutable.new (size + 1))
  distances <- parFor [1 .. count] $ \number ->
    withWorkerState rows (\row -> distance row (word number) (word (number + 7)))
  pure (sum (zipWith (*) (cycle [1, 2, 3]) distances))

size :: Int
size = 24

word :: Int -> Vector.Vector Int
word number = Vector.map (`mod` 4) (Vector.iterateN size (\x -> (x * 1103515245 + 12345) `div` 7 `mod` 2147483648) number)

distance :: Mutable.IOVector Int -> Vector.Vector Int -> Vector.Vector Int -> IO Int
distance row from to = do
  forM_ [0 .. size] $ \j -> Mutable.write row j j
  forM_ [1 .. size] $ \i -> do
    Mutable.write row 0 i
    line i (i - 1) 1
  Mutable.read row size
  where
    line :: Int -> Int -> Int -> IO ()
    line i corner j
      | j > size = pure ()
      | otherwise = do
        above <- Mutable.read row j
        before <- Mutable.read row (j - 1)
        let change = if from Vector.! (i - 1) == to Vector.! (j - 1) then corner else corner + 1
        Mutable.write row j (min change (1 + min above before))
        line i above (j + 1)
