-- | The end of a scope ("Capstan.Task.Join.Scope", @waitAll@; "Capstan.Task.Work.Run", @end@), step
-- by step. Two tasks write their results and count themselves, each on its own Capability. The owner
-- looks at the counts, says that it waits, looks again, and sleeps. A plain write stays in a store
-- buffer, as on x86, until the buffer is drained; a swap drains it.
module Model.End (tests) where

import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { results :: !Int,
    counted :: !Int,
    -- | Counts that other threads do not see yet.
    buffered :: !Int,
    waiting :: !Bool,
    signal :: !Bool,
    complaints :: [String]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | CountsFirst | CountsPlainly | LooksBeforeCounting | OwnerLooksFirst
  deriving (Eq, Ord)

data Thread
  = -- | A task.
    Write Fault
  | Count Fault
  | LookWaiting Fault
  | LookCounts
  | -- | Has the task seen that the owner waits?
    WakeIf Bool
  | -- | The owner.
    First Fault
  | SayWaiting Fault
  | Again Fault
  | Sleep Fault
  | -- | The scope has ended.
    Ended
  | -- | The processor drains the store buffers.
    Drain
  | Over
  deriving (Eq, Ord)

tasks :: Int
tasks = 2

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Write f -> Go w {results = results w + 1} $ case f of
    CountsFirst -> LookWaiting f
    LooksBeforeCounting -> LookWaiting f
    _ -> Count f
  Count CountsPlainly -> Go w {buffered = buffered w + 1} (LookWaiting CountsPlainly)
  Count LooksBeforeCounting -> Go (countOne w) Over
  Count f -> Go (countOne w) (if f == CountsFirst then Write f else LookWaiting f)
  LookWaiting f
    | f == LooksBeforeCounting -> Go w (if waiting w then WakeIf True else Count f)
    | otherwise -> Go w (if waiting w then LookCounts else Over)
  LookCounts -> Go w (WakeIf (counted w == tasks))
  WakeIf wakes -> Go w {signal = signal w || wakes} Over
  First f
    | counted w == tasks -> Go w Ended
    | f == OwnerLooksFirst -> Go w (Sleep f)
    | otherwise -> Go w (SayWaiting f)
  SayWaiting f -> Go w {waiting = True} (Again f)
  Again f
    | counted w == tasks -> Go w Ended
    | otherwise -> Go w (Sleep f)
  Sleep f
    | signal w -> Go w {signal = False} (Again f)
    | otherwise -> Blocked
  Ended
    | results w < tasks -> Go w {complaints = "a task has no result" : complaints w} Over
    | otherwise -> Go w Over
  Drain
    | buffered w > 0 -> Go w {counted = counted w + buffered w, buffered = 0} Drain
    | otherwise -> Blocked
  Over -> End
  where
    countOne x = x {counted = counted x + 1}

run :: Fault -> ([String], Int)
run f =
  explore
    step
    complaints
    (\w threads -> complaints w ++ ["the owner waits for ever" | Sleep f `elem` threads])
    (World 0 0 0 False False [])
    [task, task, First f, Drain]
  where
    task = if f == CountsFirst then Count f else Write f

tests :: TestTree
tests =
  testGroup
    "the end of a scope"
    [ testCase "the owner wakes, and all tasks have results" (passes (run None)),
      testCase "a task that counts before it writes is found out" (fails (run CountsFirst)),
      testCase "a count without a swap is found out" (fails (run CountsPlainly)),
      testCase "a task that looks before it counts is found out" (fails (run LooksBeforeCounting)),
      testCase "an owner that does not say that it waits is found out" (fails (run OwnerLooksFirst))
    ]
