-- | The same in OCaml 5 with Domainslib, where @make bench-ocaml@ has built it: that program prints
-- the rows, and nothing is printed where there is none.
module Ocaml (ocaml) where

import Bench
import Control.Monad (when)
import System.Directory (doesFileExist)
import System.Environment (getExecutablePath)
import System.FilePath (takeDirectory, (</>))
import System.Process (callProcess)

ocaml :: Arguments -> IO ()
ocaml a = do
  folder <- takeDirectory <$> getExecutablePath
  let program = folder </> "domainslib"
  there <- doesFileExist program
  when there (callProcess program (show (argThreads a) : show (argSamples a) : argCases a))
