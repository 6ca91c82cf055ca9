-- | The checksums of documents, each by itself.
module Async.Checksums.Port (program) where

import Capstan.Task (parFor)
import Control.Exception (evaluate)
import Data.Char (ord)
import Data.List (foldl')

program :: Int -> IO Int
program count = do
  sums <- parFor [1 .. count] $ \number -> evaluate (checksum (document number))
  pure (foldl' (\whole part -> (whole * 31 + part) `mod` 65521) 0 sums)

document :: Int -> String
document number = concatMap show [number .. number + 5]

checksum :: String -> Int
checksum = (\(a, b) -> b * 65536 + a) . foldl' step (1, 0)
  where
    step (a, b) c = let a' = (a + ord c) `mod` 65521 in a' `seq` (a', (b + a') `mod` 65521)
