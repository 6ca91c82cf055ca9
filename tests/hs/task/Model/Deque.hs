-- | The split deque: @cmm\/task.cmm@ and "Capstan.Task.Work.Deque", step by step, on a ring of two slots.
module Model.Deque (tests) where

import Data.List (sort)
import qualified Data.Map.Strict as Map
import Data.Maybe (fromMaybe, isJust)
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { top :: !Int,
    split :: !Int,
    bottom :: !Int,
    ring :: !(Map.Map Int Int),
    taken :: [Int],
    refused :: [Int]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | ReadsBeforeSwap | LowersWithoutSwap | OverwritesSlot
  deriving (Eq, Ord)

data Operation = Push Int | Pop Int | Publish
  deriving (Eq, Ord)

-- | The position of a thread in its operation, and the values that it has read.
data Thread
  = Owner Fault Bool [Operation]
  | WriteSlot Fault Bool Int [Operation]
  | WriteBottom Fault Bool [Operation]
  | ReadWord Fault Bool [Operation]
  | SwapUp Fault Bool (Int, Int) Int [Operation]
  | PopWord Fault Bool Int [Operation]
  | SwapDown Fault Bool Int (Int, Int) Int [Operation]
  | ClearSlot Fault Bool Int [Operation]
  | Thief Fault Int
  | StealSwap Fault Int (Int, Int) (Maybe Int)
  | ReadSlot Fault Int Int
  | ClearStolen Fault Int Int Int
  deriving (Eq, Ord)

slots :: Int
slots = 2

slot :: Int -> World -> Maybe Int
slot i = Map.lookup (i `mod` slots) . ring

swapping :: (Int, Int) -> (Int, Int) -> World -> Maybe World
swapping old (t, s) w
  | (top w, split w) == old = Just w {top = t, split = s}
  | otherwise = Nothing

step :: Thread -> World -> Step World Thread
step thread w = case thread of
  Owner _ _ [] -> End
  Owner f hungry (Push x : rest)
    | isJust (slot (bottom w) w) && f /= OverwritesSlot -> Go w {refused = x : refused w} (Owner f hungry rest)
    | otherwise -> Go w (WriteSlot f hungry x rest)
  Owner f hungry (Pop x : rest)
    | slot (bottom w - 1) w /= Just x -> Go w (Owner f hungry rest)
    | otherwise -> Go w (PopWord f hungry x rest)
  Owner f _ (Publish : rest) -> Go w (ReadWord f True rest)
  WriteSlot f hungry x rest -> Go w {ring = Map.insert (bottom w `mod` slots) x (ring w)} (WriteBottom f hungry rest)
  WriteBottom f hungry rest -> Go w {bottom = bottom w + 1} (ReadWord f hungry rest)
  ReadWord f hungry rest
    | hungry && split w /= bottom w -> Go w (SwapUp f hungry (top w, split w) (bottom w) rest)
    | not hungry && top w == split w -> Go w (SwapUp f hungry (top w, split w) (split w + 1) rest)
    | otherwise -> Go w (Owner f hungry rest)
  SwapUp f hungry old@(t, _) new rest -> case swapping old (t, new) w of
    Just w' -> Go w' (Owner f hungry rest)
    Nothing -> Go w (ReadWord f hungry rest)
  PopWord f hungry x rest
    | split w < bottom w -> Go w (ClearSlot f hungry x rest)
    | top w == split w -> Go w (Owner f hungry rest)
    | otherwise -> Go w (SwapDown f hungry x (top w, split w) (top w + (split w - top w) `div` 2) rest)
  SwapDown LowersWithoutSwap hungry x _ new rest -> Go w {split = new} (PopWord LowersWithoutSwap hungry x rest)
  SwapDown f hungry x old@(t, _) new rest -> case swapping old (t, new) w of
    Just w' -> Go w' (PopWord f hungry x rest)
    Nothing -> Go w (PopWord f hungry x rest)
  ClearSlot f hungry x rest ->
    Go
      w {ring = Map.delete ((bottom w - 1) `mod` slots) (ring w), bottom = bottom w - 1, taken = sort (x : taken w)}
      (Owner f hungry rest)
  Thief _ 0 -> End
  Thief f n
    | top w == split w -> Go w (Thief f (n - 1))
    | otherwise -> Go w (StealSwap f n (top w, split w) (if f == ReadsBeforeSwap then slot (top w) w else Nothing))
  StealSwap f n old@(t, s) early -> case swapping old (t + 1, s) w of
    Nothing -> Go w (Thief f n)
    Just w' -> case early of
      Just x -> Go w' (ClearStolen f n t x)
      Nothing -> Go w' (ReadSlot f n t)
  ReadSlot f n t -> Go w (ClearStolen f n t (fromMaybe (-1) (slot t w)))
  ClearStolen f n t x ->
    Go w {ring = Map.delete (t `mod` slots) (ring w), taken = sort (x : taken w)} (Thief f (n - 1))

-- | No task is taken twice, and none out of an empty slot.
always :: World -> [String]
always w =
  ["taken twice: " ++ show (taken w) | or (zipWith (==) (taken w) (drop 1 (taken w)))]
    ++ ["taken from an empty slot" | -1 `elem` taken w]

-- | In the end each task was taken or refused, or is still in the deque.
finally' :: [Int] -> World -> [Thread] -> [String]
finally' pushed w _ =
  ["lost: " ++ show (pushed, everywhere) | everywhere /= pushed]
  where
    everywhere = sort (taken w ++ refused w ++ Map.elems (ring w))

run :: Fault -> Bool -> [Operation] -> [Int] -> ([String], Int)
run fault hungry operations thieves =
  explore step always (finally' (sort [x | Push x <- operations])) start threads
  where
    start = World 0 0 0 Map.empty [] []
    threads = Owner fault hungry operations : map (Thief fault) thieves

scripts :: [[Operation]]
scripts =
  [ [Push 1, Pop 1, Push 2, Pop 2],
    [Push 1, Push 2, Pop 2, Pop 1],
    [Push 1, Push 2, Pop 2, Push 3, Pop 3, Pop 1, Push 4],
    [Push 1, Push 2, Publish, Pop 2, Pop 1, Push 3, Push 4, Push 5],
    [Push 1, Push 2, Push 3, Pop 2, Push 4, Publish, Push 5, Pop 5]
  ]

tests :: TestTree
tests =
  testGroup
    "deque"
    [ testCase "nothing is lost or taken twice" $
        sequence_ [passes (run None hungry script [2, 2]) | hungry <- [False, True], script <- scripts],
      testCase "a thief that reads before its swap is found out" (fails (foldMap' ReadsBeforeSwap)),
      testCase "an owner that lowers the split without a swap is found out" (fails (foldMap' LowersWithoutSwap)),
      testCase "an owner that overwrites a slot is found out" (fails (foldMap' OverwritesSlot))
    ]
  where
    foldMap' fault =
      let results = [run fault hungry script [2, 2] | hungry <- [False, True], script <- scripts]
       in (concatMap fst results, sum (map snd results))
