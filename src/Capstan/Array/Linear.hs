-- |
-- Module      : Capstan.Array.Linear
-- Description : Disjoint parts of an array, proven by the types
-- Stability   : experimental
--
-- Who holds a 'Part' of an array is the only one who can read or write those elements, and the
-- compiler sees to it. A part may be split, and the pieces given to C, to an OpenMP region and to
-- other Haskell threads at the same time, and it comes back when the pieces are combined again. A
-- program in which two of them could touch the same element, or one could keep a part for later,
-- does not compile.
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
-- A function with the arrow @%1 ->@ uses its argument exactly once. Nothing makes a part but
-- splitting another one, and 'new' begins with the whole array, so two parts never overlap. The
-- name @s@ of the array in the type of a part is known to nobody else, so a part can neither
-- leave the function that it was given to nor be mixed up with that of another array; and since a
-- piece's type says which piece it is, 'combine' needs no check: the lower half and the upper
-- half of the same part, in this order, are the whole.
--
-- Types do not outlive the compiler: after it, a part is an address and a length, in registers.
-- 'split', 'combine', 'read', 'write' and 'withC' allocate nothing and make no closure.
--
-- == Actions
--
-- An 'Action' is an 'System.IO.IO' whose result must be used exactly once. The module has the names that
-- @QualifiedDo@ asks for. A result that may be used as often as one likes comes as 'Ur' (unrestricted).
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
