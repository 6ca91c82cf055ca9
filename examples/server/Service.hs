{-# LANGUAGE OverloadedStrings #-}

-- | @GET \/solve\/SIZE\/SEED@: solves a random system of SIZE equations, and answers with the
-- largest error of the solution.
module Service (serve) where

import qualified Data.ByteString.Char8 as Bytes
import Data.ByteString.Lazy (fromStrict)
import qualified Data.Text as Text
import Network.HTTP.Types (status200, status404)
import Network.Socket (close)
import Network.Wai (Application, Response, pathInfo, responseLBS)
import Network.Wai.Handler.Warp (defaultSettings, openFreePort, run, runSettingsSocket)
import Numeric.LinearAlgebra
import System.IO (hFlush, stdout)
import Text.Read (readMaybe)

-- | Serves on a port, or on any free port.
serve :: Maybe Int -> IO ()
serve (Just port) = say port >> run port service
serve Nothing = do
  (port, socket) <- openFreePort
  say port
  runSettingsSocket defaultSettings socket service
  close socket

say :: Int -> IO ()
say port = print port >> hFlush stdout

service :: Application
service request respond = case map (readMaybe . Text.unpack) (drop 1 path) of
  [Just equations, Just seed]
    | take 1 path == ["solve"], equations > 0, equations <= 2000 -> respond (text status200 (show (solved equations seed)))
  _ -> respond (text status404 "GET /solve/SIZE/SEED, at most 2000 equations")
  where
    path = pathInfo request
    text status = responseLBS status [("Content-Type", "text/plain")] . fromStrict . Bytes.pack :: String -> Response

-- | The largest difference to the solution from which the system was made.
solved :: Int -> Int -> Double
solved count seed = maybe (1 / 0) difference (linearSolve system (asColumn (system #> solution)))
  where
    -- The diagonal is heavy, so that the system is well conditioned.
    system = reshape count (randomVector seed Uniform (count * count)) + scalar (fromIntegral count) * ident count
    solution = randomVector (seed + 1) Gaussian count
    difference x = norm_Inf (flatten x - solution)
