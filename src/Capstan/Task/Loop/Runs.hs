{-# LANGUAGE BangPatterns #-}

-- |
-- Module      : Capstan.Task.Loop.Runs
-- Description : Results of blocks, combined in a shape that nobody's being late can change
--
-- A range is cut into /blocks/, whose size depends on its length alone. The results of blocks are the leaves of a binary tree, which
-- depends on their number alone. Members of a loop compute stretches of blocks, wherever those begin and end: a 'Runs' has the
-- results of one stretch, combined as far as whole subtrees of the tree lie in it. Two adjacent ones make one, and that of all blocks gives
-- the result. So a sum of floating-point numbers is rounded in the same way by any number of members.
module Capstan.Task.Loop.Runs
  ( Runs,
    none,
    add,
    join,
    total,
    blockSize,
  )
where

-- | The last subtree first: the number of its first block, how many blocks it has, which is a power of two, and its result.
data Runs a
  = None
  | Run !Int !Int !a !(Runs a)

-- | The results of no blocks.
none :: Runs a
none = None

-- | With the result of the next block, which has that number.
add :: (a -> a -> a) -> Int -> a -> Runs a -> Runs a
add combine number = put combine number 1
{-# INLINE add #-}

-- | With the next subtree, which is combined with the one before it if the two are halves of one.
put :: (a -> a -> a) -> Int -> Int -> a -> Runs a -> Runs a
put combine = go
  where
    go !at !size !x runs = case runs of
      Run before size' y rest | size' == size && before `rem` (2 * size) == 0 -> go before (2 * size) (combine y x) rest
      _ -> Run at size x runs
{-# INLINE put #-}

-- | Those of a stretch, and those of the next one.
join :: (a -> a -> a) -> Runs a -> Runs a -> Runs a
join combine left right = case right of
  None -> left
  Run at size x rest -> put combine at size x (join combine left rest)

-- | The result of all, if there are any.
total :: (a -> a -> a) -> Runs a -> Maybe a
total combine runs = case runs of
  None -> Nothing
  Run _ _ x rest -> Just (go x rest)
  where
    go !x None = x
    go !x (Run _ _ y rest) = go (combine y x) rest

-- | How many indices of a range of that length are a block: there are up to 512 blocks.
blockSize :: Int -> Int
blockSize n = until (\size -> n `quot` size < 512) (* 2) 1
