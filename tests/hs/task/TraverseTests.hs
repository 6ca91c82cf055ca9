{-# LANGUAGE ScopedTypeVariables #-}

-- | Containers, all and any of some tasks, transactions, and tasks that are cancelled one by one;
-- also the examples of the documentation.
module TraverseTests (tests) where

import Capstan.Exception (InvalidArgument)
import Capstan.Task
import Control.Concurrent
import Control.Concurrent.STM
import Control.Exception
import Control.Monad
import Data.Either (fromRight)
import Data.IORef
import Data.List (isInfixOf, sort)
import qualified Data.Map as Map
import qualified Data.Vector as V
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

newtype Broken = Broken Int
  deriving (Eq, Show)

instance Exception Broken

tests :: TestTree
tests =
  testGroup
    "containers"
    [ testProperty "parTraverse keeps shape and order" $ \(xs :: Map.Map Int Int) ->
        ioProperty ((=== fmap (* 2) xs) <$> parTraverse (pure . (* 2)) xs),
      testCase "parTraverse_ and parFor_ come to each element once" $ do
        marks <- replicateM 3000 (newIORef (0 :: Int))
        parTraverse_ (\mark -> atomicModifyIORef' mark (\n -> (n + 1, ()))) marks
        parFor_ marks (\mark -> atomicModifyIORef' mark (\n -> (n + 2, ())))
        counts <- parFor marks readIORef
        assertBool "once" (all (== 3) counts),
      testCase "no more actions at a time than parTraverseN allows, and as many" $ do
        busy <- newTVarIO (0 :: Int)
        most <- newTVarIO 0
        met <- newTVarIO False
        let act i = do
              atomically $ do
                now <- (+ 1) <$> readTVar busy
                writeTVar busy now
                modifyTVar' most (max now)
                when (now == 5) (writeTVar met True)
              -- The first ones wait for each other: five run at a time, although they block.
              atomically (readTVar met >>= check)
              when (i `mod` 7 == 0) yield
              atomically (modifyTVar' busy (subtract 1))
              pure (2 * i)
        soon (parForN 5 [1 .. 200 :: Int] act >>= (@?= map (2 *) [1 .. 200]))
        readTVarIO most >>= (@?= 5)
        soon (parTraverseN_ 1 act [1 .. 10 :: Int]),
      testCase "parTraverseN of no action, and of too few at a time" $ do
        parTraverseN 3 pure ([] :: [Int]) >>= (@?= [])
        r <- try (parForN_ 0 [1 :: Int] pure)
        either (\e -> assertBool (show e) ("0 actions" `isInfixOf` show (e :: InvalidArgument))) (const (assertFailure "it ran")) r
        broken <- try (parTraverseN 2 (\i -> when (i == 7) (throwIO (Broken i))) [1 .. 20])
        broken @?= (Left (Broken 7) :: Either Broken [()]),
      testCase "an element may wait for what a later one does" $ do
        gates <- replicateM 20 newEmptyMVar
        let wait' (i, gate) = if i == length gates then pure () else takeMVar gate
            act i = when (i > 0) (putMVar (gates !! (i - 1)) ()) >> wait' (i + 1, gates !! i)
        soon (parTraverse_ act [0 .. 19]),
      testProperty "elements may wait for each other in any order" $ \(order :: [Int]) -> ioProperty $ do
        let count = length order
            ranked = map snd (sort (zip order [0 ..]))
            follows = Map.fromList (zip ranked (drop 1 ranked))
        gates <- V.replicateM count newEmptyMVar
        forM_ (take 1 ranked) $ \first -> putMVar (gates V.! first) ()
        soon . parFor_ [0 .. count - 1] $ \i -> do
          takeMVar (gates V.! i)
          forM_ (Map.lookup i follows) $ \next -> putMVar (gates V.! next) ()
        pure (count === count),
      testCase "each element is come to once, whoever blocks" . replicateM_ 10 $ do
        marks <- V.replicateM 20000 (newIORef (0 :: Int))
        parFor_ [0 .. 19999] $ \i -> do
          atomicModifyIORef' (marks V.! i) (\n -> (n + 1, ()))
          when (i `mod` 97 == 5) yield
          when (i `mod` 1999 == 7) (threadDelay 100)
        counts <- mapM readIORef (V.toList marks)
        assertBool "once" (all (== 1) counts),
      testCase "the first exception ends the others" $ do
        r <- try (parTraverse (\i -> if i == 77 then throwIO (Broken i) else forever (threadDelay 1000)) [0 .. 100 :: Int])
        r @?= (Left (Broken 77) :: Either Broken [()]),
      testCase "results are evaluated" $ do
        r <- try (void (parTraverse (\i -> pure (if i == 3 then throw (Broken i) else i)) [1 .. 5]))
        r @?= Left (Broken 3),
      testProperty "parMap is fmap" $ \(xs :: [Int]) -> parMap (+ 1) xs === map (+ 1) xs,
      testCase "parMap leaves an exception to those who use the element" $ do
        let ys = parMap (\i -> if i == 3 then throw (Broken i) else i) [1 .. 5]
        length ys @?= 5
        sum (take 2 ys) @?= 3
        r <- try (evaluate (sum ys))
        r @?= Left (Broken 3),
      testCase "parMap of containers of several kinds" $ do
        let odd' i = if i `mod` 1000 == 3 then throw (Broken i) else 2 * i
            ys = parMap odd' (V.enumFromN 0 20000)
        [i | i <- [0 .. 19999], i `mod` 1000 /= 3, ys V.! i /= 2 * i] @?= []
        r <- mapM (try . evaluate) [ys V.! i | i <- [3, 1003, 19003]]
        r @?= map (Left . Broken) [3, 1003, 19003]
        parMap (+ 1) (Map.fromList [(i, i) | i <- [1 .. 3000 :: Int]]) @?= Map.fromList [(i, i + 1) | i <- [1 .. 3000]]
        parMap (+ 1) (Just 1) @?= Just (2 :: Int)
        parTraverse (pure . (+ 1)) (V.enumFromN 0 3000) >>= (@?= V.enumFromN (1 :: Int) 3000),
      testCase "parMap that a deadline has ended goes on where it was" $ do
        gate <- newEmptyMVar
        let slow = sum [1 .. 3000000 :: Integer]
            ys = parMap (slow +) [1 .. 20]
        _ <- timeout 1000 (evaluate (sum ys))
        putMVar gate ()
        sum ys @?= 20 * slow + 210,
      testCase "parMapWith evaluates as far as it is told" $
        length (parMapWith (`seq` ()) (\i -> [i, throw (Broken i)]) [1 .. 5]) @?= 5,
      testCase "branches of Parallel" $ do
        there <- newEmptyMVar
        back <- newEmptyMVar
        pair <- soon (runParallel ((,) <$> Parallel (putMVar there 'a' >> takeMVar back) <*> Parallel (takeMVar there <* putMVar back 'b')))
        pair @?= ('b', 'a')
        runParallel (foldMap (\i -> Parallel (pure [i])) [1 .. 10 :: Int]) >>= (@?= [1 .. 10]),
      testCase "awaitAll" $ run (\s -> mapM (async s . pure) [1 .. 2000 :: Int] >>= awaitAll) >>= (@?= [1 .. 2000]),
      testCase "awaitAny has the first that ends, or is first" $ do
        gate <- newEmptyMVar
        r <- run $ \s -> do
          slow <- async s (takeMVar gate)
          quick <- async s (pure 'q')
          (winner, x) <- awaitAny [slow, quick]
          assertBool "the winner" (winner == quick)
          putMVar gate 's'
          y <- await slow
          (_, z) <- awaitAny [slow, quick]
          pure [x, y, z]
        r @?= "qss",
      testCase "awaitAny of none is refused" $ do
        r <- try (awaitAny ([] :: [Promise ()]))
        either (\(_ :: InvalidArgument) -> pure ()) (const (assertFailure "it has one")) r,
      testCase "awaitSTM beside something else" . replicateM_ 20 $ do
        gate <- newEmptyMVar
        other <- newTVarIO False
        r <- run $ \s -> do
          p <- async s (takeMVar gate)
          let either' = (Left <$> awaitSTM p) `orElse` (Right <$> (readTVar other >>= check))
          _ <- forkIO (atomically (writeTVar other True))
          first <- soon (atomically either')
          atomically (writeTVar other False)
          putMVar gate 'x'
          second <- soon (atomically either')
          third <- atomically (pollSTM p)
          pure (first, second, fromRight '?' <$> third)
        r @?= (Right (), Left 'x', Just 'x'),
      testCase "awaitSTM throws what the task threw" $ do
        box <- newEmptyMVar
        gate <- newEmptyMVar
        -- The task fails when the box is full, as an earlier failure would end the body.
        _ <- try (run (\s -> async s (takeMVar gate >> throwIO (Broken 1)) >>= putMVar box >> putMVar gate ())) :: IO (Either Broken ())
        p <- takeMVar box
        r <- try (atomically (awaitSTM (p :: Promise ())))
        r @?= Left (Broken 1)
        c <- awaitCatch p
        either (\e -> fromException e @?= Just (Broken 1)) pure c,
      testCase "a promise is a functor, and equal to itself" $
        run $ \s -> do
          p <- async s (pure 20)
          q <- async s (pure (20 :: Int))
          await (fmap ((+ 1) . (* 2)) p) >>= (@?= 41)
          assertBool "equality" (p == fmap (+ 1) p && p /= q),
      testCase "one task is cancelled, and the scope goes on" . replicateM_ 20 $ do
        ended <- newIORef False
        r <- run $ \s -> do
          begun <- newEmptyMVar
          (p, end) <- asyncCancellable s ((putMVar begun () >> forever (threadDelay 1000)) `finally` writeIORef ended True)
          other <- async s (pure 'o')
          takeMVar begun
          end
          end
          (,) <$> soon (await p) <*> await other
        r @?= (Nothing :: Maybe (), 'o')
        readIORef ended >>= (@?= True),
      testCase "a task that is cancelled before it has begun does not begin" $ do
        gate <- newEmptyMVar
        r <- run $ \s -> do
          (p, end) <- asyncCancellable s (readMVar gate)
          end
          await p
        r @?= (Nothing :: Maybe ()),
      testCase "to cancel a task spares the one that it awaits" . replicateM_ 20 $ do
        gate <- newEmptyMVar
        r <- run $ \s -> do
          inner <- async s (readMVar gate)
          begun <- newEmptyMVar
          (p, end) <- asyncCancellable s (putMVar begun () >> await inner)
          takeMVar begun
          end
          x <- soon (await p)
          putMVar gate 'i'
          y <- await inner
          pure (x, y)
        r @?= (Nothing, 'i'),
      testCase "to cancel a task that has ended does nothing" $ do
        r <- run (\s -> asyncCancellable s (pure 'x') >>= \(p, end) -> await p >>= \x -> end >> (,) x <$> await p)
        r @?= (Just 'x', Just 'x'),
      testCase "ranges and pools are shown as they are made" $ do
        show (chunk 3 (range 0 10)) @?= "chunk 3 $ range 0 10"
        withPool "disk" 1 (\pool -> show (onPool pool (range (-1) 2)) @?= "onPool (Pool \"disk\") $ range (-1) 2")
    ]

soon :: IO a -> IO a
soon action = timeout 60000000 action >>= maybe (assertFailure "it takes for ever") pure
