-- | The cases in OCaml 5 with Domainslib, if @make bench-ocaml@ has built the program. That program
-- prints the rows; without it nothing is printed.
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
