{-# LANGUAGE MultiWayIf #-}
{-# LANGUAGE RankNTypes #-}

-- |
-- Module      : Capstan.Event.Manager
-- Description : Managers and the threads that drive them
--
-- A Haskell thread drives a manager: it pulls records of due events from C, and runs the handlers
-- that the records name. The data of a registration is the slot of its handler
-- ("Capstan.Event.Slots"). C sets the @last@ mark in a record if no further record can name this
-- slot; then the slot is freed.
--
-- While the manager has work, the pull is an unsafe call that cannot block. If it finds no work,
-- even after other threads of the Capability have run, a safe call sleeps in the kernel.
module Capstan.Event.Manager
  ( Manager,
    Handler (..),
    withHandler,
    withHandle,
    check,
    named,
    newManager,
    freeManager,
    withManager,
    systemManager,
    loop,
    step,
    stepUntilSome,
    shutdown,
    setExceptionHandler,
    ManagerStatistics (..),
    managerStatistics,
    recordIdent,
    recordEvents,
    recordExpirations,
  )
where

import Capstan.Duration (Duration, nanoseconds, toNanoseconds, unlimited)
import Capstan.Event.Failure
import Capstan.Event.Foreign
import Capstan.Event.Slots
import Capstan.Event.Types
import Capstan.Exception (throwUnavailable)
import Control.Concurrent
  ( forkIO,
    forkOnWithUnmask,
    getNumCapabilities,
    myThreadId,
    rtsSupportsBoundThreads,
    threadCapability,
    threadDelay,
    yield,
  )
import Control.Concurrent.MVar (newEmptyMVar, putMVar, takeMVar)
import Control.Exception
  ( SomeAsyncException (..),
    SomeException,
    bracket,
    catch,
    fromException,
    mask,
    mask_,
    onException,
    throwIO,
    try,
    uninterruptibleMask_,
  )
import Control.Monad (unless, void, when)
import Data.IORef (IORef, atomicModifyIORef', atomicWriteIORef, newIORef, readIORef)
import Data.Word (Word64, Word8)
import Foreign.C.Error (Errno (..), eBUSY, eNOENT, eSHUTDOWN)
import Foreign.C.Types (CInt, CUInt)
import Foreign.ForeignPtr
  ( ForeignPtr,
    mallocForeignPtrBytes,
    newForeignPtr,
    withForeignPtr,
  )
import Foreign.Marshal.Alloc (alloca, allocaBytes)
import Foreign.Marshal.Array (peekArray)
import Foreign.Ptr (FunPtr, Ptr, castFunPtr, minusPtr, nullFunPtr, nullPtr, plusPtr)
import Foreign.Storable (peek, peekByteOff, poke)
import GHC.Arr (Array, bounds, inRange, listArray, (!), (//))
import GHC.Conc
  ( getUncaughtExceptionHandler,
    labelThread,
  )
import System.IO.Unsafe (unsafePerformIO)
import System.Posix.Types (Fd (..))

-- * Managers

-- | Watches descriptors, keeps timers and accepts posts.
data Manager = Manager
  { managerHandle :: !(ForeignPtr CManager),
    -- | The records of the last pull. In front of them are their number ('countOf'), the index of
    -- the next record to run ('nextOf'), and the number of records whose handlers were freed
    -- ('releasedOf').
    managerBatch :: !(ForeignPtr CUInt),
    managerHandlers :: !(Slots Handler),
    -- | The process in which a thread drives the manager, as its number of forks. A thread that
    -- drove the manager in the parent does not exist in a child.
    managerDriver :: !(IORef (Maybe CUInt)),
    managerExceptions :: !(IORef (SomeException -> IO ()))
  }

instance Eq Manager where
  a == b = managerHandle a == managerHandle b

-- | An arbitrary order, for keys.
instance Ord Manager where
  compare a b = compare (managerHandle a) (managerHandle b)

batchCapacity, batchHeader :: Int
batchCapacity = 256
batchHeader = 16

-- | Makes a manager that a thread must drive, with 'loop' or 'step'. 'withManager' ends such a
-- manager, and so does the collector when no code can reach it. Throws an 'IOError' when the
-- process has no descriptors left.
newManager :: IO Manager
newManager = mask_ $ do
  raw <- alloca $ \out -> do
    check "newManager" =<< c_manager_new_pull out
    peek out
  handle <- newForeignPtr c_manager_free raw
  batch <- mallocForeignPtrBytes (batchHeader + batchCapacity * recordSize)
  withForeignPtr batch $ \p -> do
    poke (countOf p) 0
    poke (nextOf p) 0
    poke (releasedOf p) 0
  handlers <- newSlots (Handler (const (pure ())))
  Manager handle batch handlers <$> newIORef Nothing <*> newIORef reportException

-- | Ends a manager. On the calling thread, remaining registrations get the event 'closed', and
-- timers get 0 'expirations'. Later calls for its registrations and timers answer as after
-- 'shutdown': nothing can be changed or ended. Throws an 'IOError' (resource busy) if another
-- thread drives the manager. In that case call 'shutdown' first, and wait until that thread has
-- returned.
freeManager :: Manager -> IO ()
freeManager manager = do
  shutdown manager
  driving "freeManager" manager (driveUntilShutdown sleepInterruptibly manager)
  withHandle manager c_manager_end >>= check "freeManager"

-- | Runs an action with a manager, and ends the manager afterwards. No other thread may drive the
-- manager when the action ends ('freeManager').
--
-- > withManager $ \own -> startTimer own mempty (Run print) >> step own unlimited
withManager :: (Manager -> IO a) -> IO a
withManager = bracket newManager freeManager

-- | Sets the handler of exceptions that actions throw. The initial handler treats them as GHC
-- treats an exception that ends a thread.
--
-- > setExceptionHandler manager (\e -> putStrLn ("an action failed: " ++ show e))
setExceptionHandler :: Manager -> (SomeException -> IO ()) -> IO ()
setExceptionHandler manager = atomicWriteIORef (managerExceptions manager)

reportException :: SomeException -> IO ()
reportException e = getUncaughtExceptionHandler >>= \handler -> handler e

-- | Makes 'loop' return after the actions that it is running. From then on registering, starting
-- and posting throw. The last turns of the loop notify pending registrations and timers.
shutdown :: Manager -> IO ()
shutdown manager = withHandle manager c_shutdown

-- | Makes the data that C keeps for a handler, and frees it if the call throws. The caller has
-- masked exceptions.
withHandler :: Manager -> Handler -> (Ptr () -> IO b) -> IO b
withHandler manager handler run = do
  slot <- takeSlot (managerHandlers manager) handler
  run (nullPtr `plusPtr` slot) `onException` freeSlot (managerHandlers manager) slot
{-# INLINE withHandler #-}

withHandle :: Manager -> (Ptr CManager -> IO a) -> IO a
withHandle = withForeignPtr . managerHandle
{-# INLINE withHandle #-}

-- ** Counters

-- | Statistics of a manager since it was made; see @capstan.h@.
data ManagerStatistics = ManagerStatistics
  { -- | How often the manager asked the kernel for events, and how often another thread had to wake
    -- it.
    statTurns, statWakeUps :: !Word64,
    -- | The number of reports that were dropped because their registration had ended. How often the
    -- kernel's set was built anew.
    statStale, statRebuilds :: !Word64,
    -- | The number of batches of actions that took longer than 500 ms.
    statSlow :: !Word64,
    -- | The time of the longest batch that was counted.
    statSlowest :: !Duration,
    -- | The present numbers of registrations and timers.
    statWatches, statTimers :: !Word64
  }
  deriving (Eq, Show)

-- | Reads the statistics of a manager. While it runs, its numbers may be of slightly different
-- moments. Costs about 50 ns.
--
-- > turns <- statTurns <$> managerStatistics manager
managerStatistics :: Manager -> IO ManagerStatistics
managerStatistics manager = allocaBytes (8 * fields) $ \out -> do
  withHandle manager $ \raw -> c_statistics raw out (fromIntegral (8 * fields))
  values <- peekArray fields out
  case values of
    [turns, _, _, _, wakeUps, stale, rebuilds, slow, slowest, watches, timers] ->
      pure (ManagerStatistics turns wakeUps stale rebuilds slow (nanoseconds (fromIntegral slowest)) watches timers)
    _ -> failure "managerStatistics" eNOENT
  where
    fields = 11

-- * Driving

-- | Drives the manager until 'shutdown'. Sleeps in the kernel while no event is due. An
-- asynchronous exception ends the loop, between two actions or within an action. Nothing but that
-- action is lost, and 'loop' may be called again. Throws an 'IOError' (resource busy) if another
-- thread drives the manager.
--
-- > withManager $ \manager -> do
-- >   _ <- startTimer manager (seconds 1) (Run (const (shutdown manager)))
-- >   loop manager
loop :: Manager -> IO ()
loop manager = driving "loop" manager (driveUntilShutdown sleepInterruptibly manager)

-- | Drives the manager for one turn: waits for work, at most for the given time, and runs the
-- actions that are due. Returns the number of actions. It is 0 after a timeout, and after
-- 'shutdown' when no work is left. Errors and exceptions: as 'loop'.
--
-- > actions <- step manager (milliseconds 10)
step :: Manager -> Duration -> IO Int
step manager wait = fst <$> turn manager wait

-- | Repeats turns until a turn has run an action ('True'), or until the manager was shut down and
-- no work is left ('False'). A signal or a wake-up may end a turn without an action; then another
-- turn follows.
stepUntilSome :: Manager -> IO Bool
stepUntilSome manager = do
  (actions, stopped) <- turn manager unlimited
  if actions == 0 && not stopped then stepUntilSome manager else pure (actions > 0)

-- | Returns the number of actions, and whether the manager had been shut down before, with no work
-- left.
turn :: Manager -> Duration -> IO (Int, Bool)
turn manager wait = driving "step" manager $ \restore -> do
  left <- runBatch manager restore
  found <- if left > 0 then pure Some else pullNow manager
  when (found == Nothing' && wait /= mempty) $
    sleepInterruptibly manager wait
  actions <- runBatch manager restore
  pure (left + actions, found == Stopped)

-- | A way to wait for work, at most for the given time. The caller has masked exceptions.
type Sleep = Manager -> Duration -> IO ()

driveUntilShutdown :: Sleep -> Manager -> (forall a. IO a -> IO a) -> IO ()
driveUntilShutdown sleep manager restore = go
  where
    go = do
      _ <- runBatch manager restore
      found <- pullNow manager
      again <- case found of
        -- Other threads run first: the actions may have woken threads that make new work.
        Nothing' -> yield >> pullNow manager
        _ -> pure found
      case again of
        Stopped -> pure ()
        Nothing' -> sleep manager unlimited >> go
        Some -> go

-- | Runs the body as the only thread that drives the manager. Throws (resource busy) if another
-- thread drives it.
driving :: String -> Manager -> ((forall a. IO a -> IO a) -> IO b) -> IO b
driving name manager body = mask $ \restore -> do
  process <- c_forks
  free <- atomicModifyIORef' (managerDriver manager) $ \driver ->
    if driver == Just process then (driver, False) else (Just process, True)
  unless free (failure name eBUSY)
  result <- body restore `onException` leave
  leave
  pure result
  where
    leave = atomicWriteIORef (managerDriver manager) Nothing

data Found = Stopped | Nothing' | Some deriving (Eq)

countOf, nextOf, releasedOf :: Ptr CUInt -> Ptr CUInt
countOf batch = batch
nextOf batch = batch `plusPtr` 4
releasedOf batch = batch `plusPtr` 8

recordOf :: Ptr CUInt -> CUInt -> Ptr Record
recordOf batch i = batch `plusPtr` (batchHeader + fromIntegral i * recordSize)

-- | Pulls records without blocking.
pullNow :: Manager -> IO Found
pullNow manager = pullWith manager c_pull mempty

-- | Sleeps in the kernel, without interruption.
sleepDirectly :: Sleep
sleepDirectly manager = void . pullWith manager c_pull_waiting

-- | Sleeps in a way that an asynchronous exception can interrupt. GHC's runtime system interrupts a
-- foreign call by one signal, which does nothing if it comes just before the call sleeps in the
-- kernel. So another thread sleeps, and the caller waits for that thread at a place where no
-- exception is lost. The records that the other thread has pulled stay in the batch.
sleepInterruptibly :: Sleep
sleepInterruptibly manager timeout = do
  done <- newEmptyMVar
  _ <- forkIO (try (sleepDirectly manager timeout) >>= putMVar done)
  result <- takeMVar done `onException` (withHandle manager c_wake >> uninterruptibleMask_ (takeMVar done))
  either (throwIO :: SomeException -> IO ()) pure result

type Pull = Ptr CManager -> Ptr Record -> CUInt -> Word64 -> Ptr CUInt -> IO CInt

-- | Pulls records into the batch. All records of the last batch must have been run.
pullWith :: Manager -> Pull -> Duration -> IO Found
pullWith manager pull timeout =
  withHandle manager $ \raw -> withForeignPtr (managerBatch manager) $ \batch -> do
    poke (nextOf batch) 0
    poke (releasedOf batch) 0
    code <- pull raw (recordOf batch 0) (fromIntegral batchCapacity) (toNanoseconds timeout) (countOf batch)
    count <- peek (countOf batch)
    if
        | code == 0 -> pure (if count == 0 then Nothing' else Some)
        | Errno code == eSHUTDOWN -> pure Stopped
        | otherwise -> failure "loop" (Errno code)
{-# INLINE pullWith #-}

-- | Runs the records of the last pull, and returns their number. One exception handler serves many
-- actions: when an action throws, the loop continues with the next record. The index of the next
-- record is written before each action runs. So an asynchronous exception loses only the action
-- that it interrupts.
runBatch :: Manager -> (forall a. IO a -> IO a) -> IO Int
runBatch manager restore = withForeignPtr (managerBatch manager) $ \batch -> do
  first <- peek (nextOf batch)
  count <- peek (countOf batch)
  let go =
        restore (runRecords manager batch) `catch` \e -> do
          releaseCurrent manager batch
          case fromException e of
            Just (SomeAsyncException _) -> throwIO e -- meant for the thread, not for the action
            Nothing -> readIORef (managerExceptions manager) >>= \report -> restore (report e)
          go
  when (first < count) go
  pure (fromIntegral (count - first))

-- | The value in a slot. The record stays valid until the handler returns.
newtype Handler = Handler (Ptr Record -> IO ())

-- | Runs the remaining records, with exceptions unmasked.
runRecords :: Manager -> Ptr CUInt -> IO ()
runRecords manager batch = go
  where
    go = do
      next <- peek (nextOf batch)
      count <- peek (countOf batch)
      when (next < count) $ do
        let record = recordOf batch next
        context <- recordContext record
        function <- recordFunction record
        if function /= nullFunPtr
          then poke (nextOf batch) (next + 1) >> runForeign manager record function context
          else runHandler manager batch next record (context `minusPtr` nullPtr)
        go

runHandler :: Manager -> Ptr CUInt -> CUInt -> Ptr Record -> Slot -> IO ()
runHandler manager batch next record slot = do
  Handler run <- readSlot (managerHandlers manager) slot
  kind <- recordKind record
  final <- recordFinal record
  ended <- isEnded record kind
  poke (nextOf batch) (next + 1)
  unless ended (run record)
  when (final /= 0) (mask_ (releaseCurrent manager batch))

-- | Frees the handler of the record that ran last, if no further record names the handler and it is
-- not freed yet. The caller has masked exceptions.
releaseCurrent :: Manager -> Ptr CUInt -> IO ()
releaseCurrent manager batch = do
  next <- peek (nextOf batch)
  released <- peek (releasedOf batch)
  when (next > released) $ do
    poke (releasedOf batch) next
    let record = recordOf batch (next - 1)
    final <- recordFinal record
    function <- recordFunction record
    context <- recordContext record
    when (final /= 0 && function == nullFunPtr) (freeSlot (managerHandlers manager) (context `minusPtr` nullPtr))

-- | Whether the record only returns the data of a registration or timer that a call has ended: no
-- event has happened.
isEnded :: Ptr Record -> RecordKind -> IO Bool
isEnded record kind = do
  ident <- recordIdent record
  pure (ident == 0 && kind /= recordPost)

recordKind :: Ptr Record -> IO RecordKind
recordKind record = peekByteOff record 40

-- | If this is not 0, no further record names the handler.
recordFinal :: Ptr Record -> IO Word8
recordFinal record = peekByteOff record 41
{-# INLINE recordFinal #-}

recordFunction :: Ptr Record -> IO (FunPtr ())
recordFunction record = peekByteOff record 8
{-# INLINE recordFunction #-}

recordContext :: Ptr Record -> IO (Ptr ())
recordContext record = peekByteOff record 16
{-# INLINE recordContext #-}

-- | The name of the record's registration or timer.
recordIdent :: Ptr Record -> IO Word64
recordIdent record = peekByteOff record 0
{-# INLINE recordIdent #-}

-- | The events that have happened to the descriptor.
recordEvents :: Ptr Record -> IO Events
recordEvents record = Events <$> peekByteOff record 32
{-# INLINE recordEvents #-}

recordExpirations :: Ptr Record -> IO Word64
recordExpirations record = peekByteOff record 24
{-# INLINE recordExpirations #-}

recordDescriptor :: Ptr Record -> IO Fd
recordDescriptor record = Fd <$> peekByteOff record 36
{-# INLINE recordDescriptor #-}

runForeign :: Manager -> Ptr Record -> FunPtr () -> Ptr () -> IO ()
runForeign manager record function context = withHandle manager $ \raw -> do
  kind <- recordKind record
  ended <- isEnded record kind
  ident <- recordIdent record
  count <- recordExpirations record
  Events events <- recordEvents record
  Fd fd <- recordDescriptor record
  if
      | ended -> pure ()
      | kind == recordFd ->
        callFdFunction (castFunPtr function) raw ident (fromIntegral fd) (fromIntegral events) context
      | kind == recordTimer -> callTimerFunction (castFunPtr function) raw ident count context
      | otherwise -> callPostFunction (castFunPtr function) raw context

-- * The managers of the Capabilities

-- | The managers by Capability, with the process that made them. After a fork, no thread drives the
-- parent's managers in the child.
data System = System !CUInt !(Array Int (Maybe Manager))

systemManagers :: IORef System
systemManagers = unsafePerformIO (newIORef (System 0 (listArray (0, -1) [])))
{-# NOINLINE systemManagers #-}

-- | The manager of the calling thread's Capability. The first call on a Capability makes the
-- manager, and a thread on that Capability drives it until the program ends. Needs the threaded
-- RTS.
systemManager :: IO Manager
systemManager = do
  (capability, _) <- threadCapability =<< myThreadId
  forks <- c_forks
  System process managers <- readIORef systemManagers
  if process == forks && inRange (bounds managers) capability
    then maybe (makeSystemManager forks capability) pure (managers ! capability)
    else makeSystemManager forks capability

makeSystemManager :: CUInt -> Int -> IO Manager
makeSystemManager forks capability = mask_ $ do
  unless rtsSupportsBoundThreads needsThreads
  capabilities <- getNumCapabilities
  mine <- newManager
  manager <- atomicModifyIORef' systemManagers $ \(System process managers) ->
    let old = if process == forks then managers else listArray (0, -1) []
        size = maximum [capabilities, capability + 1, snd (bounds old) + 1]
        room = listArray (0, size - 1) (foldr (:) (repeat Nothing) old)
     in case room ! capability of
          Just other -> (System forks room, other)
          Nothing -> (System forks (room // [(capability, Just mine)]), mine)
  if manager == mine
    then do
      -- Actions, and threads that they fork, must not inherit the caller's masking state.
      thread <- forkOnWithUnmask capability (driveForEver mine)
      labelThread thread ("Capstan.Event manager of Capability " ++ show capability)
    else freeManager mine
  pure manager
  where
    needsThreads = throwUnavailable "Capstan.Event.systemManager: the Capabilities have managers in programs that are linked with -threaded"

-- | The thread of a system manager. It continues after any exception, because other threads depend
-- on it. An action may throw an asynchronous exception, and the kernel may be out of memory for a
-- while.
driveForEver :: Manager -> (forall a. IO a -> IO a) -> IO ()
driveForEver manager unmask = do
  outcome <- try (unmask (driving "systemManager" manager (driveUntilShutdown sleepDirectly manager)))
  case outcome of
    Right () -> pure () -- shut down
    Left e -> do
      report <- readIORef (managerExceptions manager)
      -- The handler runs unmasked, as actions do: the caller of 'systemManager' may have masked
      -- exceptions.
      _ <- try (unmask (report e)) :: IO (Either SomeException ())
      threadDelay 10000
      driveForEver manager unmask
