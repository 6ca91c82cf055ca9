-- | Branches and bodies of loops have the masking state of their caller, whichever thread runs
-- them.
module MaskTests (tests) where

import Capstan.Task
import Control.Concurrent (forkIO, getNumCapabilities, myThreadId, threadDelay)
import Control.Concurrent.MVar
import Control.Exception
import Control.Monad
import Data.IORef
import System.Timeout (timeout)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "masked exceptions"
    [ testGroup
        "as the caller has"
        [ testCase (unwords [name, show masking]) (ends (inState masking (test masking)))
          | masking <- [Unmasked, MaskedInterruptible, MaskedUninterruptible],
            (name, test) <- statesSeen
        ],
      testGroup
        "and a time limit"
        [ testCase (unwords [name, show masking]) (apart (inState masking limited))
          | masking <- [Unmasked, MaskedInterruptible, MaskedUninterruptible],
            (name, limited) <- limits
        ],
      testGroup
        "and a failure"
        [ testCase "interrupts a branch that blocks" . ends . replicateM_ 50 $ failsBeside (\begun -> putMVar begun () >> newEmptyMVar >>= takeMVar),
          testCase "does so in an order that follows from a seed" . ends . forM_ [1 .. 20] $ \seed ->
            seeded seed (failsBeside (\begun -> putMVar begun () >> newEmptyMVar >>= takeMVar)),
          testCase "waits for a branch that does not block" . ends . replicateM_ 50 $ do
            done <- newIORef False
            failsBeside (\begun -> putMVar begun () >> computed >> writeIORef done True)
            readIORef done >>= assertBool "what was masked was done to its end",
          testCase "ends a loop" . ends . replicateM_ 20 $ do
            caller <- myThreadId
            outcome <- try . mask_ . parallelFor (chunk 1 (range 0 maxBound)) $ \_ -> do
              here <- myThreadId
              when (here == caller) (threadDelay 2000 >> throwIO Overflow)
            outcome @?= Left Overflow,
          testCase "makes no more members of a loop" . ends . replicateM_ 20 $ do
            caller <- myThreadId
            failed <- newIORef False
            members <- newIORef [caller]
            late <- newIORef []
            outcome <- try . mask_ . parallelFor (chunk 1 (range 0 maxBound)) $ \_ -> do
              here <- myThreadId
              known <- elem here <$> readIORef members
              unless known $ do
                modifyIORefAtomically members (here :)
                isLate <- readIORef failed
                when isLate (modifyIORefAtomically late (here :))
              when (here == caller) (threadDelay 2000 >> writeIORef failed True >> throwIO Overflow)
            outcome @?= Left Overflow
            -- Members that were forked before the failure may begin after it.
            most <- getNumCapabilities
            begun <- length <$> readIORef late
            assertBool (show begun ++ " members were late") (begun <= most),
          testCase "ends a loop whose indices wait for lesser ones" . ends . replicateM_ 20 $ do
            outcome <- try . mask_ . parallelForAfter (range 0 maxBound) (\i -> [i - 1]) $ \i -> when (i == 2000) (throwIO Overflow)
            outcome @?= Left Overflow
        ]
    ]

statesSeen :: [(String, MaskingState -> Assertion)]
statesSeen =
  [ ("a branch", \state -> both getMaskingState getMaskingState >>= (@?= (state, state))),
    ( "a branch of another worker",
      \state -> do
        begun <- newEmptyMVar
        both (takeMVar begun >> getMaskingState) (putMVar begun () >> getMaskingState) >>= (@?= (state, state))
    ),
    ( "a branch of a branch",
      \state -> do
        begun <- newEmptyMVar
        (_, seen) <- both (takeMVar begun) (both getMaskingState (putMVar begun () >> getMaskingState))
        seen @?= (state, state)
    ),
    ("a loop", \state -> mapChunks (chunk 1 (range 0 100)) (\_ _ -> threadDelay 200 >> getMaskingState) >>= mapM_ (@?= state)),
    ( "a loop whose indices wait for lesser ones",
      \state -> parallelForAfter (range 0 100) (\i -> [i - 2]) (\_ -> threadDelay 200 >> getMaskingState >>= (@?= state))
    )
  ]

-- | Time limits. The limits that are not reached are an hour or more.
limits :: [(String, Assertion)]
limits =
  [ ("that is not reached", runWithin (seconds 3600) (\scope -> async scope (pure 'z') >>= await) >>= (@?= Just 'z')),
    ("around nothing", runWithin (nanoseconds maxBound) (\_ -> pure ()) >>= (@?= Just ())),
    ("that a failure is before", try (runWithin (seconds 3600) (\_ -> throwIO Overflow)) >>= (@?= (Left Overflow :: Either ArithException (Maybe ())))),
    -- A masked action ends by itself, and has exceeded its limit all the same.
    ("that is reached", runWithin (milliseconds 1) (\_ -> threadDelay 30000) >>= (@?= Nothing))
  ]

-- | Runs a test in its own thread, as a time limit of the caller would be masked too.
apart :: Assertion -> Assertion
apart action = do
  ended <- newEmptyMVar
  _ <- forkIO (try action >>= putMVar ended)
  ends (takeMVar ended >>= either (throwIO :: SomeException -> IO ()) pure)

-- | Runs an action in a masking state; the caller is unmasked.
inState :: MaskingState -> IO a -> IO a
inState masking = case masking of
  Unmasked -> id
  MaskedInterruptible -> mask_
  MaskedUninterruptible -> uninterruptibleMask_

-- | The left branch fails as soon as the right one, which is masked, has begun.
failsBeside :: (MVar () -> IO ()) -> Assertion
failsBeside right = do
  begun <- newEmptyMVar
  outcome <- try (mask_ (both (takeMVar begun >> throwIO Overflow) (right begun)))
  outcome @?= (Left Overflow :: Either ArithException ((), ()))

-- | Takes some milliseconds, and allocates.
computed :: IO ()
computed = void (evaluate (length (show (product [1 .. 2000 :: Integer]))))

modifyIORefAtomically :: IORef a -> (a -> a) -> IO ()
modifyIORefAtomically ref f = atomicModifyIORef' ref (\x -> (f x, ()))

ends :: Assertion -> Assertion
ends action = timeout 60000000 action >>= maybe (assertFailure "did not end") pure
