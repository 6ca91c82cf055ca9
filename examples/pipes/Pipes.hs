-- | A million 1-byte messages through many pipes, like the first measurement of GHC's event
-- manager.
--
-- > pipes [PIPES] [MESSAGES]
--
-- Each pipe has one byte in flight. An action runs when its pipe is readable: it reads the byte and
-- writes it again, until enough messages have passed. The program prints the messages per second.
module Main (main) where

import Capstan.Event
import Control.Concurrent.MVar (newEmptyMVar, takeMVar, tryPutMVar)
import Control.Monad (forM, forM_, replicateM, void, when)
import Data.IORef (newIORef, readIORef, writeIORef)
import Foreign.C.Error (throwErrnoIfMinus1_)
import Foreign.C.Types (CInt (..), CSize (..))
import Foreign.Marshal.Alloc (mallocBytes)
import Foreign.Ptr (Ptr)
import System.Environment (getArgs)
import qualified System.Posix.IO as Posix
import System.Posix.Types (CSsize (..), Fd (..))

-- The calls are unsafe: they do not block, as the pipe is ready.
foreign import ccall unsafe "read"
  c_read :: CInt -> Ptr () -> CSize -> IO CSsize

foreign import ccall unsafe "write"
  c_write :: CInt -> Ptr () -> CSize -> IO CSsize

main :: IO ()
main = do
  arguments <- map read <$> getArgs
  let (pipes, messages) = case arguments of
        [p, m] -> (p, m)
        [p] -> (p, 1000000)
        _ -> (100, 1000000)
  ends <- replicateM pipes Posix.createPipe
  left <- newIORef (messages :: Int)
  done <- newEmptyMVar
  byte <- mallocBytes 1
  let send (Fd to) = throwErrnoIfMinus1_ "write" (c_write to byte 1)
      passOn (Fd from) to _ = do
        throwErrnoIfMinus1_ "read" (c_read from byte 1)
        n <- readIORef left -- only the manager's thread runs this
        writeIORef left (n - 1)
        when (n > pipes) (send to)
        when (n == 1) (void (tryPutMVar done ()))
  manager <- systemManager
  watches <- forM ends $ \(from, to) -> register manager from readable Persistent Level (Run (passOn from to))
  before <- clock
  forM_ ends (send . snd)
  takeMVar done
  after <- clock
  let rate = fromIntegral messages / (fromIntegral (toNanoseconds (after `since` before)) / 1e9) :: Double
  putStrLn (show messages ++ " messages through " ++ show pipes ++ " pipes: " ++ show (round rate :: Int) ++ " a second")
  mapM_ unregister watches
  forM_ ends $ \(from, to) -> mapM_ Posix.closeFd [from, to]
