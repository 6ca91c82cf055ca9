-- |
-- Module      : Capstan.Task.Pool.Wait
-- Description : Waiting for what another worker computes
--
-- A green thread that waits leaves its Capability to others at once. A bound thread cannot without two switches of the system's
-- threads, and is woken late; so it waits awake for a while. What is left of a loop when one part has ended takes less.
module Capstan.Task.Pool.Wait
  ( expect,
  )
where

import Capstan.Task.Pool.Station (Pool, makeWay)
import Capstan.Task.Thread.Briefly (briefly)
import Capstan.Task.Work.Cell (Cell, poll, wait)
import Control.Concurrent (isCurrentThreadBound, yield)
import Control.Exception (SomeException)

-- | Waits for the result of a task that somebody has claimed, as 'wait' does.
expect :: Pool -> Cell a -> IO (Either SomeException a)
expect pool cell = do
  bound <- isCurrentThreadBound
  early <- if bound then briefly 100 (yield >> poll cell) else pure Nothing
  case early of
    Just result -> pure result
    Nothing -> makeWay pool >> wait cell
