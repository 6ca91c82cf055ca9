{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Loop.For
-- Description : Loops over ranges, which are shared when another Capability is hungry
--
-- A loop runs its range piece by piece. Between pieces it checks whether another Capability wants
-- work while its own deque is empty, as in lazy binary splitting (Tzannes, Caragea, Barua and
-- Vishkin, 2010). On a busy machine, or on one Capability, the loop makes no task at all. When
-- another Capability wants work, the rest of the range becomes a share. A new member takes the back
-- half of a share, which becomes its own share ("Capstan.Task.Loop.Shares"). A member whose share
-- is empty takes half of another share, so no part of the loop belongs to one member to the end.
--
-- A piece has the size of 'chunk'. Without a 'chunk', the size doubles if a piece takes less than
-- 'shortest', and halves if a piece takes more than 'longest'. So the checks and the reads of the
-- clock cost nothing beside a piece. A loop that keeps results keeps the results of blocks, which
-- depend only on the length of the range ("Capstan.Task.Loop.Runs"). Then a piece consists of some
-- blocks.
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
    -- | The size of a piece; 0 for automatic.
    grain :: !Int,
    workers :: !Pool
  }
  deriving (Eq)

instance Show Range where
  showsPrec n (Range from to size pool) = showParen (n > 10) (placed . sized . showString "range " . showsPrec 11 from . showChar ' ' . showsPrec 11 to)
    where
      placed rest = if pool == defaultPool then rest else "onPool " ++ showsPrec 11 pool " $ " ++ rest
      sized rest = if size == 0 then rest else "chunk " ++ shows size " $ " ++ rest

-- | @range low high@ has the indices @i@ with @low <= i < high@, so it is empty if @high <= low@.
-- The clock decides the size of its pieces: a piece takes 8 to 20 microseconds, or has one index.
range :: Int -> Int -> Range
range from to = Range from to 0 defaultPool

-- | Sets the number of indices in a piece, which runs without a check for hungry Capabilities. The
-- last piece may be smaller. A number below 1 counts as 1.
chunk :: Int -> Range -> Range
chunk size indices = indices {grain = max 1 size}

-- | Only the workers of the given pool take part in the loop.
onPool :: Pool -> Range -> Range
onPool pool indices = indices {workers = pool}

