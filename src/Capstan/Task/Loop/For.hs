{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Loop.For
-- Description : Loops over ranges that are shared when someone is hungry
--
-- A loop runs its range piece by piece. Between pieces it looks whether another Capability wants work
-- while this one's deque is empty, as in lazy binary splitting (Tzannes, Caragea, Barua and Vishkin, 2010): on a busy machine, or on
-- one Capability, there is no task at all. When somebody does, what is left becomes a share, from which those that come take the back
-- half, and so on from theirs ("Capstan.Task.Loop.Shares"). Who has nothing left takes from another: no part of the loop is anybody's to the end.
--
-- A piece has the size that was asked for. Without one, pieces double until one takes 'shortest' and
-- halve when one takes 'longest', so that looking and reading the clock cost nothing beside them. Where results are kept, they are those of
-- blocks, which depend on the length of the range alone ("Capstan.Task.Loop.Runs"), and a piece is some blocks.
module Capstan.Task.Loop.For
  ( Range (..),
    range,
    chunk,
    onPool,
    parallelFor,
    parallelForReduce,
    parallelFind,
    mapChunks,
    mapChunksNF,
    unsafeParallelFor,
    unsafeParallelForReduce,
    unsafeParallelFind,
    unsafeMapChunks,
    remaining,
  )
where

import Capstan.Domain (fetchAdd, modifyAtomic, newAtomic, newAtomicInt, readAtomic)
import Capstan.Task.Join.Fork (bothResuming)
import Capstan.Task.Join.Scope (defaultPool)
import Capstan.Task.Loop.Crew (crew)
import Capstan.Task.Loop.Runs
import Capstan.Task.Loop.Shares
import Capstan.Task.Pool
import Capstan.Task.Thread.Seeded (asMember, coin, switchPoint)
import Capstan.Task.Work.Deque (hungry)
import Control.Applicative ((<|>))
import Control.DeepSeq (NFData, force)
import Control.Monad (void, when)
import Control.Monad.Primitive (PrimBase, unsafeIOToPrim, unsafePrimToIO)
import Data.IORef
import Data.List (sortOn)
import Data.Maybe (fromMaybe)
import Data.Word (Word64)
import GHC.Clock (getMonotonicTimeNSec)

-- | A half-open range of indices, with the size of its pieces and the pool that runs them.
data Range = Range
  { low :: !Int,
    high :: !Int,
    -- | 0: automatic.
    grain :: !Int,
    workers :: !Pool
  }
  deriving (Eq)

instance Show Range where
  showsPrec n (Range from to size pool) = showParen (n > 10) (placed . sized . showString "range " . showsPrec 11 from . showChar ' ' . showsPrec 11 to)
    where
      placed rest = if pool == defaultPool then rest else "onPool " ++ showsPrec 11 pool " $ " ++ rest
      sized rest = if size == 0 then rest else "chunk " ++ shows size " $ " ++ rest

-- | @range low high@ has the indices @i@ with @low <= i < high@, so none if @high <= low@. Its pieces
-- are sized by the clock: of 8 to 20 microseconds, or of one index.
range :: Int -> Int -> Range
range from to = Range from to 0 defaultPool

-- | Sets the number of indices in a piece, which runs without a look at the others' needs. The last
-- piece may be smaller. Less than 1 counts as 1.
chunk :: Int -> Range -> Range
chunk size indices = indices {grain = max 1 size}

-- | The workers of that pool take part, and no others.
onPool :: Pool -> Range -> Range
onPool pool indices = indices {workers = pool}

-- | Runs the body for each index, in no order that could be relied on. If a body
-- throws, the others are interrupted and the exception is thrown again.
--
-- > parallelFor (range 0 n) $ \i -> write vector i (f i)
--
-- With no other Capability idle it costs what a plain loop costs, and a few nanoseconds for each piece.
parallelFor :: Range -> (Int -> IO ()) -> IO ()
parallelFor = unsafeParallelFor
{-# INLINE parallelFor #-}

-- | As 'parallelFor', in 'Control.Monad.ST.ST' too. Unsafe: bodies that write what others read or write make the value of a pure function
-- depend on the schedule.
unsafeParallelFor :: PrimBase m => Range -> (Int -> m ()) -> m ()
unsafeParallelFor indices body = unsafeIOToPrim (split indices unit (Through (several indices unit piece)) piece noResult ())
  where
    unit = max 1 (grain indices)
    piece !_ from to = go from
      where
        go i = when (i < to) (unsafePrimToIO (body i) >> go (i + 1))
    noResult _ _ = ()
{-# INLINE unsafeParallelFor #-}

-- | Combines the results of the body for all indices, in the order of the indices. The function must be
-- associative (it need not be commutative) and the value its neutral element. What is combined is
-- evaluated to weak head normal form. If a body throws, the others are interrupted and the exception is thrown again.
--
-- > parallelForReduce (range 0 1000) (+) 0 pure >>= print
--
-- Where the function is associative but for rounding, as the sum of 'Double's, the result is the same in each run all the same, on any
-- number of Capabilities: what is combined with what depends on the range alone, and its 'chunk'.
--
-- Costs what a plain loop costs, and some ten nanoseconds for each of up to 512 blocks, or each chunk.
parallelForReduce :: Range -> (a -> a -> a) -> a -> (Int -> IO a) -> IO a
parallelForReduce = unsafeParallelForReduce
{-# INLINE parallelForReduce #-}

-- | As 'parallelForReduce', in 'Control.Monad.ST.ST' too. Unsafe as 'unsafeParallelFor' is.
unsafeParallelForReduce :: PrimBase m => Range -> (a -> a -> a) -> a -> (Int -> m a) -> m a
unsafeParallelForReduce indices combine neutral body = unsafeIOToPrim (inBlocks indices combine block >>= \runs -> pure $! fromMaybe neutral (total combine runs))
  where
    block from to = unsafePrimToIO (body from) >>= \x -> go x (from + 1)
      where
        go !acc i
          | i < to = unsafePrimToIO (body i) >>= \x -> go (combine acc x) (i + 1)
          | otherwise = pure acc
{-# INLINE unsafeParallelForReduce #-}

-- | The 'Just' of the least index that has one, whatever the schedule; the value is evaluated to weak head normal form where it was
-- found. Once one is found, no body of a greater index begins. A body that throws before that ends the search, also where a
-- lesser index would have had one.
--
-- > parallelFind (range 0 n) (\i -> pure (if isLong i then Just i else Nothing))
parallelFind :: Range -> (Int -> IO (Maybe a)) -> IO (Maybe a)
parallelFind = unsafeParallelFind
{-# INLINE parallelFind #-}

-- | As 'parallelFind', in 'Control.Monad.ST.ST' too. Unsafe as 'unsafeParallelFor' is; and which of two bodies that throw is first depends on
-- the schedule.
unsafeParallelFind :: PrimBase m => Range -> (Int -> m (Maybe a)) -> m (Maybe a)
unsafeParallelFind indices body = unsafeIOToPrim $ do
  least <- newIORef (high indices)
  let piece found from to = go from
        where
          go i
            | i >= to = pure found
            | otherwise = do
              limit <- readIORef least
              if i >= limit then pure found else unsafePrimToIO (body i) >>= visit i
          visit i Nothing = go (i + 1)
          visit i answer@(Just !_) = do
            atomicModifyIORef' least (\now -> (min now i, ()))
            pure (found <|> answer)
  split indices (max 1 (grain indices)) (Until (readIORef least)) piece (<|>) Nothing
{-# INLINE unsafeParallelFind #-}

-- | Runs the body for each chunk, given as the bounds of a half-open range, and evaluates its result to weak head normal form there. The
-- results are in the order of the indices. Without a 'chunk' there are up to 512, whose bounds depend on the length of the range alone.
-- If a body throws, the others are interrupted and the exception is thrown again.
--
-- > sum <$> mapChunks (range 0 n) (\low high -> countPrimes low high)
mapChunks :: Range -> (Int -> Int -> IO a) -> IO [a]
mapChunks = unsafeMapChunks
{-# INLINE mapChunks #-}

-- | As 'mapChunks', with results that are evaluated completely.
mapChunksNF :: NFData a => Range -> (Int -> Int -> IO a) -> IO [a]
mapChunksNF indices body = mapChunks indices (\from to -> force <$> body from to)
{-# INLINE mapChunksNF #-}

-- | As 'mapChunks', in 'Control.Monad.ST.ST' too. Unsafe as 'unsafeParallelFor' is.
unsafeMapChunks :: PrimBase m => Range -> (Int -> Int -> m a) -> m [a]
unsafeMapChunks indices body = unsafeIOToPrim (inBlocks indices (.) block >>= \runs -> pure $! fromMaybe id (total (.) runs) [])
  where
    block from to = unsafePrimToIO (body from to) >>= \ !x -> pure (x :)
{-# INLINE unsafeMapChunks #-}

-- | The results of the blocks of a range.
inBlocks :: Range -> (a -> a -> a) -> (Int -> Int -> IO a) -> IO (Runs a)
inBlocks indices@(Range start end size _) combine block = split indices unit (Through (several indices unit piece)) piece (join combine) none
  where
    unit = if size > 0 then size else blockSize (remaining start end)
    -- The two may be further apart than an Int can say.
    piece runs from to = go runs from (fromIntegral ((fromIntegral (from - start) :: Word) `quot` fromIntegral unit))
      where
        go !acc i !number
          | i >= to = pure acc
          | otherwise = do
            let next = if remaining i to <= unit then to else i + unit
            x <- block i next
            go (add combine number x acc) next (number + 1)
{-# INLINE inBlocks #-}

-- | Where a loop ends: at a bound that may come down meanwhile; or with its range, and then it has a way to run several pieces.
data Course a
  = Until (IO Int)
  | Through (a -> Int -> Int -> IO (Part a))

-- | How far a loop has come, and its result.
data Part a = Part !Int a

-- | Runs pieces of the range's size, one at least, up to an index or until someone seems to be hungry. It is compiled with the body: what
-- lies between two pieces is a look at two words.
several :: Range -> Int -> (a -> Int -> Int -> IO a) -> a -> Int -> Int -> IO (Part a)
several (Range _ _ _ pool) unit piece = go
  where
    go !acc i end
      | remaining i end <= unit = Part end <$> piece acc i end
      | otherwise = do
        acc' <- piece acc i (i + unit)
        wanted <- hungry (deques pool) (flags pool)
        if wanted then pure (Part (i + unit) acc') else go acc' (i + unit) end
{-# INLINE several #-}

-- | Runs pieces of some units, each from the result of those before it.
split :: Range -> Int -> Course a -> (a -> Int -> Int -> IO a) -> (a -> a -> a) -> a -> IO a
split (Range from to size pool) unit course piece combine neutral
  | from >= to = pure neutral
  | otherwise = do
    -- There may be more Capabilities than when the pool was used last.
    serveCapabilities pool
    asMember (const (drawn neutral from to)) $ case course of
      Through pieces | size > 0 -> through pieces neutral from to
      _ -> getMonotonicTimeNSec >>= \now -> timed 1 now neutral from to
  where
    boundOf end = case course of
      Until bound -> min end <$> bound
      Through _ -> pure end

    -- Looks at others' needs between any two pieces.
    through _ !acc i end | i >= end = pure acc
    through pieces !acc i end = do
      gives <- divides pool
      if gives && remaining i end > unit
        then share pool unit 1 boundOf run combine neutral acc i (part i end) >>= \acc' -> through pieces acc' (part i end) end
        else do
          Part next acc' <- pieces acc i end
          through pieces acc' next end

    -- Looks at the clock, and at others' needs, whenever a while has passed.
    timed n begun !acc i end = do
      limit <- boundOf end
      gives <- divides pool
      case () of
        _
          | i >= limit -> pure acc
          | gives && remaining i limit > unit -> do
            acc' <- share pool unit n boundOf run combine neutral acc i (part i limit)
            now <- getMonotonicTimeNSec
            timed n now acc' (part i limit) limit
          | otherwise -> do
            let next = if remaining i limit `quot` unit <= n then limit else i + n * unit
            acc' <- run acc i next
            now <- getMonotonicTimeNSec
            timed (adapt n (now - begun)) now acc' next limit

    -- As far as can be shared: there may be more units than that.
    part i end = if remaining i end `quot` unit < largest then end else i + largest * unit

    -- All of a range, in pieces of the size that was asked for.
    run !acc i end
      | i >= end = pure acc
      | size == 0 || remaining i end <= unit = piece acc i end
      | Through pieces <- course = pieces acc i end >>= \(Part next acc') -> run acc' next end
      | otherwise = piece acc i (i + unit) >>= \acc' -> run acc' (i + unit) end

    -- In a seeded run the generator is asked, and not the clock; some thirty times if nothing is divided.
    drawn !acc i end = do
      limit <- boundOf end
      gives <- if i < limit && (i - from) `rem` stride == 0 then switchPoint >> asMember coin (pure False) else pure False
      case () of
        _
          | i >= limit -> pure acc
          | gives && remaining i limit > piecewise -> do
            let n = remaining i limit `quot` piecewise
                middle = i + (n - n `quot` 2) * piecewise
            (a, b) <- bothResuming pool (drawn acc i middle) (drawn neutral middle limit)
            pure $! combine a b
          | otherwise -> do
            let next = if remaining i limit <= piecewise then limit else i + piecewise
            acc' <- piece acc i next
            drawn acc' next limit
    stride = piecewise * max 1 (thirtieth `quot` piecewise)
    piecewise = if size > 0 then size else max 1 (thirtieth `quot` unit) * unit
    thirtieth = remaining from to `quot` 32
{-# NOINLINE split #-}

-- | What a member of a loop does: it has come; or it goes through the share of its place, so many units at a time, since that time, and has
-- a result from that unit on.
data Member a
  = Comes
  | Goes !Int !Int !Word64 !Int !a

-- | Runs what is left of a range, given the result before it, by a crew whose members take from each other's shares.
share :: Pool -> Int -> Int -> (Int -> IO Int) -> (a -> Int -> Int -> IO a) -> (a -> a -> a) -> a -> a -> Int -> Int -> IO a
share pool unit usual boundOf run combine neutral sofar from to = do
  places <- (16 *) <$> poolSize pool
  shares <- newShares places count
  arrived <- newAtomicInt 0
  results <- newAtomic []
  let keep start acc = void (modifyAtomic results ((start, acc) :))
      goes place most start acc = getMonotonicTimeNSec >>= \now -> pure (Just (Goes place most now start acc))
      takeOver place = steal shares place >>= maybe (Nothing <$ vacate shares place) (\start -> goes place 1 start neutral)
      step Comes = do
        before <- fetchAdd arrived 1
        if before == 0 then goes 0 usual 0 sofar else occupy shares >>= maybe (pure Nothing) takeOver
      step (Goes place most begun start acc) = do
        (first, next) <- takeFront shares place most
        limit <- boundOf (index next)
        case () of
          _
            | first == next -> keep start acc >> takeOver place
            | limit < index next -> dropAll shares place >> Just . Goes place most begun start <$> run acc (index first) limit
            | otherwise -> do
              acc' <- run acc (index first) (index next)
              now <- getMonotonicTimeNSec
              pure (Just (Goes place (adapt most (now - begun)) now start acc'))
      room _ Comes = pure False
      room _ (Goes place _ _ _ _) = (> 0) <$> left shares place
  crew pool room Comes (const step)
  foldl1 combine . map snd . sortOn fst <$> readAtomic results
  where
    -- The ends may be further apart than an Int can say.
    count = fromIntegral ((fromIntegral (to - from) - 1 :: Word) `quot` fromIntegral unit) + 1
    index k = if k == count then to else from + k * unit

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
