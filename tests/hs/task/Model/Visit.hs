-- | A worker visits a group ("Capstan.Task.Work.Visit"), step by step: it enters the group once, runs
-- several tasks, leaves, and goes on with code of another scope. Meanwhile the group is doomed, and
-- an interrupter throws to the worker. A throw puts a message into flight, and waits until it is
-- received, or until the interrupter is killed.
module Model.Visit (tests) where

import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data Status = Pending | Started | Interrupting | Interrupted | Ended
  deriving (Eq, Ord)

data World = World
  { doomed :: !Bool,
    isMember :: !Bool,
    status :: !Status,
    -- | Whether the interrupter's exception is in flight, whether the interrupter is being killed,
    -- and whether it has ended.
    inFlight :: !Bool,
    killed :: !Bool,
    gone :: !Bool,
    complaints :: [String]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault
  = None
  | EntersWithoutSwap
  | BeginsBlindly
  | PausesNever
  | PauseIgnoresInterrupt
  | PauseDoesNotAwaitKill
  deriving (Eq, Ord)

-- | Tasks that end soon, those that also mask exceptions, and those that run until an interrupt.
data Task = Short | Deaf | Endless
  deriving (Eq, Ord)

data Thread
  = -- | The worker, with the tasks that it has not run yet.
    Enter Fault [Task]
  | EnterSwap Fault Bool [Task]
  | Next Fault [Task]
  | Begin Fault Task [Task]
  | Body Fault Task [Task]
  | Pause Fault [Task]
  | Killing Fault [Task]
  | PauseSwap Fault Status [Task]
  | Outside
  | -- | The thread that dooms the group, and then interrupts the worker if it is a member.
    Doom
  | Stop
  | StopSwap Status
  | Throw
  | Throwing
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Enter f tasks -> Go w (EnterSwap f (doomed w) tasks)
  EnterSwap f old tasks
    | old -> Go w (Next f tasks)
    | doomed w && f /= EntersWithoutSwap -> Go w (Enter f tasks)
    -- A write over the fate of a doomed group would let it live.
    | otherwise -> Go w {isMember = True, doomed = False} (Next f tasks)
  Next _ [] -> Go w {status = Ended} Outside
  Next f (task : rest)
    | doomed w -> Go w (Next f rest)
    | otherwise -> Go w (Begin f task rest)
  Begin f task rest
    | status w == Pending || f == BeginsBlindly || f == PausesNever && status w == Started -> Go w {status = Started} (Body f task rest)
    | otherwise -> Go w (Next f rest)
  Body f task rest
    | inFlight w && task /= Deaf -> Go w {inFlight = False} (Pause f rest)
    | task == Endless -> Blocked
    | otherwise -> Go w (Pause f rest)
  Pause f rest
    | f == PausesNever -> Go w (Next f rest)
    | status w == Interrupting && f /= PauseIgnoresInterrupt -> Go w {killed = True} (Killing f rest)
    | otherwise -> Go w (PauseSwap f (status w) rest)
  Killing f rest
    | gone w || f == PauseDoesNotAwaitKill -> Go w {status = Pending} (Next f rest)
    | otherwise -> Blocked
  PauseSwap f old rest
    | status w == old -> Go w {status = Pending} (Next f rest)
    | otherwise -> Go w (Pause f rest)
  Outside
    | inFlight w -> Go w {inFlight = False, complaints = "an interrupt strays" : complaints w} Over
    | otherwise -> Blocked
  Doom -> Go w {doomed = True} (if isMember w then Stop else Over)
  Stop -> Go w (StopSwap (status w))
  StopSwap old
    | old `notElem` [Started, Pending] -> Go w {gone = True} Over
    | status w /= old -> Go w Stop
    | old == Pending -> Go w {status = Interrupted, gone = True} Over
    | otherwise -> Go w {status = Interrupting} Throw
  Throw -> Go w {inFlight = True} Throwing
  Throwing
    | not (inFlight w) -> Go w {gone = True} Over
    | killed w -> Go w {inFlight = False, gone = True} Over
    | otherwise -> Blocked
  Over -> End

run :: Fault -> ([String], Int)
run f = every [visit [a, b, c] | a <- kinds, b <- kinds, c <- kinds]
  where
    kinds = [Short, Deaf, Endless]
    visit tasks = explore step complaints finally' (World False False Pending False False False []) [Enter f tasks, Doom]
    finally' w threads = ["a task of a doomed group runs on" | doomed w, Body {} <- threads] ++ ["stuck" | t <- threads, stuck w t]
    stuck w t = case t of
      Killing {} -> True
      Throwing -> True
      -- The thread that dooms has run, so nothing else would end the task.
      Body {} -> not (doomed w)
      _ -> False

tests :: TestTree
tests =
  testGroup
    "visit"
    [ testCase "no interrupt strays, and no task of a doomed group runs on" (passes (run None)),
      testCase "one that enters without a swap is found out" (fails (run EntersWithoutSwap)),
      testCase "one that begins after an interrupt is found out" (fails (run BeginsBlindly)),
      testCase "one that does not pause is found out" (fails (run PausesNever)),
      testCase "a pause that ignores an interrupt is found out" (fails (run PauseIgnoresInterrupt)),
      testCase "a pause that does not wait until the interrupter is dead is found out" (fails (run PauseDoesNotAwaitKill))
    ]
