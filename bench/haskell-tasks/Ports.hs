-- | Programs of other libraries beside what they have become (@tests/ports@), in milliseconds. Those on scheduler are measured where that is
-- installed; those in OCaml are measured by "Ocaml".
module Ports (ports) where

import Bench
import Control.Monad (forM_, when)
import Data.Char (toLower)
import Measure
import Original (Original (..))
import Table (Port (..))
import qualified Table

ports :: Arguments -> IO ()
ports a = forM_ Table.ports $ \p -> do
  let title = "port-" ++ map toLower (library p ++ "-" ++ name p)
      program run = pure (run (usual p) >>= \result -> when (result < 0) (fail (title ++ " is wrong")))
  report a "ms" inMilliseconds $
    Measured title (program (port p)) : [Measured (title ++ "-original") (program before) | Compiled before <- [original p]]
