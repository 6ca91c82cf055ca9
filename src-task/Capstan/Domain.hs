{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Domain
-- Description : Computations on Capabilities of their own, for those who build their own schedulers
-- Stability   : experimental
--
-- Computations that stay on one Capability (OCaml 5 calls them domains), state of a Capability, and
-- atomic references. Most programs want "Capstan.Task", which is built on the same operations.
--
-- > domain <- Domain.spawn (pure (6 * 7))
-- > Domain.join domain >>= print
--
-- The module is meant to be imported qualified:
--
-- > import Capstan.Domain (Domain)
-- > import qualified Capstan.Domain as Domain
--
-- == Memory model
--
-- These promises are those of GHC's primitive operations:
--
-- 1. /No tearing, no junk./ A thread that reads a reference gets some value that was written there,
--    and sees the value as it was built. A data race breaks the program's logic, never its types.
-- 2. /Atomic operations/ ('compareAndSet', 'exchange', 'modifyAtomic', 'fetchAdd', and reads and
--    writes of 'AtomicInt') are sequentially consistent: all threads see them in one order, which
--    fits the order of each thread. A thread that reads an atomic write also sees all that the
--    writer wrote before it.
-- 3. /Plain reads and writes/ of an 'AtomicRef' ('readAtomic') see the latest value or an older
--    value. But they never see a value older than one that an atomic operation of the same thread
--    has seen.
-- 4. 'spawn', 'join', 'notify' and 'wait' order memory as an 'Control.Concurrent.MVar.MVar' does. A
--    domain sees all writes before its 'spawn', and code after 'join' sees all writes of the
--    domain. Code after 'wait' sees all writes before its 'notify'.
-- 5. Values are lazy: a value may contain thunks, and a thread that needs a thunk evaluates it.
--    'newAtomic', 'writeAtomic' and the other operations evaluate a value to weak head normal form
--    before they store it.
--
-- @since 0.1.0
module Capstan.Domain
  ( -- * Domains
    Domain,
    spawn,
    spawnOn,
    join,
    isDone,
    domainCapability,
    recommendedDomains,
    capabilityNumber,

    -- * Waiting
    Signal,
    newSignal,
    wait,
    notify,

    -- * State of a Capability
    Local,
    newLocal,
    getLocal,
    setLocal,
    modifyLocal,

    -- * Atomic references
    AtomicRef,
    newAtomic,
    readAtomic,
    writeAtomic,
    exchange,
    compareAndSet,
    modifyAtomic,

    -- * Atomic integers
    AtomicInt,
    newAtomicInt,
    readAtomicInt,
    writeAtomicInt,
    fetchAdd,
    compareAndSetInt,
  )
where

import Capstan.Capability (capabilityNumber)
import Capstan.Internal.Swap (swapVariable)
import Control.Concurrent (forkOn, getNumCapabilities)
import Control.Concurrent.MVar
import Control.Exception (SomeException, mask, throwIO, try)
import Control.Monad (void)
import Data.IORef
import Data.Maybe (isJust)
import GHC.Exts
import GHC.IO (IO (..))
import System.IO.Unsafe (unsafePerformIO)

-- | A computation that stays on a Capability, with its result.
data Domain a = Domain !Int !(MVar (Either SomeException a))
  deriving (Eq)

instance Show (Domain a) where
  showsPrec d (Domain n _) = showParen (d > 10) (showString "Domain on Capability " . shows n)

-- | Runs an action on the next Capability in turn. So if a program spawns one domain for each
-- Capability, and no other thread spawns domains meanwhile, no two of them share a Capability.
-- Costs about a microsecond. The domain does not end with the thread that spawned it. The action
-- has the masking state of the caller.
spawn :: IO a -> IO (Domain a)
spawn action = do
  turn <- fetchAdd turns 1
  spawnOn (turn + 1) action

turns :: AtomicInt
turns = unsafePerformIO (newAtomicInt 0)
{-# NOINLINE turns #-}

-- | Runs an action on the Capability with the given number, modulo the number of Capabilities.
spawnOn :: Int -> IO a -> IO (Domain a)
spawnOn n action = do
  capability <- (n `mod`) <$> getNumCapabilities
  result <- newEmptyMVar
  mask $ \restore -> do
    _ <- forkOn capability (try (restore action) >>= putMVar result)
    pure (Domain capability result)

-- | Waits for the domain and returns its result, or throws the exception of its action. May be
-- called several times, by several threads. The caller's Capability is free meanwhile.
join :: Domain a -> IO a
join (Domain _ result) = readMVar result >>= either throwIO pure

-- | Whether 'join' would return at once.
isDone :: Domain a -> IO Bool
-- The MVar is read under its lock. 'isEmptyMVar' takes none, and a thread that 'putMVar' has just
-- woken may still find the MVar empty.
isDone (Domain _ result) = isJust <$> tryReadMVar result

-- | The number of the domain's Capability.
domainCapability :: Domain a -> Int
domainCapability (Domain n _) = n

-- | The number of domains that can run at the same time: the number of Capabilities.
recommendedDomains :: IO Int
recommendedDomains = getNumCapabilities

-- | A signal for which one domain waits and which others give. A notification is remembered until
-- the next 'wait'; two notifications before it count as one.
newtype Signal = Signal (MVar ())
  deriving (Eq)

-- | A signal that has not been given yet.
newSignal :: IO Signal
newSignal = Signal <$> newEmptyMVar

-- | Waits until the signal is given, and takes it. The Capability is free meanwhile.
wait :: Signal -> IO ()
wait (Signal box) = takeMVar box

-- | Gives the signal. Never waits.
notify :: Signal -> IO ()
notify (Signal box) = void (tryPutMVar box ())

-- | A value for each Capability.
data Local a = Local (IO a) !(IORef [(Int, IORef a)])

-- | State of Capabilities. When a Capability first needs its value, the action makes it there.
newLocal :: IO a -> IO (Local a)
newLocal make = Local make <$> newIORef []

-- | The value of the Capability that the caller runs on. All threads of the Capability share it.
getLocal :: Local a -> IO a
getLocal local = here local >>= readIORef

-- | Sets the value of the caller's Capability.
setLocal :: Local a -> a -> IO ()
setLocal local !x = here local >>= (`atomicWriteIORef` x)

-- | Atomically changes the value of the caller's Capability, and evaluates the new value. GHC may
-- move the caller to another Capability during the call. Then the changed value belongs to one of
-- the Capabilities on which the caller ran.
modifyLocal :: Local a -> (a -> a) -> IO ()
modifyLocal local f = here local >>= \ref -> atomicModifyIORef' ref (\x -> (f x, ()))

here :: Local a -> IO (IORef a)
here (Local make table) = do
  n <- capabilityNumber
  known <- readIORef table
  case lookup n known of
    Just ref -> pure ref
    Nothing -> do
      ref <- make >>= newIORef
      -- If two threads of a Capability arrive at the same time, both use the first thread's
      -- reference.
      atomicModifyIORef' table $ \now -> case lookup n now of
        Just first -> (now, first)
        Nothing -> ((n, ref) : now, ref)

-- | A reference to a value, with atomic operations.
data AtomicRef a = AtomicRef (MutVar# RealWorld a)

instance Eq (AtomicRef a) where
  AtomicRef a == AtomicRef b = isTrue# (sameMutVar# a b)

-- | Makes a reference to a value.
newAtomic :: a -> IO (AtomicRef a)
newAtomic !x = IO $ \s -> case newMutVar# x s of
  (# s1, var #) -> (# s1, AtomicRef var #)

-- | Reads the reference; a plain read (promise 3).
readAtomic :: AtomicRef a -> IO a
readAtomic (AtomicRef var) = IO (readMutVar# var)

-- | Writes the reference.
writeAtomic :: AtomicRef a -> a -> IO ()
writeAtomic ref x = void (exchange ref x)

-- | Writes the reference and returns its old value.
exchange :: AtomicRef a -> a -> IO a
exchange ref !x = do
  old <- readAtomic ref
  done <- compareAndSet ref old x
  if done then pure old else exchange ref x

-- | Writes the new value if the reference holds the very object that is given as old. Returns
-- whether it did.
--
-- The function compares objects, not values: pass the result of 'readAtomic' on without taking it
-- apart. Even then the answer may be 'False' although nothing was written meanwhile. So call the
-- function in a loop, and read anew each time. If the type has one constructor, as a number has,
-- GHC may take the old value apart and build it again as another object. Then the loop does not
-- end: use 'modifyAtomic', or an 'AtomicInt'.
compareAndSet :: AtomicRef a -> a -> a -> IO Bool
compareAndSet (AtomicRef var) = swapVariable var
{-# NOINLINE compareAndSet #-}

-- | Changes the reference, and returns its new value. The function may be called several times.
modifyAtomic :: AtomicRef a -> (a -> a) -> IO a
modifyAtomic ref f = do
  old <- readAtomic ref
  let !new = f old
  done <- compareAndSet ref old new
  if done then pure new else modifyAtomic ref f

-- | An integer with atomic operations, on two cache lines of its own.
data AtomicInt = AtomicInt (MutableByteArray# RealWorld)

instance Eq AtomicInt where
  AtomicInt a == AtomicInt b = isTrue# (sameMutableByteArray# a b)

-- | Makes an atomic integer.
newAtomicInt :: Int -> IO AtomicInt
newAtomicInt (I# n) = IO $ \s -> case newAlignedPinnedByteArray# 128# 128# s of
  (# s1, array #) -> (# writeIntArray# array 0# n s1, AtomicInt array #)

-- | Reads the integer.
readAtomicInt :: AtomicInt -> IO Int
readAtomicInt (AtomicInt array) = IO $ \s -> case atomicReadIntArray# array 0# s of
  (# s1, n #) -> (# s1, I# n #)

-- | Writes the integer.
writeAtomicInt :: AtomicInt -> Int -> IO ()
writeAtomicInt (AtomicInt array) (I# n) = IO $ \s -> (# atomicWriteIntArray# array 0# n s, () #)

-- | Adds a number and returns the old value. Never fails; about 5 nanoseconds when not contended.
fetchAdd :: AtomicInt -> Int -> IO Int
fetchAdd (AtomicInt array) (I# n) = IO $ \s -> case fetchAddIntArray# array 0# n s of
  (# s1, old #) -> (# s1, I# old #)

-- | Writes the new number if the integer has the old one. Returns whether it did.
compareAndSetInt :: AtomicInt -> Int -> Int -> IO Bool
compareAndSetInt (AtomicInt array) (I# old) (I# new) = IO $ \s ->
  case casIntArray# array 0# old new s of
    (# s1, seen #) -> (# s1, isTrue# (seen ==# old) #)
