-- | The ports, and where their originals are.
module Table
  ( Port (..),
    ports,
    folder,
  )
where

import qualified Async.Checksums.Original
import qualified Async.Checksums.Port
import qualified Async.Page.Original
import qualified Async.Page.Port
import qualified Async.Prefetch.Original
import qualified Async.Prefetch.Port
import qualified Async.Tree.Original
import qualified Async.Tree.Port
import qualified Async.Words.Original
import qualified Async.Words.Port
import qualified Domainslib.Dot.Port
import qualified Domainslib.Mandelbrot.Port
import qualified Domainslib.Prefix.Port
import qualified Domainslib.Stages.Port
import qualified Domainslib.Tree.Port
import qualified Loops.Distances.Port
import qualified Loops.Results.Port
import qualified Loops.Search.Port
import qualified Loops.Tiles.Port
import qualified Loops.Traverse.Port
import Original (Original (..))
import qualified Par.Blocks.Original
import qualified Par.Blocks.Port
import qualified Par.Fibonacci.Original
import qualified Par.Fibonacci.Port
import qualified Par.Integral.Original
import qualified Par.Integral.Port
import qualified Par.MergeSort.Original
import qualified Par.MergeSort.Port
import qualified Par.Paths.Original
import qualified Par.Paths.Port
import qualified Par.Queens.Original
import qualified Par.Queens.Port
import qualified Par.Stream.Original
import qualified Par.Stream.Port
import Scheduler (withScheduler)

-- | A program of another library, and its port. Each is a function from a size to a number to which
-- all results contribute.
data Port = Port
  { library :: String,
    name :: String,
    -- | The size that is tested, and the size that is measured.
    small, usual :: Int,
    original :: Original,
    port :: Int -> IO Int
  }

folder :: Port -> FilePath
folder p = library p ++ "/" ++ name p

ports :: [Port]
ports =
  [ Port "Async" "Checksums" 100 20000 (Compiled Async.Checksums.Original.program) Async.Checksums.Port.program,
    Port "Async" "Page" 10 2000 (Compiled Async.Page.Original.program) Async.Page.Port.program,
    Port "Async" "Prefetch" 10 5000 (Compiled Async.Prefetch.Original.program) Async.Prefetch.Port.program,
    Port "Async" "Tree" 8 16 (Compiled Async.Tree.Original.program) Async.Tree.Port.program,
    Port "Async" "Words" 100 20000 (Compiled Async.Words.Original.program) Async.Words.Port.program,
    Port "Loops" "Distances" 100 5000 (withScheduler "Distances" 2598) Loops.Distances.Port.program,
    Port "Loops" "Results" 100 20000 (withScheduler "Results" 30172) Loops.Results.Port.program,
    Port "Loops" "Search" 100 20000 (withScheduler "Search" 88) Loops.Search.Port.program,
    Port "Loops" "Tiles" 50 1000 (withScheduler "Tiles" 608874) Loops.Tiles.Port.program,
    Port "Loops" "Traverse" 20 5000 (withScheduler "Traverse" 81) Loops.Traverse.Port.program,
    Port "Par" "Blocks" 2 16 (Compiled Par.Blocks.Original.program) Par.Blocks.Port.program,
    Port "Par" "Fibonacci" 15 30 (Compiled Par.Fibonacci.Original.program) Par.Fibonacci.Port.program,
    Port "Par" "Integral" 1000 1000000 (Compiled Par.Integral.Original.program) Par.Integral.Port.program,
    Port "Par" "MergeSort" 5000 200000 (Compiled Par.MergeSort.Original.program) Par.MergeSort.Port.program,
    Port "Par" "Paths" 10 150 (Compiled Par.Paths.Original.program) Par.Paths.Port.program,
    Port "Par" "Queens" 6 10 (Compiled Par.Queens.Original.program) Par.Queens.Port.program,
    Port "Par" "Stream" 100 20000 (Compiled Par.Stream.Original.program) Par.Stream.Port.program,
    Port "Domainslib" "Dot" 1000 1000000 (Text 14955) Domainslib.Dot.Port.program,
    Port "Domainslib" "Mandelbrot" 20 400 (Text 16702) Domainslib.Mandelbrot.Port.program,
    Port "Domainslib" "Prefix" 1000 1000000 (Text 599645) Domainslib.Prefix.Port.program,
    Port "Domainslib" "Stages" 100 20000 (Text 44731) Domainslib.Stages.Port.program,
    Port "Domainslib" "Tree" 10 20 (Text 516076) Domainslib.Tree.Port.program
  ]
