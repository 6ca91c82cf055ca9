{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Loop
-- Description : Loops over ranges that split when someone is hungry
--
-- A loop runs its range piece by piece. Between pieces it looks whether another Capability wants work
-- while this one's deque is empty; only then it gives half of what is left away. This is lazy binary
-- splitting (Tzannes, Caragea, Barua and Vishkin, 2010): on a busy machine, or on one Capability, there
-- is no task at all.
--
-- A piece has the size that was asked for. Without one, pieces double until one takes 'shortest' and
-- halve when one takes 'longest', so that looking and reading the clock cost nothing beside them.
module Capstan.Task.Loop
  ( Range (..),
    range,
    chunk,
    on,
    parallelFor,
    parallelForReduce,
    parallelFind,
    mapChunks,
  )
where

import Capstan.Task.Deque (hungry)
import Capstan.Task.Fork (bothResuming)
import Capstan.Task.Pool
import Capstan.Task.Scope (defaultPool)
import Capstan.Task.Seeded (asMember, coin, switchPoint)
import Control.Applicative ((<|>))
import Control.Monad (when)
import Control.Monad.Primitive (PrimBase, unsafeIOToPrim, unsafePrimToIO)
import Data.IORef
import Data.Word (Word64)
import GHC.Clock (getMonotonicTimeNSec)

-- | A half-open range of indices, with the size of its pieces and the pool that runs them.
data Range = Range
  { _low :: !Int,
    high :: !Int,
    -- | 0: automatic.
    grain :: !Int,
    workers :: !Pool
  }

-- | @range low high@ has the indices @i@ with @low <= i < high@, so none if @high <= low@. Its pieces
-- are sized by the clock: of 8 to 20 microseconds, or of one index.
range :: Int -> Int -> Range
range from to = Range from to 0 defaultPool

-- | Sets the number of indices in a piece, which runs without a look at the others' needs. The last
-- piece may be smaller. Less than 1 counts as 1.
chunk :: Int -> Range -> Range
chunk size indices = indices {grain = max 1 size}

-- | The workers of that pool take part, and no others.
on :: Pool -> Range -> Range
on pool indices = indices {workers = pool}

-- | Runs the body for each index; in order on each Capability, in no order between them. If a body
-- throws, the others are interrupted and the exception is thrown again.
--
-- > parallelFor (range 0 n) $ \i -> write vector i (f i)
--
-- With no other Capability idle it costs what a plain loop costs, and a few nanoseconds for each piece.
parallelFor :: PrimBase m => Range -> (Int -> m ()) -> m ()
parallelFor indices body = unsafeIOToPrim (split indices (Through (several indices piece)) piece noResult ())
  where
    piece !_ from to = go from
      where
        go i = when (i < to) (unsafePrimToIO (body i) >> go (i + 1))
    noResult _ _ = ()
{-# INLINE parallelFor #-}

-- | Combines the results of the body for all indices, in the order of the indices. The function must be
-- associative (it need not be commutative) and the value its neutral element. What is combined is
-- evaluated to weak head normal form.
parallelForReduce :: PrimBase m => Range -> (a -> a -> a) -> a -> (Int -> m a) -> m a
parallelForReduce indices combine neutral body =
  unsafeIOToPrim (split indices (Through (several indices piece)) piece combine neutral)
  where
    piece sofar from to = go sofar from
      where
        go !acc i
          | i < to = do
            x <- unsafePrimToIO (body i)
            go (combine acc x) (i + 1)
          | otherwise = pure acc
{-# INLINE parallelForReduce #-}

-- | The 'Just' of the least index that has one, whatever the schedule. Once one is found, no body of a
-- greater index begins. A body that throws before that ends the search, also where a lesser index would have had one.
parallelFind :: PrimBase m => Range -> (Int -> m (Maybe a)) -> m (Maybe a)
parallelFind indices body = unsafeIOToPrim $ do
  least <- newIORef (high indices)
  let piece found from to = go from
        where
          go i
            | i >= to = pure found
            | otherwise = do
              limit <- readIORef least
              if i >= limit then pure found else unsafePrimToIO (body i) >>= visit i
          visit i Nothing = go (i + 1)
          visit i answer = do
            atomicModifyIORef' least (\now -> (min now i, ()))
            pure (found <|> answer)
  split indices (Until (readIORef least)) piece (<|>) Nothing
{-# INLINE parallelFind #-}

-- | Runs the body for each piece, given as the bounds of a half-open range. The results are in the order
-- of the indices. Where pieces are sized by the clock their bounds differ from run to run.
mapChunks :: PrimBase m => Range -> (Int -> Int -> m a) -> m [a]
mapChunks indices body = unsafeIOToPrim (($ []) <$> split indices (Through (several indices piece)) piece (.) id)
  where
    piece before from to = do
      x <- unsafePrimToIO (body from to)
      pure (before . (x :))
{-# INLINE mapChunks #-}

-- | Where a loop ends: at a bound that may come down meanwhile; or with its range, and then it has a way to run several pieces.
data Course a
  = Until (IO Int)
  | Through (a -> Int -> Int -> IO (Part a))

-- | How far a loop has come, and its result.
data Part a = Part !Int a

-- | Runs pieces of the range's size, one at least, up to an index or until someone seems to be hungry. It is compiled with the body: what
-- lies between two pieces is a look at two words.
several :: Range -> (a -> Int -> Int -> IO a) -> a -> Int -> Int -> IO (Part a)
several (Range _ _ unit pool) piece = go
  where
    go !acc i end
      | remaining i end <= unit = Part end <$> piece acc i end
      | otherwise = do
        acc' <- piece acc i (i + unit)
        wanted <- hungry (deques pool) (flags pool)
        if wanted then pure (Part (i + unit) acc') else go acc' (i + unit) end
{-# INLINE several #-}

-- | Runs pieces, each from the result of those before it.
split :: Range -> Course a -> (a -> Int -> Int -> IO a) -> (a -> a -> a) -> a -> IO a
split (Range from to size pool) course piece combine neutral
  | from >= to = pure neutral
  | otherwise = do
    -- There may be more Capabilities than when the pool was used last.
    serveCapabilities pool
    asMember (const (fixed drawn piecewise neutral from to)) $
      case course of
        _ | size == 0 -> timed 1 neutral from to
        Until _ -> fixed (const (divides pool)) size neutral from to
        Through pieces -> through pieces neutral from to
  where
    -- In a seeded run the generator is asked, and not the clock; some thirty times if nothing is divided.
    drawn i = if (i - from) `rem` stride == 0 then switchPoint >> asMember coin (pure False) else pure False
    stride = piecewise * max 1 (thirtieth `quot` piecewise)
    piecewise = if size > 0 then size else max 1 thirtieth
    thirtieth = remaining from to `quot` 32

    boundOf end = case course of
      Until bound -> min end <$> bound
      Through _ -> pure end

    fixed wanted unit = go
      where
        go !acc i end = do
          limit <- boundOf end
          if i >= limit
            then pure acc
            else do
              gives <- wanted i
              -- Compared by differences, as the ends may be far apart or near the largest Int.
              if gives && remaining i limit > unit
                then halves go acc i (middleOf unit i limit) limit
                else do
                  let next = if remaining i limit <= unit then limit else i + unit
                  acc' <- piece acc i next
                  go acc' next end
    {-# INLINE fixed #-}

    through pieces !acc i end = do
      gives <- divides pool
      if gives && remaining i end > size
        then halves (through pieces) acc i (middleOf size i end) end
        else do
          Part next acc' <- pieces acc i end
          if next >= end then pure acc' else through pieces acc' next end

    -- After half of the whole pieces, rounded up.
    middleOf unit i end = let n = remaining i end `quot` unit in i + (n - n `quot` 2) * unit

    timed n acc i end = getMonotonicTimeNSec >>= \now -> measured n now acc i end

    -- A piece begins when the one before it has ended: the clock is read once for each.
    measured !n !begun !acc i end = do
      limit <- boundOf end
      if i >= limit
        then pure acc
        else do
          wanted <- divides pool
          let left = remaining i limit
          if wanted && left > 1
            then halves (timed n) acc i (i + (left - left `quot` 2)) limit
            else do
              let next = if left <= n then limit else i + n
              acc' <- piece acc i next
              now <- getMonotonicTimeNSec
              measured (adapt n (now - begun)) now acc' next end

    halves loop acc i middle end = do
      (a, b) <- bothResuming pool (loop acc i middle) (loop neutral middle end)
      pure $! combine a b
{-# NOINLINE split #-}

-- | How many indices are left; very many count as 'maxBound'.
remaining :: Int -> Int -> Int
remaining i end = let n = end - i in if n < 0 then maxBound else n

adapt :: Int -> Word64 -> Int
adapt n nanoseconds
  | nanoseconds < shortest = min maxPiece (2 * n)
  | nanoseconds > longest = max 1 (n `quot` 2)
  | otherwise = n

-- | The times between which a piece of automatic size is kept, in nanoseconds, and its largest size.
shortest, longest :: Word64
shortest = 8000
longest = 20000

maxPiece :: Int
maxPiece = 0x1000000
