-- |
-- Module      : Capstan.Exception
-- Description : What the library throws
-- Stability   : experimental
--
-- All exceptions that the library itself throws have one root, beside those of the operating system, which are 'IOError's:
--
-- @
-- CapstanException
--   InvalidArgument    a call with what the function does not allow; which, and what is allowed
--     OutOfBounds      an index that an array does not have
--   Unavailable        what the program, or the memory, does not have
--   PoolEnded          "Capstan.Task": the pool's withPool is over
--   ScopeEnded         "Capstan.Task": the scope is over
--   Cancelled          "Capstan.Task": the scope was cancelled; an asynchronous exception
--   ChanClosed         "Capstan.Chan": the channel was closed
--   CallbackRefused    "Capstan.Callback": a callback could not be evaluated
-- @
--
-- > result <- try (newBounded size)
-- > case result of
-- >   Left e -> putStrLn ("not made: " ++ displayException (e :: CapstanException))
-- >   Right chan -> use chan
--
-- 'Capstan.Task.Cancelled' is in two hierarchies: a handler for 'Control.Exception.SomeAsyncException' gets it, and one for
-- 'CapstanException'.
--
-- @since 0.1.0
module Capstan.Exception
  ( CapstanException (..),
    InvalidArgument (..),
    OutOfBounds (..),
    Unavailable (..),
  )
where

import Capstan.Exception.Internal
