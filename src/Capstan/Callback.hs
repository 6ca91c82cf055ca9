{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Callback
-- Description : Haskell functions that C code calls, in OpenMP regions too
-- Stability   : experimental
--
-- A C function that takes a function pointer (an integrator, a solver, @qsort_r@) can take a
-- Haskell function. It may call the function from its own thread, from any worker of an OpenMP
-- region and from nested regions. It may also call it from a region that a callback entered.
--
-- > foreign import ccall safe "integrate"
-- >   c_integrate :: FunPtr (Double -> IO Double) -> Double -> Double -> CInt -> IO Double
-- >
-- > integrate :: (Double -> Double) -> Double -> Double -> IO Double
-- > integrate f from to =
-- >   withCallback Released (\x -> pure $! f x) $ \p -> c_integrate p from to 1000
--
-- A @wrapper@ import does the same at a higher price: each call makes a Haskell thread and acquires
-- a Capability. With 'withCallback', the first call of an OS thread in a region makes a Haskell
-- thread, and all further calls continue that thread (@runtime\/substrate\/rts\/README.md@
-- describes how).
--
-- +--------------------------------------+----------------------------------------------+
-- | a callback in a region, 'Released'   | half of a safe foreign call where one comes  |
-- |                                      | after another, else as much as one           |
-- +--------------------------------------+----------------------------------------------+
-- | a callback in a region, 'Kept'       | 20 to 30 ns                                  |
-- +--------------------------------------+----------------------------------------------+
-- | the first one of a thread in a region| as a call through a @wrapper@ pointer        |
-- +--------------------------------------+----------------------------------------------+
-- | outside of regions                   | the same, each                               |
-- +--------------------------------------+----------------------------------------------+
-- | 'withCallback' itself                | 100 to 200 ns                                |
-- +--------------------------------------+----------------------------------------------+
--
-- Rules:
--
-- * Import the C function @safe@. A C function that was imported @unsafe@ holds the Capability for
--   which the region's threads would wait, so its callbacks are refused with 'CallbackRefused'.
-- * Link with @-threaded@. Without it, regions run and the calling thread may call back, but
--   callbacks of workers are refused.
-- * The pointer is invalid once 'withCallback' has returned. A later call through it ends the
--   program with a message.
-- * After the callback, C code continues where it made the call: on its OS thread, with its
--   @errno@, its @threadprivate@ variables and its own stack. The callback runs on the same OS
--   thread, in a bound Haskell thread.
-- * Callbacks may block, throw, fork threads, call C and enter regions. Several callbacks may be
--   evaluated at the same time, at most one on each Capability.
-- * Within a region, one Haskell thread evaluates all callbacks of an OS thread. Do not throw to a
--   callback's thread ('Control.Concurrent.myThreadId') when the callback has returned. The
--   exception would wait for the next callback, or for the end of the region.
-- * C code may call @wrapper@ pointers and 'Released' callbacks in the same region.
--
-- Exceptions: 'withCallback' throws the first exception of a callback once the C function has
-- returned, and drops later ones. After the first exception the pointer returns zero at once. With
-- @OMP_CANCELLATION=true@ the region is also cancelled, so it ends at its next cancellation point.
--
-- @since 0.1.0
module Capstan.Callback
  ( -- * Callbacks
    withCallback,
    withInterruptibleCallback,
    Mode (..),
    CallbackRefused (..),
    setSideStackSize,

    -- * Which functions
    Function,
    Argument (..),
    integerArgument,
    realArgument,
    Returned (..),
    Register (..),
    integerResult,
    realResult,
    Call,
    Arguments,
  )
where

import Capstan.Callback.Evaluators
import Capstan.Callback.Internal
import Capstan.Internal.Value
import Control.Concurrent (forkIO, newEmptyMVar, putMVar, takeMVar)
import Control.Exception
import Foreign.Ptr (FunPtr, Ptr)

-- | Makes a C function pointer for a Haskell function, which is valid while the action runs. The
-- function may take any number of arguments ('Argument') and returns a result in 'IO' or purely
-- ('Returned'). The pointer has the type of the function. Many C functions pass a pointer to user
-- data on to their callback: take it as an argument and ignore it.
--
-- > foreign import ccall safe "qsort_r"
-- >   c_qsort :: Ptr a -> CSize -> CSize -> FunPtr (Ptr a -> Ptr a -> Ptr () -> IO CInt) -> Ptr () -> IO ()
-- >
-- > sortDoubles :: (Double -> Double -> Ordering) -> Int -> Ptr Double -> IO ()
-- > sortDoubles order n array =
-- >   withCallback Released compared $ \p -> c_qsort array (fromIntegral n) 8 p nullPtr
-- >   where
-- >     compared a b _ = asNumber <$> (order <$> peek a <*> peek b)
-- >     asNumber o = fromIntegral (fromEnum o - 1)
--
-- Throws an asynchronous exception that interrupted the action; else the first exception of a
-- callback; else the exception of the action. A thread that is interrupted first waits until the C
-- function returns: see 'withInterruptibleCallback'. Throws 'CallbackRefused' if a callback could
-- not be evaluated.
--
-- Thread-safe. Any number of pointers may be valid at a time; each takes 100 bytes of memory.
withCallback :: Function f => Mode -> f -> (FunPtr f -> IO a) -> IO a
withCallback mode f = scoped byCaller mode (evaluateCall (evaluation f noArguments))
{-# INLINE withCallback #-}

-- | As 'withCallback', for a caller that may be interrupted ('System.Timeout.timeout',
-- 'Control.Concurrent.killThread'). The exception is thrown in every running evaluation of the
-- callback. From then on the callback returns zero at once, and the region is cancelled as after an
-- exception. The caller still waits for the C function to return, since nothing can end it from
-- outside.
--
-- > solve f = timeout 1000000 $ withInterruptibleCallback Released f c_solve
--
-- The action runs in another Haskell thread, with the masking state of the caller. So this is not
-- for C code that must run on the caller's OS thread. The action does not have the caller's
-- settings either: use 'Capstan.OpenMP.withSettings' inside it. Costs 2 µs more than
-- 'withCallback', and some 70 ns for each call. From a bound thread (@main@) it costs 10 to 40 µs
-- more, because the kernel switches threads.
withInterruptibleCallback :: Function f => Mode -> f -> (FunPtr f -> IO a) -> IO a
withInterruptibleCallback mode f body = do
  evaluators <- newEvaluators
  scoped (byAnother evaluators) mode (evaluating evaluators . evaluateCall (evaluation f noArguments)) body
{-# INLINE withInterruptibleCallback #-}

-- | Makes the pointer, runs the body, and decides how it ends.
scoped ::
  (Scope f -> IO a -> IO (Either SomeException a)) -> Mode -> (Ptr (Ptr Call) -> IO ()) -> (FunPtr f -> IO a) -> IO a
scoped run mode evaluate' body = mask $ \restore -> do
  scope <- open mode evaluate'
  outcome <- run scope (restore (body (scopeFunction scope)))
  failure <- close scope
  case (outcome, failure) of
    (Left e, _) | Just (SomeAsyncException _) <- fromException e -> throwIO e
    (_, Just e) -> throwIO e
    (Left e, Nothing) -> throwIO e
    (Right a, Nothing) -> pure a
{-# NOINLINE scoped #-}

-- | Runs the action in the calling thread, which the C function blocks.
byCaller :: Scope f -> IO a -> IO (Either SomeException a)
byCaller _ = try

-- | Runs the action in another thread, so that the calling thread can be interrupted. An
-- interrupted caller still waits for the other thread, because nothing can end its foreign call;
-- but the interrupted callbacks no longer delay it.
byAnother :: Evaluators -> Scope f -> IO a -> IO (Either SomeException a)
byAnother evaluators scope action = do
  done <- newEmptyMVar
  _ <- forkIO (try action >>= putMVar done)
  takeMVar done `catch` \e -> do
    interrupt scope
    interruptEvaluators evaluators e
    _ <- uninterruptibleMask_ (takeMVar done)
    pure (Left e)
