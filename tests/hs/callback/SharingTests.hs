-- | Regions with callbacks beside other Haskell code.
module SharingTests (tests) where

import CFunctions
import Capstan.Callback
import Check
import Control.Concurrent
import Control.Exception (evaluate, finally)
import Control.Monad (forM, forM_, forever, replicateM_, when)
import Data.IORef
import Data.List (isInfixOf)
import Foreign.Marshal.Alloc (alloca)
import Foreign.Ptr (freeHaskellFunPtr)
import Foreign.Storable (peek, poke)
import GHC.Conc
import System.Mem (performMajorGC, performMinorGC)

tests :: [Test]
tests =
  [ test "green threads call" green,
    test "bound threads call" bound,
    test "transactions" transactions,
    test "collections" collections,
    test "collections in callbacks" collecting,
    test "setNumCapabilities" resizing,
    test "unsafe regions on a disabled Capability" disabled,
    test "unsafe regions beside" unsafeBeside,
    test "computing after many calls" rush,
    test "meeting after many calls" rushAndMeet,
    test "other pointers after many calls" rushAndWrap
  ]

modes :: [Mode]
modes = [Released, Kept]

together :: (IO () -> IO ThreadId) -> [IO ()] -> IO ()
together fork actions = do
  done <- forM actions $ \action -> do
    end <- newEmptyMVar
    _ <- fork (action `finally` putMVar end ())
    pure end
  mapM_ takeMVar done

-- | Each caller has its own sum, by its own closure.
callers :: Int -> IORef Int -> [IO ()]
callers count right =
  [ replicateM_ 20 $ do
      got <- withCallback mode (\x -> pure (x * fromIntegral n)) $ \f -> regionSum f 2 20
      when (got == 380 * fromIntegral n) $ atomicModifyIORef' right (\r -> (r + 1, ()))
    | n <- [1 .. count],
      mode <- modes
  ]

green :: IO ()
green = do
  right <- newIORef 0
  together forkIO (callers 20 right)
  equal "right" 800 =<< readIORef right

bound :: IO ()
bound = when rtsSupportsBoundThreads $ do
  right <- newIORef 0
  together forkOS (callers 4 right)
  equal "right" 160 =<< readIORef right

-- | Callbacks and green threads change the same variable.
transactions :: IO ()
transactions = do
  account <- newTVarIO (0 :: Int)
  let add n = atomically (readTVar account >>= writeTVar account . (+ n))
      regions = forM_ modes $ \mode -> withCallback mode (\x -> add 1 >> pure x) $ \f -> regionSum f 2 500
      threads = replicateM_ 1000 (add (-1))
  together forkIO [regions, regions, threads, threads]
  -- A region of 1000 additions in each mode, twice.
  equal "account" (4000 - 2000) =<< readTVarIO account

-- | Values that callbacks make stay alive while C runs, wherever the collector moves them.
collections :: IO ()
collections = do
  collector <- forkIO (forever (performMajorGC >> performMinorGC >> yield))
  forM_ modes $ \mode -> forM_ [1, 2, 3] $ \threads -> do
    kept <- newIORef []
    let function x = do
          _ <- evaluate (length (show x))
          atomicModifyIORef' kept (\xs -> (x : xs, ()))
          pure x
    got <- withCallback mode function $ \f -> regionSum f threads 200
    equal "sum" (19900 * fromIntegral threads) got
    equal "kept" (19900 * fromIntegral threads) . sum =<< readIORef kept
  killThread collector

collecting :: IO ()
collecting = forM_ modes $ \mode -> do
  let function x = do
        when (x == 7 || x == 8) performMajorGC
        pure x
  got <- withCallback mode function $ \f -> regionSum f 3 20
  equal "sum" 570 got

resizing :: IO ()
resizing = when rtsSupportsBoundThreads $ do
  before <- getNumCapabilities
  stop <- newIORef False
  done <- newEmptyMVar
  let resize = do
        forM_ [1, 3, 2, 4] $ \n -> setNumCapabilities n >> threadDelay 500
        readIORef stop >>= \s -> if s then putMVar done () else resize
  _ <- forkIO resize
  forM_ modes $ \mode -> replicateM_ 100 $ do
    got <- withCallback mode (\x -> pure (x + 1)) $ \f -> regionSum f 3 50
    equal "sum" 3825 got
  writeIORef stop True
  takeMVar done
  setNumCapabilities before

-- | A bound thread stays on a Capability that no other thread may use.
disabled :: IO ()
disabled = when rtsSupportsBoundThreads $ do
  before <- getNumCapabilities
  replicateM_ 5 $ do
    setNumCapabilities 4
    withCallback Released (\x -> yield >> pure x) $ \f -> replicateM_ 10 (regionSum f 4 5)
    setNumCapabilities 1
    CallbackRefused reason <- throws (withCallback Released pure (\f -> unsafeRegionSum f 2 3))
    equal "unsafe" True ("unsafe" `isInfixOf` reason)
  setNumCapabilities before

-- | Regions that hold a Capability to their end do not stop regions that call back.
unsafeBeside :: IO ()
unsafeBeside = do
  other <- forkIO (forever (unsafeRegionCompute 2 2000 >>= evaluate >> yield))
  forM_ modes $ \mode -> replicateM_ 100 $ do
    got <- withCallback mode (\x -> pure (x + 1)) $ \f -> regionSum f 2 50
    equal "sum" 2550 got
  killThread other

-- | After fast calls their Capabilities are free for a thread for which the members wait, and for
-- its collections.
rush :: IO ()
rush = when rtsSupportsBoundThreads $ do
  forM_ [1, 2, 3 :: Int] $ \threads -> forM_ [10, 100, 1000, 100000 :: Int] $ \count ->
    alloca $ \rushed -> alloca $ \stop -> do
      poke rushed 0
      poke stop 0
      _ <- forkIO $ do
        let wait = peek rushed >>= \n -> when (n < fromIntegral threads) (yield >> wait)
        wait
        performMajorGC
        poke stop 1
      got <- withCallback Released pure $ \f -> regionRush f (fromIntegral threads) (fromIntegral count) rushed stop
      equal "sum" (fromIntegral (threads * (count * (count - 1) `div` 2))) got

-- | A waiting member gives its Capability back, as the members may outnumber the Capabilities.
rushAndMeet :: IO ()
rushAndMeet = when rtsSupportsBoundThreads . forM_ modes $ \mode -> forM_ [1, 2, 3 :: Int] $ \threads -> forM_ [1, 50, 1000 :: Int] $ \count -> do
  let rounds = 20000 `div` count
  got <- withCallback mode pure $ \f -> regionRushAndMeet f (fromIntegral threads) (fromIntegral rounds) (fromIntegral count)
  equal "sum" (fromIntegral (threads * rounds * (count * (count - 1) `div` 2))) got

-- | By other function pointers C enters Haskell as a thread without relation to the callbacks,
-- whichever thread has the Capability that it left.
rushAndWrap :: IO ()
rushAndWrap = when rtsSupportsBoundThreads $ do
  other <- wrap (\x -> performMinorGC >> pure x)
  forM_ [1, 2, 3 :: Int] $ \threads -> forM_ [1, 200, 3000 :: Int] $ \count -> do
    let rounds = max 5 (2000 `div` count)
    got <- withCallback Released pure $ \f -> regionRushAndWrap f other (fromIntegral threads) (fromIntegral rounds) (fromIntegral count)
    equal "sum" (fromIntegral (threads * rounds * (count * (count - 1) `div` 2 + count))) got
  freeHaskellFunPtr other
