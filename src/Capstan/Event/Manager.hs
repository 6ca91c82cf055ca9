{-# LANGUAGE MultiWayIf #-}
{-# LANGUAGE RankNTypes #-}

-- |
-- Module      : Capstan.Event.Manager
-- Description : Managers and the threads that drive them
--
-- A manager is driven by a Haskell thread that pulls records of what is due from C and runs the
-- handlers that they name. The data of a registration is the slot of its handler ("Capstan.Event.Slots");
-- C says by the @last@ mark when no further record can bring it, and then it is freed.
--
-- While there is something to do, the pull is an unsafe call that cannot block. When there is
-- nothing, even after other threads of the Capability have run, a safe call sleeps in the kernel.
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
import Capstan.Exception.Internal (unavailable)
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
    -- | Records of the last pull; in front of them how many there are ('countOf'), which is the next
    -- to run ('nextOf') and up to which their handlers have been let go ('releasedOf').
    managerBatch :: !(ForeignPtr CUInt),
    managerHandlers :: !(Slots Handler),
    -- | The process, by its number of forks, in which a thread drives the manager. A thread that
    -- drove it in the parent is not there in a child.
    managerDriver :: !(IORef (Maybe CUInt)),
    managerExceptions :: !(IORef (SomeException -> IO ()))
  }

instance Eq Manager where
  a == b = managerHandle a == managerHandle b

-- | Some order, for keys.
instance Ord Manager where
  compare a b = compare (managerHandle a) (managerHandle b)

batchCapacity, batchHeader :: Int
batchCapacity = 256
batchHeader = 16

-- | A manager that some thread must drive, by 'loop' or 'step'. 'withManager' ends it, as
-- does the collector when nobody can reach it. Throws an 'IOError' when there are no descriptors left.
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

-- | Ends a manager: what is still registered is told 'closed', timers 0 'expirations', on the calling
-- thread. Who still has a part of it is answered as after 'shutdown': there is nothing to change or to end.
-- Throws an 'IOError' (resource busy) if another thread drives it: 'shutdown' first, and let that one return.
freeManager :: Manager -> IO ()
freeManager manager = do
  shutdown manager
  driving "freeManager" manager (driveUntilShutdown sleepInterruptibly manager)
  withHandle manager c_manager_end >>= check "freeManager"

-- | A manager for the time of an action, which is not to end while another thread drives it ('freeManager').
--
-- > withManager $ \own -> startTimer own mempty (Run print) >> step own unlimited
withManager :: (Manager -> IO a) -> IO a
withManager = bracket newManager freeManager

-- | What is done with an exception that an action throws. At first: what GHC does with an exception
-- that ends a thread.
--
-- > setExceptionHandler manager (\e -> putStrLn ("an action failed: " ++ show e))
setExceptionHandler :: Manager -> (SomeException -> IO ()) -> IO ()
setExceptionHandler manager = atomicWriteIORef (managerExceptions manager)

reportException :: SomeException -> IO ()
reportException e = getUncaughtExceptionHandler >>= \handler -> handler e

-- | Makes 'loop' return after what it is running. From then on registering, starting and posting
-- throw; what is pending is told so by the last turns of the loop.
shutdown :: Manager -> IO ()
shutdown manager = withHandle manager c_shutdown

-- | Makes the data that C keeps of a handler; lets it go if the call throws. Masked.
withHandler :: Manager -> Handler -> (Ptr () -> IO b) -> IO b
withHandler manager handler run = do
  slot <- takeSlot (managerHandlers manager) handler
  run (nullPtr `plusPtr` slot) `onException` freeSlot (managerHandlers manager) slot
{-# INLINE withHandler #-}

withHandle :: Manager -> (Ptr CManager -> IO a) -> IO a
withHandle = withForeignPtr . managerHandle
{-# INLINE withHandle #-}

-- ** Counters

-- | What a manager has done so far; see @capstan.h@.
data ManagerStatistics = ManagerStatistics
  { -- | Times that it asked the kernel, and that another thread had to wake it.
    statTurns, statWakeUps :: !Word64,
    -- | Reports that were dropped, because the registration had ended; times that the kernel's set
    -- was made anew.
    statStale, statRebuilds :: !Word64,
    -- | Batches of actions that took longer than 500 ms.
    statSlow :: !Word64,
    -- | How long the longest of them took.
    statSlowest :: !Duration,
    -- | Registrations and timers now.
    statWatches, statTimers :: !Word64
  }
  deriving (Eq, Show)

-- | Reads the counters of a manager; while it runs they may be a moment apart. About 50 ns.
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

-- | Drives the manager until 'shutdown'. Sleeps in the kernel while nothing is due. An asynchronous
-- exception ends it between two actions, or in one; nothing else is lost, and it may be called
-- again. Throws an 'IOError' (resource busy) if another thread drives the manager.
--
-- > withManager $ \manager -> do
-- >   _ <- startTimer manager (seconds 1) (Run (const (shutdown manager)))
-- >   loop manager
loop :: Manager -> IO ()
loop manager = driving "loop" manager (driveUntilShutdown sleepInterruptibly manager)

-- | One turn: waits at most so long for something to do, and runs what is due.
-- Returns the number of actions; 0 after a timeout, and after 'shutdown' when nothing is left.
-- Errors and exceptions: as 'loop'.
--
-- > actions <- step manager (milliseconds 10)
step :: Manager -> Duration -> IO Int
step manager wait = fst <$> turn manager wait

-- | Turns until one has run something ('True'), or the manager was shut down and nothing is left. A turn
-- that found nothing, because of a signal or a wake-up, is neither.
stepUntilSome :: Manager -> IO Bool
stepUntilSome manager = do
  (actions, stopped) <- turn manager unlimited
  if actions == 0 && not stopped then stepUntilSome manager else pure (actions > 0)

-- | The number of actions, and whether the manager had been shut down before, with nothing left.
turn :: Manager -> Duration -> IO (Int, Bool)
turn manager wait = driving "step" manager $ \restore -> do
  left <- runBatch manager restore
  found <- if left > 0 then pure Some else pullNow manager
  when (found == Nothing' && wait /= mempty) $
    sleepInterruptibly manager wait
  actions <- runBatch manager restore
  pure (left + actions, found == Stopped)

-- | How to wait for something to do, at most so long. Masked.
type Sleep = Manager -> Duration -> IO ()

driveUntilShutdown :: Sleep -> Manager -> (forall a. IO a -> IO a) -> IO ()
driveUntilShutdown sleep manager restore = go
  where
    go = do
      _ <- runBatch manager restore
      found <- pullNow manager
      again <- case found of
        -- Other threads first: the actions may have woken some, and these may make something to do.
        Nothing' -> yield >> pullNow manager
        _ -> pure found
      case again of
        Stopped -> pure ()
        Nothing' -> sleep manager unlimited >> go
        Some -> go

-- | One thread at a time.
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

-- | Looks without blocking.
pullNow :: Manager -> IO Found
pullNow manager = pullWith manager c_pull mempty

-- | Cannot be interrupted.
sleepDirectly :: Sleep
sleepDirectly manager = void . pullWith manager c_pull_waiting

-- | For threads that may be sent exceptions. The runtime system interrupts a foreign call by one
-- signal, which does nothing if it comes just before the call sleeps in the kernel. So another
-- thread sleeps, and the caller waits for it where no exception is lost. What that thread has
-- pulled stays in the batch.
sleepInterruptibly :: Sleep
sleepInterruptibly manager timeout = do
  done <- newEmptyMVar
  _ <- forkIO (try (sleepDirectly manager timeout) >>= putMVar done)
  result <- takeMVar done `onException` (withHandle manager c_wake >> uninterruptibleMask_ (takeMVar done))
  either (throwIO :: SomeException -> IO ()) pure result

type Pull = Ptr CManager -> Ptr Record -> CUInt -> Word64 -> Ptr CUInt -> IO CInt

-- | Only when the last batch is empty.
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

-- | Runs what the last pull brought, and returns the number of records. One exception handler serves
-- many actions: when one throws, the rest goes on behind it. The next record to run is noted before
-- one is run, so that an asynchronous exception loses nothing but the action that it interrupts.
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

-- | What a slot holds. The record is there until the handler returns.
newtype Handler = Handler (Ptr Record -> IO ())

-- | Not masked.
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

-- | Frees the handler of the record that ran last, if no other record names it and it has not been
-- freed. Masked.
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

-- | Ended by a call: nothing happened, the data comes back.
isEnded :: Ptr Record -> RecordKind -> IO Bool
isEnded record kind = do
  ident <- recordIdent record
  pure (ident == 0 && kind /= recordPost)

recordKind :: Ptr Record -> IO RecordKind
recordKind record = peekByteOff record 40

-- | Not 0: no further record names its handler.
recordFinal :: Ptr Record -> IO Word8
recordFinal record = peekByteOff record 41
{-# INLINE recordFinal #-}

recordFunction :: Ptr Record -> IO (FunPtr ())
recordFunction record = peekByteOff record 8
{-# INLINE recordFunction #-}

recordContext :: Ptr Record -> IO (Ptr ())
recordContext record = peekByteOff record 16
{-# INLINE recordContext #-}

-- | Which registration or timer a record is about.
recordIdent :: Ptr Record -> IO Word64
recordIdent record = peekByteOff record 0
{-# INLINE recordIdent #-}

-- | What has happened to the descriptor.
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

-- | By Capability, in the process that made them: those of a parent are nobody's after a fork.
data System = System !CUInt !(Array Int (Maybe Manager))

systemManagers :: IORef System
systemManagers = unsafePerformIO (newIORef (System 0 (listArray (0, -1) [])))
{-# NOINLINE systemManagers #-}

-- | The manager of the calling thread's Capability. It is made on first use, and driven by a thread
-- on that Capability until the program ends. Needs the threaded RTS.
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
      -- The caller's masking state is not for the actions, nor for threads that they fork.
      thread <- forkOnWithUnmask capability (driveForEver mine)
      labelThread thread ("Capstan.Event manager of Capability " ++ show capability)
    else freeManager mine
  pure manager
  where
    needsThreads = unavailable "Capstan.Event.systemManager: the Capabilities have managers in programs that are linked with -threaded"

-- | The thread of a system manager. Whatever is thrown, it goes on: others depend on it. An action may
-- throw what is meant for threads, and the kernel may be out of memory for a while.
driveForEver :: Manager -> (forall a. IO a -> IO a) -> IO ()
driveForEver manager unmask = do
  outcome <- try (unmask (driving "systemManager" manager (driveUntilShutdown sleepDirectly manager)))
  case outcome of
    Right () -> pure () -- shut down
    Left e -> do
      report <- readIORef (managerExceptions manager)
      -- As every other action of the program's: the caller of 'systemManager' may have masked exceptions.
      _ <- try (unmask (report e)) :: IO (Either SomeException ())
      threadDelay 10000
      driveForEver manager unmask
