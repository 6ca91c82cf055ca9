-- | The tasks of a scope on one Capability ("Capstan.Task.Join.Scope"; P1 of "Capstan.Task.Pool"),
-- step by step. The body pushes two tasks and awaits the second. A worker runs the tasks that it
-- finds, and sleeps. An exception comes to the body between any two unmasked steps.
module Model.Scope (tests) where

import Data.List (delete)
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { deque :: [Int],
    -- | Whether the station is ready, and whether its worker was woken.
    ready :: !Bool,
    signal :: !Bool,
    claimed :: [Int],
    ended :: [Int],
    pushed :: !Int,
    exception :: !Bool
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | PopsUnmasked | WakesUnmasked | WakesNobody | LooksBeforeLowering
  deriving (Eq, Ord)

data Thread
  = -- | The body.
    Push Fault Int
  | PushSurely Fault Int
  | Wake Fault Int
  | Pop Fault
  | ClaimAwaited Fault
  | RunAwaited
  | EndAwaited
  | WaitTask
  | WaitAll
  | -- | The worker.
    Look Fault
  | Lower Fault
  | LastLook Fault
  | Sleep Fault
  | Claim Fault Int
  | EndTask Fault Int
  | -- | A thread that throws an exception to the body.
    Throw
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  -- The body, not masked.
  Push f n
    | exception w -> Go w WaitAll
    | n > 2 -> Go w (Pop f)
    | ready w || f == WakesNobody -> Go (push n w) (Push f (n + 1))
    | f == WakesUnmasked -> Go (push n w) (Wake f n)
    | otherwise -> Go w (PushSurely f n)
  PushSurely f n -> Go (push n w) (Wake f n)
  Wake f n
    | f == WakesUnmasked && exception w -> Go w WaitAll
    | otherwise -> Go w {ready = True, signal = signal w || not (ready w)} (Push f (n + 1))
  Pop f
    | exception w -> Go w WaitAll
    | otherwise -> Go w {deque = delete 2 (deque w)} (ClaimAwaited f)
  ClaimAwaited f
    | f == PopsUnmasked && exception w -> Go w WaitAll
    | 2 `elem` claimed w -> Go w WaitTask
    | otherwise -> Go w {claimed = 2 : claimed w} RunAwaited
  -- The task ends by itself or by the exception.
  RunAwaited -> Go w EndAwaited
  EndAwaited -> Go w {ended = 2 : ended w} WaitAll
  WaitTask
    | exception w || 2 `elem` ended w -> Go w WaitAll
    | otherwise -> Blocked
  WaitAll
    | length (ended w) == pushed w -> Go w Over
    | otherwise -> Blocked
  Look f -> case deque w of
    n : rest -> Go w {deque = rest} (Claim f n)
    [] -> Go w (if f == LooksBeforeLowering then LastLook f else Lower f)
  Lower f -> Go w {ready = False} (if f == LooksBeforeLowering then Sleep f else LastLook f)
  LastLook f
    | not (null (deque w)) -> Go w {ready = True} (Look f)
    | otherwise -> Go w (if f == LooksBeforeLowering then Lower f else Sleep f)
  Sleep f
    | signal w -> Go w {signal = False} (Look f)
    | otherwise -> Blocked
  Claim f n
    | n `elem` claimed w -> Go w (Look f)
    | otherwise -> Go w {claimed = n : claimed w} (EndTask f n)
  EndTask f n -> Go w {ended = n : ended w} (Look f)
  Throw -> Go w {exception = True} Over
  Over -> End

push :: Int -> World -> World
push n w = w {deque = deque w ++ [n], pushed = pushed w + 1}

run :: Fault -> [Thread] -> ([String], Int)
run f others =
  explore
    step
    (\w -> ["run twice" | length (claimed w) > pushed w || length (ended w) > pushed w])
    (\w threads -> ["the scope waits for ever" | WaitAll `elem` threads || WaitTask `elem` threads] ++ ["not run" | length (ended w) /= pushed w])
    (World [] True False [] [] 0 False)
    (Push f 1 : Look f : others)

tests :: TestTree
tests =
  testGroup
    "scope"
    [ testCase "all tasks of a scope end" (passes (run None []) >> passes (run None [Throw])),
      testCase "a pop that is not masked is found out" (fails (run PopsUnmasked [Throw])),
      testCase "a push that wakes unmasked is found out" (fails (run WakesUnmasked [Throw])),
      testCase "a push that wakes nobody is found out" (fails (run WakesNobody [])),
      testCase "a worker that looks before it lowers the flag is found out" (fails (run LooksBeforeLowering []))
    ]
