-- | The stretch of a loop ("Capstan.Task.Loop.Stretch"), step by step. The owner's reads may
-- overtake its writes, as on a processor with a store buffer. Another thread takes the rest.
module Model.Stretch (tests) where

import Data.Maybe (fromMaybe)
import Model.Explore
import Test.Tasty
import Test.Tasty.HUnit

data World = World
  { -- | The index that all threads see, and an index that the owner has written and other threads
    -- do not see yet.
    written :: !Int,
    buffered :: !(Maybe Int),
    called :: !Bool,
    border :: !(Maybe Int),
    -- | Whether a thread has begun the front half of the rest.
    front :: !Bool,
    -- | The indices that were run.
    done :: [Int]
  }
  deriving (Eq, Ord)

-- | A wrong version of the protocol.
data Fault = None | NoBarrier | NoSwap | FromTheSameIndex | FrontWithoutSwap
  deriving (Eq, Ord)

data Thread
  = -- | The next step of the owner: write the index, look, run the index, settle the border there,
    -- or run up to it.
    Write Int
  | Look Int
  | Run Int
  | Settle Int
  | Finish Int Int
  | -- | The processor empties its buffer.
    Buffer
  | -- | The steps of the taker: call, barrier, read, settle the border, and run the back half of
    -- the rest.
    Call
  | Barrier
  | Read
  | Propose Int
  | Back Int Int
  | -- | Both threads may begin the front half.
    Claim Int
  | Front Int Int
  deriving (Eq, Ord)

count :: Int
count = 4

step :: Fault -> Thread -> World -> Step World Thread
step fault thread w = case thread of
  Write i
    | i >= count -> End
    -- The buffer holds one index: the earlier index becomes visible first.
    | otherwise -> Go (flushed w) {buffered = Just i} (Look i)
  Look i -> Go w (if called w then Settle i else Run i)
  Run i -> Go w {done = i : done w} (Write (i + 1))
  Settle i -> settled i (Finish i)
  Finish i end
    | i < end -> Go w {done = i : done w} (Finish (i + 1) end)
    | otherwise -> Go w (Claim end)
  Buffer -> maybe Blocked (const (Go (flushed w) Buffer)) (buffered w)
  Call -> Go w {called = True} Barrier
  Barrier -> Go (if fault == NoBarrier then w else flushed w) Read
  Read -> Go w (Propose (if fault == FromTheSameIndex then written w else written w + 1))
  Propose i -> settled (min count i) (\first -> Back first (middle first))
  Back first i
    | i < count -> Go w {done = i : done w} (Back first (i + 1))
    | otherwise -> Go w (Claim first)
  Claim first
    | front w && fault /= FrontWithoutSwap -> End
    | otherwise -> Go w {front = True} (Front first (middle first))
  Front i end
    | i < end -> Go w {done = i : done w} (Front (i + 1) end)
    | otherwise -> End
  where
    middle first = first + (count - first) `quot` 2
    flushed now = now {written = fromMaybe (written now) (buffered now), buffered = Nothing}
    -- A compare-and-swap empties the buffer too.
    settled i next = case border w of
      Just there | fault /= NoSwap -> Go (flushed w) (next there)
      _ -> Go (flushed w) {border = Just i} (next i)

explored :: Fault -> ([String], Int)
explored fault =
  explore
    (step fault)
    (\w -> ["an index is run twice" | or [i `elem` drop k (done w) | (k, i) <- zip [1 ..] (done w)]])
    (\w _ -> ["indices are left" | length (done w) /= count])
    (World (-1) Nothing False Nothing False [])
    [Write 0, Buffer, Call]

tests :: TestTree
tests =
  testGroup
    "stretches"
    [ testCase "each index is run once" (passes (explored None)),
      testCase "without the barrier some are run twice" (fails (explored NoBarrier)),
      testCase "without the swap, too" (fails (explored NoSwap)),
      testCase "so they are if the front half is begun without a swap" (fails (explored FrontWithoutSwap)),
      testCase "so they are if the rest begins at the index that was read" (fails (explored FromTheSameIndex))
    ]
