{-# LANGUAGE ScopedTypeVariables #-}

-- | The exceptions of the library have one root.
module RootTests (tests) where

import qualified Capstan.Array as Array
import Capstan.Callback (CallbackRefused (..))
import Capstan.Chan
import Capstan.Exception
import Capstan.Task
import Control.Exception
import Control.Monad
import Data.List (isInfixOf)
import Data.Maybe (isJust)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "exceptions"
    [ testCase "all of them have the root" $ do
        rooted ScopeEnded
        rooted Cancelled
        rooted ChanClosed
        rooted (PoolEnded "gone")
        assertBool "a refused callback" (hasRoot (toException (CallbackRefused "no"))),
      testCase "others have not" $ assertBool "the root" (not (hasRoot (toException Overflow))),
      testCase "a cancelled scope is asynchronous, and below the root" $ do
        r <- try (run cancel')
        either (\(SomeAsyncException e) -> show e @?= "Cancelled") pure r
        s <- try (run cancel')
        either (\(e :: CapstanException) -> show e @?= "Cancelled") pure s
        t <- try (run cancel')
        t @?= (Left Cancelled :: Either Cancelled ()),
      testCase "what is invalid says what is allowed" $ do
        r <- try (void (newBounded (-1)))
        either (\(e :: CapstanException) -> assertBool (show e) ("it must be 0 or more" `isInfixOf` displayException e)) pure r,
      testCase "an index that is outside says where it was used" $ do
        array <- Array.filled Array.Element 3 'x'
        r <- try (void (Array.read array 3))
        case r of
          Left (e :: OutOfBounds) -> do
            (boundsFunction e, boundsIndex e, boundsElements e) @?= ("Capstan.Array.read", 3, 3)
            assertBool (show e) ("RootTests.hs" `isInfixOf` show e)
          Right () -> assertFailure "it was read"
        s <- try (void (Array.write array (-1) 'y'))
        either (\(e :: InvalidArgument) -> assertBool (show e) ("RootTests.hs" `isInfixOf` displayException e)) (const (assertFailure "it was written")) s
    ]
  where
    cancel' scope = cancel scope >> forever (void (async scope (pure ())))
    hasRoot e = isJust (fromException e :: Maybe CapstanException)

rooted :: forall e. (Exception e, Eq e) => e -> Assertion
rooted e = do
  r <- try (throwIO e)
  either (\(CapstanException inner) -> fromException (toException inner) @?= Just e) pure r
  s <- try (throwIO e)
  s @?= (Left e :: Either e ())
