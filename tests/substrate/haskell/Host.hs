{-# LANGUAGE ForeignFunctionInterface #-}

-- | The rts substrate inside a Haskell program: one scenario per process, named by the first
-- argument. probe.c is its C side.
module Main (main) where

import Capstan.Internal.Worker ()
import Control.Concurrent
import Control.Exception (IOException, SomeException, bracket, evaluate, throwIO, try)
import Control.Monad
import qualified Data.IORef as Ref
import Data.Maybe (isNothing)
import Data.Word (Word32)
import Foreign.C.String (CString, peekCString)
import Foreign.C.Types
import Foreign.StablePtr (StablePtr)
import GHC.Clock (getMonotonicTime)
import GHC.Conc (PrimMVar, newStablePtrPrimMVar)
import GHC.Stats (gc, gcdetails_threads, getRTSStats)
import System.Directory (listDirectory)
import System.Environment (getArgs)
import System.Exit
import System.Mem (performMajorGC, performMinorGC)
import System.Posix.Process (ProcessStatus (..), forkProcess, getProcessStatus)

foreign import ccall safe "probe_start" start :: IO CString

foreign import ccall safe "probe_spawn" spawn :: CInt -> CLong -> IO CInt

foreign import ccall safe "probe_region" regionSafe :: IO CInt

foreign import ccall unsafe "probe_region" regionUnsafe :: IO CInt

foreign import ccall safe "probe_attach" attach :: CUInt -> CLong -> IO CInt

foreign import ccall safe "probe_leave" leave :: CInt -> IO ()

foreign import ccall unsafe "probe_watch" watch :: IO ()

foreign import ccall unsafe "probe_reset" reset :: IO ()

foreign import ccall unsafe "probe_percent" percent :: CInt -> IO CInt

foreign import ccall safe "probe_sleep" sleepSafe :: CLong -> IO ()

foreign import ccall unsafe "probe_sleep" sleepUnsafe :: CLong -> IO ()

foreign import ccall unsafe "probe_compute" compute :: CUInt -> IO ()

foreign import ccall safe "probe_idle" idleSafe :: IO CInt

foreign import ccall unsafe "probe_idle" idleUnsafe :: IO CInt

foreign import ccall safe "probe_going_on" goingOnSafe :: IO CInt

foreign import ccall unsafe "probe_going_on" goingOnUnsafe :: IO CInt

foreign import ccall safe "probe_region_begins" regionBegins :: IO ()

foreign import ccall unsafe "probe_idle_stopped" idleStopped :: IO CInt

foreign import ccall safe "probe_holds" holdsSafe :: IO CInt

foreign import ccall unsafe "probe_holds" holdsUnsafe :: IO CInt

foreign import ccall unsafe "probe_capabilities" capabilities :: IO CInt

foreign import ccall unsafe "probe_marks" marks :: IO CInt

foreign import ccall unsafe "probe_threads" threadCount :: IO CInt

foreign import ccall unsafe "probe_watchers" watcherCount :: IO CInt

foreign import ccall unsafe "probe_cost" cost :: CInt -> IO CDouble

foreign import ccall unsafe "probe_sleeper" sleeper :: IO ()

foreign import ccall unsafe "probe_sleeper_is_at" sleeperIsAt :: CInt -> IO CInt

foreign import ccall unsafe "probe_sleeper_may_go_to" sleeperMayGoTo :: CInt -> IO ()

foreign import ccall unsafe "cst_rts_note_search" noteSearch :: Int -> Bool -> IO ()

foreign import ccall unsafe "cst_rts_regions_need_all" regionsNeedAll :: IO Bool

foreign import ccall unsafe "cst_rts_await_idle" awaitIdle :: Int -> StablePtr PrimMVar -> Int -> IO Bool

main :: IO ()
main = do
  [name] <- getArgs
  reason <- peekCString =<< start
  case lookup name scenarios of
    Just run -> expect "start" (null reason) reason >> run
    Nothing -> case name of
      "refused" -> putStrLn reason
      _ -> die ("no such scenario: " ++ name)

scenarios :: [(String, IO ())]
scenarios =
  [ ("busy", busy),
    ("idle", idle),
    ("goesOn", goesOn),
    ("searching", searching),
    ("sleeping", sleeping),
    ("stopped", stopped),
    ("collectors", collectors),
    ("holds", holds),
    ("collect", collect),
    ("marking", marking),
    ("awaiting", awaiting),
    ("resize", resize),
    ("unsafe", unsafeRegions),
    ("callers", callers),
    ("exit", leaveAsleep >> exitWith (ExitFailure 3)),
    ("return", leaveAsleep),
    ("cost", cost 10000000 >>= print)
  ]

expect :: String -> Bool -> String -> IO ()
expect what true found =
  unless true $ die (what ++ ": " ++ found)

expectThat :: Show a => String -> (a -> Bool) -> a -> IO ()
expectThat what wanted found = expect what (wanted found) ("found " ++ show found)

-- | Runs an action beside a Haskell computation on a given Capability.
beside :: Int -> IO a -> IO a
beside capability action = bracket begin killThread (const action)
  where
    begin = do
      begun <- newEmptyMVar
      value <- Ref.newIORef 0
      thread <- forkOnWithUnmask capability $ \unmask -> do
        putMVar begun ()
        unmask (forever (Ref.modifyIORef' value (`turn` 100000)))
      takeMVar begun
      sleepSafe 20000
      pure thread
    -- The loop hardly allocates, so it starts no collection.
    turn :: Int -> Int -> Int
    turn seed 0 = seed
    turn seed n = turn ((seed * 1103515245 + 12345) `mod` 2147483648) (n - 1)
    {-# NOINLINE turn #-}

-- | Runs an action in a green thread of a given Capability.
onCapability :: Int -> IO a -> IO a
onCapability capability action = do
  end <- newEmptyMVar
  _ <- forkOn capability (try action >>= putMVar end)
  takeMVar end >>= either (throwIO :: SomeException -> IO a) pure

-- | The share of the time, in percent, in which Haskell ran on Capabilities 0 and 1 during the
-- action.
observe :: IO () -> IO (CInt, CInt)
observe action = do
  reset
  action
  (,) <$> percent 0 <*> percent 1

-- | @rCurrentTSO@ is set while Haskell code runs, also in an unsafe call, and clear in a safe call,
-- when nothing runs, and in a collection.
busy :: IO ()
busy = do
  _ <- regionSafe
  watch
  onCapability 0 $ do
    observe (sleepSafe 200000) >>= expectThat "a safe call" (\(a, b) -> a <= 2 && b <= 2)
    observe (threadDelay 200000) >>= expectThat "nothing runs" (\(a, b) -> a <= 2 && b <= 2)
    observe (sleepUnsafe 200000) >>= expectThat "an unsafe call" (\(a, b) -> a >= 98 && b <= 2)
    beside 1 (observe (sleepSafe 400000))
      >>= expectThat "Haskell on Capability 1" (\(a, b) -> a <= 5 && b >= 60)
    live <- evaluate (let xs = [1 .. 2000000] :: [Int] in sum xs `seq` xs)
    observe (replicateM_ 10 performMajorGC)
      >>= expectThat "collections" (\(a, b) -> a <= 30 && b <= 30)
    void (evaluate (length live))

-- | A thread can tell whether it holds a Capability.
holds :: IO ()
holds = do
  _ <- regionSafe
  forM_ [0, 1] $ \capability -> onCapability capability $ do
    holdsSafe >>= expectThat "holds one in a safe call" (== 0)
    holdsUnsafe >>= expectThat "holds one in an unsafe call" (== 1)

-- | The caller's own Capability is not busy, whether the call is safe or unsafe.
idle :: IO ()
idle = asked "idle" (2, 1) idleSafe idleUnsafe

-- | A thread that computes on another Capability is found again by the next look. The caller's own
-- does not count.
goesOn :: IO ()
goesOn = asked "goes on" (0, 1) goingOnSafe goingOnUnsafe

-- | A question has one answer while no Haskell code runs, and another beside a computation, by a
-- safe and by an unsafe call. Other threads of the process may be about to sleep, so the test asks
-- until the answer is right.
asked :: String -> (CInt, CInt) -> IO CInt -> IO CInt -> IO ()
asked what (alone, besideHaskell) safe unsafe = do
  _ <- regionSafe
  onCapability 0 $ do
    answers "" alone
    beside 1 (answers " beside Haskell" besideHaskell)
  where
    answers place right = do
      soon right safe >>= expectThat (what ++ place ++ ", safe") (== right)
      soon right unsafe >>= expectThat (what ++ place ++ ", unsafe") (== right)

-- | A thread that looks for tasks learns whether regions need its processor. Its Capability counts
-- as idle.
searching :: IO ()
searching = do
  _ <- regionSafe
  onCapability 0 $ do
    soon False (needed 0) >>= expectThat "no region" not
    soon False (needed 1) >>= expectThat "a thread in regions" not
    needed 2 >>= expectThat "two threads in regions" id
    beside 1 $ do
      needed 1 >>= expectThat "a thread in regions, and Haskell beside it" id
      noteSearch 1 True
      soon 2 idleUnsafe >>= expectThat "idle beside one that looks for tasks" (== 2)
      needed 1 >>= expectThat "a thread in regions, and one that looks for tasks" not
      noteSearch 1 False
      soon 1 idleUnsafe >>= expectThat "idle beside one that no longer looks" (== 1)
  where
    needed threads = compute threads *> regionsNeedAll <* compute 0

-- | An unsafe call on Capability 1 sleeps, and says so, then computes. GHC shows its thread all the
-- time.
sleeping :: IO ()
sleeping = do
  _ <- regionSafe
  ended <- newEmptyMVar
  onCapability 0 $ do
    _ <- forkOn 1 (sleeper >> putMVar ended ())
    soon 1 (sleeperIsAt 1) >>= expectThat "the call sleeps" (== 1)
    soon 2 idleUnsafe >>= expectThat "idle beside a call that sleeps" (== 2)
    sleeperMayGoTo 2
    soon 1 (sleeperIsAt 2) >>= expectThat "the call computes" (== 1)
    soon 1 idleUnsafe >>= expectThat "idle beside a call that computes" (== 1)
    sleeperMayGoTo 3
    takeMVar ended

-- | Asks until the answer is right, up to a number of times.
soon :: Eq a => a -> IO a -> IO a
soon wanted ask = go (50 :: Int)
  where
    go n = do
      answer <- ask
      if answer == wanted || n == 0 then pure answer else sleepSafe 10000 >> go (n - 1)

-- | A thread that was stopped for a collection will run: its Capability is not idle.
stopped :: IO ()
stopped = do
  _ <- regionSafe
  begun <- newEmptyMVar
  other <- forkOn 0 (putMVar begun () >> forever (evaluate (length (show [1 .. 100000 :: Int]))))
  onCapability 1 (takeMVar begun >> idleStopped) >>= expectThat "idle beside one that is stopped" (== 1)
  killThread other

-- | Regions ask how many Capabilities are idle. Beside regions, and for some time after the last
-- one, a small collection has one thread if only one Capability has work. GHC's own threads may
-- have work for a moment.
collectors :: IO ()
collectors = do
  threads performMinorGC >>= expectThat "threads without regions" (== 2)
  soon 1 (beside' performMinorGC) >>= expectThat "threads beside regions" (== 1)
  soon 1 (beside' performMajorGC) >>= expectThat "threads for a small heap" (== 1)
  beside 0 (beside 1 (soon 2 (beside' performMinorGC))) >>= expectThat "threads if two Capabilities have work" (== 2)
  live <- evaluate (let xs = [1 .. 1000000] :: [Int] in sum xs `seq` xs)
  beside' performMajorGC >>= expectThat "threads for a large heap" (== 2)
  soon 1 (beside' performMinorGC) >>= expectThat "threads for its youngest generation" (== 1)
  _ <- evaluate (length live)
  threadDelay 200000
  performMinorGC
  threads performMinorGC >>= expectThat "threads after the last region" (== 2)
  -- A region that goes on counts for all collections beside it, whenever it began.
  compute 2 >> performMinorGC >> threadDelay 200000 >> performMinorGC
  threads performMinorGC >>= expectThat "threads beside a region that goes on" (== 1)
  compute 0 >> threadDelay 200000 >> performMinorGC
  threads performMinorGC >>= expectThat "threads after it" (== 2)
  where
    -- The result of a collection takes effect in the next one.
    beside' :: IO () -> IO Word32
    beside' collection = regionBegins >> performMinorGC >> regionBegins >> threads collection
    threads :: IO () -> IO Word32
    threads collection = collection >> gcdetails_threads . gc <$> getRTSStats

-- | Workers in C, attached or not, do not delay a collection.
collect :: IO ()
collect = do
  forM_ [0 .. 3] $ \i -> attach i 3000000
  _ <- spawn 4 3000000
  began <- getMonotonicTime
  replicateM_ 100 performMajorGC
  ended <- getMonotonicTime
  expectThat "seconds for 100 collections" (< 2) (ended - began)

-- | With @--nonmoving-gc -V0 -A64m@ only Capstan ends a time slice, and this loop starts no
-- collection. A collection that marks beside the loop gets its last pause all the same. Capstan's
-- thread for this purpose then ends; GHC may have made some threads of its own. The @yield@
-- consumes the end of the slice that a collection requests.
marking :: IO ()
marking = do
  before <- threadCount
  forM_ [1 .. 100 :: Int] $ \_ -> performMajorGC >> yield >> ends 5000
  threadCount >>= expectThat "threads after the last mark" (< before + 10)
  where
    ends :: Int -> IO ()
    ends turns = do
      sleepUnsafe 1000
      marksOn <- marks
      when (marksOn /= 0) $ do
        expectThat "turns left while a collection marks" (> 0) turns
        ends (turns - 1)
    {-# NOINLINE ends #-}

-- | A caller that waits for an idle Capability is told when the Capability idles, not before, or
-- when its time is over. A single thread tells any number of callers, also in a forked child. (The
-- test counts the watching threads, as GHC may make threads of its own meanwhile.)
awaiting :: IO ()
awaiting = do
  before <- watcherCount
  many
  watcherCount >>= expectThat "threads that tell" (<= before + 1)
  early <- beside 1 $ do
    box <- told 1 0
    sleepSafe 50000
    early <- tryTakeMVar box
    told 1 30 >>= takeMVar
    pure (early, box)
  expect "told while Haskell runs there" (isNothing (fst early)) "the time over"
  takeMVar (snd early)
  child <- forkProcess many
  getProcessStatus True False child >>= expectThat "the child" (== Just (Exited ExitSuccess))
  -- These callers are told nothing any more, as the runtime system ends.
  void (beside 1 (replicateM 100 (told 1 0)))
  where
    many = replicateM 1000 (mapM (`told` 0) [0, 1, 7]) >>= mapM_ (mapM_ takeMVar)
    told :: Int -> Int -> IO (MVar ())
    told capability milliseconds = do
      box <- newEmptyMVar
      pointer <- newStablePtrPrimMVar box
      watched <- awaitIdle capability pointer milliseconds
      expect "awaiting" watched "nobody to tell"
      pure box

-- | The number of Capabilities changes while workers sleep, collections run and a thread watches
-- all Capabilities.
--
-- Five collections run beside each change, not an endless series, as GHC is not fair. A collection
-- wakes a thread that waits for a Capability, but the next collection takes every free Capability
-- (@requestSync@, @waitForCapability@), and may come first. With an endless series one change
-- waited for 3 000 collections, and on a busy machine the changes took longer than any limit.
resize :: IO ()
resize = do
  _ <- spawn 8 0
  forM_ [0 .. 3] $ \i -> attach i 0
  watch
  forM_ (concat (replicate 20 [1, 5, 2, 8, 3, 16, 1, 2])) $ \n -> do
    begun <- newEmptyMVar
    collected <- newEmptyMVar
    _ <- forkIO (putMVar begun () >> replicateM_ 5 performMajorGC >> putMVar collected ())
    takeMVar begun
    setNumCapabilities n
    capabilities >>= expectThat "capabilities" (== fromIntegral n)
    _ <- regionSafe
    takeMVar collected
  leave (12 + 160)

-- | A region that an unsafe call entered ends while other threads want to collect, as its worker
-- waits for no Capability. This also holds with one Capability (+RTS -N1).
unsafeRegions :: IO ()
unsafeRegions = do
  others <- forM [1 .. 2 :: Int] $ \_ -> forkIO (forever (performMajorGC >> yield))
  replicateM_ 300 regionUnsafe
  mapM_ killThread others

-- | Green threads and bound threads call at the same time.
callers :: IO ()
callers = do
  ends <- forM [1 .. 16 :: Int] $ \i -> do
    end <- newEmptyMVar
    let fork = if even i && rtsSupportsBoundThreads then forkOS else forkIO
    _ <- fork (replicateM_ 50 regionSafe >> replicateM_ 50 regionUnsafe >> putMVar end ())
    pure end
  mapM_ takeMVar ends

-- | The program ends while workers sleep.
leaveAsleep :: IO ()
leaveAsleep = do
  _ <- spawn 4 0
  forM_ [0, 1] $ \i -> attach i 0
  watch
  void regionUnsafe
  replicateM_ 2 (threadDelay 1000 >> markerSleeps)

-- | Waits until the marking thread of the non-moving collector sleeps, if there is one. A program
-- of GHC 9.10 that ends earlier hangs: it tells the thread to end before the thread listens, and
-- waits for it.
markerSleeps :: IO ()
markerSleeps = do
  threads <- listDirectory "/proc/self/task"
  -- A thread may have ended meanwhile.
  states <- forM threads $ \thread -> either noThread words <$> try (readFile ("/proc/self/task/" ++ thread ++ "/stat"))
  unless (null [() | _ : "(nonmoving-mark)" : state : _ <- states, state /= "S"]) (threadDelay 1000 >> markerSleeps)
  where
    noThread :: IOException -> [String]
    noThread _ = []
