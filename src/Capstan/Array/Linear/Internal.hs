{-# LANGUAGE GADTs #-}
{-# LANGUAGE KindSignatures #-}
{-# LANGUAGE LinearTypes #-}
{-# LANGUAGE MagicHash #-}
{-# LANGUAGE RankNTypes #-}
{-# LANGUAGE RoleAnnotations #-}
{-# LANGUAGE ScopedTypeVariables #-}
{-# LANGUAGE UnboxedTuples #-}

-- |
-- Module      : Capstan.Array.Linear.Internal
-- Description : The parts behind "Capstan.Array.Linear"
--
-- All that the types promise rests on what this module does not export to users: the constructors of
-- 'Part' and 'Action', whose fields may be used more than once.
module Capstan.Array.Linear.Internal
  ( Part (..),
    Lower,
    Upper,
    Lent,
    new,
    fromVector,
    unsafeBorrow,
    length,
    read,
    write,
    mapElements,
    split,
    halve,
    combine,
    Chunks (..),
    chunksOf,
    unchunk,
    mapChunks,
    mapChunksAtOnce,
    withC,
    withC2,
    both,
    Action (..),
    toIO,
    Ur (..),
    io,
    pure,
    (>>=),
    (>>),
    fail,
  )
where

import Capstan.Array.Internal (Alignment (..), Array, checkIndex, newAligned, withPointer)
import qualified Capstan.Array.Internal as Array
import Capstan.Exception.Internal (invalidValue)
import qualified Capstan.Task.Join.Fork as Task
import Capstan.Task.Loop.For (parallelFor, range)
import Control.Exception (PatternMatchFail (..), throwIO)
import Data.Kind (Type)
import qualified Data.Vector as Boxed
import qualified Data.Vector.Storable as Vector
import qualified Data.Vector.Storable.Mutable as Mutable
import Foreign.C.Types (CSize)
import Foreign.Ptr (Ptr, castPtr, plusPtr)
import Foreign.Storable (Storable, peekElemOff, pokeElemOff, sizeOf)
import GHC.Exts (RealWorld, State#)
import GHC.IO (IO (IO))
import GHC.Stack (HasCallStack)
import Unsafe.Coerce (unsafeCoerce)
import Prelude hiding (fail, length, pure, read, (>>), (>>=))
import qualified Prelude

-- * Actions

-- | An effect whose result is to be used exactly once. It is told what comes next: so a result goes
-- from hand to hand without a place in memory.
newtype Action a = Action (forall r. (a %1 -> Effect r) %1 -> Effect r)

type Effect r = State# RealWorld -> (# State# RealWorld, r #)

-- | A result that may be used as often as one likes, or not at all.
data Ur a where
  Ur :: a -> Ur a

-- | No effect. Qualified by the module's name, as the other two, what a @do@ block is made of.
pure :: a %1 -> Action a
pure a = Action (\next -> next a)
{-# INLINE pure #-}

-- | One effect, and another that uses its result.
(>>=) :: Action a %1 -> (a %1 -> Action b) %1 -> Action b
Action first >>= second = Action (\next -> first (\a -> continue (second a) next))
{-# INLINE (>>=) #-}

continue :: Action a %1 -> (a %1 -> Effect r) %1 -> Effect r
continue (Action effect) = effect
{-# INLINE continue #-}

-- | One effect, and another. There is nothing to use in between.
(>>) :: Action () %1 -> Action b %1 -> Action b
first >> second = first >>= \() -> second
{-# INLINE (>>) #-}

infixl 1 >>, >>=

-- | An exception. GHC looks for the name wherever a @do@ block takes a result apart, and uses it where
-- that can go wrong; taking a pair or an 'Ur' apart cannot.
fail :: String -> Action a
fail message = once (throwIO (PatternMatchFail message)) id

-- | Any other effect. It has no access to a part.
io :: IO a -> Action (Ur a)
io effect = once effect Ur
{-# INLINE io #-}

-- | An effect, and what its result becomes for those who may use it once.
once :: IO a -> (a -> b) -> Action b
once (IO effect) become = Action $ \next s -> case effect s of
  (# s', a #) -> next (become a) s'
{-# INLINE once #-}

-- | The action as an effect of IO: for those who know that it is used once.
toIO :: Action a -> IO a
toIO (Action effect) = IO (effect (\a s -> (# s, a #)))
{-# INLINE toIO #-}

-- * Parts

-- | Elements of an array, and the right to read and write them. @s@ says which: all of the array
-- that 'new' made, or the 'Lower' or 'Upper' piece of others.
data Part s a where
  -- Its fields may be used more than once; the part itself may not.
  Part :: !(Ptr a) -> !Int -> Part s a

-- Nominal, so that no coercion turns a part into another.
type role Part nominal nominal

-- | The first piece of a part that was split.
data Lower (s :: Type)

-- | The second piece.
data Upper (s :: Type)

-- | An array of so many elements with undefined contents; an action has all of it, and gives it back.
-- Returns it as a vector, without a copy, and the action's other result.
--
-- Errors: as 'Capstan.Array.new'. An exception in the action comes out here; the array is dropped.
new ::
  (HasCallStack, Storable a) =>
  Alignment ->
  Int ->
  (forall s. Part s a %1 -> Action (Part s a, Ur b)) ->
  IO (Vector.Vector a, b)
new alignment count action = newAligned "Capstan.Array.Linear.new" alignment count Prelude.>>= use action

-- | The same with a copy of the vector's elements.
fromVector ::
  (HasCallStack, Storable a) =>
  Alignment ->
  Vector.Vector a ->
  (forall s. Part s a %1 -> Action (Part s a, Ur b)) ->
  IO (Vector.Vector a, b)
fromVector alignment vector action = do
  array <- newAligned "Capstan.Array.Linear.fromVector" alignment (Vector.length vector)
  case array of Array.Array to -> Vector.copy to vector
  use action array

-- | Works on an array in place. Nobody else has it, so the vector stays as it is.
use ::
  Storable a =>
  (forall s. Part s a %1 -> Action (Part s a, Ur b)) ->
  Array a ->
  IO (Vector.Vector a, b)
use action array@(Array.Array memory) = do
  b <- unsafeBorrow array action
  vector <- Vector.unsafeFreeze memory
  Prelude.pure (vector, b)
{-# INLINE use #-}

-- | Lends an array that exists already. The compiler knows nothing of those who have the array too:
-- nobody may use it, nor a slice of it, before the action is over.
unsafeBorrow :: Storable a => Array a -> (forall s. Part s a %1 -> Action (Part s a, Ur b)) -> IO b
unsafeBorrow array@(Array.Array memory) action = withPointer array $ \start -> do
  (Part _ _, Ur b) <- toIO (action (Part start (Mutable.length memory)))
  Prelude.pure b
{-# INLINE unsafeBorrow #-}

-- | How many elements there are.
length :: Part s a %1 -> (Part s a, Ur Int)
length (Part start count) = (Part start count, Ur count)
{-# INLINE length #-}

-- | What every access is made of: the memory of a part, in exchange for the part. Applied without
-- @$@, which is linear in GHC 9.0 alone.
access :: Part s a %1 -> (Ptr a -> Int -> IO b) -> Action (Part s a, Ur b)
access (Part start count) effect =
  once (effect start count) (\b -> (Part start count, Ur b))
{-# INLINE access #-}

-- | The same without a result.
access_ :: Part s a %1 -> (Ptr a -> Int -> IO ()) -> Action (Part s a)
access_ (Part start count) effect = once (effect start count) (\() -> Part start count)
{-# INLINE access_ #-}

-- | The element at an index, from 0; 'Capstan.Exception.OutOfBounds' if there is none.
--
-- Cost: a comparison and a load, in line.
read :: (HasCallStack, Storable a) => Part s a %1 -> Int -> Action (Part s a, Ur a)
read part index =
  access part (\start count -> checkIndex "Capstan.Array.Linear.read" index count *> peekElemOff start index)
{-# INLINE read #-}

-- | Sets the element at an index, from 0; 'Capstan.Exception.OutOfBounds' if there is none.
--
-- Cost: a comparison and a store, in line.
write :: (HasCallStack, Storable a) => Part s a %1 -> Int -> a -> Action (Part s a)
write part index a =
  access_ part (\start count -> checkIndex "Capstan.Array.Linear.write" index count *> pokeElemOff start index a)
{-# INLINE write #-}

-- | Replaces every element by what the function makes of it.
mapElements :: Storable a => (a -> a) -> Part s a %1 -> Action (Part s a)
mapElements function part =
  access_
    part
    ( \start count ->
        let go index
              | index >= count = Prelude.pure ()
              | otherwise = do
                a <- peekElemOff start index
                pokeElemOff start index $! function a
                go (index + 1)
         in go 0
    )
{-# INLINE mapElements #-}

-- * Splitting

-- | The first elements, so many or all there are, and the others.
split :: forall s a. Storable a => Int -> Part s a %1 -> (Part (Lower s) a, Part (Upper s) a)
split at (Part start count) = (Part start before, Part (start `plusPtr` (before * size)) (count - before))
  where
    before = max 0 (min at count)
    size = sizeOf (undefined :: a)
{-# INLINE split #-}

-- | In the middle; the first half is the shorter one if there is one.
halve :: forall s a. Storable a => Part s a %1 -> (Part (Lower s) a, Part (Upper s) a)
halve (Part start count) = split (count `quot` 2) (Part start count)
{-# INLINE halve #-}

-- | The whole that was split.
combine :: Part (Lower s) a %1 -> Part (Upper s) a %1 -> Part s a
combine (Part start before) (Part _ after) = Part start (before + after)
{-# INLINE combine #-}

-- | A part as a row of pieces, each with a type of its own.
data Chunks s a where
  Last :: Part s a %1 -> Chunks s a
  (:|) :: Part (Lower s) a %1 -> Chunks (Upper s) a %1 -> Chunks s a

infixr 5 :|

-- | Pieces of so many elements, the last one of as many or fewer. An exception if a piece would have
-- none.
--
-- Cost: one small object for each piece.
chunksOf :: (HasCallStack, Storable a) => Int -> Part s a %1 -> Chunks s a
chunksOf size (Part start count)
  | size <= 0 = invalidValue ("Capstan.Array.Linear.chunksOf: chunks of " ++ show size ++ " elements; there must be 1 or more")
  | count <= size = Last (Part start count)
  | otherwise = cut size (split size (Part start count))
  where
    cut :: (HasCallStack, Storable b) => Int -> (Part (Lower t) b, Part (Upper t) b) %1 -> Chunks t b
    cut n (chunk, others) = chunk :| chunksOf n others

-- | The whole again.
unchunk :: Chunks s a %1 -> Part s a
unchunk (Last part) = part
unchunk (chunk :| others) = combine chunk (unchunk others)

-- | An action for every chunk, one after another, from the first to the last.
mapChunks :: (forall (c :: Type). Part c a %1 -> Action (Part c a)) -> Chunks s a %1 -> Action (Chunks s a)
mapChunks action (Last part) = action part >>= \part' -> pure (Last part')
mapChunks action (chunk :| others) =
  action chunk >>= \chunk' -> mapChunks action others >>= \others' -> pure (chunk' :| others')

-- | An action for every chunk, shared with those Capabilities that are free, as by 'Capstan.Task.parallelFor'. When all are over, so is
-- this one. If one throws, the others are interrupted, and the exception is thrown here.
--
-- Cost: some nanoseconds for each chunk.
mapChunksAtOnce ::
  (forall (c :: Type). Part c a %1 -> Action (Part c a)) -> Chunks s a %1 -> Action (Chunks s a)
mapChunksAtOnce action = unsafeCoerce everywhere
  where
    -- Each chunk is used once, and is the same after it: its action has no other part to give back. The compiler knows no linear loop.
    everywhere chunks = once (atOnce action chunks) (\() -> chunks)

-- | A chunk, whichever it is.
data Chunk a where
  Chunk :: Part c a -> Chunk a

atOnce :: (forall (c :: Type). Part c a %1 -> Action (Part c a)) -> Chunks s a -> IO ()
atOnce action chunks = parallelFor (range 0 (Boxed.length all')) $ \index -> case Boxed.unsafeIndex all' index of
  Chunk part -> toIO (action part) Prelude.>>= \(Part _ _) -> Prelude.pure ()
  where
    all' = Boxed.fromList (list chunks)
    list :: Chunks t b -> [Chunk b]
    list (Last part) = [Chunk part]
    list (part :| others) = Chunk part : list others

-- * C

-- | An element that was lent to C. There are pointers to it and no way to follow one in Haskell,
-- short of 'castPtr', which forgets what a pointer is about as @unsafeCoerce@ forgets a type.
data Lent p a

type role Lent nominal nominal

-- | Gives the elements to a foreign function, and takes them back when it returns. The pointer and
-- the number of elements go into a foreign call of such a type:
--
-- > foreign import ccall "smooth" c_smooth :: Ptr (Lent p Double) -> CSize -> IO ()
-- >
-- > smooth :: Part s Double %1 -> Action (Part s Double)
-- > smooth part = Linear.do
-- >   (part', Ur ()) <- withC part c_smooth
-- >   Linear.pure part'
--
-- Nothing outside can hold the pointer, for nobody else knows @p@. What C itself does with it the
-- types do not see: the function must keep to its elements and must not keep the pointer. Nor do
-- they see what is cast, or hidden on purpose in a type that forgets @p@: give the pointer to the
-- foreign call and to nothing else.
--
-- Cost: that of the foreign call.
withC :: Part s a %1 -> (forall p. Ptr (Lent p a) -> CSize -> IO b) -> Action (Part s a, Ur b)
withC part function =
  access part (\start count -> function (castPtr start) (fromIntegral count))
{-# INLINE withC #-}

-- | The same with two parts, as for a function that reads one and writes the other.
withC2 ::
  Part s a %1 ->
  Part t b %1 ->
  (forall p q. Ptr (Lent p a) -> CSize -> Ptr (Lent q b) -> CSize -> IO c) ->
  Action ((Part s a, Part t b), Ur c)
withC2 (Part start count) (Part start' count') function =
  once
    (function (castPtr start) (fromIntegral count) (castPtr start') (fromIntegral count'))
    (\c -> ((Part start count, Part start' count'), Ur c))
{-# INLINE withC2 #-}

-- * At the same time

-- | Two actions at the same time: the second may run on another Capability, as by 'Capstan.Task.both'. When both are over, so
-- is this one: a part is never given back while somebody still works on it. If one ends by an exception, its own or one thrown at
-- this thread, the other is interrupted and waited for: if it is in a foreign call, until that returns.
--
-- Cost: about ten function calls if nobody takes the second.
both :: Action a %1 -> Action b %1 -> Action (a, b)
both = unsafeCoerce together
  where
    -- Each is used once; the compiler knows no linear fork.
    together :: Action a -> Action b -> Action (a, b)
    together first second = once (Task.both (toIO first) (toIO second)) id
