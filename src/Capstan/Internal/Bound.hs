-- |
-- Module      : Capstan.Internal.Bound
-- Description : Runs an action in a bound thread on behalf of the calling thread
--
-- 'runInBoundThread' makes a foreign call, which no exception can interrupt, and it loses the
-- masking state of its caller. Here another thread makes that call. The caller waits for this
-- thread, and passes on exceptions that are thrown to the caller. No exception is lost, and no
-- exception arrives twice:
--
-- * G1. The caller takes the gate before it throws to the bound thread, so the bound thread has not
--   ended then.
-- * G2. The bound thread takes the gate before it ends. An exception that arrives while it waits
--   for the gate, after the action, becomes its outcome.
-- * G3. If the caller finds the gate taken, it waits until the action has ended, and then throws
--   the exception itself.
module Capstan.Internal.Bound
  ( runBound,
  )
where

import Control.Applicative ((<|>))
import Control.Concurrent
import Control.Exception
import Control.Monad (void)
import System.Mem.Weak (deRefWeak)

-- | Runs the action in a bound thread with the caller's masking state. Exceptions that are thrown
-- to the caller meanwhile are thrown to the action. The caller must not be bound, and the program
-- must have bound threads. Costs 2 to 4 µs.
runBound :: IO a -> IO a
runBound action = do
  begun <- newEmptyMVar
  gate <- newMVar ()
  ended <- newEmptyMVar
  mask $ \restore -> do
    let bound = mask_ $ do
          -- A weak reference, so GHC can tell the bound thread if it waits for ever.
          myThreadId >>= mkWeakThreadId >>= putMVar begun
          outcome <- try (restore action)
          late <- close Nothing
          putMVar ended (maybe outcome Left late)
        close late = (late <$ takeMVar gate) `catch` \e -> close (late <|> Just e) -- G2
        wait = try (takeMVar ended) >>= either passOn pure
        passOn e = do
          mayThrow <- tryTakeMVar gate
          case mayThrow of
            Just () -> do
              uninterruptibleMask_ $ readMVar begun >>= deRefWeak >>= mapM_ (`throwTo` e) -- G1
              putMVar gate ()
              wait
            Nothing -> Left e <$ uninterruptibleMask_ (takeMVar ended) -- G3
    _ <- forkIO (runInBoundThread bound `catch` \e -> void (tryPutMVar ended (Left e)))
    wait >>= either (throwIO :: SomeException -> IO a) pure
