-- | The slots of handlers, taken and freed by many threads at once.
module SlotTests (tests) where

import Capstan.Event.Slots
import Control.Concurrent (forkOn, getNumCapabilities, setNumCapabilities)
import Control.Concurrent.MVar
import Control.Exception (finally)
import Control.Monad (forM, replicateM, unless)
import Data.IORef
import Data.List (nub)
import Test.Tasty (TestTree, testGroup)
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "slots"
    [ testCase "each has its own value" distinct,
      testCase "what is freed is used again" reused,
      testCase "no two threads have the same one" contended
    ]

distinct :: Assertion
distinct = do
  slots <- newSlots (0 :: Int)
  taken <- forM [1 .. 5000] (takeSlot slots)
  length (nub taken) @?= 5000
  values <- mapM (readSlot slots) taken
  values @?= [1 .. 5000]

reused :: Assertion
reused = do
  slots <- newSlots ()
  used <- replicateM 3000 $ do
    taken <- replicateM 10 (takeSlot slots ())
    mapM_ (freeSlot slots) taken
    pure (maximum taken)
  assertBool "within the first array" (maximum used < 1024)

-- | Each thread holds a few slots for a while, and no two threads may hold the same slot. The
-- threads outnumber the processors, so the kernel suspends some while they take a slot.
contended :: Assertion
contended = do
  before <- getNumCapabilities
  slots <- newSlots 0
  wrong <- newIORef 0
  flip finally (setNumCapabilities before) $ do
    setNumCapabilities threads
    done <- forM [1 .. threads] $ \me -> do
      end <- newEmptyMVar
      _ <- forkOn me (turns slots wrong (me * 1000000000) >> putMVar end ())
      pure end
    mapM_ takeMVar done
  readIORef wrong >>= (@?= 0)
  next <- takeSlot slots 0
  assertBool ("within the first array: " ++ show next) (next < 1024)
  where
    threads = 4

turns :: Slots Int -> IORef Int -> Int -> IO ()
turns slots wrong first = do
  one <- hold first
  two <- hold (first + 1)
  go one two (first + 2)
  where
    go one two value
      | value == first + 400000 = pure ()
      | otherwise = do
        three <- hold value
        letGo one
        go two three (value + 1)
    hold value = (,) value <$> takeSlot slots value
    letGo (value, slot) = do
      found <- readSlot slots slot
      unless (found == value) (atomicModifyIORef' wrong (\n -> (n + 1, ())))
      freeSlot slots slot
