-- | The originals on scheduler, which is installed.
module Scheduler (withScheduler) where

import qualified Loops.Distances.Original
import qualified Loops.Results.Original
import qualified Loops.Search.Original
import qualified Loops.Tiles.Original
import qualified Loops.Traverse.Original
import Original (Original (..))

withScheduler :: String -> Int -> Original
withScheduler name _ = Compiled $ case name of
  "Distances" -> Loops.Distances.Original.program
  "Results" -> Loops.Results.Original.program
  "Search" -> Loops.Search.Original.program
  "Tiles" -> Loops.Tiles.Original.program
  _ -> Loops.Traverse.Original.program
