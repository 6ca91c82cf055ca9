-- | Calls of a library by all kinds of threads, beside threads that compute; the test also counts
-- the OS threads.
module Callers (test) where

import Capstan.OpenMP (Statistics (..), getMaxThreads, getProcessors, statistics)
import Capstan.Task (async, await, run)
import Control.Concurrent
import Control.Exception (SomeException, evaluate, throwIO, try)
import Control.Monad (forM, forM_, forever, replicateM, unless, void, (>=>))
import Data.IORef
import Oracle (Problem, problem)
import System.Directory (listDirectory)
import System.Exit (die)
import System.IO (hFlush, stdout)

-- | Makes all calls, beside a number of threads that compute.
test :: (Problem -> [(String, IO ())]) -> Int -> IO ()
test calls computing = do
  -- The number of members that the library requests; it may give the calling OS threads another
  -- number.
  members <- max 2 <$> getMaxThreads
  computed <- replicateM computing (newIORef 0)
  threads <- mapM (forkIO . compute) computed
  most <- newIORef 0
  let problems = map problem [1, 24, 220]
      all' = forM_ problems $ \p -> do
        forM_ (calls p) $ \(name, call) ->
          try call >>= either (\e -> die (name ++ ": " ++ show (e :: SomeException))) pure
        now <- osThreads
        atomicModifyIORef' most (\m -> (max m now, ()))
  step "main, a bound thread" all'
  step "a green thread" (together forkIO 1 all')
  step "green threads" (together forkIO callers all')
  step "bound threads" (together forkOS 2 all')
  step "tasks" (run (\scope -> replicateM callers (async scope all') >>= mapM_ await))
  mapM_ killThread threads
  turns <- mapM readIORef computed
  unless (all (> 0) turns) (die ("a thread has not computed: " ++ show turns))
  counted <- statistics
  allowed <- allowedThreads members
  found <- readIORef most
  putStrLn (show found ++ " OS threads at most, " ++ show allowed ++ " allowed, " ++ show counted)
  unless (statRegions counted > 0) (die "the library has opened no region")
  -- Beside other threads a team may be smaller, and so may the answer.
  processors <- getProcessors
  unless (computing > 0 || processors < 2 || statLargestTeam counted > 1) (die "no region of several threads")
  unless (found <= allowed) (die "too many OS threads")

-- | The largest number of calls at the same time.
callers :: Int
callers = 6

-- | The allowed number of OS threads. GHC has three kinds for each Capability: a thread that runs
-- Haskell, at most six spare threads (@MAX_SPARE_WORKERS@), and a thread that waits for its events.
-- Each call has one thread. Four more are the main thread, the clock, the timers and Capstan's
-- watcher. The single pool has at most twice the workers that the callers' teams need at once. A
-- pool for each library, or new workers for each region, would make hundreds of threads.
allowedThreads :: Int -> IO Int
allowedThreads members = do
  capabilities <- getNumCapabilities
  pure ((1 + 6 + 1) * capabilities + callers + 4 + 2 * callers * (members - 1))

osThreads :: IO Int
osThreads = length <$> listDirectory "/proc/self/task"

-- | Allocates little, as with a collection for each product the test would cover nothing else.
compute :: IORef Int -> IO ()
compute turns = forever $ do
  seed <- readIORef turns
  _ <- evaluate (go 20000 seed)
  modifyIORef' turns (+ 1)
  where
    go :: Int -> Int -> Int
    go 0 x = x
    go n x = go (n - 1) (x * 1103515245 + n)

together :: (IO () -> IO ThreadId) -> Int -> IO () -> IO ()
together fork count action = do
  ends <- forM [1 .. count] $ \_ -> do
    end <- newEmptyMVar
    void (fork (try action >>= putMVar end))
    pure end
  mapM_ (takeMVar >=> either (throwIO :: SomeException -> IO ()) pure) ends

-- | Prints the name of a step before it runs, so that the output names a step that hangs.
step :: String -> IO () -> IO ()
step name action = putStr (name ++ ": ") >> hFlush stdout >> action >> putStrLn "right"
