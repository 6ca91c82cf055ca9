-- | A task's cell ("Capstan.Task.Cell"): claim, wait, finish and interrupt, step by step.
module Model.Cell (tests) where

import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data Status = Unclaimed | Pending | Started | Cancelling | Interrupted | Ended
  deriving (Eq, Ord, Show)

data World = World
  { status :: !Status,
    -- | Waiters that are in the cell, and those that were woken.
    waiters :: [Int],
    woken :: [Int],
    runs :: !Int,
    -- | An exception on its way to the runner, and one that hit it outside of its task.
    inFlight :: !Bool,
    stray :: !Bool
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | ClaimsWithoutSwap | FinishDropsWaiters | FinishIgnoresCancelling
  deriving (Eq, Ord)

data Thread
  = -- | A worker before the claim, between read and swap, in the task, finishing, and after.
    Claim Fault Int
  | ClaimSwap Fault Int Status
  | Begin Fault Int
  | Body Fault Int
  | Finish Fault Int
  | FinishSwap Fault Int Status [Int]
  | Outside
  | -- | One that waits: it reads, swaps itself in, and parks.
    Wait Int
  | WaitSwap Int Status [Int]
  | Parked Int
  | -- | One that interrupts.
    Interrupt
  | InterruptSwap
  | Throw
  | Acknowledge
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Claim f n
    | status w == Unclaimed -> Go w (ClaimSwap f n (status w))
    | otherwise -> Go w Over
  ClaimSwap f n old
    | status w == old || f == ClaimsWithoutSwap -> Go w {status = Pending, runs = runs w + 1} (Begin f n)
    | otherwise -> Go w (Claim f n)
  Begin f n -> Go w {status = Started} (Body f n)
  -- The task ends by itself, or by the exception.
  Body f n
    | inFlight w -> Go w {inFlight = False} (Finish f n)
    | otherwise -> Go w (Finish f n)
  Finish f n
    | status w == Cancelling && f /= FinishIgnoresCancelling ->
      -- Lets the exception in, and looks again.
      if inFlight w then Go w {inFlight = False} (Finish f n) else Blocked
    | otherwise -> Go w (FinishSwap f n (status w) (waiters w))
  FinishSwap f n old known
    | status w == old && waiters w == known || f == FinishDropsWaiters ->
      Go w {status = Ended, waiters = [], woken = woken w ++ known} Outside
    | otherwise -> Go w (Finish f n)
  Outside
    | inFlight w -> Go w {inFlight = False, stray = True} Over
    | otherwise -> Blocked
  Wait n
    | status w == Ended -> Go w Over
    | status w == Unclaimed -> Blocked
    | otherwise -> Go w (WaitSwap n (status w) (waiters w))
  WaitSwap n old known
    | status w == old && waiters w == known -> Go w {waiters = n : known} (Parked n)
    | otherwise -> Go w (Wait n)
  Parked n
    | n `elem` woken w -> Go w (Wait n)
    | otherwise -> Blocked
  Interrupt
    | status w == Started -> Go w InterruptSwap
    | otherwise -> Go w Over
  InterruptSwap
    | status w == Started -> Go w {status = Cancelling} Throw
    | otherwise -> Go w Interrupt
  Throw -> Go w {inFlight = True} Acknowledge
  -- To throw is to wait until the exception was received.
  Acknowledge
    | inFlight w -> Blocked
    | otherwise -> Go w {status = if status w == Cancelling then Interrupted else status w} Over
  Over -> End

always :: World -> [String]
always w = ["run twice" | runs w > 1] ++ ["an exception strays" | stray w]

finally' :: World -> [Thread] -> [String]
finally' w threads =
  ["not ended" | status w /= Ended] ++ ["a waiter sleeps on" | Parked _ <- threads] ++ ["stuck" | Acknowledge <- threads]

run :: Fault -> [Thread] -> ([String], Int)
run fault others = explore step always finally' (World Unclaimed [] [] 0 False False) (Claim fault 1 : Claim fault 2 : others)

tests :: TestTree
tests =
  testGroup
    "cell"
    [ testCase "runs once, wakes all, and no interrupt strays" $ do
        passes (run None [Wait 1, Wait 2])
        passes (run None [Wait 1, Interrupt])
        passes (run None [Wait 1, Wait 2, Interrupt]),
      testCase "a claim without a swap is found out" (fails (run ClaimsWithoutSwap [])),
      testCase "a finish that forgets waiters is found out" (fails (run FinishDropsWaiters [Wait 1, Wait 2])),
      testCase "a finish that does not await the interrupt is found out" (fails (run FinishIgnoresCancelling [Interrupt]))
    ]
