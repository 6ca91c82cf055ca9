-- |
-- Module      : Capstan.Exception
-- Description : The exceptions of the library
-- Stability   : experimental
--
-- All exceptions of the library have one root, 'CapstanException'. Only errors of the operating
-- system are 'IOError's:
--
-- @
-- CapstanException
--   InvalidArgument    an argument that the function does not allow; the message says what is allowed
--     OutOfBounds      an index that an array does not have
--   Unavailable        something that the program or the machine does not have, such as memory
--   PoolEnded          "Capstan.Task": the pool is closed: its withPool block has returned
--   ScopeEnded         "Capstan.Task": the scope has ended
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
-- 'Capstan.Task.Cancelled' is in two hierarchies: a handler for
-- 'Control.Exception.SomeAsyncException' catches it, and so does a handler for 'CapstanException'.
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
