-- | Pages of three parts, which are made independently of each other.
module Async.Page.Original (program) where

import Control.Concurrent.Async (Concurrently (..))
import Control.Exception (evaluate)
import Control.Monad (foldM)

data Page = Page Int Int Int

program :: Int -> IO Int
program count = foldM (\sofar number -> mix sofar <$> page number) 0 [1 .. count]

mix :: Int -> Page -> Int
mix sofar (Page header body footer) = (sofar * 31 + header + body + footer) `mod` 1000003

page :: Int -> IO Page
page number =
  runConcurrently $
    Page
      <$> Concurrently (part number 10)
      <*> Concurrently (part number 50)
      <*> Concurrently (part number 20)

-- | So many steps of a generator of numbers.
part :: Int -> Int -> IO Int
part number steps = evaluate (iterate (\x -> (x * 1103515245 + 12345) `mod` 2147483648) number !! steps)
