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
-- The promises of the types hold because users cannot reach the constructors of 'Part' and
-- 'Action', whose fields may be used more than once.
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
import Capstan.Exception (invalidValue)
import Capstan.Task (parallelFor, range)
import qualified Capstan.Task as Task
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

-- | An effect whose result is to be used exactly once. It takes its continuation as an argument, so
-- a result is passed on without a place in memory.
newtype Action a = Action (forall r. (a %1 -> Effect r) %1 -> Effect r)

type Effect r = State# RealWorld -> (# State# RealWorld, r #)

-- | A result that may be used any number of times, or not at all.
data Ur a where
  Ur :: a -> Ur a

-- | No effect: the action only returns the value. A @do@ block that is qualified by the module's
-- name uses 'pure', '>>=' and '>>'.
pure :: a %1 -> Action a
pure a = Action (\next -> next a)
{-# INLINE pure #-}

-- | One effect, and a second effect that uses its result.
(>>=) :: Action a %1 -> (a %1 -> Action b) %1 -> Action b
Action first >>= second = Action (\next -> first (\a -> continue (second a) next))
{-# INLINE (>>=) #-}

continue :: Action a %1 -> (a %1 -> Effect r) %1 -> Effect r
continue (Action effect) = effect
{-# INLINE continue #-}

-- | One effect without a result, and then a second effect.
(>>) :: Action () %1 -> Action b %1 -> Action b
first >> second = first >>= \() -> second
{-# INLINE (>>) #-}

infixl 1 >>, >>=

-- | Throws an exception. GHC needs this name if a @do@ block takes a result apart, and calls it if
-- the pattern does not match. A pattern of a pair or an 'Ur' always matches.
fail :: String -> Action a
fail message = once (throwIO (PatternMatchFail message)) id

-- | Any other effect. It has no access to a part.
io :: IO a -> Action (Ur a)
io effect = once effect Ur
{-# INLINE io #-}

-- | An effect, with a function that makes its result linear.
once :: IO a -> (a -> b) -> Action b
once (IO effect) become = Action $ \next s -> case effect s of
  (# s', a #) -> next (become a) s'
{-# INLINE once #-}

-- | The action as an effect of 'IO'. The caller must run it once only.
toIO :: Action a -> IO a
toIO (Action effect) = IO (effect (\a s -> (# s, a #)))
{-# INLINE toIO #-}

-- * Parts

-- | Elements of an array, and the right to read and write them. @s@ says which elements: the whole
-- array that 'new' made, or the 'Lower' or 'Upper' piece of another part.
data Part s a where
  -- The fields may be used more than once; the part itself may not.
  Part :: !(Ptr a) -> !Int -> Part s a

-- Nominal, so that no coercion changes which elements a part has.
type role Part nominal nominal

-- | The first piece of a part that was split.
data Lower (s :: Type)

-- | The second piece of a part that was split.
data Upper (s :: Type)

-- | Makes an array with the given number of elements, whose contents are undefined. The action gets
-- the whole array as a part, and gives the part back. The call returns the array as a vector,
-- without a copy, and the action's other result.
--
-- Errors: as 'Capstan.Array.new'. The call also throws the exception of the action, and drops the
-- array then.
new ::
  (HasCallStack, Storable a) =>
  Alignment ->
  Int ->
  (forall s. Part s a %1 -> Action (Part s a, Ur b)) ->
  IO (Vector.Vector a, b)
new alignment count action = newAligned "Capstan.Array.Linear.new" alignment count Prelude.>>= use action

-- | As 'new', but the array has a copy of the vector's elements.
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

-- | Works on an array in place. No other code has the array, so the vector does not change later.
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

-- | Lends an array that exists already. The compiler does not know which other code has this array.
-- So no other code may use the array, or a slice of it, until the action has ended.
unsafeBorrow :: Storable a => Array a -> (forall s. Part s a %1 -> Action (Part s a, Ur b)) -> IO b
unsafeBorrow array@(Array.Array memory) action = withPointer array $ \start -> do
  (Part _ _, Ur b) <- toIO (action (Part start (Mutable.length memory)))
  Prelude.pure b
{-# INLINE unsafeBorrow #-}

-- | The number of elements.
length :: Part s a %1 -> (Part s a, Ur Int)
length (Part start count) = (Part start count, Ur count)
{-# INLINE length #-}

-- | The base of all accesses: gives the memory of a part to an effect, and returns the part. Calls
-- apply it without @$@, which is linear only in GHC 9.0.
access :: Part s a %1 -> (Ptr a -> Int -> IO b) -> Action (Part s a, Ur b)
access (Part start count) effect =
  once (effect start count) (\b -> (Part start count, Ur b))
{-# INLINE access #-}

-- | As 'access', without a result.
access_ :: Part s a %1 -> (Ptr a -> Int -> IO ()) -> Action (Part s a)
access_ (Part start count) effect = once (effect start count) (\() -> Part start count)
{-# INLINE access_ #-}

-- | The element at an index, from 0. Throws 'Capstan.Exception.OutOfBounds' if the part has no such
-- index.
--
-- Cost: a comparison and a load, in line.
read :: (HasCallStack, Storable a) => Part s a %1 -> Int -> Action (Part s a, Ur a)
read part index =
  access part (\start count -> checkIndex "Capstan.Array.Linear.read" index count *> peekElemOff start index)
{-# INLINE read #-}

-- | Sets the element at an index, from 0. Throws 'Capstan.Exception.OutOfBounds' if the part has no
-- such index.
--
-- Cost: a comparison and a store, in line.
write :: (HasCallStack, Storable a) => Part s a %1 -> Int -> a -> Action (Part s a)
write part index a =
  access_ part (\start count -> checkIndex "Capstan.Array.Linear.write" index count *> pokeElemOff start index a)
{-# INLINE write #-}

-- | Applies the function to every element, in place.
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

-- | The given number of first elements (all, if the part has fewer), and the remaining elements.
split :: forall s a. Storable a => Int -> Part s a %1 -> (Part (Lower s) a, Part (Upper s) a)
split at (Part start count) = (Part start before, Part (start `plusPtr` (before * size)) (count - before))
  where
    before = max 0 (min at count)
    size = sizeOf (undefined :: a)
{-# INLINE split #-}

-- | Splits a part in the middle. If the number of elements is odd, the first half is shorter by one
-- element.
halve :: forall s a. Storable a => Part s a %1 -> (Part (Lower s) a, Part (Upper s) a)
halve (Part start count) = split (count `quot` 2) (Part start count)
{-# INLINE halve #-}

-- | Joins the two pieces of a split part.
combine :: Part (Lower s) a %1 -> Part (Upper s) a %1 -> Part s a
combine (Part start before) (Part _ after) = Part start (before + after)
{-# INLINE combine #-}

-- | A part as a list of pieces, each with its own type.
data Chunks s a where
  Last :: Part s a %1 -> Chunks s a
  (:|) :: Part (Lower s) a %1 -> Chunks (Upper s) a %1 -> Chunks s a

infixr 5 :|

-- | Pieces of the given number of elements; the last piece may have fewer. Throws an
-- 'Capstan.Exception.InvalidArgument' if the number is not positive.
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

-- | Joins all pieces.
unchunk :: Chunks s a %1 -> Part s a
unchunk (Last part) = part
unchunk (chunk :| others) = combine chunk (unchunk others)

-- | Runs an action for every chunk, one after another, from the first to the last.
mapChunks :: (forall (c :: Type). Part c a %1 -> Action (Part c a)) -> Chunks s a %1 -> Action (Chunks s a)
mapChunks action (Last part) = action part >>= \part' -> pure (Last part')
mapChunks action (chunk :| others) =
  action chunk >>= \chunk' -> mapChunks action others >>= \others' -> pure (chunk' :| others')

-- | Runs an action for every chunk, and shares the work with free Capabilities, as
-- 'Capstan.Task.parallelFor' does. It returns when all actions have ended. If an action throws, the
-- other actions are interrupted, and the call throws the exception.
--
-- Cost: some nanoseconds for each chunk.
mapChunksAtOnce ::
  (forall (c :: Type). Part c a %1 -> Action (Part c a)) -> Chunks s a %1 -> Action (Chunks s a)
mapChunksAtOnce action = unsafeCoerce everywhere
  where
    -- Each chunk is used once, and is the same afterwards: its action has no other part to give
    -- back. @unsafeCoerce@ is needed because GHC's types have no linear loop.
    everywhere chunks = once (atOnce action chunks) (\() -> chunks)

-- | A chunk of any type @c@.
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

-- | An element that was lent to C. Haskell code may have pointers to it, but cannot follow them
-- without 'castPtr'. 'castPtr' forgets the type of a pointer's target, as @unsafeCoerce@ forgets
-- the type of a value.
data Lent p a

type role Lent nominal nominal

-- | Gives the elements to a foreign function, and takes them back when it returns. The foreign call
-- takes the pointer and the number of elements, with a type such as this:
--
-- > foreign import ccall "smooth" c_smooth :: Ptr (Lent p Double) -> CSize -> IO ()
-- >
-- > smooth :: Part s Double %1 -> Action (Part s Double)
-- > smooth part = Linear.do
-- >   (part', Ur ()) <- withC part c_smooth
-- >   Linear.pure part'
--
-- No code outside of the call can hold the pointer, because no other code knows the type @p@. The
-- types do not check C: the function must stay within its elements and must not keep the pointer.
-- They do not check casts either, nor a type that hides @p@ on purpose: give the pointer only to
-- the foreign call.
--
-- Cost: the foreign call.
withC :: Part s a %1 -> (forall p. Ptr (Lent p a) -> CSize -> IO b) -> Action (Part s a, Ur b)
withC part function =
  access part (\start count -> function (castPtr start) (fromIntegral count))
{-# INLINE withC #-}

-- | As 'withC', with two parts, for a function that reads one part and writes the other.
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

-- | Runs two actions at the same time: the second may run on another Capability, as with
-- 'Capstan.Task.both'. The call returns when both actions have ended, so no part comes back while
-- an action still works on it. If an action throws, or if an exception is thrown to the caller, the
-- call interrupts the other action and waits for it. An action in a foreign call ends when that
-- call has returned.
--
-- Cost: about ten function calls, if no other Capability takes the second action.
both :: Action a %1 -> Action b %1 -> Action (a, b)
both = unsafeCoerce together
  where
    -- Each action is used once. @unsafeCoerce@ is needed because GHC's types have no linear fork.
    together :: Action a -> Action b -> Action (a, b)
    together first second = once (Task.both (toIO first) (toIO second)) id
