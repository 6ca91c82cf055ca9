-- | Programs of other libraries, and their ports: both have the same results, and little was
-- changed.
module Main (main) where

import Control.Monad (forM, forM_, replicateM_)
import Data.List (partition, sort)
import Lines
import Original (Original (..))
import Table
import Test.Tasty
import Test.Tasty.HUnit

main :: IO ()
main = defaultMain $ testGroup "ports" (map results ports ++ [testCase "few lines are changed" fewLines, testCase "lines are counted" counting])

results :: Port -> TestTree
results p = testCase (folder p ++ ": the results are the same") . replicateM_ 3 $ do
  expected <- case original p of
    Compiled program -> program (small p)
    Text result -> pure result
  port p (small p) >>= (@?= expected)

-- | The median number of changed lines is at most three; the port of an OCaml program is at most
-- three lines longer.
fewLines :: Assertion
fewLines = do
  counts <- forM ports $ \p -> do
    let file name' = "tests/ports/" ++ folder p ++ name'
    new <- readFile (file "/Port.hs")
    if library p == "Domainslib"
      then (\old -> (p, length (code new) - length (code old))) <$> readFile (file "/original.ml")
      else (\old -> (p, changed old new)) <$> readFile (file "/Original.hs")
  let (ofOcaml, ofHaskell) = partition ((== "Domainslib") . library . fst) counts
  forM_ [ofHaskell, ofOcaml] $ \some -> do
    let middle = sort (map snd some) !! (length some `div` 2)
    assertBool (unlines ("more than 3 lines in the middle:" : [show count ++ " " ++ folder p | (p, count) <- some])) (middle <= 3)
    forM_ some $ \(p, count) -> assertBool (folder p ++ " changes " ++ show count ++ " lines, more than 8") (count <= 8)

counting :: Assertion
counting = do
  changed "module A (a)\n  where\nimport B\n\n-- c\na = 1\nb = 2\n" "module C (a) where\nimport D\na = 1\nb = 3\nc = 4\n" @?= 2
  changed "a\nb\nc\n" "b\nc\n" @?= 1
  changed "a\nb\n" "a\nb\n" @?= 0
