-- |
-- Module      : Capstan.OpenMP.Text
-- Description : Texts that C writes, and formats that it takes
module Capstan.OpenMP.Text
  ( withFormat,
    checkFormat,
    text,
    refuse,
  )
where

import Capstan.OpenMP.Foreign (formatKnown, getFormat)
import Control.Monad (when)
import Foreign.C.Error (eINVAL, errnoToIOError)
import Foreign.C.String (CString, peekCString, withCString)
import Foreign.C.Types (CSize)
import Foreign.Marshal.Alloc (allocaBytes)
import Foreign.Ptr (nullPtr)
import Foreign.Storable (peek)
import System.IO.Error (ioeSetErrorString)

-- | The format to be used, if it is one. With what is none C would end the process. An empty one is the process's, of which
-- this is a copy: another thread may set another meanwhile.
withFormat :: String -> Maybe String -> (CString -> IO a) -> IO a
withFormat name format action = maybe processes (`withCString` own) format
  where
    own f = peek f >>= \first -> if first == 0 then processes else checked f
    processes = written getFormat checked
    checked f = checkFormat name f >> action f

-- | Throws if C would end the process.
checkFormat :: String -> CString -> IO ()
checkFormat name f = do
  answer <- formatKnown f
  when (answer == 0) $ do
    format <- peekCString f
    refuse name (show format ++ explanation)
  where
    explanation = " is no affinity format: a field is %, a size if wanted (8, .8 or 0.8), and one of t T L n N a P H i A or its long name in braces, such as {thread_num}; %% is a percent sign"

-- | A text that C writes into as much memory as there is, and says how long it would be.
text :: (CString -> CSize -> IO CSize) -> IO String
text write = written write peekCString

-- | The same, while C has it.
written :: (CString -> CSize -> IO CSize) -> (CString -> IO a) -> IO a
written write action = write nullPtr 0 >>= fit
  where
    fit length' = do
      let size = length' + 1
      outcome <- allocaBytes (fromIntegral size) $ \p -> do
        needed <- write p size
        if needed < size then Right <$> action p else pure (Left needed)
      either fit pure outcome

-- | Throws the 'IOError' (invalid argument) of a function of "Capstan.OpenMP".
refuse :: String -> String -> IO a
refuse name = ioError . ioeSetErrorString (errnoToIOError ("Capstan.OpenMP." ++ name) eINVAL Nothing Nothing)