-- | Runs the body for each index, in an unspecified order. If a body throws, the other bodies are
-- interrupted, and the loop throws the exception again.
--
-- > parallelFor (range 0 n) $ \i -> write vector i (f i)
--
-- A body may block, but must not wait for another body: one thread runs several bodies, one after
-- the other, so the other body may come after it. For bodies that wait for each other use
-- 'Capstan.Task.parFor_', which gives the rest to another thread if a body blocks.
--
-- If no other Capability is idle, it costs as much as a plain loop, and a few nanoseconds for each
-- piece.
parallelFor :: Range -> (Int -> IO ()) -> IO ()
parallelFor = unsafeParallelFor
{-# INLINE parallelFor #-}

-- | As 'parallelFor', in 'Control.Monad.ST.ST' too. Unsafe: if a body writes memory that another
-- body reads or writes, the value of a pure function depends on the schedule.
unsafeParallelFor :: PrimBase m => Range -> (Int -> m ()) -> m ()
unsafeParallelFor indices body = unsafeIOToPrim (split indices unit (Through (several indices unit piece)) piece noResult ())
  where
    unit = max 1 (grain indices)
    piece !_ from to = go from
      where
        go i = when (i < to) (unsafePrimToIO (body i) >> go (i + 1))
    noResult _ _ = ()
{-# INLINE unsafeParallelFor #-}

-- | Combines the results of the body for all indices, in the order of the indices. The function
-- must be associative (it need not be commutative), and the value must be its neutral element.
-- Combined results are evaluated to weak head normal form. If a body throws, the other bodies are
-- interrupted, and the loop throws the exception again.
--
-- > parallelForReduce (range 0 1000) (+) 0 pure >>= print
--
-- A function such as the sum of 'Double's is associative except for rounding. Its result is still
-- the same in each run, on any number of Capabilities, because the order of combination depends
-- only on the range and its 'chunk'.
--
-- Costs as much as a plain loop, and some ten nanoseconds for each of up to 512 blocks, or for each
-- chunk. Bodies must not wait for each other: see 'parallelFor'.
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

-- | The 'Just' of the least index whose body returns one, whatever the schedule. The body's thread
-- evaluates the value to weak head normal form. Once a 'Just' is found, no body of a greater index
-- begins. A body that throws before that ends the search, even if a lesser index would have
-- returned a 'Just'.
--
-- > parallelFind (range 0 n) (\i -> pure (if isLong i then Just i else Nothing))
--
-- Bodies must not wait for each other: see 'parallelFor'.
parallelFind :: Range -> (Int -> IO (Maybe a)) -> IO (Maybe a)
parallelFind = unsafeParallelFind
{-# INLINE parallelFind #-}

-- | As 'parallelFind', in 'Control.Monad.ST.ST' too. Unsafe as 'unsafeParallelFor' is. If several
-- bodies throw, the schedule also decides which exception comes first.
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

-- | Runs the body for each chunk, which it gets as the bounds of a half-open range, and evaluates
-- each result to weak head normal form. The results are in the order of the indices. Without a
-- 'chunk' the range has up to 512 chunks, whose bounds depend only on its length. If a body throws,
-- the other bodies are interrupted, and the loop throws the exception again.
--
-- > sum <$> mapChunks (range 0 n) (\low high -> countPrimes low high)
--
-- Bodies must not wait for each other: see 'parallelFor'.
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
    piece runs from to = go runs from (fromIntegral (remaining start from `quot` fromIntegral unit))
      where
        go !acc i !number
          | i >= to = pure acc
          | otherwise = do
            let next = if remaining i to <= fromIntegral unit then to else i + unit
            x <- block i next
            go (add combine number x acc) next (number + 1)
{-# INLINE inBlocks #-}

-- | The end of a loop: at a bound that may decrease meanwhile, or at the end of its range. In the
-- second case it has a function that runs several pieces.
data Course a
  = Until (IO Int)
  | Through (a -> Int -> Int -> IO (Part a))

-- | The next index of a loop, and its result so far.
data Part a = Part !Int a

-- | Runs pieces of the range's size, at least one, up to an index or until a Capability seems to be
-- hungry. It is compiled together with the body, so only a read of two words lies between two
-- pieces.
several :: Range -> Int -> (a -> Int -> Int -> IO a) -> a -> Int -> Int -> IO (Part a)
several (Range _ _ _ pool) unit piece = go
  where
    go !acc i end
      | remaining i end <= fromIntegral unit = Part end <$> piece acc i end
      | otherwise = do
        acc' <- piece acc i (i + unit)
        wanted <- hungry (deques pool) (flags pool)
        if wanted then pure (Part (i + unit) acc') else go acc' (i + unit) end
{-# INLINE several #-}

-- | Runs pieces of some units, each with the result of the pieces before it.
split :: Range -> Int -> Course a -> (a -> Int -> Int -> IO a) -> (a -> a -> a) -> a -> IO a
split (Range from to size pool) unit course piece combine neutral
  | from >= to = pure neutral
  | otherwise = do
    -- The number of Capabilities may have grown since the last use of the pool.
    serveCapabilities pool
    asMember (const (drawn neutral from to)) $ case course of
      Through pieces | size > 0 -> through pieces neutral from to
      _ -> getMonotonicTimeNSec >>= \now -> timed 1 now neutral from to
  where
    boundOf end = case course of
      Until bound -> min end <$> bound
      Through _ -> pure end

    -- Checks for hungry Capabilities between any two pieces.
    through _ !acc i end | i >= end = pure acc
    through pieces !acc i end = do
      gives <- divides pool
      if gives && remaining i end > fromIntegral unit
        then share pool unit 1 boundOf run combine neutral acc i (part i end) >>= \acc' -> through pieces acc' (part i end) end
        else do
          Part next acc' <- pieces acc i end
          through pieces acc' next end

    -- Reads the clock, and checks for hungry Capabilities, after each piece.
    timed n begun !acc i end = do
      limit <- boundOf end
      gives <- divides pool
      case () of
        _
          | i >= limit -> pure acc
          | gives && remaining i limit > fromIntegral unit -> do
            acc' <- share pool unit n boundOf run combine neutral acc i (part i limit)
            now <- getMonotonicTimeNSec
            timed n now acc' (part i limit) limit
          | otherwise -> do
            let next = if remaining i limit `quot` fromIntegral unit <= fromIntegral n then limit else i + n * unit
            acc' <- run acc i next
            now <- getMonotonicTimeNSec
            timed (adapt n (now - begun)) now acc' next limit

    -- The end of the part that shares can hold: the range may have more units.
    part i end = if remaining i end `quot` fromIntegral unit < fromIntegral largest then end else i + largest * unit

    -- Runs all of a range, in pieces of the size of 'chunk'.
    run !acc i end
      | i >= end = pure acc
      | size == 0 || remaining i end <= fromIntegral unit = piece acc i end
      | Through pieces <- course = pieces acc i end >>= \(Part next acc') -> run acc' next end
      | otherwise = piece acc i (i + unit) >>= \acc' -> run acc' (i + unit) end

    -- In a seeded run the generator decides in place of the clock. It decides some thirty times if
    -- nothing is divided.
    drawn !acc i end = do
      limit <- boundOf end
      gives <- if i < limit && remaining from i `rem` stride == 0 then switchPoint >> asMember coin (pure False) else pure False
      case () of
        _
          | i >= limit -> pure acc
          | gives && remaining i limit > piecewise -> do
            let n = remaining i limit `quot` piecewise
                middle = i + fromIntegral ((n - n `quot` 2) * piecewise)
            (a, b) <- bothResuming pool (drawn acc i middle) (drawn neutral middle limit)
            pure $! combine a b
          | otherwise -> do
            let next = if remaining i limit <= piecewise then limit else i + fromIntegral piecewise
            acc' <- piece acc i next
            drawn acc' next limit
    stride = piecewise * max 1 (thirtieth `quot` piecewise)
    piecewise = if size > 0 then fromIntegral size else max 1 (thirtieth `quot` fromIntegral unit) * fromIntegral unit
    thirtieth = remaining from to `quot` 32
{-# NOINLINE split #-}

-- | The state of a member: it has just come, or it runs the share of its place. Then the state has
-- the place, the number of units of a piece, the time at which the piece began, the first unit of
-- the result, and the result.
data Member a
  = Comes
  | Goes !Int !Int !Word64 !Int !a

-- | Runs the rest of a range, with the result of the part before it, by a crew whose members take
-- from each other's shares.
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
    count = fromIntegral ((remaining from to - 1) `quot` fromIntegral unit) + 1
    index k = if k == count then to else from + k * unit

-- | The number of indices that are left, where the end is not below the index. It may exceed an
-- 'Int'. An index plus a part of this number is exact, as the arithmetic is modulo 2^64.
remaining :: Int -> Int -> Word
remaining i end = fromIntegral end - fromIntegral i
{-# INLINE remaining #-}

adapt :: Int -> Word64 -> Int
adapt n nanoseconds
  | nanoseconds < shortest = min maxPiece (2 * n)
  | nanoseconds > longest = max 1 (n `quot` 2)
  | otherwise = n

-- | The bounds of the time of a piece with automatic size, in nanoseconds, and its largest size.
shortest, longest :: Word64
shortest = 8000
longest = 20000

maxPiece :: Int
maxPiece = 0x1000000
