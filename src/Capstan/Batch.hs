-- |
-- Module      : Capstan.Batch
-- Description : Many short C calls for the price of one
-- Stability   : experimental
--
-- A safe foreign call costs as much as many a C function that it calls: the thread gives its
-- Capability back and takes one again. A batch pays for that once. Calls are written down, with their arguments,
-- and made all together:
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
-- The functions may be of any kind and mixed as one likes. Their types say how they are called, so a
-- batch cannot give a function the wrong arguments, and a result has the type that the function
-- returns, in 'IO' or not. At most six arguments may be integers or pointers, and eight floating-point numbers: as
-- many as go into registers; more is a type error.
--
-- 'run' is a safe call: the functions may block, call Haskell and open regions. 'runUnsafe' is an
-- unsafe one and cheaper still for a handful of calls.
--
-- == Cautions
--
-- A batch belongs to one thread at a time. A function that calls Haskell must not have the batch
-- changed that it is called from. What a pointer among the arguments points to must be there until the batch has
-- run: put 'Capstan.Array.withPointer' around it all.
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
