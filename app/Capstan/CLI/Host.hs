{-# LANGUAGE CApiFFI #-}

-- | All foreign imports of the command: it starts programs and ends as they end. The C side is in
-- @app/cbits@.
module Capstan.CLI.Host
  ( -- * Starting programs
    become,
    supervise,
    Outcome (..),
    Ending (..),

    -- * Ending as the program ended
    dieBySignal,

    -- * Ending early
    awaitInterrupt,
    interruptedBy,

    -- * Files without a name
    anonymousFile,
    nameOf,
    readWritten,

    -- * Paths
    ownExecutable,
    plainLink,

    -- * Looking into a process
    processWords,

    -- * Privileges
    hasFileCapabilities,
  )
where

import qualified Data.ByteString as B
import Foreign
import Foreign.C
import System.Posix.Files (deviceID, fileID, fileSize, getFdStatus)
import System.Posix.Internals (peekFilePath, withFilePath)
import System.Posix.Types (COff (..), CSsize (..), Fd (..))

-- | How a program ended.
data Ending
  = -- | Its exit code.
    Exited Int
  | -- | The signal that ended it.
    Killed Int
  deriving (Eq, Show)

-- | How a program ended and what it cost.
data Outcome = Outcome
  { outcomePid :: Int,
    outcomeEnding :: Ending,
    -- | Nanoseconds from start to end.
    outcomeWall :: Int64,
    -- | Nanoseconds of processor time in the program, with its children.
    outcomeUser :: Int64,
    -- | Nanoseconds of processor time in the system on its behalf.
    outcomeSystem :: Int64,
    -- | The largest resident set of one of its processes, in KiB.
    outcomePeak :: Int64
  }
  deriving (Eq, Show)

-- All imports but constants are unsafe: the runtime system has one thread and no ticker, so a
-- blocked call delays no other thread.

foreign import ccall unsafe "cst_cli_process_become"
  c_become :: Ptr CString -> IO CInt

foreign import ccall unsafe "cst_cli_process_supervise"
  c_supervise :: Ptr CString -> Ptr Int64 -> IO CInt

foreign import ccall unsafe "cst_cli_signals_die"
  c_die :: CInt -> IO ()

-- | From now on a first SIGINT or SIGTERM only asks for an early end. A second one ends the command.
foreign import ccall unsafe "cst_cli_interrupt_await"
  awaitInterrupt :: IO ()

foreign import ccall unsafe "cst_cli_interrupt_asked"
  c_asked :: IO CInt

foreign import ccall unsafe "cst_cli_own_file"
  c_own_file :: CString -> IO CBool

foreign import ccall unsafe "cst_cli_link"
  c_link :: CString -> CString -> CString -> IO CBool

foreign import ccall unsafe "cst_cli_watch"
  c_watch :: CInt -> Word64 -> CString -> CSize -> IO CInt

foreign import ccall unsafe "memfd_create"
  c_memfd_create :: CString -> CUInt -> IO CInt

foreign import capi unsafe "fcntl.h fcntl"
  c_fcntl :: CInt -> CInt -> CInt -> IO CInt

foreign import ccall unsafe "pread"
  c_pread :: CInt -> Ptr Word8 -> CSize -> COff -> IO CSsize

foreign import ccall unsafe "close"
  c_close :: CInt -> IO CInt

foreign import ccall unsafe "getxattr"
  c_getxattr :: CString -> CString -> Ptr Word8 -> CSize -> IO CSsize

foreign import capi "fcntl.h value F_DUPFD" f_DUPFD :: CInt

foreign import capi "fcntl.h value F_GETFL" f_GETFL :: CInt

foreign import capi "fcntl.h value F_SETFL" f_SETFL :: CInt

foreign import capi "fcntl.h value O_APPEND" o_APPEND :: CInt

foreign import capi "sys/mman.h value MFD_CLOEXEC" mfd_CLOEXEC :: CUInt

withArguments :: [String] -> (Ptr CString -> IO a) -> IO a
withArguments strings action = go strings []
  where
    go [] pointers = withArray0 nullPtr (reverse pointers) action
    go (s : rest) pointers = withFilePath s $ \p -> go rest (p : pointers)

-- | Becomes the program, in the same process and with the signal state with which the command was
-- started. Returns only if that failed.
become :: [String] -> IO Errno
become arguments = Errno <$> withArguments arguments c_become

-- | Runs the program as a child to its end. Signals and the shell's job control reach the program
-- as if the command were not there.
supervise :: [String] -> IO (Either Errno Outcome)
supervise arguments =
  withArguments arguments $ \argv ->
    allocaArray 7 $ \fields -> do
      failure <- c_supervise argv fields
      if failure /= 0
        then pure (Left (Errno failure))
        else Right . outcome <$> peekArray 7 fields
  where
    outcome :: [Int64] -> Outcome
    outcome fields = case fields of
      [pid, code, signal, wall, user, system, peak] ->
        Outcome
          { outcomePid = fromIntegral pid,
            outcomeEnding = if signal /= 0 then Killed (fromIntegral signal) else Exited (fromIntegral code),
            outcomeWall = wall,
            outcomeUser = user,
            outcomeSystem = system,
            outcomePeak = peak
          }
      _ -> error "Capstan.CLI.Host: struct cst_cli_outcome has seven fields"

-- | Ends this process by a signal, so its parent sees the end that the program had.
dieBySignal :: Int -> IO ()
dieBySignal = c_die . fromIntegral

-- | The signal that asked for an early end, if there was one.
interruptedBy :: IO (Maybe Int)
interruptedBy = (\signal -> if signal == 0 then Nothing else Just (fromIntegral signal)) <$> c_asked

-- | A file in memory to which any process that inherits the descriptor can append. Unlike a pipe,
-- the file is never full, and a process that writes after this command has ended is not killed.
--
-- The descriptor's number is high. So the descriptor does not disturb programs that rely on small
-- numbers, or that close a range of numbers and open their own files.
anonymousFile :: String -> IO Fd
anonymousFile name = do
  low <- throwErrnoIfMinus1 "memfd_create" (withCString name (`c_memfd_create` mfd_CLOEXEC))
  flags <- throwErrnoIfMinus1 "fcntl" (c_fcntl low f_GETFL 0)
  _ <- throwErrnoIfMinus1 "fcntl" (c_fcntl low f_SETFL (flags .|. o_APPEND))
  high <- firstPossible low [1000, 200, 50, 3]
  _ <- c_close low
  pure (Fd high)
  where
    firstPossible low candidates = case candidates of
      [] -> throwErrno "fcntl"
      least : rest -> do
        fd <- c_fcntl low f_DUPFD least
        if fd < 0 then firstPossible low rest else pure fd

-- | The name of a descriptor in a variable of the runtime. It has the device and the inode. So the
-- runtime does not write to another file that the program has opened under the same number.
nameOf :: Fd -> IO String
nameOf fd = do
  status <- getFdStatus fd
  pure ("fd:" <> show fd <> ":" <> show (deviceID status) <> ":" <> show (fileID status))

-- | The bytes that were written to an anonymous file so far. Any program may write too much, so at
-- most the last 16 MiB are read: the program that the command started reports at its end.
readWritten :: Fd -> IO B.ByteString
readWritten (Fd fd) = do
  written <- fileSize <$> getFdStatus (Fd fd)
  B.take most . B.concat . reverse <$> go [] (max 0 (written - fromIntegral most)) 0
  where
    most = 16 * 1024 * 1024
    size = 65536
    go chunks offset got
      | got >= most = pure chunks
      | otherwise = do
        chunk <- allocaBytes size $ \buffer -> do
          n <- throwErrnoIfMinus1 "pread" (c_pread fd buffer (fromIntegral size) offset)
          B.packCStringLen (castPtr buffer, fromIntegral n)
        if B.null chunk
          then pure chunks
          else go (chunk : chunks) (offset + fromIntegral (B.length chunk)) (got + B.length chunk)

-- Linux's PATH_MAX.
pathMost :: Int
pathMost = 4096

-- The path that a C function wrote, if it returned true.
writtenPath :: (CString -> IO CBool) -> IO (Maybe FilePath)
writtenPath write =
  allocaBytes pathMost $ \buffer -> do
    written <- write buffer
    if written /= 0 then Just <$> peekFilePath buffer else pure Nothing

-- | This command's own file. The call does not need @\/proc@.
ownExecutable :: IO (Maybe FilePath)
ownExecutable = writtenPath c_own_file

-- | The path of a symbolic link to the folder of a file. The path has none of the characters that
-- have a special meaning for the loader.
plainLink :: FilePath -> String -> IO (Maybe FilePath)
plainLink folder file =
  withFilePath folder $ \c_folder ->
    withFilePath file $ \c_file -> writtenPath (c_link c_folder c_file)

-- | Whether the file carries capabilities (capabilities(7)).
hasFileCapabilities :: FilePath -> IO Bool
hasFileCapabilities file =
  withFilePath file $ \path ->
    withCString "security.capability" $ \attribute ->
      (> 0) <$> c_getxattr path attribute nullPtr 0

-- | The state of the runtime in a process: a line for each word of the runtime's state, with a
-- number and a name. The arguments are the process, and the address in it of a file that may hold a
-- runtime.
processWords :: Int -> Integer -> IO (Either Errno String)
processWords pid base =
  allocaBytes size $ \text -> do
    failure <- c_watch (fromIntegral pid) (fromIntegral base) text (fromIntegral size)
    if failure == 0 then Right <$> peekCString text else pure (Left (Errno failure))
  where
    size = 4096
