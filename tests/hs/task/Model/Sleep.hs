-- | Who pushes and who goes to sleep ("Capstan.Task.Pool", P2), with the store buffers of x86: a plain
-- write becomes visible later, an atomic operation waits for those before it.
module Model.Sleep (tests) where

import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { public :: !Bool,
    asleep :: !Bool,
    wakeUp :: !Bool,
    -- | A plain write of @public@, and one of @asleep@, that others do not see yet.
    buffered :: !Bool,
    bufferedSleep :: !Bool,
    done :: !Bool
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | PlainPublish | PlainFlag | LooksBeforeFlag
  deriving (Eq, Ord)

data Thread
  = Publish Fault
  | LookForSleeper
  | RaiseFlag Fault
  | LastLook Fault
  | Sleep
  | Take
  | -- | Drains a store buffer.
    Buffer
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Publish PlainPublish -> Go w {buffered = True} LookForSleeper
  Publish _ -> Go w {public = True} LookForSleeper
  LookForSleeper -> Go w {wakeUp = wakeUp w || asleep w} Over
  RaiseFlag LooksBeforeFlag
    | public w -> Go w Take
    | otherwise -> Go w (LastLook LooksBeforeFlag)
  RaiseFlag PlainFlag -> Go w {bufferedSleep = True} (LastLook PlainFlag)
  RaiseFlag f -> Go w {asleep = True} (LastLook f)
  LastLook LooksBeforeFlag -> Go w {asleep = True} Sleep
  LastLook _
    | public w -> Go w Take
    | otherwise -> Go w Sleep
  Sleep
    | wakeUp w -> Go w Take
    | otherwise -> Blocked
  Take
    | public w -> Go w {done = True} Over
    | otherwise -> Blocked
  Buffer
    | buffered w -> Go w {buffered = False, public = True} Buffer
    | bufferedSleep w -> Go w {bufferedSleep = False, asleep = True} Buffer
    | otherwise -> Blocked
  Over -> End

run :: Fault -> ([String], Int)
run fault =
  explore
    step
    (const [])
    (\w _ -> ["a task waits and its worker sleeps" | not (done w)])
    (World False False False False False False)
    [Publish fault, RaiseFlag fault, Buffer]

tests :: TestTree
tests =
  testGroup
    "sleep"
    [ testCase "a push and a worker that goes to sleep see each other" (fst (run None) @?= []),
      testCase "a plain publication is found out" (fails (run PlainPublish)),
      testCase "a plain flag is found out" (fails (run PlainFlag)),
      testCase "a look before the flag is found out" (fails (run LooksBeforeFlag))
    ]
