-- | Names, orders and environments of a tree of benchmarks.
module TreeTests (tests) where

import Capstan.Bench
import Capstan.Bench.Tree
import Data.IORef
import Data.List (nub, sort)
import Test.Tasty
import Test.Tasty.HUnit
import Test.Tasty.QuickCheck

tests :: TestTree
tests =
  testGroup
    "trees"
    [ testCase "names are unique afterwards" $ names (uniquely tree) @?= ["a", "g/a", "g/a (2)", "g/h/a", "e", "a (2)"],
      testProperty "unique names stay as they are" $ \xs -> let bs = [bench x nothing | x <- nub xs] in names (uniquely bs) === nub xs,
      testProperty "an order has the same members" $ \seed -> sort (names (inOrder (Shuffled seed) tree)) === sort (names tree),
      testCase "reversed in each group" $ names (inOrder Reversed tree) @?= ["a", "e", "g/h/a", "g/a", "g/a", "a"],
      testProperty "shuffling depends on the seed alone" $ \seed xs -> shuffled seed id xs === shuffled seed id (xs :: [String]),
      testProperty "shuffling loses nothing" $ \seed xs -> sort (shuffled seed id xs) === sort (xs :: [String]),
      testCase "some seed changes the order" $ assertBool "" (length (nub [shuffled s id ["a", "b", "c", "d"] | s <- [1 .. 20]]) > 5),
      testCase "an environment is made and cleaned only if something inside is wanted" $ do
        events <- newIORef []
        let note event = modifyIORef' events (event :)
            inside = [envWithCleanup (note "make") (const (note "clean")) (const (bgroup "e" [bench "x" nothing, bench "y" nothing])), bench "z" nothing]
            run wanted = visit wanted (\n _ -> note n) inside >> reverse <$> readIORef events <* writeIORef events []
        run (== "z") >>= (@?= ["z"])
        run (const True) >>= (@?= ["make", "e/x", "e/y", "clean", "z"])
        run (== "e/y") >>= (@?= ["make", "e/y", "clean"])
    ]
  where
    nothing = whnfIO (pure ())
    tree = [bench "a" nothing, bgroup "g" [bench "a" nothing, bench "a" nothing, bgroup "h" [bench "a" nothing]], env (pure ()) (const (bench "e" nothing)), bench "a" nothing]
