-- |
-- Module      : Capstan.Task.Join.Variable
-- Description : Variables that are written once, and that keep the computations that wait for them
--
-- A variable is one word, which changes by compare-and-swap: it has a value, or the continuations
-- of the computations that wait for the value. So either the thread that writes the value finds a
-- continuation, or the computation finds the value. No thread waits.
module Capstan.Task.Join.Variable
  ( Variable,
    newVariable,
    newWritten,
    valueOf,
    wait,
    write,
  )
where

import Capstan.Internal.Swap (changeEvaluated, swapEvaluated)
import Capstan.Task.Join.Scope (Scope, startIfOpen)
import Control.Exception (mask_)
import Data.IORef

-- | A variable that is written once.
newtype Variable a = Variable (IORef (Content a))
  deriving (Eq)

-- | The value, or the computations that wait for it, the latest first.
data Content a
  = Written a
  | Waiting [Continuation a]

-- | The rest of a computation that waits, with the scope to which it belongs.
data Continuation a = Continuation !Scope (a -> IO ())

-- | A variable without a value.
newVariable :: IO (Variable a)
newVariable = Variable <$> newIORef (Waiting [])

-- | A variable with an evaluated value.
newWritten :: a -> IO (Variable a)
newWritten x = Variable <$> newIORef (Written x)

-- | The value, if there is one.
valueOf :: Variable a -> IO (Maybe a)
valueOf (Variable content) = do
  now <- readIORef content
  pure $ case now of
    Written x -> Just x
    Waiting _ -> Nothing
{-# INLINE valueOf #-}

-- | Leaves the rest of a computation to the thread that writes the variable, or runs it if the
-- variable has been written meanwhile.
wait :: Variable a -> Scope -> (a -> IO ()) -> IO ()
wait (Variable content) scope rest = do
  ready <- changeEvaluated content $ \now -> case now of
    Written x -> (now, Just x)
    Waiting others -> (Waiting (Continuation scope rest : others), Nothing)
  maybe (pure ()) rest ready
{-# NOINLINE wait #-}

-- | Writes an evaluated value, and continues the computations that wait for it, each as a task of
-- its scope. Returns whether there was no value before. No exception comes between these steps, as it
-- would lose computations of other scopes.
write :: Variable a -> a -> IO Bool
write variable@(Variable content) x = do
  now <- readIORef content
  alone <- case now of
    Waiting [] -> swapEvaluated content now (Written x)
    _ -> pure False
  if alone then pure True else writeSlowly variable x
{-# INLINE write #-}

writeSlowly :: Variable a -> a -> IO Bool
writeSlowly (Variable content) x = mask_ $ do
  waiting <- changeEvaluated content $ \now -> case now of
    Written _ -> (now, Nothing)
    Waiting computations -> (Written x, Just computations)
  case waiting of
    Nothing -> pure False
    Just computations -> True <$ mapM_ continue (reverse computations)
  where
    -- The scope of another 'Capstan.Task.Par.runPar' may have ended, or failed. Then nobody needs
    -- the rest of its computation.
    continue (Continuation scope rest) = startIfOpen scope (rest x)
{-# NOINLINE writeSlowly #-}
