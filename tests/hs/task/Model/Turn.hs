-- | Interrupters that throw to a thread take turns ("Capstan.Task.Thread.Target",
-- "Capstan.Task.Work.Cell"), step by step. A thread runs a computation inside another. Both are
-- interrupted, and both may end by themselves. An interrupter that is killed takes its exception
-- back.
module Model.Turn (tests) where

import Data.List (delete)
import Data.Maybe (isNothing)
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { -- | The numbers of the running computations, the inner one first, and of those that are being
    -- interrupted.
    frames :: [Int],
    interrupting :: [Int],
    -- | The interrupter that has the turn.
    turn :: !(Maybe Int),
    -- | The messages for the thread, which receives the latest first.
    messages :: [Int],
    killed :: [Int],
    gone :: [Int],
    complaints :: [String]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | TakesNoTurn | KeepsTheTurn | KillsNobody
  deriving (Eq, Ord)

data Thread
  = -- | The thread runs; for each computation, whether it masks exceptions. The thread then
    -- finishes an ended computation.
    Runs Fault [Bool]
  | Finish Fault [Bool]
  | Killing Fault Int [Bool]
  | -- | An interrupter, with the number of its computation.
    Interrupt Fault Int
  | TakeTurn Fault Int
  | Throw Fault Int
  | Throwing Fault Int
  | GiveTurn Fault Int
  | Over
  deriving (Eq, Ord)

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Runs _ [] -> case messages w of
    i : _ -> Go (complain ("an interrupt strays: " ++ show i) w {messages = []}) Over
    [] -> Blocked
  Runs f (masked : rest)
    | i : others <- messages w, not masked -> Go (arrive i w {messages = others}) (Finish f rest)
    | otherwise -> Go w (Finish f rest)
  Finish f rest
    | n `elem` interrupting w && f /= KillsNobody -> Go w {killed = n : killed w} (Killing f n rest)
    | otherwise -> Go w {frames = drop 1 (frames w)} (Runs f rest)
    where
      n = head' (frames w)
  Killing f n rest
    | n `elem` gone w -> Go w {frames = drop 1 (frames w)} (Runs f rest)
    | otherwise -> Blocked
  Interrupt f n
    | n `elem` frames w -> Go w {interrupting = n : interrupting w} (if f == TakesNoTurn then Throw f n else TakeTurn f n)
    | otherwise -> Go w Over
  TakeTurn f n
    | n `elem` killed w -> leave n w
    | isNothing (turn w) -> Go w {turn = Just n} (Throw f n)
    | otherwise -> Blocked
  Throw f n -> Go (before n w) (Throwing f n)
  Throwing f n
    | n `notElem` messages w -> Go w (GiveTurn f n)
    | n `elem` killed w -> Go w {messages = delete n (messages w)} (if f == KeepsTheTurn then Over else GiveTurn f n)
    | otherwise -> Blocked
  GiveTurn _ n -> leave n (if turn w == Just n then w {turn = Nothing} else w)
  Over -> End
  where
    leave n now = Go now {gone = n : gone now} Over
    head' = foldr const 0

-- | Puts a message before the present messages.
before :: Int -> World -> World
before n w = (if null (messages w) then id else complain "one message is put before another") w {messages = n : messages w}

-- | An interrupt must arrive while its computation runs.
arrive :: Int -> World -> World
arrive n w
  | n `elem` frames w = w
  | otherwise = complain ("an interrupt comes late: " ++ show n) w

complain :: String -> World -> World
complain what w = w {complaints = what : complaints w}

run :: Fault -> ([String], Int)
run f = (concatMap fst results, sum (map snd results))
  where
    results =
      [ explore step complaints stuck (World [2, 1] [] Nothing [] [] [] []) (Runs f [inner, outer] : [Interrupt f n | n <- [1, 2]])
        | inner <- [False, True],
          outer <- [False, True]
      ]
    stuck w threads =
      ["not ended" | not (null (frames w))]
        ++ ["somebody waits for the turn for ever" | TakeTurn _ _ <- threads]
        ++ ["a message is left" | not (null (messages w))]

tests :: TestTree
tests =
  testGroup
    "turn"
    [ testCase "interrupts come one at a time, in time, and nobody is stuck" (passes (run None)),
      testCase "one that takes no turn is found out" (fails (run TakesNoTurn)),
      testCase "one that is killed and keeps the turn is found out" (fails (run KeepsTheTurn)),
      testCase "an end that kills nobody is found out" (fails (run KillsNobody))
    ]
