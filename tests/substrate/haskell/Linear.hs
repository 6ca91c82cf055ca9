-- | Of the tests of "Capstan.Array.Linear" those that run programs: its types, and what code GHC makes, do not
-- depend on the runtime system.
module Main (main) where

import qualified PartTests
import Test.Tasty (defaultMain, localOption, mkTimeout)

main :: IO ()
main = defaultMain (localOption (mkTimeout 120000000) PartTests.tests)
