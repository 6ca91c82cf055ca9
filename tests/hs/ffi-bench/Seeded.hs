-- | Real benchmarks with a built-in distortion, and helpers for a program that measures them.
module Seeded
  ( benchmarks,
    blockBytes,
    touchBytes,
    reservedBytes,
    madeThreads,
    markerVariable,
  )
where

import Capstan.Bench
import Control.Concurrent (forkOS, newEmptyMVar, putMVar, readMVar, takeMVar, threadDelay)
import Control.Monad (forM_, replicateM, when)
import Data.IORef
import Data.Word (Word8)
import Foreign.C.Types (CInt (..), CLong (..), CSize (..))
import Foreign.ForeignPtr (newForeignPtr, withForeignPtr)
import Foreign.Marshal.Alloc (callocBytes, finalizerFree, free, mallocBytes)
import Foreign.Marshal.Utils (fillBytes)
import Foreign.Ptr (Ptr, nullPtr)
import Foreign.Storable (peekByteOff, pokeByteOff)
import System.Directory (doesFileExist)
import System.Environment (getEnv)
import System.IO.Unsafe (unsafePerformIO)

blockBytes, touchBytes, reservedBytes :: Int
blockBytes = 131072
touchBytes = 64 * 1048576
reservedBytes = 128 * 1048576

-- | The number of threads that "makes threads" makes.
madeThreads :: Int
madeThreads = 5

-- | Whether the benchmark "leaves something behind" has run.
remembered :: IORef Bool
remembered = unsafePerformIO (newIORef False)
{-# NOINLINE remembered #-}

-- | The argument calls a function with memory of 'blockBytes' that the program keeps.
benchmarks :: ((Ptr Word8 -> IO Word8) -> IO Word8) -> [Benchmark]
benchmarks inArena =
  [ bgroup
      "block"
      [ env fixedThreshold (\_ -> bench "malloc and a finaliser" (whnfIO adopted)),
        bench "arena" (whnfIO (inArena filled))
      ],
    env (callocBytes touchBytes) $ \memory -> bench "first touch" (whnfIO (touch memory touchBytes)),
    bench "makes threads" (whnfIO makesThreads),
    bench "reserves" (whnfIO reserves),
    bench "leaves something behind" (whnfIO (writeIORef remembered True)),
    bench "remembers" (whnfIO remembering),
    bench "frees much" (whnfIO (mallocBytes largeBytes >>= \memory -> pokeByteOff memory 0 (1 :: Word8) >> free memory)),
    bench "frees little" (whnfIO freesLittle),
    bench "disturbed once" (whnfIO disturbedOnce),
    env (newIORef (0 :: Int)) (bench "slow at first" . whnfIO . slowAtFirst),
    bench "timed one by one" (perRunEnv (pure ()) pure),
    bench "short runs" (perRunEnv (pure 100) (\n -> pure [1 .. n :: Int])),
    bench "fails" (whnfIO (readIORef remembered >>= \r -> when (r || not r) (ioError (userError "on purpose"))))
  ]
  where
    -- malloc's threshold grows to this size at most.
    largeBytes = 30000000
    -- Otherwise glibc raises the threshold when a block is freed. The collector's timing would then
    -- decide which calls still meet the threshold.
    fixedThreshold = c_mallopt mmapThreshold (fromIntegral blockBytes)
    mmapThreshold = -3
    adopted = do
      memory <- mallocBytes blockBytes
      _ <- filled memory
      owner <- newForeignPtr finalizerFree memory
      withForeignPtr owner pure
    filled :: Ptr Word8 -> IO Word8
    filled memory = fillBytes memory 1 blockBytes >> peekByteOff memory 4096

-- | Makes threads of the system that exist at the same time, and end with the call.
makesThreads :: IO ()
makesThreads = do
  begun <- replicateM madeThreads newEmptyMVar
  ended <- replicateM madeThreads newEmptyMVar
  forM_ (zip begun ended) $ \(b, e) -> forkOS (putMVar b () >> mapM_ readMVar begun >> putMVar e ())
  mapM_ takeMVar ended

-- | Maps memory that may be touched and, like malloc for another thread's heap, room that may not.
reserves :: IO ()
reserves = forM_ [(blockBytes, readAndWrite), (reservedBytes, nothing)] $ \(size, protection) -> do
  memory <- c_mmap nullPtr (fromIntegral size) protection privateAnonymous (-1) 0
  c_munmap memory (fromIntegral size)
  where
    nothing = 0
    readAndWrite = 3
    privateAnonymous = 0x22

-- | Touches new pages in each call, if "leaves something behind" ran before.
remembering :: IO ()
remembering = do
  after <- readIORef remembered
  when after $ do
    memory <- mallocBytes (4 * touchBytes)
    touch memory (64 * 4096)
    free memory

-- | Is slow in the first process in which "leaves something behind" ran before.
disturbedOnce :: IO ()
disturbedOnce = do
  after <- readIORef remembered
  when (after && disturbed) (threadDelay 2000)

-- | Whether this process is the first that asks. It makes a file that later processes find.
disturbed :: Bool
disturbed = unsafePerformIO $ do
  marker <- getEnv markerVariable
  there <- doesFileExist marker
  not there <$ writeFile marker ""
{-# NOINLINE disturbed #-}

-- | The variable with the name of the file.
markerVariable :: String
markerVariable = "CAPSTANBENCH_MARKER"

-- | Frees the end of malloc's heap. malloc gives it back to the kernel, unless a larger block was
-- freed before.
freesLittle :: IO ()
freesLittle = do
  blocks <- replicateM 3 (mallocBytes 120000)
  forM_ blocks (`touch` 120000)
  mapM_ free (reverse blocks)

-- | The first two calls in a process take long, as if they started threads.
slowAtFirst :: IORef Int -> IO ()
slowAtFirst calls = do
  n <- readIORef calls
  when (n < 2) (threadDelay 50000)
  writeIORef calls $! n + 1

-- | Writes a byte of each page.
touch :: Ptr Word8 -> Int -> IO ()
touch memory bytes = forM_ [0, 4096 .. bytes - 1] $ \i -> pokeByteOff memory i (1 :: Word8)

foreign import ccall unsafe "mallopt" c_mallopt :: CInt -> CInt -> IO CInt

foreign import ccall unsafe "mmap" c_mmap :: Ptr Word8 -> CSize -> CInt -> CInt -> CInt -> CLong -> IO (Ptr Word8)

foreign import ccall unsafe "munmap" c_munmap :: Ptr Word8 -> CSize -> IO CInt
