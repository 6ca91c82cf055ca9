-- | The scouts' sleep ("Capstan.Task.Pool"), step by step. Threads push on the scout's own
-- Capability and on another, and a thread takes the Capability out of use and back. Atomic
-- operations are one step. A plain write stays in a store buffer, as on x86, until the buffer is
-- drained.
module Model.Sleep (tests) where

import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { -- | The numbers of tasks in the private and the public part of the station's deque, and in
    -- other public parts.
    private :: !Int,
    public :: !Int,
    elsewhere :: !Int,
    -- | The scouts of the station and of another, and their bells.
    scout :: !Scout,
    bell :: !Int,
    other :: !Scout,
    otherBell :: !Int,
    inUse :: !Bool,
    -- | Whether the station's alarm is told when the Capability idles, and whether it has been told.
    awaited :: !Bool,
    told :: !Bool,
    -- | Plain writes that other threads do not see yet.
    bufferedTask :: !Bool,
    bufferedSleep :: !Bool,
    complaints :: [String]
  }
  deriving (Eq, Ord)

data Scout = Awake | OnCall | Asleep | Absent
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault
  = None
  | PlainPublish
  | PlainFlag
  | LooksBeforeFlag
  | RingsWithoutSwap
  | RisesDeaf
  | LeavesSilently
  | RescuesNothing
  | AppointsNobody
  | AwaitsNothing
  | ForgetsLate
  deriving (Eq, Ord)

