-- | A task's cell ("Capstan.Task.Work.Cell") and the join of a fork ("Capstan.Task.Join.Fork"),
-- step by step: claim, wait, finish, interrupt, and the exceptions that owner and worker throw to
-- each other. A throw puts a message into flight, and waits until it is received. A thread that is
-- interrupted meanwhile takes its message back.
module Model.Cell (tests) where

import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data Status = Unclaimed | Pending | Own | Started | Interrupting Int | Interrupted | Ended
  deriving (Eq, Ord)

data World = World
  { status :: !Status,
    -- | The waiters in the cell, and the woken waiters.
    waiters :: [Int],
    woken :: [Int],
    runs :: !Int,
    -- | The interrupter whose exception is in flight to the worker, the interrupters that are being
    -- killed, and those that have ended.
    toWorker :: !(Maybe Int),
    killed :: [Int],
    gone :: [Int],
    -- | Whether an exception is in flight to the owner: from the worker, and from another thread.
    toOwner :: !Bool,
    killOwner :: !Bool,
    -- | The owner wants its interrupter to begin.
    asked :: !Bool,
    complaints :: [String]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault
  = None
  | ClaimsWithoutSwap
  | FinishDropsWaiters
  | FinishIgnoresInterrupt
  | FinishDoesNotAwaitKill
  | AbandonDoesNotWait
  | TellsAfterEnd
  | TellsWhoKnows
  deriving (Eq, Ord, Show)

-- | The behaviour of a worker's task: whether it masks exceptions, whether it throws, and whether
-- the owner must be told. The last field says whether its exception replaces an interrupt that has
-- come.
data Task = Task {deaf :: Bool, throws :: Bool, tells :: Bool, replaces :: Bool}
  deriving (Eq, Ord)

data Thread
  = Claim Fault Task
  | ClaimSwap Fault Task Status
  | Begin Fault Task
  | Body Fault Task
  | Tell Fault Task
  | Telling Fault Task
  | Finish Fault Task
  | Killing Fault Task Int
  | FinishSwap Fault Task Status [Int]
  | WorkerOutside
  | -- | The owner of a fork whose left branch throws, or not.
    Left' Fault Bool
  | OwnerClaim Fault Status
  | OwnerWait Fault
  | OwnerWaitSwap Fault Status [Int]
  | OwnerParked Fault
  | Abandon Fault
  | AbandonSwap Fault Status
  | AbandonWait
  | OwnerOutside
  | Killer
  | -- | A waiter: it reads the cell, swaps itself in, and parks.
    Wait Int
  | WaitSwap Int Status [Int]
  | Parked Int
  | -- | An interrupter; the interrupter of the owner begins when the owner asks.
    Asked Int
  | Interrupt Int
  | InterruptSwap Int Status
  | Throw Int
  | Throwing Int
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Claim f t
    | status w == Unclaimed -> Go w (ClaimSwap f t (status w))
    | otherwise -> Go w Over
  ClaimSwap f t old
    | status w == old || f == ClaimsWithoutSwap -> Go w {status = Pending, runs = runs w + 1} (Begin f t)
    | otherwise -> Go w (Claim f t)
  Begin f t
    | status w == Pending -> Go w {status = Started} (Body f t)
    | otherwise -> Go w (Finish f t)
  Body f t
    | Just _ <- toWorker w, not (deaf t) -> Go w {toWorker = Nothing} (if replaces t then thrown else Finish f t)
    | otherwise -> Go w thrown
    where
      thrown = if throws t && tells t && f /= TellsAfterEnd then Tell f t else Finish f t
  Tell f t
    | Interrupting _ <- status w, f /= TellsWhoKnows -> Go w (Finish f t)
    | otherwise -> Go w {toOwner = True} (Telling f t)
  Telling f t
    | Just _ <- toWorker w -> Go w {toOwner = False, toWorker = Nothing} (Finish f t)
    | toOwner w -> Blocked
    | f == TellsAfterEnd -> Go w WorkerOutside
    | otherwise -> Go w (Finish f t)
  Finish f t
    | Interrupting i <- status w, f /= FinishIgnoresInterrupt -> Go w {killed = i : killed w} (Killing f t i)
    | otherwise -> Go w (FinishSwap f t (status w) (waiters w))
  Killing f t i
    | i `elem` gone w || f == FinishDoesNotAwaitKill -> Go w (FinishSwap f t (status w) (waiters w))
    | otherwise -> Blocked
  FinishSwap f t old known
    | status w == old && waiters w == known || f == FinishDropsWaiters ->
      Go
        w {status = Ended, waiters = [], woken = woken w ++ known}
        (if f == TellsAfterEnd && throws t then Tell f t else WorkerOutside)
    | otherwise -> Go w (Finish f t)
  WorkerOutside
    | Just _ <- toWorker w -> Go (complain "an interrupt strays" w {toWorker = Nothing}) Over
    | otherwise -> Blocked
  Asked i
    | asked w -> Go w (Interrupt i)
    | otherwise -> Blocked
  Interrupt i -> Go w (InterruptSwap i (status w))
  InterruptSwap i old
    | old `notElem` [Started, Pending] -> leave i w
    | status w /= old -> Go w (Interrupt i)
    | old == Pending -> leave i w {status = Interrupted}
    | otherwise -> Go w {status = Interrupting i} (Throw i)
  Throw i -> Go w {toWorker = Just i} (Throwing i)
  Throwing i
    | toWorker w /= Just i -> leave i w
    | i `elem` killed w -> leave i w {toWorker = Nothing}
    | otherwise -> Blocked
  Wait n -> case status w of
    Ended -> Go w Over
    Unclaimed -> Blocked
    Own -> Go w Over
    _ -> Go w (WaitSwap n (status w) (waiters w))
  WaitSwap n old known
    | status w == old && waiters w == known -> Go w {waiters = n : known} (Parked n)
    | otherwise -> Go w (Wait n)
  Parked n
    | n `elem` woken w -> Go w (Wait n)
    | otherwise -> Blocked
  Over -> End
  _ -> stepOwner thread w

leave :: Int -> World -> Step World Thread
leave i w = Go w {gone = i : gone w} Over

complain :: String -> World -> World
complain what w = w {complaints = what : complaints w}

-- | The steps of a fork's owner, whose waiter has the number 0.
stepOwner :: Thread -> World -> Step World Thread
stepOwner thread w = case thread of
  Left' f fails'
    | Just w' <- received w -> Go w' (Abandon f)
    | fails' -> Go w (Abandon f)
    | otherwise -> Go w (OwnerClaim f (status w))
  OwnerClaim f old
    | old /= Unclaimed -> Go w (OwnerWait f)
    | status w == old -> Go w {status = Own, runs = runs w + 1} OwnerOutside
    | otherwise -> Go w (OwnerClaim f (status w))
  OwnerWait f
    | Just w' <- received w -> Go w' (Abandon f)
    | status w == Ended -> Go w OwnerOutside
    | otherwise -> Go w (OwnerWaitSwap f (status w) (waiters w))
  OwnerWaitSwap f old known
    | status w == old && waiters w == known -> Go w {waiters = 0 : known} (OwnerParked f)
    | otherwise -> Go w (OwnerWait f)
  OwnerParked f
    | Just w' <- received w -> Go w' (Abandon f)
    | 0 `elem` woken w -> Go w (OwnerWait f)
    | otherwise -> Blocked
  -- Masked from here on.
  Abandon f -> Go w (AbandonSwap f (status w))
  AbandonSwap f old
    | old == Own -> Go w OwnerOutside
    | old == Unclaimed && status w == old -> Go w {status = Own} OwnerOutside
    | old == Unclaimed -> Go w (Abandon f)
    | otherwise -> Go w {asked = True} (if f == AbandonDoesNotWait then OwnerOutside else AbandonWait)
  AbandonWait
    | status w == Ended -> Go w OwnerOutside
    | otherwise -> Blocked
  OwnerOutside
    | toOwner w -> Go (complain "the worker's exception strays" w {toOwner = False}) Over
    | status w `notElem` [Own, Ended] -> Go (complain "the right branch outlives the fork" w) Over
    | otherwise -> Blocked
  Killer -> Go w {killOwner = True} Over
  _ -> End

-- | The world after the owner has received an exception, if one is in flight.
received :: World -> Maybe World
received w
  | toOwner w = Just w {toOwner = False}
  | killOwner w = Just w {killOwner = False}
  | otherwise = Nothing

always :: World -> [String]
always w = ["run twice" | runs w > 1] ++ complaints w

finally' :: World -> [Thread] -> [String]
finally' w threads =
  ["not ended" | status w `notElem` [Own, Ended]] ++ ["stuck" | t <- threads, stuck t]
  where
    stuck t = case t of
      Parked _ -> True
      OwnerParked _ -> True
      AbandonWait -> True
      Telling _ _ -> True
      Killing {} -> True
      Throwing _ -> True
      _ -> False

start :: World
start = World Unclaimed [] [] 0 Nothing [] [] False False False []

outcomes :: [[Thread]] -> ([String], Int)
outcomes = every . map (explore step always finally' start)

-- | Two workers meet the task; other threads wait for it or interrupt it.
tasks :: Fault -> [Thread] -> ([String], Int)
tasks f others =
  outcomes [Claim f t : Claim f t : others | d <- [False, True], x <- [False, True], let t = Task d x False False]

-- | A worker has the right branch of a fork, and its owner may be killed.
forks :: Fault -> [Thread] -> ([String], Int)
forks f others =
  outcomes
    [ Claim f (Task d x listens instead) : Left' f leftFails : Asked 9 : others
      | d <- [False, True],
        x <- [False, True],
        listens <- [False, True],
        instead <- [False, True],
        leftFails <- [False, True]
    ]

tests :: TestTree
tests =
  testGroup
    "cell"
    [ testCase "a task runs once, all are woken, and no interrupt strays" $ do
        passes (tasks None [Wait 1, Wait 2])
        passes (tasks None [Wait 1, Interrupt 3])
        passes (tasks None [Wait 1, Wait 2, Interrupt 3]),
      testCase "a fork joins, no exception strays, and nothing outlives it" $ do
        passes (forks None [])
        passes (forks None [Killer])
        passes (forks None [Killer, Wait 1]),
      testCase "a claim without a swap is found out" (fails (tasks ClaimsWithoutSwap [])),
      testCase "a finish that forgets waiters is found out" (fails (tasks FinishDropsWaiters [Wait 1, Wait 2])),
      testCase "a finish that ignores an interrupt is found out" $ do
        fails (tasks FinishIgnoresInterrupt [Interrupt 3])
        fails (forks FinishIgnoresInterrupt [Killer]),
      testCase "a finish that does not wait until the interrupter is dead is found out" (fails (tasks FinishDoesNotAwaitKill [Interrupt 3])),
      testCase "an owner that does not wait is found out" (fails (forks AbandonDoesNotWait [Killer])),
      testCase "a worker that tells the owner too late is found out" (fails (forks TellsAfterEnd [])),
      testCase "a worker that tells an owner that has interrupted it is found out" (fails (forks TellsWhoKnows [Killer]))
    ]
