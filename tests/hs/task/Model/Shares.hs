-- | The shares of a loop ("Capstan.Task.Loop.Shares"), step by step: members take from the front of
-- their own share, and the back half of another member's share.
module Model.Shares (tests) where

import qualified Data.Map.Strict as Map
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { -- | The shares of the members.
    shares :: !(Map.Map Int (Int, Int)),
    taken :: [Int]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | TakesWithoutSwap | StealsWithoutSwap | StealsBeforeEmpty
  deriving (Eq, Ord)

data Thread
  = -- | The member looks at its own share.
    Own Fault Int
  | Take Fault Int (Int, Int)
  | -- | The member looks at another member's share.
    Other Fault Int
  | Steal Fault Int (Int, Int)
  | Keep Fault Int (Int, Int)
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Own f me
    | empty (share me) || f == StealsBeforeEmpty && me == 1 && length (taken w) < 2 -> Go w (Other f me)
    | otherwise -> Go w (Take f me (share me))
  Take f me old@(next, end)
    | share me == old || f == TakesWithoutSwap -> Go (set me (next + 1, end) w {taken = next : taken w}) (Own f me)
    | otherwise -> Go w (Own f me)
  Other f me
    | empty (share (1 - me)) -> End
    | otherwise -> Go w (Steal f me (share (1 - me)))
  Steal f me old@(next, end)
    | share (1 - me) == old || f == StealsWithoutSwap -> Go (set (1 - me) (next, middle) w) (Keep f me (middle, end))
    | otherwise -> Go w (Other f me)
    where
      middle = end - (end - next + 1) `quot` 2
  Keep f me got -> Go (set me got w) (Own f me)
  where
    share n = shares w Map.! n
    empty (next, end) = next == end
    set n range now = now {shares = Map.insert n range (shares now)}

explored :: Fault -> ([String], Int)
explored f =
  explore
    step
    (\w -> ["a number is taken twice" | repeats (taken w)])
    (\w _ -> ["numbers are left" | length (taken w) /= count])
    (World (Map.fromList [(0, (0, count)), (1, (0, 0))]) [])
    [Own f 0, Own f 1]
  where
    count = 6
    repeats xs = or [x == y | (i, x) <- numbered xs, (j, y) <- numbered xs, i < j]
    numbered = zip [0 :: Int ..]

tests :: TestTree
tests =
  testGroup
    "shares"
    [ testCase "each number is taken once" (passes (explored None)),
      testCase "a member that takes without a swap is found out" (fails (explored TakesWithoutSwap)),
      testCase "a thief without a swap is found out" (fails (explored StealsWithoutSwap)),
      testCase "a thief whose share is not empty is found out" (fails (explored StealsBeforeEmpty))
    ]
