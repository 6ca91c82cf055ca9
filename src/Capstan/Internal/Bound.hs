-- |
-- Module      : Capstan.Internal.Bound
-- Description : An action in a bound thread, as if the calling one ran it
--
-- 'runInBoundThread' is a foreign call of its caller's, which nobody can interrupt and which forgets whether exceptions
-- are masked. Here the caller waits for a thread that makes this call, and passes on what is thrown to it. No exception is
-- lost, and none comes twice:
--
-- * G1. Who has taken the gate may throw to the bound thread, which then has not ended.
-- * G2. The bound thread ends when it has taken the gate. An exception that it gets while it waits for the gate, which is
--   after the action, is its outcome.
-- * G3. Who finds the gate taken throws the exception where it came from, when the action has ended.
module Capstan.Internal.Bound
  ( runBound,
  )
where

import Control.Applicative ((<|>))
import Control.Concurrent
import Control.Exception
import Control.Monad (void)
import System.Mem.Weak (deRefWeak)

-- | Runs the action in a bound thread with the caller's masking state; what is thrown to the caller meanwhile is thrown to
-- the action. For callers that are not bound, in a program with bound threads. Costs 2 to 4 µs.
runBound :: IO a -> IO a
runBound action = do
  begun <- newEmptyMVar
  gate <- newMVar ()
  ended <- newEmptyMVar
  mask $ \restore -> do
    let bound = mask_ $ do
          -- Weak: if it waits for ever it is to be told so.
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
