-- | A group is doomed while workers begin branches in it, and branches in these
-- ("Capstan.Task.Work.Group", "Capstan.Task.Work.Run"), step by step: no branch of it runs on.
module Model.Group (tests) where

import qualified Data.Map.Strict as Map
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

-- | The groups and the cells by their numbers: cell n runs in group n, and was forked in group n - 1.
data World = World
  { groups :: Map.Map Int Fate,
    cells :: Map.Map Int Cell,
    complaints :: [String]
  }
  deriving (Eq, Ord)

data Fate = Lives [Int] | Doomed
  deriving (Eq, Ord)

data Cell = Unclaimed | Pending | Started | Interrupted | Ended
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | EntersLate | EntersBlindly | EntersWithoutSwap | StopsMembersOnly
  deriving (Eq, Ord)

data Thread
  = -- | A worker that finds a cell: once it is forked, it claims, enters and begins it.
    Claim Fault Int
  | Enter Fault Int
  | EnterSwap Fault Int Fate
  | Begin Fault Int
  | Runs Fault Int
  | EndCell Int
  | -- | The thread that dooms groups and interrupts cells, in that order.
    Dooms Fault [Stop]
  | DoomSwap Fault Int Fate [Stop]
  | Over
  deriving (Eq, Ord)

data Stop = Group Int | Cell Int
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Claim f n
    -- The cell that runs in the group above forks this cell.
    | n > 1 && cell (n - 1) == Ended -> Go w Over
    | n > 1 && cell (n - 1) /= Started -> Blocked
    | f == EntersLate -> Go (set n Pending w) (Begin f n)
    | otherwise -> Go (set n Pending w) (Enter f n)
  Enter f n -> Go w (EnterSwap f n (fate (n - 1)))
  EnterSwap f n old -> case old of
    Doomed | f /= EntersBlindly -> Go w (EndCell n)
    Doomed -> Go w (enterNext f n)
    Lives members
      | fate (n - 1) == old || f == EntersWithoutSwap ->
        Go w {groups = Map.insert (n - 1) (Lives (n : members)) (groups w)} (enterNext f n)
      | otherwise -> Go w (Enter f n)
  Begin f n
    | cell n == Interrupted -> Go w (EndCell n)
    | f == EntersLate -> Go (set n Started w) (Enter f n)
    | otherwise -> Go (set n Started w) (Runs f n)
  -- The cell would run for ever.
  Runs _ n
    | cell n == Interrupted -> Go w (EndCell n)
    | otherwise -> Blocked
  EndCell n
    | n < lastCell && cell (n + 1) `elem` [Pending, Started, Interrupted] -> Blocked
    | otherwise -> Go (set n Ended w) Over
  Dooms _ [] -> Go w Over
  Dooms f (Group n : rest) -> Go w (DoomSwap f n (fate n) rest)
  Dooms f (Cell n : rest)
    | cell n `elem` [Pending, Started] -> Go (set n Interrupted w) (Dooms f rest)
    | otherwise -> Go w (Dooms f rest)
  DoomSwap f n old rest
    | fate n /= old -> Go w (Dooms f (Group n : rest))
    | otherwise -> case old of
      Doomed -> Go w (Dooms f rest)
      Lives members -> Go w {groups = Map.insert n Doomed (groups w)} (Dooms f (concatMap (stops f) members ++ rest))
  Over -> End
  where
    cell n = cells w Map.! n
    fate n = groups w Map.! n
    set n status now = now {cells = Map.insert n status (cells now)}
    enterNext EntersLate n = Runs EntersLate n
    enterNext f n = Begin f n
    stops StopsMembersOnly n = [Cell n]
    stops _ n = [Group n, Cell n]

lastCell :: Int
lastCell = 3

run :: Fault -> ([String], Int)
run f =
  explore
    step
    complaints
    (\w threads -> ["a part of a doomed group runs on" | t <- threads, Runs _ n <- [t], cells w Map.! n == Started])
    (World (Map.fromList [(n, Lives []) | n <- [0 .. lastCell]]) (Map.fromList [(n, Unclaimed) | n <- [1 .. lastCell]]) [])
    (Dooms f [Group 0] : [Claim f n | n <- [1 .. lastCell]])

tests :: TestTree
tests =
  testGroup
    "group"
    [ testCase "nothing in a doomed group runs on" (passes (run None)),
      testCase "one that begins before it enters is found out" (fails (run EntersLate)),
      testCase "one that enters a doomed group is found out" (fails (run EntersBlindly)),
      testCase "one that enters without a swap is found out" (fails (run EntersWithoutSwap)),
      testCase "who stops members and not what is inside is found out" (fails (run StopsMembersOnly))
    ]
