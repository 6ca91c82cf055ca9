{-# LANGUAGE BangPatterns #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Domain
-- Description : Computations on Capabilities of their own, for those who build their own schedulers
-- Stability   : experimental
--
-- What OCaml 5 calls a domain: a computation that stays on one Capability, state of a Capability, and
-- atomic references. Most programs want "Capstan.Task", which is built on the same things.
--
-- > domain <- Domain.spawn (pure (6 * 7))
-- > Domain.join domain >>= print
--
-- The module is meant to be imported qualified:
--
-- > import Capstan.Domain (Domain)
-- > import qualified Capstan.Domain as Domain
--
-- == What memory promises
--
-- GHC promises for all of the below what its primitive operations do:
--
-- 1. /No tearing, no junk./ Whoever reads a reference gets some value that was written there, and sees the
--    value as it was built: a data race breaks the program's logic, never its types.
-- 2. /Atomic operations/ ('compareAndSet', 'exchange', 'modifyAtomic', 'fetchAdd', and reads and writes of
--    'AtomicInt') are sequentially consistent: all threads see them in one order, which fits the order of
--    each thread. What a thread wrote before an atomic write is seen by who reads that write.
-- 3. /Plain reads and writes/ of an 'AtomicRef' ('readAtomic') see the latest value or an older one, and
--    never go back behind one that an atomic operation of the same thread has seen.
-- 4. 'spawn', 'join', 'notify' and 'wait' order memory as an 'Control.Concurrent.MVar.MVar' does: all
--    before the one is seen by all after the other.
-- 5. Values are lazy: a reference may hold a thunk, which then is evaluated by who needs it. 'writeAtomic'
--    and the others evaluate what they store, to weak head normal form.
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

import Capstan.Internal.Swap (swapVariable)
import Capstan.Prim (capabilityNumber)
import Control.Concurrent (forkOn, getNumCapabilities)
import Control.Concurrent.MVar
import Control.Exception (SomeException, mask, throwIO, try)
import Control.Monad (void)
import Data.IORef
import GHC.Exts
import GHC.IO (IO (..))
import System.IO.Unsafe (unsafePerformIO)

-- | A computation that stays on a Capability, with its result.
data Domain a = Domain !Int !(MVar (Either SomeException a))
  deriving (Eq)

instance Show (Domain a) where
  showsPrec d (Domain n _) = showParen (d > 10) (showString "Domain on Capability " . shows n)

-- | Runs an action on a Capability of its own: the next one in turn, so that as many domains as there are
-- Capabilities share none, if nobody else spawns some meanwhile. Costs about a microsecond. The domain does not end with who spawned it.
-- The action has exceptions masked as the caller has.
spawn :: IO a -> IO (Domain a)
spawn action = do
  turn <- fetchAdd turns 1
  spawnOn (turn + 1) action

turns :: AtomicInt
turns = unsafePerformIO (newAtomicInt 0)
{-# NOINLINE turns #-}

-- | Runs an action on the Capability of that number (modulo how many there are).
spawnOn :: Int -> IO a -> IO (Domain a)
spawnOn n action = do
  capability <- (n `mod`) <$> getNumCapabilities
  result <- newEmptyMVar
  mask $ \restore -> do
    _ <- forkOn capability (try (restore action) >>= putMVar result)
    pure (Domain capability result)

-- | Waits for the domain and gives its result, or throws what it threw. May be called again, and by several
-- threads. The caller's Capability is free meanwhile.
join :: Domain a -> IO a
join (Domain _ result) = readMVar result >>= either throwIO pure

-- | Whether 'join' would return at once.
isDone :: Domain a -> IO Bool
isDone (Domain _ result) = not <$> isEmptyMVar result

-- | The number of the domain's Capability.
domainCapability :: Domain a -> Int
domainCapability (Domain n _) = n

-- | How many domains can run at once: the number of Capabilities.
recommendedDomains :: IO Int
recommendedDomains = getNumCapabilities

-- | What one domain waits for and others give. A notification is remembered until the next 'wait'; two of
-- them before it count as one.
newtype Signal = Signal (MVar ())
  deriving (Eq)

-- | A signal that nobody has given.
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

-- | State whose first value on each Capability is made there by the action, when it is first needed.
newLocal :: IO a -> IO (Local a)
newLocal make = Local make <$> newIORef []

-- | The value of the Capability that the caller is on. All its threads share it.
getLocal :: Local a -> IO a
getLocal local = here local >>= readIORef

-- | Sets it.
setLocal :: Local a -> a -> IO ()
setLocal local !x = here local >>= (`atomicWriteIORef` x)

-- | Changes it, atomically, and evaluates it. The caller may be on another Capability when that is done; the
-- value changed is of one of those that it was on.
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
      -- Of two threads of one Capability that come here at once, both use the first's.
      atomicModifyIORef' table $ \now -> case lookup n now of
        Just first -> (now, first)
        Nothing -> ((n, ref) : now, ref)

-- | A reference with atomic operations, on pointers.
data AtomicRef a = AtomicRef (MutVar# RealWorld a)

instance Eq (AtomicRef a) where
  AtomicRef a == AtomicRef b = isTrue# (sameMutVar# a b)

-- | A reference to a value.
newAtomic :: a -> IO (AtomicRef a)
newAtomic !x = IO $ \s -> case newMutVar# x s of
  (# s1, var #) -> (# s1, AtomicRef var #)

-- | Reads it; a plain read (promise 3).
readAtomic :: AtomicRef a -> IO a
readAtomic (AtomicRef var) = IO (readMutVar# var)

-- | Writes it.
writeAtomic :: AtomicRef a -> a -> IO ()
writeAtomic ref x = void (exchange ref x)

-- | Writes it and gives what was there.
exchange :: AtomicRef a -> a -> IO a
exchange ref !x = do
  old <- readAtomic ref
  done <- compareAndSet ref old x
  if done then pure old else exchange ref x

-- | Writes the new value if the very object that is given as old is there; the answer is whether it was.
--
-- Objects are compared, not values: give back what 'readAtomic' gave, without taking it apart. Even then the
-- answer may be 'False' although nothing was written meanwhile, so call it in a loop, and read anew each time. Where the type is
-- known to have one constructor, a number's say, GHC may take the old value apart and build it again, another object, and the loop
-- does not end: use 'modifyAtomic', or an 'AtomicInt'.
compareAndSet :: AtomicRef a -> a -> a -> IO Bool
compareAndSet (AtomicRef var) = swapVariable var
{-# NOINLINE compareAndSet #-}

-- | Changes it, and gives the result. The function may be called several times.
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

-- | A reference to a number.
newAtomicInt :: Int -> IO AtomicInt
newAtomicInt (I# n) = IO $ \s -> case newAlignedPinnedByteArray# 128# 128# s of
  (# s1, array #) -> (# writeIntArray# array 0# n s1, AtomicInt array #)

-- | Reads it.
readAtomicInt :: AtomicInt -> IO Int
readAtomicInt (AtomicInt array) = IO $ \s -> case atomicReadIntArray# array 0# s of
  (# s1, n #) -> (# s1, I# n #)

-- | Writes it.
writeAtomicInt :: AtomicInt -> Int -> IO ()
writeAtomicInt (AtomicInt array) (I# n) = IO $ \s -> (# atomicWriteIntArray# array 0# n s, () #)

-- | Adds a number and gives what was there before. Never fails; about 5 nanoseconds when not contended.
fetchAdd :: AtomicInt -> Int -> IO Int
fetchAdd (AtomicInt array) (I# n) = IO $ \s -> case fetchAddIntArray# array 0# n s of
  (# s1, old #) -> (# s1, I# old #)

-- | Writes the new number if the old one is there; the answer is whether it was.
compareAndSetInt :: AtomicInt -> Int -> Int -> IO Bool
compareAndSetInt (AtomicInt array) (I# old) (I# new) = IO $ \s ->
  case casIntArray# array 0# old new s of
    (# s1, seen #) -> (# s1, isTrue# (seen ==# old) #)
