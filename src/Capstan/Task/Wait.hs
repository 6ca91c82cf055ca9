-- |
-- Module      : Capstan.Task.Wait
-- Description : Waiting for what another worker computes
--
-- A green thread that waits leaves its Capability to others at once. A bound thread cannot without two switches of the system's
-- threads, and is woken late; so it waits awake for a while. What is left of a loop when one part has ended takes less.
module Capstan.Task.Wait
  ( expect,
    briefly,
  )
where

import Capstan.Task.Cell (Cell, poll, wait)
import Capstan.Task.Pool (Pool, makeWay)
import Capstan.Task.Seeded (asMember)
import Control.Concurrent (isCurrentThreadBound, yield)
import Control.Exception (SomeException)
import Data.Maybe (isJust)
import Data.Word (Word64)
import GHC.Clock (getMonotonicTimeNSec)

-- | Waits for the result of a task that somebody has claimed, as 'wait' does.
expect :: Pool -> Cell a -> IO (Either SomeException a)
expect pool cell = do
  bound <- isCurrentThreadBound
  early <- if bound then briefly 100 (yield >> poll cell) else pure Nothing
  case early of
    Just result -> pure result
    Nothing -> makeWay pool >> wait cell

-- | Repeats an action until it has a result, for so many microseconds at most: who computes what is missing seldom needs longer. In a
-- seeded run, once.
briefly :: Word64 -> IO (Maybe a) -> IO (Maybe a)
briefly microseconds attempt = asMember (const attempt) (attempt >>= maybe again (pure . Just))
  where
    again = getMonotonicTimeNSec >>= go
    go begun = do
      found <- attempt
      now <- getMonotonicTimeNSec
      if isJust found || now - begun > 1000 * microseconds then pure found else go begun
