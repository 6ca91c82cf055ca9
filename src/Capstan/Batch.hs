-- |
-- Module      : Capstan.Batch
-- Description : Many short C calls for the price of one safe call
-- Stability   : experimental
--
-- A safe foreign call is expensive beside a short C function: the thread releases its Capability
-- and acquires one again. A batch pays for that once. The program adds calls to a batch, with their
-- arguments, and then runs all of them together:
--
-- > foreign import ccall "&hypot" c_hypot :: FunPtr (Double -> Double -> IO Double)
-- >
-- > lengths :: [(Double, Double)] -> IO [Double]
-- > lengths vectors = do
-- >   batch <- Batch.new 100
-- >   keys <- mapM (uncurry (Batch.add batch c_hypot)) vectors
-- >   Batch.run batch
-- >   mapM (Batch.result batch) keys
--
-- The module is meant to be imported qualified:
--
-- > import Capstan.Batch (Batch)
-- > import qualified Capstan.Batch as Batch
--
-- A batch may mix functions of any types. The type of a function decides how it is called, so a
-- batch cannot give a function the wrong arguments. A result has the type that the function
-- returns, in 'IO' or not. At most six arguments may be integers or pointers, and at most eight
-- floating-point numbers: those fit into registers. More arguments are a type error.
--
-- 'run' is a safe call: the functions may block, call Haskell and open regions. 'runUnsafe' is an
-- unsafe call, which is even cheaper for a handful of functions.
--
-- == Cautions
--
-- A batch belongs to one thread at a time. While a batch runs, Haskell code that its functions call
-- must not change the batch. Memory to which an argument points must stay valid until the batch has
-- run: put 'Capstan.Array.withPointer' around the calls of 'add' and 'run'.
--
-- @since 0.1.0
module Capstan.Batch
  ( Batch,
    new,
    clear,

    -- * Adding calls
    add,
    Callable,
    Added,
    Fits,

    -- * Making them
    run,
    runUnsafe,

    -- * Results
    Result,
    result,

    -- * Types of arguments and results
    Argument (..),
    Returned (..),
    Register (..),
  )
where

import Capstan.Batch.Internal
