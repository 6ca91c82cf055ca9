-- | The tests of "Capstan.Array.Linear" that run programs. Its types, and the code that GHC makes,
-- do not depend on the runtime system.
module Main (main) where

import qualified PartTests
import Test.Tasty (defaultMain, localOption, mkTimeout)

main :: IO ()
main = defaultMain (localOption (mkTimeout 120000000) PartTests.tests)
