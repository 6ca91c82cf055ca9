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
  { -- | The name that users know.
    poolName :: String,
    poolTelling :: Telling,
    -- | The environment variable that sets the pool's number of threads, if there is one.
    poolVariable :: Maybe String
  }
  deriving (Eq, Show)

-- | Whether the library can be told to use other threads than its own.
data Telling
  = Told
  | -- | It keeps its own threads, and from the named version on asks how many may run.
    Asks String
  | -- | It is too old: from the named version on it could be told.
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

-- | The pool that a library brings. A library that computes in OpenMP's regions has none.
poolOf :: FilePath -> Body -> Maybe Pool
poolOf file body
  | any (\name -> any (`C.isPrefixOf` name) [C.pack "GOMP_", C.pack "__kmpc_"]) (bodyUndefined body) = Nothing
  -- MKL exports FFTW's names too, but computes with threads of the OpenMP runtime or of oneTBB.
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
