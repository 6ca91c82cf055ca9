-- | Tests of "Capstan.Array.Linear".
module Main (main) where

import qualified CostTests
import qualified MisuseTests
import qualified PartTests
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)

main :: IO ()
main = do
  misuse <- MisuseTests.tests
  defaultMain . localOption (mkTimeout 120000000) $
    testGroup "linear" [PartTests.tests, CostTests.tests, misuse]