data Thread
  = -- | A thread pushes on the station's Capability.
    Push Fault
  | PushSurely Fault
  | -- | A bound thread pushes on the station's Capability.
    PushBound Fault
  | PutOnCall Fault
  | AwaitIdle Fault
  | -- | The bound thread wakes the scout that is on call, and then waits.
    MakeWay
  | -- | The watcher sees that the Capability idles.
    Watch
  | -- | The station's alarm.
    Call Fault
  | CallRings Fault
  | CallForgets Fault
  | -- | A thread pushes on another Capability.
    Publish Fault
  | -- | That thread looks whether the station's scout sleeps, and rings.
    See Fault
  | RingSwap Fault
  | SeeOther Fault
  | -- | The scout.
    Look Fault
  | Say Fault
  | LastLook Fault
  | Rise Fault
  | Listen Fault
  | Leave Fault
  | Left' Fault
  | Return Fault
  | -- | The other scout, whose Capability stays.
    OtherLook Fault
  | OtherSay Fault
  | OtherLast Fault
  | OtherRise Fault
  | OtherListen Fault
  | -- | A thread takes the Capability out of use, and gives it back.
    Shrink
  | ShrinkOnly
  | Grow
  | -- | The processor drains a store buffer.
    Drain
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Push f
    | served -> Go w {private = private w + 1} Over
    | otherwise -> Go w (PushSurely f)
  PushSurely f -> Go w {public = public w + private w + 1, private = 0} (See f)
  PushBound f
    | served -> Go w {private = private w + 1} MakeWay
    | otherwise -> Go w {public = public w + private w + 1, private = 0} (PutOnCall f)
  PutOnCall f
    | scout w == Asleep -> Go w {scout = OnCall} (AwaitIdle f)
    | otherwise -> Go w (See f)
  AwaitIdle f
    | f == AwaitsNothing || awaited w -> Go w Over
    | otherwise -> Go w {awaited = True, told = False} Over
  MakeWay
    | scout w == OnCall -> Go (ringing w) Over
    | otherwise -> Go w Over
  Watch
    | awaited w && not (told w) -> Go w {told = True} Watch
    | otherwise -> Blocked
  Call f
    | told w -> Go w {told = False} (if f == ForgetsLate then CallRings f else CallForgets f)
    | otherwise -> Blocked
  CallForgets f -> Go w {awaited = False} (if f == ForgetsLate then Call f else CallRings f)
  CallRings f
    | scout w == Asleep || scout w == OnCall -> Go (ringing w) next
    | otherwise -> Go w next
    where
      next = if f == ForgetsLate then CallForgets f else Call f
  Publish PlainPublish -> Go w {bufferedTask = True} (See PlainPublish)
  Publish f -> Go w {elsewhere = elsewhere w + 1} (See f)
  See f
    | scout w == Asleep -> Go w (RingSwap f)
    | scout w == Absent && inUse w && f /= AppointsNobody -> Go w {scout = Awake} (Look f)
    | scout w == Absent -> Go w (SeeOther f)
    | otherwise -> Go w Over
  RingSwap f
    | scout w == Asleep || f == RingsWithoutSwap -> Go (ringing w) Over
    | otherwise -> Go w (See f)
  SeeOther _
    | other w == Asleep -> Go w {other = Awake, otherBell = otherBell w + 1} Over
    | otherwise -> Go w Over
  Look f
    | not (inUse w) -> Go w (Leave f)
    | seen -> Go (takeAll w) (Look f)
    | f == LooksBeforeFlag -> Go w (LastLook f)
    | otherwise -> Go w (Say f)
  Say PlainFlag -> Go w {bufferedSleep = True} (LastLook PlainFlag)
  Say f -> Go w {scout = Asleep} (if f == LooksBeforeFlag then Listen f else LastLook f)
  LastLook f
    | not (inUse w) || seen -> Go w (Rise f)
    | otherwise -> Go w (if f == LooksBeforeFlag then Say f else Listen f)
  Rise f
    | scout w == Asleep || f == PlainFlag -> Go w {scout = Awake} (Look f)
    | otherwise -> Go w (if f == RisesDeaf then Look f else Listen f)
  Listen f
    | bell w > 0 -> Go w {bell = bell w - 1} (Look f)
    | otherwise -> Blocked
  Leave f -> Go w {scout = Absent} (if f == LeavesSilently then Over else Left' f)
  Left' f
    | other w == Asleep -> Go w {other = Awake, otherBell = otherBell w + 1} (Return f)
    | otherwise -> Go w (Return f)
  Return f
    | inUse w && scout w == Absent && f /= AppointsNobody -> Go w {scout = Awake} (Look f)
    | otherwise -> Go w Over
  OtherLook f
    | otherSeen -> Go (otherTakes f) (OtherLook f)
    | appoints f -> Go w {scout = Awake} (Look f)
    | otherwise -> Go w (OtherSay f)
  OtherSay f -> Go w {other = Asleep} (OtherLast f)
  OtherLast f
    | otherSeen || appoints f -> Go w (OtherRise f)
    | otherwise -> Go w (OtherListen f)
  OtherRise f
    | other w == Asleep -> Go w {other = Awake} (OtherLook f)
    | otherwise -> Go w (OtherListen f)
  OtherListen f
    | otherBell w > 0 -> Go w {otherBell = otherBell w - 1} (OtherLook f)
    | otherwise -> Blocked
  Shrink -> Go w {inUse = False} Grow
  ShrinkOnly -> Go w {inUse = False} Over
  Grow -> Go w {inUse = True} Over
  Drain
    | bufferedTask w -> Go w {bufferedTask = False, elsewhere = elsewhere w + 1} Drain
    | bufferedSleep w -> Go w {bufferedSleep = False, scout = Asleep} Drain
    | otherwise -> Blocked
  Over -> End
  where
    served = (scout w == Awake || scout w == OnCall) && inUse w
    seen = private w + public w + elsewhere w > 0
    takeAll now = now {private = 0, public = 0, elsewhere = 0}
    abandoned f = private w > 0 && scout w == Absent && f /= RescuesNothing
    -- The thief may take the entry for which the exploration asks first.
    otherSeen = public w + elsewhere w > 0 || (private w > 0 && scout w == Absent && not (inUse w) && rescues)
    rescues = case thread of
      OtherLook f -> f /= RescuesNothing
      OtherLast f -> f /= RescuesNothing
      _ -> True
    otherTakes f
      | abandoned f && not (inUse w) = takeAll w
      | otherwise = w {public = 0, elsewhere = 0}
    appoints f = abandoned f && inUse w && f /= AppointsNobody

ringing :: World -> World
ringing w
  | bell w > 0 = w {complaints = ["a bell rings twice"]}
  | otherwise = w {scout = Awake, bell = 1}

explored :: Bool -> [Thread] -> ([String], Int)
explored changes =
  explore
    step
    complaints
    (\w _ -> ["tasks wait and the scouts sleep" | private w + public w + elsewhere w > 0] ++ ["a ring is left" | bell w > 0 || otherBell w > 0])
    (World 0 0 0 Awake 0 (if changes then Awake else Absent) 0 True False False False False [])

-- | The scout, with pushes on its Capability and on another.
sleeps :: Fault -> ([String], Int)
sleeps f = explored False [Look f, Push f, Publish f, Push f, Drain]

-- | A bound thread pushes twice, and then waits or does not.
isCalled :: Fault -> ([String], Int)
isCalled f = explored False [Look f, PushBound f, PushBound f, Publish f, Watch, Call f]

-- | The Capability is taken away while tasks are pushed, and given back or not.
leaves :: Fault -> ([String], Int)
leaves f =
  let results = [explored True ([Look f, OtherLook f, Push f, Push f] ++ change) | change <- [[Shrink], [ShrinkOnly]]]
   in (concatMap fst results, sum (map snd results))

tests :: TestTree
tests =
  testGroup
    "sleep"
    [ testCase "a push and a scout that goes to sleep see each other" (passes (sleeps None)),
      testCase "a Capability that is taken away leaves no task behind" (passes (leaves None)),
      testCase "a scout that is on call is called" (passes (isCalled None)),
      testCase "a scout on call whom nobody calls is found out" (fails (isCalled AwaitsNothing)),
      testCase "a caller that forgets after it has called is found out" (fails (isCalled ForgetsLate)),
      testCase "a plain publication is found out" (fails (sleeps PlainPublish)),
      testCase "a plain flag is found out" (fails (sleeps PlainFlag)),
      testCase "a look before the flag is found out" (fails (sleeps LooksBeforeFlag)),
      testCase "a ring without a swap is found out" (fails (sleeps RingsWithoutSwap)),
      testCase "a scout that rises although it was rung for is found out" (fails (sleeps RisesDeaf)),
      testCase "a scout that leaves without a word is found out" (fails (leaves LeavesSilently)),
      testCase "a scout that rescues nothing is found out" (fails (leaves RescuesNothing)),
      testCase "a station for which nobody appoints a scout is found out" (fails (leaves AppointsNobody))
    ]
