-- | Counts lines, words and bytes of many files at once. Events say when a file can be read, OpenMP
-- tasks read and count (pipeline.c), and Haskell reports each file as soon as it is done.
--
-- > pipeline FILE...
module Main (main) where

import Capstan.Event
import Control.Concurrent.MVar (modifyMVar, newEmptyMVar, newMVar, putMVar, takeMVar)
import Control.Monad (forM_, unless, when)
import Data.Int (Int32, Int64)
import Foreign.C.Error (Errno (..), errnoToIOError)
import Foreign.C.String (CString, withCString)
import Foreign.C.Types (CInt (..))
import Foreign.Marshal.Alloc (alloca, allocaBytes)
import Foreign.Marshal.Utils (fillBytes)
import Foreign.Ptr (Ptr, castPtr, plusPtr)
import Foreign.Storable (peek, peekByteOff, poke)
import System.Environment (getArgs)
import System.IO (hPrint, hPutStrLn, stderr)
import System.Posix.IO (createPipe, fdReadBuf)
import System.Posix.Types (Fd (..))

-- | @struct file@.
data File

fileSize :: Int
fileSize = 48

-- The call is safe, as it returns only when all files are done.
foreign import ccall safe "pipeline"
  c_pipeline :: Ptr File -> CInt -> CInt -> IO ()

main :: IO ()
main = do
  names <- getArgs
  when (null names) $ hPutStrLn stderr "pipeline FILE..."
  allocaBytes (fileSize * max 1 (length names)) $ \files -> do
    fillBytes files 0 (fileSize * length names)
    withNames (zip names (iterate (`plusPtr` fileSize) files)) $ do
      (done, finished) <- createPipe
      left <- newMVar (length names)
      all' <- newEmptyMVar
      manager <- systemManager
      watch <- register manager done readable Persistent Level . Run . const $ do
        number <- alloca $ \p -> fdReadBuf done (castPtr p) 4 >> peek p
        let index = fromIntegral (number :: Int32)
        report (names !! index) (files `plusPtr` (fileSize * index))
        n <- modifyMVar left (\n -> pure (n - 1, n - 1))
        when (n == 0) (putMVar all' ())
      let Fd end = finished
      c_pipeline files (fromIntegral (length names)) end
      unless (null names) (takeMVar all')
      _ <- unregister watch
      forM_ [done, finished] closeFd

withNames :: [(String, Ptr File)] -> IO a -> IO a
withNames [] action = action
withNames ((name, file) : rest) action =
  withCString name $ \text -> poke (file `plusPtr` 0 :: Ptr CString) text >> withNames rest action

report :: String -> Ptr File -> IO ()
report name file = do
  code <- peekByteOff file 32 :: IO Int32
  if code /= 0
    then hPrint stderr (errnoToIOError "pipeline" (Errno (fromIntegral code)) Nothing (Just name))
    else do
      [bytes, words', lines'] <- mapM (peekByteOff file) [8, 16, 24] :: IO [Int64]
      putStrLn (unwords [show lines', show words', show bytes, name])
