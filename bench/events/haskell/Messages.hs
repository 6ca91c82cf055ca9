-- | 1-byte messages through many pipes, by Haskell actions: Capstan.Event beside GHC.Event, each
-- with its own manager thread. The file ..\/contender.h defines a message. The program also
-- measures timers, while a million are live.
--
-- Prints millions of messages a second as messages-LOOP-PIPES. LOOP is haskell (Capstan) or ghc,
-- with one registration, or either with -oneshot, with a registration for each message. Prints
-- nanoseconds as timer-insert-cancel-LOOP. The loops take turns.
--
-- > Messages [-t IGNORED] [-r ROUNDS] [-u MICROSECONDS] [-c] [CASE...]
--
-- @-c@ measures processor time, for a machine that is busy with other work.
module Main (main) where

import Capstan.Event (Lifetime (..), Target (..), Trigger (..))
import qualified Capstan.Event as Capstan
import Control.Concurrent.MVar (MVar, newEmptyMVar, putMVar, takeMVar)
import Control.Monad (forM, forM_, replicateM, unless, void, when)
import Data.IORef (newIORef, readIORef, writeIORef)
import Data.List (isPrefixOf, isSuffixOf, transpose)
import Data.Word (Word64)
import Foreign.C.Types (CInt (..), CSize (..))
import Foreign.Marshal.Alloc (mallocBytes)
import Foreign.Ptr (Ptr)
import Foreign.Storable (peek, poke)
import qualified GHC.Event as Ghc
import System.CPUTime (getCPUTime)
import System.Environment (getArgs)
import System.Posix.IO (closeFd, createPipe)
import System.Posix.Types (CSsize (..), Fd (..))

foreign import ccall unsafe "read"
  c_read :: CInt -> Ptr () -> CSize -> IO CSsize

foreign import ccall unsafe "write"
  c_write :: CInt -> Ptr () -> CSize -> IO CSsize

data Options = Options
  { rounds :: Int,
    microseconds :: Double,
    processorTime :: Bool,
    cases :: [String]
  }

parse :: [String] -> Options -> Options
parse arguments options = case arguments of
  "-t" : _ : rest -> parse rest options
  "-r" : n : rest -> parse rest options {rounds = read n}
  "-u" : n : rest -> parse rest options {microseconds = read n}
  "-c" : rest -> parse rest options {processorTime = True}
  name : rest -> parse rest options {cases = cases options ++ [name]}
  [] -> options

-- | Whether a case is wanted: no words mean all cases, and a word that ends in - means all cases
-- that begin so.
wanted :: Options -> String -> Bool
wanted options name = null (cases options) || any matches (cases options)
  where
    matches word
      | "-" `isSuffixOf` word = word `isPrefixOf` name
      | otherwise = word == name

-- | Registers an action for each descriptor; the result undoes it.
type Contender = [(Fd, IO ())] -> IO (IO ())

contenders :: [(String, Contender)]
contenders =
  [ ("ghc", ghc),
    ("haskell", capstan),
    ("ghc-oneshot", ghcOneShot),
    ("haskell-oneshot", capstanOneShot)
  ]

ghc :: Contender
ghc actions = do
  found <- Ghc.getSystemEventManager
  manager <- maybe (fail "GHC.Event needs -threaded") pure found
  keys <- forM actions $ \(fd, action) ->
    Ghc.registerFd manager (\_ _ -> action) fd Ghc.evtRead Ghc.MultiShot
  pure (forM_ keys (Ghc.unregisterFd manager))

-- | Waits once per message, like GHC's own threadWaitRead.
ghcOneShot :: Contender
ghcOneShot actions = do
  found <- Ghc.getSystemEventManager
  manager <- maybe (fail "GHC.Event needs -threaded") pure found
  forM_ actions $ \(fd, action) ->
    let wait = void (Ghc.registerFd manager (\_ e -> when (e == Ghc.evtRead) (action >> wait)) fd Ghc.evtRead Ghc.OneShot)
     in wait
  pure (forM_ actions (Ghc.closeFd manager (const (pure ())) . fst))

capstanOneShot :: Contender
capstanOneShot actions = do
  manager <- Capstan.systemManager
  forM_ actions $ \(fd, action) ->
    let wait = void (Capstan.register manager fd Capstan.readable OneShot Level (Run (\r -> when (Capstan.readyEvents r == Capstan.readable) (action >> wait))))
     in wait
  pure (forM_ actions (Capstan.closeFdWith (const (pure ())) . fst))

