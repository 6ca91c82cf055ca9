-- | Tests of "Capstan.Chan".
module Main (main) where

import qualified ChanTests
import qualified ExploreTests
import qualified StressTests
import Test.Tasty (defaultMain, localOption, mkTimeout, testGroup)
import Test.Tasty.Runners (NumThreads (..))

main :: IO ()
main =
  defaultMain . localOption (NumThreads 1) . localOption (mkTimeout 300000000) $
    testGroup "channels" [ChanTests.tests, StressTests.tests, ExploreTests.tests]
