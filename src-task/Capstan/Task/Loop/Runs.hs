{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Loop.Runs
-- Description : Results of blocks, combined in a shape that does not depend on the schedule
--
-- A range is cut into /blocks/, whose size depends only on its length. The results of blocks are
-- the leaves of a binary tree, whose shape depends only on their number. Members of a loop compute
-- stretches of blocks with any beginning and end. A 'Runs' has the results of one stretch, combined
-- as far as whole subtrees lie in the stretch. Two adjacent 'Runs' can be joined, and the 'Runs' of
-- all blocks gives the result of the loop. So a sum of floating-point numbers is rounded in the
-- same way by any number of members.
module Capstan.Task.Loop.Runs
  ( Runs,
    none,
    add,
    join,
    total,
    blockSize,
  )
where

-- | The subtrees of a stretch, the last first: the number of its first block, its number of blocks,
-- which is a power of two, and its result.
data Runs a
  = None
  | Run !Int !Int !a !(Runs a)

-- | The results of no blocks.
none :: Runs a
none = None

-- | Adds the result of the next block, with the block's number.
add :: (a -> a -> a) -> Int -> a -> Runs a -> Runs a
add combine number = put combine number 1
{-# INLINE add #-}

-- | Adds the next subtree. It is combined with the subtree before it if both are halves of the same
-- subtree.
put :: (a -> a -> a) -> Int -> Int -> a -> Runs a -> Runs a
put combine = go
  where
    go !at !size !x runs = case runs of
      Run before size' y rest | size' == size && before `rem` (2 * size) == 0 -> go before (2 * size) (combine y x) rest
      _ -> Run at size x runs
{-# INLINE put #-}

-- | Joins the results of a stretch and of the next stretch.
join :: (a -> a -> a) -> Runs a -> Runs a -> Runs a
join combine left right = case right of
  None -> left
  Run at size x rest -> put combine at size x (join combine left rest)

-- | The combined result of all blocks, if there are any.
total :: (a -> a -> a) -> Runs a -> Maybe a
total combine runs = case runs of
  None -> Nothing
  Run _ _ x rest -> Just (go x rest)
  where
    go !x None = x
    go !x (Run _ _ y rest) = go (combine y x) rest

-- | The number of indices in a block of a range with the given length. A range has up to 512
-- blocks.
blockSize :: Word -> Int
blockSize n = until (\size -> n `quot` fromIntegral size < 512) (* 2) 1
