{-# LANGUAGE ScopedTypeVariables #-}

-- | The owner of a result: no memory is lost, none escapes, and none overlaps.
module Main (main) where

import Capstan.Binding
import Capstan.Exception (CapstanException, Unavailable)
import Control.Exception
import Control.Monad (forM_)
import Data.IORef
import Data.List (isInfixOf)
import Foreign hiding (void)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

main :: IO ()
main =
  defaultMain . testGroup "bindings" $
    [ testProperty "fresh and managed hold what was written" $ \xs -> ioProperty $ do
        let write at = pokeArray at (xs :: [Int32])
            n = length xs
        a <- fresh n write >>= (`withForeignPtr` peekArray n)
        b <- managed n write >>= (`withForeignPtr` peekArray n)
        pure ((a, b) === (xs, xs)),
      testProperty "reservations nest without overlap and end with their action" $ \sizes -> ioProperty . withArena 100000 $ \arena -> do
        let wanted = take 20 (map ((`mod` 1000) . abs) sizes)
        spans <- nested arena wanted
        repeated <- nested arena wanted
        let disjoint = and [b >= a + n | ((a, n), (b, _)) <- zip spans (drop 1 spans)]
        pure (counterexample (show spans) (disjoint && all ((== 0) . (`mod` 64) . fst) spans && spans == repeated)),
      testCase "an exception gives the reservation back" . withArena 1000 $ \arena ->
        forM_ [1 .. 10 :: Int] $ \_ -> do
          result <- try (reserve arena 900 (\at -> poke at (1 :: Word8) >> throwIO (userError "x"))) :: IO (Either IOException ())
          either (const (pure ())) (const (assertFailure "no exception")) result,
      testCase "what does not fit is an error that says so" . withArena 100 $ \arena -> do
        result <- try (reserve arena 101 (\at -> poke at (1 :: Word8)))
        case result of
          Left e -> assertBool (show e) ("101 bytes are wanted, 100 are free" `isInfixOf` show (e :: Unavailable))
          Right () -> assertFailure "it was given",
      testCase "negative sizes are errors" $ do
        refused (fresh (-1) (\at -> poke at (1 :: Word8)))
        refused (managed (-1) (\at -> poke at (1 :: Word8)))
        refused (withArena (-1) (const (pure ())))
        withArena 10 (\arena -> refused (reserve arena (-1) (\at -> poke at (1 :: Word8)))),
      testCase "sizes whose bytes are no Int are errors" . forM_ [2 ^ (61 :: Int), maxBound] $ \n -> do
        refused (fresh n (\at -> poke at (1 :: Double)))
        refused (managed n (\at -> poke at (1 :: Double)))
        withArena 10 (\arena -> refused (reserve arena n (\at -> poke at (1 :: Double)))),
      testCase "nothing can be reserved when all is" . withArena 10 $ \arena ->
        reserve arena 10 (\at -> poke at (1 :: Word8) >> reserve arena 0 (\none -> none `plusPtr` 0 @?= (none :: Ptr Word8))),
      testCase "no memory is an error" $ do
        refused (adopt (pure (nullPtr :: Ptr Word8)) finalizerFree)
        refused (withForeignResult (pure (nullPtr :: Ptr Word8)) free (const (pure ()))),
      testCase "an adopted block is freed once, when it is said" $ do
        owner <- adopt (mallocBytes 16 :: IO (Ptr Word8)) finalizerFree
        withForeignPtr owner (`poke` 7)
        finalizeForeignPtr owner,
      testCase "a foreign result is freed at the end, also by an exception" $ do
        freed <- newIORef (0 :: Int)
        let free' at = modifyIORef' freed (+ 1) >> free at
        withForeignResult (mallocBytes 16) free' (`poke` (1 :: Word8))
        _ <- try (withForeignResult (mallocBytes 16) free' (\at -> poke at (1 :: Word8) >> throwIO (userError "x"))) :: IO (Either IOException ())
        readIORef freed >>= (@?= 2)
    ]
  where
    nested _ [] = pure []
    nested arena (n : rest) = reserve arena n $ \at -> do
      forM_ [0 .. n - 1] $ \i -> pokeByteOff at i (1 :: Word8)
      ((fromIntegral (ptrToWordPtr (at :: Ptr Word8)), n) :) <$> nested arena rest
    refused action = do
      result <- try action
      case result of
        Left (_ :: CapstanException) -> pure ()
        Right _ -> assertFailure "it was not refused"
