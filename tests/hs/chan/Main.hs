-- | Tests of "Capstan.Chan".
module Main (main) where

import qualified ChanTests
import qualified ExploreTests
import qualified StressTests
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)

main :: IO ()
main =
  defaultMain . localOption (mkTimeout 300000000) $
    testGroup "channels" [ChanTests.tests, StressTests.tests, ExploreTests.tests]
