-- | Trees of scopes, forks and awaits that fail, are cancelled and time out at any moment. Each
-- tree follows from a seed; its order of steps is random. At its end no part of it may be left.
module TreeTests (tests) where

import Capstan.Domain (AtomicInt, fetchAdd, newAtomicInt, readAtomicInt)
import Capstan.Task
import Control.Concurrent
import Control.Exception
import Control.Monad
import Data.Maybe (fromMaybe)
import Test.Tasty
import Test.Tasty.HUnit

newtype Broken = Broken Int
  deriving (Show)

instance Exception Broken

tests :: TestTree
tests = testCase "trees that fail in every way" . forM_ [1 .. 400] $ \seed -> do
  live <- newAtomicInt 0
  let root = Seed seed
  r <- try (runWithin (microseconds (draw 3000 root)) (\scope -> node live scope (split 1 root) (5 + seed `mod` 9)))
  left <- readAtomicInt live
  assertEqual (show (seed, r :: Either Broken (Maybe Int))) 0 left

newtype Seed = Seed Int

-- | Derives the seed with number @i@ from a seed.
split :: Int -> Seed -> Seed
split i (Seed x) = Seed ((x + i) * 6364136223846793005 + 1442695040888963407)

-- | Draws a number below a bound.
draw :: Int -> Seed -> Int
draw bound seed = let Seed x = split 0 seed in (x `div` 0x1000000) `mod` bound

-- | A part of the tree, in a scope, with @height@ levels.
node :: AtomicInt -> Scope -> Seed -> Int -> IO Int
node live scope seed height = bracket_ (fetchAdd live 1) (fetchAdd live (-1)) $ if height <= 0 then leaf else inner
  where
    child i = node live scope (split i seed)
    childIn there i = node live there (split i seed)
    leaf = case draw 60 seed of
      0 -> throwIO (Broken height)
      1 -> 1 <$ yield
      2 -> 1 <$ threadDelay 10
      _ -> pure 1
    inner = case draw 10 seed of
      0 -> run $ \within -> childIn within 1 (height - 1)
      1 -> run $ \within -> do
        p <- async within (childIn within 1 (height - 2))
        q <- async scope (child 2 (height - 2))
        (+) <$> await q <*> await p
      2 -> uncurry (+) <$> both (child 1 (height - 1)) (child 2 (height - 2))
      3 -> do
        p <- async scope (child 1 (height - 1))
        x <- child 2 (height - 2)
        (x +) <$> mask_ (await p)
      4 -> do
        promises <- forM [1 .. 4] (\i -> async scope (child i (height - 2)))
        sum <$> mapM await promises
      5 -> async scope (child 1 (height - 2)) >> child 2 (height - 2)
      6 -> do
        box <- newEmptyMVar
        _ <- async scope (child 1 (height - 2) >>= putMVar box)
        takeMVar box
      7 -> either (\(Broken n) -> n) id <$> try (run $ \within -> childIn within 1 (height - 1))
      8 -> fromMaybe 0 <$> runWithin (microseconds (draw 300 (split 9 seed))) (\within -> childIn within 1 (height - 1))
      _ -> parallelForReduce (chunk 1 (range 0 4)) (+) 0 (\i -> child i (height - 3))
