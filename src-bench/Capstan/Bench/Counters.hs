{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.Bench.Counters
-- Description : The counts of the kernel, of glibc and of the processor, as records.
--
-- The foreign imports of @src-bench/cbits@, whose headers describe each figure. No call needs
-- privileges. Figures that the machine does not have are 'Nothing'.
module Capstan.Bench.Counters
  ( Reading (..),
    openCounters,
    readCounters,
    since,
    plus,
    Costs (..),
    measureCosts,
    Calls (..),
    callsSince,
    watchCalls,
    countedCalls,
    mostThreads,
    processors,
    threads,
    startFolder,
    collectStatistics,
  )
where

import Data.Aeson (FromJSON (..), ToJSON (..), object, withObject, (.!=), (.:), (.:?), (.=))
import Foreign.C.String (CString)
import Foreign.C.Types (CInt (..))
import Foreign.Marshal.Array (allocaArray, peekArray)
import Foreign.Ptr (Ptr, nullPtr)
import System.Posix.Internals (peekFilePath)

-- | The counts since the process began. The last two fields have the values of the moment.
data Reading = Reading
  { minorFaults :: !(Maybe Double),
    majorFaults :: !(Maybe Double),
    voluntarySwitches :: !(Maybe Double),
    involuntarySwitches :: !(Maybe Double),
    -- | The seconds for which threads were ready to run but had no core.
    coreWait :: !(Maybe Double),
    cycles :: !(Maybe Double),
    instructions :: !(Maybe Double),
    -- | The bytes that @malloc@ has allocated and that were not freed.
    mallocBytes :: !(Maybe Double),
    -- | The seconds that a fixed chain of additions takes.
    spinTime :: !(Maybe Double)
  }
  deriving (Eq, Show)

-- | Opens the processor's counters, if there are any. To be called once, before the first reading.
openCounters :: IO ()
openCounters = c_open

-- | Reads all counters. Takes some ten microseconds.
readCounters :: IO Reading
readCounters = do
  values <- figures 9 c_read
  case values of
    [minor, major, voluntary, involuntary, wait, malloc, cycle', instruction, spin] ->
      pure (Reading minor major voluntary involuntary (nano wait) cycle' instruction malloc (nano spin))
    _ -> error "Capstan.Bench.Counters: the C side has other fields"

nano :: Maybe Double -> Maybe Double
nano = fmap (* 1e-9)

-- | The counts between two readings, the earlier reading first. The result has the growth of
-- malloc's bytes, and the mean of the spin times.
since :: Reading -> Reading -> Reading
since = zipReadings subtract (\before after -> (before + after) / 2)

-- | The sum of two stretches of time.
plus :: Reading -> Reading -> Reading
plus = zipReadings (+) (\a b -> (a + b) / 2)

zipReadings :: (Double -> Double -> Double) -> (Double -> Double -> Double) -> Reading -> Reading -> Reading
zipReadings f g a b =
  Reading
    { minorFaults = on f minorFaults,
      majorFaults = on f majorFaults,
      voluntarySwitches = on f voluntarySwitches,
      involuntarySwitches = on f involuntarySwitches,
      coreWait = on f coreWait,
      cycles = on f cycles,
      instructions = on f instructions,
      mallocBytes = on f mallocBytes,
      spinTime = on g spinTime
    }
  where
    on h field = h <$> field a <*> field b

-- | The cost of the machine's primitive operations, in seconds.
data Costs = Costs
  { -- | The first touch of a page, and its return.
    faultCost :: !Double,
    -- | An @mmap@ with its @munmap@.
    mappingCost :: !Double,
    -- | The least difference between two readings of the clock.
    clockResolution :: !Double
  }
  deriving (Eq, Show)

-- | Measures the costs. Takes some milliseconds.
measureCosts :: IO Costs
measureCosts = do
  values <- figures 3 c_costs
  case sequence values of
    Just [fault, mapping, resolution] -> pure (Costs (1e-9 * fault) (1e-9 * mapping) (1e-9 * resolution))
    _ -> error "Capstan.Bench.Counters: the C side has other fields"

-- | The numbers of calls for memory.
data Calls = Calls
  { -- | @mmap@ of memory without a file, except for GHC's own heap, and @mremap@.
    maps :: !Double,
    mapBytes :: !Double,
    unmaps :: !Double,
    unmapBytes :: !Double,
    -- | @brk@ to a higher address (@mprotect@ in threads other than the first), and to a lower
    -- address.
    grows :: !Double,
    trims :: !Double,
    -- | @madvise@ that gives pages back.
    discards :: !Double,
    -- | @mmap@ of whole megabytes at a fixed address: GHC's heap.
    heapMaps :: !Double
  }
  deriving (Eq, Show)

-- | The calls between two moments, the earlier moment first.
callsSince :: Calls -> Calls -> Calls
callsSince (Calls a b c d e f g h) (Calls a' b' c' d' e' f' g' h') =
  Calls (a' - a) (b' - b) (c' - c) (d' - d) (e' - e) (f' - f) (g' - g) (h' - h)

-- | Counts all calls for memory of this process from now on. Each such call takes microseconds
-- then, and this cannot be undone, so no time is measured afterwards. Returns 'False' if the system
-- does not allow it.
watchCalls :: IO Bool
watchCalls = (== 0) <$> c_watch

-- | The calls so far; 0 before 'watchCalls'.
countedCalls :: IO Calls
countedCalls = do
  values <- figures 8 c_calls
  case sequence values of
    Just [a, b, c, d, e, f, g, h] -> pure (Calls a b c d e f g h)
    _ -> error "Capstan.Bench.Counters: the C side has other fields"

-- | The largest number of threads at a time that were made after 'watchCalls'.
mostThreads :: IO Int
mostThreads = fromIntegral <$> c_most_threads

-- | The number of processors that this process may use.
processors :: IO Int
processors = fromIntegral <$> c_processors

-- | The number of OS threads of this process.
threads :: IO Int
threads = fromIntegral <$> c_threads

-- | The working directory in which this process began; @main@ may have changed it since. 'Nothing'
-- if the system does not know it.
startFolder :: IO (Maybe FilePath)
startFolder = do
  folder <- c_folder
  if folder == nullPtr then pure Nothing else Just <$> peekFilePath folder

-- | Makes GHC's runtime system keep its statistics from now on, as @+RTS -T@ does.
collectStatistics :: IO ()
collectStatistics = c_collect

instance ToJSON Reading where
  toJSON r = toJSON (map ($ r) [minorFaults, majorFaults, voluntarySwitches, involuntarySwitches, coreWait, cycles, instructions, mallocBytes, spinTime])

instance FromJSON Reading where
  parseJSON v = do
    values <- parseJSON v
    case values of
      [a, b, c, d, e, f, g, h, i] -> pure (Reading a b c d e f g h i)
      _ -> fail "a reading has nine figures"

instance ToJSON Costs where
  toJSON (Costs f m r) = object ["fault" .= f, "mapping" .= m, "clock" .= r]

instance FromJSON Costs where
  parseJSON = withObject "costs" $ \o -> Costs <$> o .: "fault" <*> o .: "mapping" <*> o .: "clock"

instance ToJSON Calls where
  toJSON (Calls a b c d e f g h) =
    object ["mmap" .= a, "mmap-bytes" .= b, "munmap" .= c, "munmap-bytes" .= d, "brk-grow" .= e, "brk-trim" .= f, "madvise" .= g, "heap-mmap" .= h]

instance FromJSON Calls where
  parseJSON = withObject "calls" $ \o ->
    Calls <$> o .: "mmap" <*> o .: "mmap-bytes" <*> o .: "munmap" <*> o .:? "munmap-bytes" .!= 0 <*> o .: "brk-grow" <*> o .: "brk-trim" <*> o .: "madvise" <*> o .: "heap-mmap"

figures :: Int -> (Ptr Double -> IO ()) -> IO [Maybe Double]
figures n fill = allocaArray n $ \at -> do
  fill at
  map known <$> peekArray n at
  where
    known x = if isNaN x || isInfinite x then Nothing else Just x

-- The first four calls ask the kernel and take time, so they are safe: a collection that another
-- thread starts meanwhile need not wait.
foreign import ccall safe "cst_bench_open" c_open :: IO ()

foreign import ccall safe "cst_bench_read" c_read :: Ptr Double -> IO ()

foreign import ccall safe "cst_bench_costs" c_costs :: Ptr Double -> IO ()

foreign import ccall safe "cst_bench_watch" c_watch :: IO CInt

foreign import ccall unsafe "cst_bench_calls" c_calls :: Ptr Double -> IO ()

foreign import ccall unsafe "cst_bench_most_threads" c_most_threads :: IO CInt

foreign import ccall unsafe "cst_bench_processors" c_processors :: IO CInt

foreign import ccall unsafe "cst_bench_threads" c_threads :: IO CInt

foreign import ccall unsafe "cst_bench_folder" c_folder :: IO CString

foreign import ccall unsafe "cst_bench_collect_statistics" c_collect :: IO ()
