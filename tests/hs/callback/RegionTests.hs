-- | Callbacks in OpenMP constructs of all kinds.
module RegionTests (tests) where

import CFunctions
import Capstan.Callback
import Capstan.OpenMP (Settings (settingsActiveLevels), defaultSettings, withSettings)
import Check
import Control.Concurrent
import Control.Monad (forM_, replicateM_, unless, when)
import Data.IORef
import Foreign.Ptr (FunPtr, freeHaskellFunPtr)

tests :: [Test]
tests =
  [ test "teams of any size" sizes,
    test "many regions" many,
    test "barriers" (both (\f -> regionBarriers f 3 200 >>= equal "out of step" 0)),
    test "locks" (both (\f -> regionLocks f 3 200 >>= equal "count" 1200)),
    test "locks that are tried" triedLocks,
    test "tasks" (both (\f -> regionTasks f 3 1000 >>= equal "sum" (sum [1 .. 1000]))),
    test "regions in regions" (deep (both (\f -> regionNested f 2 2 100 >>= equal "sum" (4 * 5050 + 4)))),
    test "C stays on its thread" (both (\f -> regionIdentity f 3 500 >>= equal "wrong" 0)),
    test "a callback enters a region that calls back" nested,
    test "two threads in callbacks at once" meet,
    test "callbacks that change threads' minds" yields,
    test "wrapper beside callbacks" beside
  ]

-- | Runs the body with a callback that adds one, in both modes.
both :: (FunPtr Real1 -> IO ()) -> IO ()
both body = forM_ [Released, Kept] $ \mode -> withCallback mode (\x -> pure (x + 1)) body

-- | Lets inner regions have threads of their own, which OpenMP does not give them by default.
deep :: IO a -> IO a
deep = withSettings defaultSettings {settingsActiveLevels = Just 4}

sizes :: IO ()
sizes = forM_ [1 .. 9] $ \threads -> both $ \f -> do
  got <- regionSum f threads 100
  equal (show threads ++ " threads") (5050 * fromIntegral threads) got

-- | While a member waits in its callback, the others must not keep the Capability that its Haskell
-- thread needs.
triedLocks :: IO ()
triedLocks = forM_ [Released, Kept] $ \mode ->
  withCallback mode (\x -> threadDelay 100 >> pure x) $ \f ->
    regionTestedLocks f 3 20 >>= equal "count" 180

-- | A coroutine begins and ends in each of many regions.
many :: IO ()
many = both $ \f -> replicateM_ 2000 $ do
  got <- regionSum f 2 2
  equal "sum" 6 got

-- | Three levels of callbacks, from each member, in all combinations of modes.
nested :: IO ()
nested = deep . forM_ [(a, b, c) | a <- modes, b <- modes, c <- modes] $ \(a, b, c) ->
  withCallback c (\x -> pure (x + 1)) $ \innermost ->
    withCallback b (\x -> (+ x) <$> regionSum innermost 2 2) $ \inner ->
      withCallback a (\x -> (+ x) <$> regionSum inner 2 2) $ \outer -> do
        got <- regionSum outer 2 2
        -- innermost: 1 + 2, twice; inner: 6 + x for x in 0, 1, twice; and once more
        equal (show (a, b, c)) (2 * (26 + 27)) got
  where
    modes = [Released, Kept]

-- | Each member waits in its callback until the other member is in its own.
meet :: IO ()
meet = do
  here <- newMVar (0 :: Int)
  met <- newEmptyMVar
  let function _ = do
        n <- modifyMVar here (\n -> pure (n + 1, n + 1))
        when (n == 2) $ replicateM_ 2 (putMVar met ())
        takeMVar met
        pure 1
  got <- withCallback Released function $ \f -> regionSum f 2 1
  equal "both" 2 got

-- | Callbacks that let other Haskell threads run.
yields :: IO ()
yields = do
  counter <- newIORef (0 :: Int)
  stop <- newIORef False
  done <- newEmptyMVar
  let spin = do
        atomicModifyIORef' counter (\n -> (n + 1, ()))
        yield
        readIORef stop >>= \s -> unless s spin
  _ <- forkIO (spin >> putMVar done ())
  forM_ [Released, Kept] $ \mode -> do
    got <- withCallback mode (\x -> yield >> pure x) $ \f -> regionSum f 2 500
    equal "sum" (2 * 124750) got
  writeIORef stop True
  takeMVar done

-- | GHC's own function pointers, called in the same regions.
beside :: IO ()
beside = deep $ do
  pointer <- wrap (\x -> pure (x + 1))
  withCallback Released (\x -> (+ x) <$> regionSum pointer 2 10) $ \f -> do
    got <- regionSum f 2 10
    equal "sum" (2 * (10 * 110 + 45)) got
    own <- regionSum pointer 3 10
    equal "wrapper" 165 own
  freeHaskellFunPtr pointer
