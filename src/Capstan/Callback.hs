{-# LANGUAGE ScopedTypeVariables #-}

-- |
-- Module      : Capstan.Callback
-- Description : Haskell functions for C code to call, in OpenMP regions too
-- Stability   : experimental
--
-- A C function that takes a function pointer (an integrator, a solver, @qsort_r@) is given a Haskell
-- function, and may call it from wherever it is: from its own thread, from any worker of an OpenMP
-- region, from regions in regions, and from a region that a callback entered.
--
-- > foreign import ccall safe "integrate"
-- >   c_integrate :: FunPtr (Double -> IO Double) -> Double -> Double -> CInt -> IO Double
-- >
-- > integrate :: (Double -> Double) -> Double -> Double -> IO Double
-- > integrate f from to =
-- >   withCallback Released (\x -> pure $! f x) $ \p -> c_integrate p from to 1000
--
-- A @wrapper@ import does the same at a higher price: it makes a Haskell thread for each call and
-- looks for a Capability. Here the first call of an OS thread in a region makes such a thread; all
-- further ones return into it (@runtime\/substrate\/rts\/README.md@ tells how).
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
-- * Import the C function @safe@. Through an unsafe import it holds the Capability that the region's
--   threads would wait for; a callback is then refused with 'CallbackRefused'.
-- * Link with @-threaded@. Without, regions run and the calling thread may call back, but a worker is
--   refused.
-- * The pointer is dead when 'withCallback' returns. C code that calls it later ends the program with
--   a message.
-- * C code goes on where it called: on its OS thread, with its @errno@, its @threadprivate@ variables
--   and its own stack. The callback runs on the same OS thread, in a bound Haskell thread.
-- * Callbacks may block, throw, fork threads, call C and enter regions. Several may be evaluated at
--   once: by as many threads as there are Capabilities.
-- * Within a region, the callbacks of one OS thread are all evaluated by one Haskell thread. So do not
--   throw to a callback's thread ('Control.Concurrent.myThreadId') when the callback has returned: the
--   exception would wait for the next one, or for the end of the region.
-- * @wrapper@ pointers may be called in the same regions as 'Released' callbacks.
--
-- Exceptions: the first exception of a callback is thrown by 'withCallback', once the C function has
-- returned; others are dropped. From then on the pointer returns zero at once, and with
-- @OMP_CANCELLATION=true@ the region is cancelled, so it ends at its next cancellation point.
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

-- | A C function pointer for a Haskell function, for as long as the action runs. The function may
-- take any number of arguments ('Argument') and gives a result in 'IO' or purely ('Returned'); its type is the
-- pointer's. A pointer for the user's data, as many C functions pass it on, is an argument like
-- others: take it and forget it.
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
-- Throws the first exception of a callback, else the action's own; an asynchronous exception before
-- both. A thread that is interrupted waits for the C function first: see
-- 'withInterruptibleCallback'. Throws 'CallbackRefused' where a callback could not be evaluated.
--
-- Thread-safe; any number of pointers may be alive, each with 100 bytes of memory.
withCallback :: Function f => Mode -> f -> (FunPtr f -> IO a) -> IO a
withCallback mode f = scoped byCaller mode (evaluateCall (evaluation f noArguments))
{-# INLINE withCallback #-}

-- | The same for a caller that may be interrupted ('System.Timeout.timeout',
-- 'Control.Concurrent.killThread'): the exception is thrown in every evaluation of the callback that is
-- under way; from then on the callback returns zero at once, and the region is cancelled as after an
-- exception. The caller still waits for the C function to return, since nothing can end it from outside.
--
-- > solve f = timeout 1000000 $ withInterruptibleCallback Released f c_solve
--
-- The action runs in another Haskell thread, with a masking state like the caller's: not for C code that
-- must run on the caller's OS thread, and without the caller's settings: say 'Capstan.OpenMP.withSettings' within. Costs
-- 2 µs more, of a bound thread (@main@) 10 to 40, which the kernel takes to change threads; and each call some 70 ns.
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

-- | By the calling thread, which C blocks.
byCaller :: Scope f -> IO a -> IO (Either SomeException a)
byCaller _ = try

-- | By another thread, so that the calling one can be interrupted. It waits for the other all the
-- same, whose foreign call nobody can end; but no Haskell code holds it up any more.
byAnother :: Evaluators -> Scope f -> IO a -> IO (Either SomeException a)
byAnother evaluators scope action = do
  done <- newEmptyMVar
  _ <- forkIO (try action >>= putMVar done)
  takeMVar done `catch` \e -> do
    interrupt scope
    interruptEvaluators evaluators e
    _ <- uninterruptibleMask_ (takeMVar done)
    pure (Left e)
