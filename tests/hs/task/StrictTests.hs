-- | The thread that computes a result also evaluates it.
module StrictTests (tests) where

import Capstan.Task
import Control.Exception
import Control.Monad
import Control.Monad.ST (ST, stToIO)
import Data.IORef
import Data.Maybe (isJust)
import System.IO.Unsafe (unsafePerformIO)
import Test.Tasty
import Test.Tasty.HUnit

data Bad = Bad
  deriving (Eq, Show)

instance Exception Bad

bad :: a
bad = throw Bad
{-# NOINLINE bad #-}

-- | Checks that the action throws before any thread uses its result.
throws :: IO a -> Assertion
throws action = try (void action) >>= (@?= Left Bad)

-- | Checks that the action throws nothing before a thread looks into its result.
keeps :: IO a -> Assertion
keeps action = try (void action) >>= (@?= (Right () :: Either Bad ()))

tests :: TestTree
tests =
  testGroup
    "evaluation"
    [ testCase "a task evaluates its result" $ do
        evaluated <- newIORef False
        run $ \s -> void (async s (pure (unsafePerformIO (writeIORef evaluated True))))
        readIORef evaluated >>= (@?= True),
      testCase "a task throws what its result throws" . throws $ run (\s -> void (async s (pure (bad :: Int)))),
      testCase "asyncNF" $ do
        keeps (run (\s -> async s (pure [bad :: Int]) >>= await))
        throws (run (\s -> void (asyncNF s (pure [bad :: Int])))),
      testCase "both" $ do
        throws (both (pure (bad :: Int)) (pure ()))
        throws (both (pure ()) (pure (bad :: Int)))
        keeps (both (pure [bad :: Int]) (pure [bad :: Int]))
        throws (stToIO (unsafeBoth (pure ()) (pure (bad :: Int) :: ST s Int))),
      testCase "bothNF" $ do
        throws (bothNF (pure [bad :: Int]) (pure ()))
        throws (bothNF (pure ()) (pure [bad :: Int])),
      testCase "mapChunks" $ do
        throws (mapChunks (chunk 1 (range 0 3)) (\i _ -> pure (if i == 1 then bad else i)))
        keeps (mapChunks (range 0 3) (\_ _ -> pure [bad :: Int]))
        throws (mapChunksNF (range 0 3) (\_ _ -> pure [bad :: Int])),
      testCase "parallelForReduce" $ do
        throws (parallelForReduce (range 0 1) (\_ _ -> ()) () (\_ -> pure bad))
        throws (parallelForReduce (range 0 3000) (\_ _ -> bad :: Int) 0 pure),
      testCase "parallelFind" $ do
        throws (parallelFind (range 0 3) (\i -> pure (if i == 1 then Just (bad :: Int) else Nothing)))
        found <- parallelFind (range 0 3) (\_ -> pure (Just [bad :: Int]))
        isJust found @?= True
    ]
