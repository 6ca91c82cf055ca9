-- | "Capstan.Domain": spawning, waiting, Capability-local state, atomic references.
module DomainTests (tests) where

import Capstan.Domain
import Control.Concurrent (getNumCapabilities, yield)
import Control.Exception
import Control.Monad hiding (join)
import Data.List (nub)
import Test.Tasty
import Test.Tasty.HUnit

tests :: TestTree
tests =
  testGroup
    "domains"
    [ testCase "a result, twice" $ do
        domain <- spawn (pure 'd')
        a <- join domain
        b <- join domain
        (a, b) @?= ('d', 'd')
        isDone domain >>= (@?= True),
      testCase "is done once join has returned" $ do
        domains <- replicateM 20000 (spawn (pure ()) >>= \domain -> join domain >> isDone domain)
        length (filter not domains) @?= 0,
      testCase "an exception" $ do
        r <- try (spawn (evaluate (1 `div` (0 :: Int))) >>= join)
        r @?= Left DivideByZero,
      testCase "each on a Capability of its own" $ do
        count <- getNumCapabilities
        domains <- replicateM count (spawn (replicateM_ 100 yield >> capabilityNumber))
        places <- mapM join domains
        length (nub places) @?= count
        places @?= map domainCapability domains,
      testCase "numbers beyond the Capabilities begin anew" $ do
        count <- getNumCapabilities
        domain <- spawnOn (2 * count + 1) capabilityNumber
        join domain >>= (@?= 1 `mod` count)
        domainCapability domain @?= 1 `mod` count,
      testCase "a notification is not lost" $ do
        signal <- newSignal
        notify signal
        notify signal
        wait signal
        domain <- spawn (wait signal)
        isDone domain >>= (@?= False)
        notify signal
        join domain,
      testCase "wait and notify in turn" $ do
        ping <- newSignal
        pong <- newSignal
        domain <- spawn (replicateM_ 1000 (wait ping >> notify pong))
        replicateM_ 1000 (notify ping >> wait pong)
        join domain,
      testCase "state of a Capability" $ do
        count <- getNumCapabilities
        made <- newAtomicInt 0
        local <- newLocal (fetchAdd made 1 >> pure (0 :: Int))
        domains <- forM [0 .. count - 1] $ \n -> spawnOn n (replicateM_ 100 (modifyLocal local (+ 1)) >> getLocal local)
        mapM join domains >>= (@?= replicate count 100)
        readAtomicInt made >>= (@?= count)
        _ <- spawnOn 0 (setLocal local 7) >>= join
        (spawnOn 0 (getLocal local) >>= join) >>= (@?= 7),
      testCase "modifications are atomic" $ do
        ref <- newAtomic (0 :: Integer)
        number <- newAtomicInt 0
        domains <- replicateM 4 (spawn (replicateM_ 5000 (modifyAtomic ref (+ 1) >> fetchAdd number 2)))
        mapM_ join domains
        readAtomic ref >>= (@?= 20000)
        readAtomicInt number >>= (@?= 40000),
      testCase "compareAndSet compares objects" $ do
        ref <- newAtomic [1 :: Int]
        old <- readAtomic ref
        let other = 2 : old
        done <- compareAndSet ref old other
        done @?= True
        again <- compareAndSet ref old []
        again @?= False
        exchange ref [3] >>= (@?= [2, 1])
        writeAtomic ref [4]
        readAtomic ref >>= (@?= [4]),
      testCase "compareAndSetInt" $ do
        number <- newAtomicInt 5
        compareAndSetInt number 4 1 >>= (@?= False)
        compareAndSetInt number 5 6 >>= (@?= True)
        writeAtomicInt number 9
        readAtomicInt number >>= (@?= 9),
      testCase "every exchange is seen once" $ do
        ref <- newAtomic (0 :: Int)
        domains <- forM [0 .. 3] $ \d -> spawn (forM [1 .. 1000] (\i -> exchange ref (d * 1000 + i)))
        seen <- concat <$> mapM join domains
        final <- readAtomic ref
        let total = sum (final : seen)
        total @?= sum [1 .. 4000]
    ]
