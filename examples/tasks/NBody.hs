-- | Bodies that attract each other, all pairs. There are two versions with the same arithmetic. The
-- naive one uses a boxed vector of records. The other is friendly to the cache: it goes coordinate
-- by coordinate, without pointers.
module NBody (naive, friendly) where

import Capstan.Task
import Control.Monad (foldM)
import qualified Data.Vector as B
import qualified Data.Vector.Mutable as BM
import qualified Data.Vector.Unboxed as V
import qualified Data.Vector.Unboxed.Mutable as M
import Example

data Body = Body {bodyX, bodyY, bodyZ, speedX, speedY, speedZ, bodyMass :: !Double}
  deriving (Eq)

begin :: Int -> B.Vector Body
begin n = B.generate n (\i -> let at k = fromIntegral (numbers V.! (7 * i + k)) / 4294967296 in Body (at 0) (at 1) (at 2) (at 3) (at 4) (at 5) (at 6))
  where
    numbers = randoms (7 * n)

-- | A body after a step. The function passes on the place and mass of another body.
moved :: Int -> (Int -> (Double -> Double -> Double -> Double -> Body) -> Body) -> Body -> Body
moved n other (Body x y z u v w m) = go 0 0 0 0
  where
    go j ax ay az
      | j >= n = Body (x + step * u') (y + step * v') (z + step * w') u' v' w' m
      | otherwise = other j $ \x' y' z' m' ->
        let (dx, dy, dz) = (x' - x, y' - y, z' - z)
            square = dx * dx + dy * dy + dz * dz + 1e-3
            pull = m' / (square * sqrt square)
         in go (j + 1) (ax + pull * dx) (ay + pull * dy) (az + pull * dz)
      where
        (u', v', w') = (u + step * ax, v + step * ay, w + step * az)
    step = 1e-3
{-# INLINE moved #-}

stepNaive :: Each -> B.Vector Body -> IO (B.Vector Body)
stepNaive each bodies = do
  next <- BM.new n
  each n $ \i -> BM.unsafeWrite next i $! moved n other (B.unsafeIndex bodies i)
  B.unsafeFreeze next
  where
    n = B.length bodies
    other j use = case B.unsafeIndex bodies j of Body x y z _ _ _ m -> use x y z m
{-# INLINE stepNaive #-}

-- | A step for the seven coordinates, one after another.
stepFriendly :: Each -> V.Vector Double -> IO (V.Vector Double)
stepFriendly each old = do
  next <- M.new (7 * n)
  each n $ \i -> do
    let Body x y z u v w m = moved n other (Body (at 0 i) (at 1 i) (at 2 i) (at 3 i) (at 4 i) (at 5 i) (at 6 i))
    sequence_ [M.unsafeWrite next (k * n + i) c | (k, c) <- zip [0 ..] [x, y, z, u, v, w, m]]
  V.unsafeFreeze next
  where
    n = V.length old `div` 7
    at k i = V.unsafeIndex old (k * n + i)
    other j use = use (at 0 j) (at 1 j) (at 2 j) (at 6 j)
{-# INLINE stepFriendly #-}

naive, friendly :: Example
naive = example "nbody-naive" id stepNaive
friendly = example "nbody-friendly" columns stepFriendly
  where
    columns bodies = V.concat [V.generate (B.length bodies) (get . B.unsafeIndex bodies) | get <- [bodyX, bodyY, bodyZ, speedX, speedY, speedZ, bodyMass]]

example :: Eq a => String -> (B.Vector Body -> a) -> (Each -> a -> IO a) -> Example
example title input step =
  Example
    { name = title,
      sizeNames = "BODIES STEPS",
      usual = [4096, 4],
      small = [50, 3],
      prepare = \[n, steps] -> let bodies = input (begin n) in bodies `seq` pure (bodies, steps),
      sequential = run' (loop 0),
      parallel = run' (parallelFor . range 0)
    }
  where
    run' each (bodies, steps) = foldM (const . step each) bodies [1 .. steps]
