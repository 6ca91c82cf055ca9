-- | Programs of other libraries beside their ports (@tests/ports@), in milliseconds. Programs on
-- scheduler are measured if that library is installed; "Ocaml" measures the programs in OCaml.
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
