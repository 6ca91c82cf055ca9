{-# LANGUAGE ScopedTypeVariables #-}

-- | The monad of monad-par.
module ParTests (tests) where

import Capstan.Task.Par
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.Map as Map
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

tests :: TestTree
tests =
  testGroup
    "Par"
    [ testCase "spawn and get" $ runPar (fibonacci 20) @?= 6765,
      testCase "a variable that is written later" $
        runPar
          ( do
              there <- new
              back <- new
              fork (get there >>= put back . (+ 1))
              fork (put there 41)
              get back
          )
          @?= (42 :: Int),
      testCase "a full variable, and what is read twice" $
        runPar (do v <- newFull 'v'; w <- newFull_ 'w'; sequence [get v, get w, get v]) @?= "vwv",
      testCase "variables are equal if they are the same" $
        runPar (do v <- new; w <- new; p <- spawnP 'p'; put v 'v'; pure (v == v, v == w, p == p, p == v)) @?= (True, False, True, False),
      testCase "a second value is refused" $ do
        r <- try (evaluate (runPar (do v <- new; put v 'a'; put v 'b'; get v)))
        r @?= Left WrittenTwice
        s <- try (evaluate (runPar (do p <- spawnP 'a'; put p 'b'; get p)))
        s @?= Left WrittenTwice,
      testCase "results are evaluated completely, or to weak head normal form" $ do
        r <- try (evaluate (runPar (void (spawnP [1, throw Overflow :: Int]))))
        r @?= Left Overflow
        runPar (length <$> (spawn_ (pure [1, throw Overflow :: Int]) >>= get)) @?= 2,
      testCase "an exception in a fork is the value's" $ do
        r <- try (evaluate (runPar (fork (void (pure $! throw Overflow)) >> pure ())))
        r @?= (Left Overflow :: Either ArithException ()),
      testCase "a variable that nobody writes" $ do
        -- A thread of its own, as GHC never finds a thread with a time limit, such as this one, to
        -- be blocked for ever.
        outcome <- newEmptyMVar
        _ <- forkIO (try (runParIO (new >>= get)) >>= putMVar outcome)
        takeMVar outcome >>= either (\BlockedIndefinitelyOnMVar -> pure ()) (\() -> assertFailure "it has a value"),
      testCase "a fork that waits for a variable that nobody writes is dropped" $
        runPar (fork (new >>= get >>= \() -> errorWithoutStackTrace "it has a value") >> pure 'x') @?= 'x',
      testCase "a computation that waits keeps no thread" $ do
        let count = 20000 :: Int
            chain = do
              boxes <- replicateM (count + 1) new
              zipWithM_ (\box next -> fork (get box >>= put next . (+ 1))) boxes (tail boxes)
              put (head boxes) 0
              get (last boxes)
        runPar chain @?= count,
      testCase "the result of a fork is not evaluated" $
        runPar (fork (pure (errorWithoutStackTrace "evaluated")) >> pure 'x') @?= 'x',
      testCase "a value reaches the others if the scope of one that waits has ended" . replicateM_ 20 $ do
        variable <- runParIO new
        outcomes <- replicateM 3 newEmptyMVar
        readers <- forM outcomes $ \outcome -> mask $ \restore -> forkIO (try (restore (runParIO (get variable))) >>= putMVar outcome)
        threadDelay 1000
        killThread (readers !! 1)
        runParIO (put variable (5 :: Int))
        results <- mapM takeMVar outcomes
        [n | Right n <- results] @?= [5, 5]
        either (@?= ThreadKilled) (const (assertFailure "it was not killed")) (results !! 1),
      testCase "a variable of another runPar" $ do
        (variable, later) <- runParIO ((,) <$> new <*> new)
        answer <- newEmptyMVar
        _ <- forkIO (try (runParIO (get variable >>= \n -> pure (n + 1))) >>= putMVar answer)
        runParIO (fork (get later) >> put variable (41 :: Int))
        runParIO (put later ())
        takeMVar answer >>= either (\e -> assertFailure (show (e :: SomeException))) (@?= 42),
      testCase "a value that a deadline has ended has its value later" $ do
        let slow = runPar (parMap (\n -> sum [1 .. n]) [2000000 .. 2000007 :: Integer])
        _ <- timeout 3000 (evaluate (length slow))
        slow @?= [n * (n + 1) `div` 2 | n <- [2000000 .. 2000007]],
      testCase "elements of parMapM may wait for later ones" $ do
        let count = 300 :: Int
            links = do
              boxes <- replicateM (count + 1) new
              put (last boxes) 0
              parMapM (\(box, next) -> do n <- get next; put box (n + 1); pure n) (zip boxes (tail boxes))
        runPar links @?= reverse [0 .. count - 1],
      testCase "in IO" $ runParIO (parMap (+ 1) (Map.fromList [('a', 1), ('b', 2 :: Int)])) >>= (@?= Map.fromList [('a', 2), ('b', 3)]),
      testProperty "parMapReduceRange combines in the order of the range" $ \(Small from, NonNegative (Small count), threshold) ->
        let to = from + count - 1
            reduced = parMapReduceRangeThresh threshold (InclusiveRange from to) (\i -> pure [i]) (\a b -> pure (a ++ b)) []
         in runPar reduced === [from .. to],
      testCase "a range of all Ints is halved" $ do
        r <- try . evaluate . runPar $
          parFor (InclusiveRange minBound maxBound) $ \i -> when (i == 0) (errorWithoutStackTrace "met")
        r @?= Left (ErrorCall "met"),
      testCase "parMapReduceRange and parFor" $ do
        runPar (parMapReduceRange (InclusiveRange 1 5000) pure (\a b -> pure (a + b)) 0) @?= 12502500
        runPar (do vs <- replicateM 100 new; parFor (InclusiveRange 0 99) (\i -> put (vs !! i) i); sum <$> mapM get vs) @?= 4950
    ]

fibonacci :: Int -> Par Integer
fibonacci n | n < 2 = pure (toInteger n)
fibonacci n = do
  right <- spawn (fibonacci (n - 2))
  left <- fibonacci (n - 1)
  (left +) <$> get right