capstan :: Contender
capstan actions = do
  manager <- Capstan.systemManager
  watches <- forM actions $ \(fd, action) ->
    Capstan.register manager fd Capstan.readable Persistent Level (Run (const action))
  pure (forM_ watches Capstan.unregister)

-- | Pipes for one size. The number of messages to go is in memory that no collector moves.
data Pipes = Pipes
  { pipeEnds :: [(Fd, Fd)],
    pipeCount :: !Int,
    pipeLeft :: !(Ptr Word64),
    pipeByte :: !(Ptr ()),
    pipeDone :: !(MVar ())
  }

-- | Reads a byte and writes it again, until no message is left; the last byte ends the round.
passOn :: Pipes -> (Fd, Fd) -> IO ()
passOn pipes (Fd from, Fd to) = do
  got <- c_read from (pipeByte pipes) 1
  left <- subtract 1 <$> peek (pipeLeft pipes)
  poke (pipeLeft pipes) left
  if left >= fromIntegral (pipeCount pipes)
    then void (c_write to (pipeByte pipes) 1)
    else when (left == 0) (putMVar (pipeDone pipes) ())
  unless (got == 1) (fail "a spurious event")

main :: IO ()
main = do
  options <- flip parse (Options 20 20000 False []) <$> getArgs
  forM_ [100, 300, 1000, 3000, 9900] $ \size -> do
    let chosen = [(name, c) | (loop, c) <- contenders, let name = "messages-" ++ loop ++ "-" ++ show size, wanted options name]
    costs <- forM [1 .. 3 :: Int] $ \_ -> forM chosen (measure options size . snd)
    forM_ (zip (map fst chosen) (transpose costs)) $ \(name, each) ->
      putStrLn (name ++ "\tM/s\t" ++ show (1000 / minimum each))
  forM_ timers $ \(loop, timer) -> do
    let name = "timer-insert-cancel-" ++ loop
    when (wanted options name) $ do
      cost <- timer
      putStrLn (name ++ "\tns\t" ++ show cost)

-- | Loops with timers: the ns to start and cancel a timer while a million are live.
timers :: [(String, IO Double)]
timers =
  [ ( "haskell",
      Capstan.withManager $ \manager ->
        churn (\s -> Capstan.startTimer manager (Capstan.seconds s) (Run (const (pure ())))) (void . Capstan.cancelTimer)
    ),
    ( "ghc",
      do
        manager <- Ghc.getSystemTimerManager
        churn (\s -> Ghc.registerTimeout manager (s * 1000000) (pure ())) (Ghc.unregisterTimeout manager)
    )
  ]

-- | Measures an action that starts a timer of a number of seconds, together with an action that
-- cancels it.
churn :: (Int -> IO key) -> (key -> IO ()) -> IO Double
churn begin end = do
  forM_ [1 .. 1000000] $ \n -> begin (600 + n * 7919 `mod` 3600)
  minimum <$> replicateM 5 (time 20000)
  where
    time n = do
      before <- Capstan.clock
      forM_ [1 .. n] $ \i -> begin (600 + i `mod` 3600) >>= end
      after <- Capstan.clock
      pure (fromIntegral (Capstan.toNanoseconds (after `Capstan.since` before)) / fromIntegral (n :: Int))

measure :: Options -> Int -> Contender -> IO Double
measure options size contender = do
  ends <- replicateM size createPipe
  pipes <- Pipes ends size <$> mallocBytes 8 <*> mallocBytes 8 <*> newEmptyMVar
  undo <- contender [(fst pair, passOn pipes pair) | pair <- ends]
  first <- turn options pipes (4 * size)
  best <- newIORef first
  forM_ [1 .. rounds options] $ \_ -> do
    least <- readIORef best
    cost <- turn options pipes (max (2 * size) (ceiling (1000 * microseconds options / least)))
    when (cost < least) (writeIORef best cost)
  undo
  forM_ ends $ \(a, b) -> closeFd a >> closeFd b
  readIORef best

-- | The ns per message.
turn :: Options -> Pipes -> Int -> IO Double
turn options pipes messages = do
  poke (pipeLeft pipes) (fromIntegral total)
  before <- time
  forM_ (pipeEnds pipes) $ \(_, Fd to) -> c_write to (pipeByte pipes) 1
  takeMVar (pipeDone pipes)
  after <- time
  pure (fromIntegral (after - before) / fromIntegral total)
  where
    total = messages + pipeCount pipes
    time
      | processorTime options = (`div` 1000) <$> getCPUTime
      | otherwise = fromIntegral . Capstan.toNanoseconds <$> Capstan.clock
