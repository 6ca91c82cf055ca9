{-# LANGUAGE OverloadedStrings #-}

-- |
-- Module      : Capstan.CLI.Bench.Simulate
-- Description : The growth to 1024 threads, by a model that is checked against the real cores.
--
-- The model is bench/simulate: the runtime's own sources on a machine that counts line transfers.
-- This module runs the model and judges its growth. It turns the counts for two threads into
-- nanoseconds and compares them with the time on two real cores.
module Capstan.CLI.Bench.Simulate
  ( Simulation (..),
    Path (..),
    Checked (..),
    simulate,
    growth,
    Growth (..),
    simulationText,
    readSimulation,
    writeSimulation,
  )
where

import Capstan.Bench.Json (readJson)
import Capstan.CLI.Bench.Progress (finish, report, start)
import Capstan.CLI.Bench.Runtime
import Capstan.CLI.Bench.Statistics (median)
import Capstan.CLI.Bench.Table
import Capstan.CLI.Problem
import Capstan.CLI.Style (Style)
import qualified Capstan.CLI.Style as Style
import Control.Monad (replicateM, unless)
import Data.Aeson (FromJSON (..), ToJSON (..), encodeFile, object, withObject, (.:), (.=))
import Data.List (find, nub, sort)
import qualified Data.Map.Strict as Map
import Data.Maybe (mapMaybe)
import Data.Text (Text)
import qualified Data.Text as Text
import System.Directory (doesFileExist)
import System.Exit (ExitCode (..))
import System.FilePath ((</>))
import System.Process (CreateProcess (..), proc, readCreateProcessWithExitCode)
import Text.Read (readMaybe)

-- | One of the four paths, of Capstan or of a centralised design: the transfers on its critical
-- path by team size.
data Path = Path
  { pathName :: !Text,
    pathKind :: !Text,
    pathTransfers :: [(Int, Double)]
  }
  deriving (Eq, Show)

-- | A path with two threads: the nanoseconds that the model foretells, and those that the machine
-- takes.
data Checked = Checked
  { checkedName :: !Text,
    checkedKind :: !Text,
    checkedForetold :: !Double,
    checkedMeasured :: !Double
  }
  deriving (Eq, Show)

data Simulation = Simulation
  { simulationPaths :: [Path],
    -- | The time of a transfer on this machine.
    simulationTransferNs :: !Double,
    simulationChecked :: [Checked]
  }
  deriving (Eq, Show)

instance ToJSON Path where
  toJSON p = object ["path" .= pathName p, "kind" .= pathKind p, "transfers" .= pathTransfers p]

instance FromJSON Path where
  parseJSON = withObject "path" $ \o -> Path <$> o .: "path" <*> o .: "kind" <*> o .: "transfers"

instance ToJSON Checked where
  toJSON c = object ["path" .= checkedName c, "kind" .= checkedKind c, "foretold_ns" .= checkedForetold c, "measured_ns" .= checkedMeasured c]

instance FromJSON Checked where
  parseJSON = withObject "checked path" $ \o -> Checked <$> o .: "path" <*> o .: "kind" <*> o .: "foretold_ns" <*> o .: "measured_ns"

instance ToJSON Simulation where
  toJSON s = object ["paths" .= simulationPaths s, "transfer_ns" .= simulationTransferNs s, "two_cores" .= simulationChecked s]

instance FromJSON Simulation where
  parseJSON = withObject "simulation" $ \o -> Simulation <$> o .: "paths" <*> o .: "transfer_ns" <*> o .: "two_cores"

simulationFile :: Places -> FilePath
simulationFile places = placeResults places </> "simulate.json"

writeSimulation :: Places -> Simulation -> IO ()
writeSimulation places = encodeFile (simulationFile places)

readSimulation :: Places -> IO (Maybe Simulation)
readSimulation places = do
  there <- doesFileExist (simulationFile places)
  if there then either (const Nothing) Just <$> readJson (simulationFile places) else pure Nothing

-- | Runs the model for the given team sizes (for 2 to 1024 if there are none). Then runs the model
-- and the machine for two threads.
simulate :: Places -> [Int] -> IO Simulation
simulate places wanted = do
  built <- doesFileExist (placePrograms places </> "simulate")
  unless built (throwProblem unavailable "the simulator is not built: make -C bench simulate")
  progress <- start "simulate" (length teamSizes + 1)
  counted <- concat <$> mapM (\n -> report progress (show n ++ " threads") >> program places "simulate" [] [show n]) teamSizes
  report progress "the two real cores"
  let names = nub [(name, kind) | (name, kind, _, _) <- counted]
      paths = [Path name kind [(n, x) | (name', kind', n, x) <- counted, name' == name, kind' == kind] | (name, kind) <- names, kind /= "floor"]
  (transferNs, checked) <- checkTwoCores places
  finish progress
  pure (Simulation paths transferNs checked)
  where
    teamSizes = if null wanted then takeWhile (<= 1024) (iterate (* 2) 2) else wanted

-- | The lines that a program prints: path, kind, threads, figure.
program :: Places -> FilePath -> [(String, String)] -> [String] -> IO [(Text, Text, Int, Double)]
program places name settings arguments = do
  clean <- cleanEnvironment
  let environment = Map.toList (Map.union (Map.fromList settings) clean)
  (code, out, err) <- readCreateProcessWithExitCode (proc (placePrograms places </> name) arguments) {env = Just environment} ""
  unless (code == ExitSuccess) (throwProblem (ExitFailure 1) (name <> ": " <> unwords (words err)))
  pure (mapMaybe (line . Text.splitOn "\t") (Text.lines (Text.pack out)))
  where
    line (path : kind : threads : value : _) = (,,,) path kind <$> number threads <*> number value
    line _ = Nothing
    number :: Read a => Text -> Maybe a
    number = readMaybe . Text.unpack

-- | Compares the model with the machine for two threads. A transfer lasts a quarter of a round
-- trip: in each direction the writer takes a line and the reader fetches it. The cost of an atomic
-- operation without a transfer is measured, too.
checkTwoCores :: Places -> IO (Double, [Checked])
checkTwoCores places = do
  rounds <- replicateM 5 (program places "paths" ours ["-t", "2", "-r", "5", "-u", "2000"])
  floors <- replicateM 3 (floorNs ["atomic-add"])
  let measured = [((name, kind), median [x | r <- rounds, (name', kind', _, x) <- r, name' == name, kind' == kind]) | (name, kind, _, _) <- concat (take 1 rounds)]
      transferNs = maybe 50 (/ 4) (lookup ("round-trip", "floor") measured)
      thousandths ns = show (max 1 (round (1000 * ns / transferNs) :: Int))
  foretold <- program places "simulate" [] ["-h", thousandths accessNs, "-x", thousandths (median floors), "2"]
  pure
    ( transferNs,
      [ Checked name kind (x * transferNs) ns
        | (name, kind, _, x) <- foretold,
          kind /= "floor",
          Just ns <- [lookup (name, kind) measured]
      ]
    )
  where
    ours = [("LD_LIBRARY_PATH", placeLibrary places), ("CAPSTAN_SUBSTRATE", "pthread")]
    floorNs cases = do
      out <- readFloor cases
      pure (case out of [] -> 3; first : _ -> first)
    readFloor cases = do
      clean <- cleanEnvironment
      (_, out, _) <- readCreateProcessWithExitCode (proc (placePrograms places </> "floor") (["-r", "5", "-u", "1000"] ++ cases)) {env = Just (Map.toList clean)} ""
      pure [v | l <- lines out, [_, _, value] <- [Text.splitOn "\t" (Text.pack l)], Just v <- [readMaybe (Text.unpack value)]]
    -- The time of an access that hits the cache, with the instructions around it.
    accessNs = 1 :: Double

data Growth = Logarithmic | Steeper | Unjudged
  deriving (Eq, Show)

-- | Logarithmic growth adds about the same number of transfers at each doubling. Each of the last
-- three doublings may add at most twice the median of the earlier doublings, plus one transfer.
growth :: [(Int, Double)] -> Growth
growth points
  | length steps < 6 = Unjudged
  | all (<= 2 * max 0 (median early) + 1) late = Logarithmic
  | otherwise = Steeper
  where
    values = map snd points
    steps = zipWith (-) (drop 1 values) values
    (early, late) = splitAt (length steps - 3) steps

simulationText :: Style -> Simulation -> String
simulationText style s =
  unlines [Style.heading style "Transfers of a cache line on the critical path, by model"]
    ++ table (ToLeft : ToLeft : map (const ToRight) sizes ++ [ToLeft]) (headings : map line (simulationPaths s))
    ++ "\n"
    ++ unlines [Style.heading style "The model against two real cores"]
    ++ "A transfer takes "
    ++ Text.unpack (figure (simulationTransferNs s))
    ++ " ns here, a quarter of a round trip.\n"
    ++ table [ToLeft, ToLeft, ToRight, ToRight, ToRight] (checkHeadings : map checkLine (simulationChecked s))
  where
    sizes = sort (nub (concatMap (map fst . pathTransfers) (simulationPaths s)))
    headings = [(h, Style.faint style) | h <- ["path", ""] ++ map (Text.pack . show) sizes ++ ["growth"]]
    line p =
      [(pathName p, Style.heading style), (pathKind p, id)]
        ++ [(maybe "" (figure . snd) (find ((== n) . fst) (pathTransfers p)), id) | n <- sizes]
        ++ [grows p]
    grows p = case (growth (pathTransfers p), pathKind p) of
      (Logarithmic, _) -> ("logarithmic", Style.good style)
      (Unjudged, _) -> ("too few sizes", Style.faint style)
      (Steeper, "ours") -> ("FASTER THAN LOGARITHMIC", Style.bad style)
      (Steeper, _) -> ("faster than logarithmic", Style.faint style)
    checkHeadings = [(h, Style.faint style) | h <- ["path", "", "model", "measured", "measured / model"]]
    checkLine c =
      [ (checkedName c, Style.heading style),
        (checkedKind c, id),
        (quantity "ns" (checkedForetold c), id),
        (quantity "ns" (checkedMeasured c), id),
        (figure (checkedMeasured c / checkedForetold c), id)
      ]
