-- | A variable that keeps the computations that wait for it ("Capstan.Task.Join.Variable"), step by
-- step. Two computations wait for the value. A task writes it, continues them as tasks of their
-- scope, and ends. Then the scope may end.
module Model.Variable (tests) where

import Data.List (sort)
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { content :: !Content,
    -- | The tasks of the scope that have not ended. Without tasks the scope ends.
    open :: !Int,
    -- | The computations that have gone on.
    continued :: [Int],
    complaints :: [String]
  }
  deriving (Eq, Ord)

data Content = Written | Waiting [Int]
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | WaitsBlindly | WritesBlindly | EndsFirst
  deriving (Eq, Ord)

data Thread
  = -- | A computation.
    Look Fault Int
  | Wait Fault Int [Int]
  | -- | The task that writes the value.
    Read Fault
  | Swap Fault [Int]
  | Continue Fault [Int]
  | EndTask
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Look f me -> case content w of
    Written -> Go (goesOn me w) Over
    Waiting others -> Go w (Wait f me others)
  Wait f me others
    | f == WaitsBlindly || content w == Waiting others -> Go w {content = Waiting (me : others)} Over
    | otherwise -> Go w (Look f me)
  Read f -> case content w of
    Written -> Go w EndTask
    Waiting others -> Go w (Swap f others)
  Swap f others
    | f == WritesBlindly || content w == Waiting others ->
      if f == EndsFirst
        then Go w {content = Written, open = open w - 1} (Continue f others)
        else Go w {content = Written} (Continue f others)
    | otherwise -> Go w (Read f)
  Continue f (one : rest)
    | open w == 0 -> Go w {complaints = "the scope has ended" : complaints w} Over
    | otherwise -> Go (goesOn one w) (Continue f rest)
  Continue EndsFirst [] -> Go w Over
  Continue _ [] -> Go w EndTask
  EndTask -> Go w {open = open w - 1} Over
  Over -> End
  where
    goesOn me x = x {continued = me : continued x}

run :: Fault -> ([String], Int)
run f =
  explore
    step
    complaints
    (\w _ -> complaints w ++ ["a computation does not go on, or twice" | sort (continued w) /= [1, 2]])
    (World (Waiting []) 1 [] [])
    [Look f 1, Look f 2, Read f]

tests :: TestTree
tests =
  testGroup
    "a variable that keeps computations"
    [ testCase "each computation goes on once" (passes (run None)),
      testCase "a computation that waits without a comparison is found out" (fails (run WaitsBlindly)),
      testCase "a value that is written without a comparison is found out" (fails (run WritesBlindly)),
      testCase "a task that ends before it continues the others is found out" (fails (run EndsFirst))
    ]
