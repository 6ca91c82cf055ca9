-- | Libraries that bring a pool of threads of their own, beside OpenMP's.
module Capstan.CLI.Pool
  ( Pool (..),
    Telling (..),
    poolOf,
    isPoolSymbol,
  )
where

import Capstan.CLI.Elf
import qualified Data.ByteString.Char8 as C
import Data.List (isPrefixOf)
import System.FilePath (takeFileName)

-- | The pool of a library.
data Pool = Pool
  { -- | As users call it.
    poolName :: String,
    poolTelling :: Telling,
    -- | The variable that says how many threads it has, if there is one.
    poolVariable :: Maybe String
  }
  deriving (Eq, Show)

-- | Whether it can be told to use another's threads.
data Telling
  = Told
  | -- | It keeps its own, and since that version asks how many may run.
    Asks String
  | -- | Since that version it could be.
    TooOld String
  | Never
  deriving (Eq, Show)

-- | Symbols that 'poolOf' looks for.
isPoolSymbol :: C.ByteString -> Bool
isPoolSymbol name =
  any (`C.isInfixOf` name) [openblasCallback, fftwInit, fftwCallback]
    || name `elem` [C.pack "exec_blas", C.pack "blas_num_threads", blisThreads, pthreadpool]

openblasCallback, fftwInit, fftwCallback, blisThreads, pthreadpool :: C.ByteString
openblasCallback = C.pack "openblas_set_threads_callback_function"
fftwInit = C.pack "_init_threads"
fftwCallback = C.pack "_threads_set_callback"
blisThreads = C.pack "bli_thread_set_num_threads"
pthreadpool = C.pack "pthreadpool_create"

-- | The pool that a library brings. One that computes in OpenMP's regions has none.
poolOf :: FilePath -> Body -> Maybe Pool
poolOf file body
  | any (\name -> any (`C.isPrefixOf` name) [C.pack "GOMP_", C.pack "__kmpc_"]) (bodyUndefined body) = Nothing
  -- MKL has FFTW's names among others, and threads of the OpenMP runtime or of oneTBB.
  | named "libmkl_" = Nothing
  | defines "exec_blas" && defines "blas_num_threads" =
    Just (Pool "OpenBLAS" (since "0.3.27" (has openblasCallback)) (Just "OPENBLAS_NUM_THREADS"))
  | any isFftw (bodyDefined body) = Just (Pool "FFTW" (since "3.3.9" (has fftwCallback)) Nothing)
  | blisThreads `elem` bodyDefined body = Just (Pool "BLIS" Never (Just "BLIS_NUM_THREADS"))
  | pthreadpool `elem` bodyDefined body = Just (Pool "pthreadpool" Never Nothing)
  | named "libtbb.so" = Just (Pool "oneTBB" (Asks "2022") Nothing)
  | otherwise = Nothing
  where
    defines name = C.pack name `elem` bodyDefined body
    has part = any (C.isInfixOf part) (bodyDefined body)
    since version new = if new then Told else TooOld version
    isFftw name = C.pack "fftw" `C.isPrefixOf` name && fftwInit `C.isSuffixOf` name
    named prefix = prefix `isPrefixOf` takeFileName file
