{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE QualifiedDo #-}
{-# LANGUAGE RankNTypes #-}
{-# LANGUAGE TemplateHaskell #-}
{-# OPTIONS_GHC -O1 -fplugin Test.Inspection.Plugin #-}

-- | The types cost nothing: the compiled functions have no trace of them, allocate nothing, and so
-- make no closure.
module CostTests (tests) where

import qualified Capstan.Array as Array
import Capstan.Array.Linear (Lent, Ur (..))
import qualified Capstan.Array.Linear as Linear
import Capstan.Array.Linear.Internal (Action, Part (..), toIO)
import Control.Monad (replicateM_)
import Foreign.C.Types (CDouble (..), CSize (..))
import Foreign.Ptr (Ptr)
import System.Mem (getAllocationCounter, setAllocationCounter)
import Test.Inspection
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit (assertBool, assertFailure, testCase)

foreign import ccall unsafe "sum" c_sum :: Ptr (Lent p Double) -> CSize -> IO CDouble

-- | Split, write both, combine.
splitting :: Int -> Part s Double -> IO ()
splitting at part = toIO $ Linear.do
  (first, second) <- Linear.pure (Linear.split at part)
  first' <- Linear.write first 0 1
  second' <- Linear.write second 0 2
  finish (Linear.combine first' second')

-- | Halve twice, read an element of one piece and write it into another.
halving :: Part s Double -> IO ()
halving part = toIO $ Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
  (third, fourth) <- Linear.pure (Linear.halve second)
  (third', Ur element) <- Linear.read third 0
  first' <- Linear.write first 0 element
  finish (Linear.combine first' (Linear.combine third' fourth))

-- | Passes a piece to C and back, and writes C's result into an element.
calling :: Part s Double -> IO ()
calling part = toIO $ Linear.do
  (first, second) <- Linear.pure (Linear.halve part)
  (second', Ur (CDouble total)) <- Linear.withC second c_sum
  first' <- Linear.write first 0 total
  finish (Linear.combine first' second')

-- | A loop over all elements.
mapping :: Part s Double -> IO ()
mapping part = toIO $ Linear.do
  part' <- Linear.mapElements (+ 1) part
  finish part'

-- | Only the internal module can end a part.
finish :: Part s Double %1 -> Action ()
finish (Part _ _) = Linear.pure ()
{-# INLINE finish #-}

tests :: TestTree
tests =
  testGroup
    "what it costs"
    [ proven "split and combine leave no trace" $(inspectTest ('splitting `doesNotUse` 'Ur)),
      proven "halve and read neither" $(inspectTest ('halving `doesNotUse` 'Ur)),
      proven "nor does withC" $(inspectTest ('calling `doesNotUse` 'Ur)),
      proven "there are no pairs" $(inspectTest ('halving `doesNotUse` '(,))),
      allocatesNothing "split, write and combine allocate nothing" (splitting 100),
      allocatesNothing "halve, read and write allocate nothing" halving,
      allocatesNothing "withC allocates nothing" calling,
      allocatesNothing "mapElements allocates nothing" mapping
    ]

proven :: String -> Result -> TestTree
proven name result = testCase name $ case result of
  Success _ -> pure ()
  Failure why -> assertFailure why

-- | Checks the allocation of the work. GHC counts a thread's allocations, exactly when the thread
-- asks.
allocatesNothing :: String -> (forall s. Part s Double -> IO ()) -> TestTree
allocatesNothing name work = testCase name $ do
  array <- Array.filled Linear.CacheLine 1000 1
  Array.withPointer array $ \start -> do
    let !part = Part start 1000
    work part
    once <- cost (work part)
    many <- cost (replicateM_ 1000 (work part))
    -- The counting itself allocates once in each measurement.
    assertBool (show (once, many)) (many - once < 1000)
  where
    cost action = do
      setAllocationCounter maxBound
      before <- getAllocationCounter
      () <- action
      after <- getAllocationCounter
      pure (before - after)
