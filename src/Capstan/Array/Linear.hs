-- |
-- Module      : Capstan.Array.Linear
-- Description : Disjoint parts of an array, proven by the types
-- Stability   : experimental
--
-- A 'Part' of an array is the exclusive right to read and write its elements, and the compiler
-- enforces it. The holder may split a part and give the pieces to C, to an OpenMP region and to
-- other Haskell threads at the same time. The whole part comes back when the pieces are combined. A
-- program in which two holders could touch the same element, or in which a function could keep a
-- part for later, does not compile.
--
-- > {-# LANGUAGE LinearTypes, QualifiedDo #-}
-- > import qualified Capstan.Array.Linear as Linear
-- >
-- > -- C smooths the first half while Haskell counts down in the second.
-- > halves :: Linear.Part s Double %1 -> Linear.Action (Linear.Part s Double)
-- > halves part = Linear.do
-- >   (first, second) <- Linear.pure (Linear.halve part)
-- >   (first', second') <- Linear.both (smooth first) (Linear.mapElements (subtract 1) second)
-- >   Linear.pure (Linear.combine first' second')
--
-- == How it works
--
-- A function with the arrow @%1 ->@ uses its argument exactly once. 'new' begins with the whole
-- array, and all other parts come from splitting a part, so two parts never overlap. The type of a
-- part has a name @s@ of its array, which no other code can write. So a part cannot leave the
-- function that received it, nor be mixed up with a part of another array. The type of a piece also
-- says which piece it is, so 'combine' needs no check: it takes the lower and the upper half of one
-- part, in this order.
--
-- These types exist only in the compiler: at run time a part is an address and a length, in
-- registers. 'split', 'combine', 'read', 'write' and 'withC' allocate nothing and make no closure.
--
-- == Actions
--
-- An 'Action' is an 'System.IO.IO' whose result must be used exactly once. The module exports the
-- names that @QualifiedDo@ needs. A result that may be used any number of times is wrapped in 'Ur'
-- (unrestricted).
--
-- The module is meant to be imported qualified. It needs @LinearTypes@ in the programs that use it,
-- GHC 9.0 or later.
--
-- @since 0.1.0
module Capstan.Array.Linear
  ( -- * Whole arrays
    Alignment (..),
    new,
    fromVector,
    unsafeBorrow,

    -- * Parts
    Part,
    length,
    read,
    write,
    mapElements,

    -- * Splitting
    Lower,
    Upper,
    split,
    halve,
    combine,
    Chunks (..),
    chunksOf,
    unchunk,
    mapChunks,

    -- * Giving it to C
    Lent,
    withC,
    withC2,

    -- * At the same time
    both,
    mapChunksAtOnce,

    -- * Actions
    Action,
    Ur (..),
    io,
    pure,
    (>>=),
    (>>),
    fail,
  )
where

import Capstan.Array.Internal (Alignment (..))
import Capstan.Array.Linear.Internal
import Prelude ()
