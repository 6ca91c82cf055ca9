-- | Visits every state that a few threads can reach, one step of shared memory at a time.
module Model.Explore
  ( Step (..),
    explore,
    every,
    passes,
    fails,
  )
where

import qualified Data.Set as Set
import Test.Tasty.HUnit

-- | The next step of a thread.
data Step world thread
  = -- | It has ended.
    End
  | -- | It waits until the world has changed.
    Blocked
  | Go world thread

-- | The complaints about any state, and about the states in which no thread can go on.
explore ::
  (Ord world, Ord thread) =>
  (thread -> world -> Step world thread) ->
  (world -> [String]) ->
  (world -> [thread] -> [String]) ->
  world ->
  [thread] ->
  ([String], Int)
explore step always finally' start threads = go Set.empty [(start, threads)]
  where
    go seen [] = ([], Set.size seen)
    go seen (state@(world, ts) : rest)
      | state `Set.member` seen = go seen rest
      | not (null complaints) = (complaints, Set.size seen)
      | otherwise = go (Set.insert state seen) (next ++ rest)
      where
        next =
          [ (world', before ++ t' : after)
            | (before, t : after) <- splits ts,
              Go world' t' <- [step t world]
          ]
        complaints = always world ++ (if null next then finally' world ts else [])
    splits xs = [splitAt i xs | i <- [0 .. length xs - 1]]

-- | The complaints of several explorations, and the number of their states.
every :: [([String], Int)] -> ([String], Int)
every results = (concatMap fst results, sum (map snd results))

-- | Checks that the model has no complaint, and that there were states to visit.
passes :: ([String], Int) -> Assertion
passes (complaints, states) = do
  complaints @?= []
  assertBool ("too few states: " ++ show states) (states > 20)

-- | Checks that a seeded fault is found.
fails :: ([String], Int) -> Assertion
fails (complaints, _) = assertBool "the fault was not found" (not (null complaints))
