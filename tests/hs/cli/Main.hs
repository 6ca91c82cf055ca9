-- | Tests of the command from the view of its users: they start the executable, and check exit
-- codes, output and signals.
--
-- The runtime is a fake with known answers (@fixtures/fake.c@). If @CAPSTAN_TEST_LIBDIR@ names a
-- built runtime, some tests run on that too.
module Main (main) where

import qualified BenchTests
import qualified DoctorTests
import qualified EnvTests
import Fixture (withFixture)
import GHC.IO.Encoding (setFileSystemEncoding, setForeignEncoding, setLocaleEncoding)
import GHC.IO.Encoding.Failure (CodingFailureMode (..))
import GHC.IO.Encoding.UTF8 (mkUTF8)
import qualified HelpTests
import qualified HostileTests
import qualified InitTests
import qualified ReportTests
import qualified RunTests
import qualified RuntimeTests
import qualified SignalTests
import Test.Tasty

main :: IO ()
main = do
  setFileSystemEncoding (mkUTF8 RoundtripFailure)
  setLocaleEncoding (mkUTF8 RoundtripFailure)
  setForeignEncoding (mkUTF8 RoundtripFailure)
  withFixture $ \fixture ->
    defaultMain . localOption (mkTimeout 60000000) . testGroup "command" $
      [ RunTests.tests fixture,
        SignalTests.tests fixture,
        ReportTests.tests fixture,
        EnvTests.tests fixture,
        DoctorTests.tests fixture,
        HelpTests.tests fixture,
        BenchTests.tests fixture,
        HostileTests.tests fixture,
        InitTests.tests fixture
      ]
        <> RuntimeTests.tests fixture
