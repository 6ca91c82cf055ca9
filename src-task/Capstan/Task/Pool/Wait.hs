-- |
-- Module      : Capstan.Task.Pool.Wait
-- Description : Waits for a result that another worker computes
--
-- A green thread that waits gives its Capability to other threads at once. For a bound thread this
-- costs two switches of OS threads, and a late wake. So a bound thread first polls for 100 µs. When
-- one part of a loop has ended, the rest of the loop mostly takes less time than that.
module Capstan.Task.Pool.Wait
  ( expect,
  )
where

import Capstan.Task.Pool.Station (Pool, makeWay)
import Capstan.Task.Thread.Briefly (briefly)
import Capstan.Task.Work.Cell (Cell, poll, wait)
import Control.Concurrent (isCurrentThreadBound, yield)
import Control.Exception (SomeException)

-- | Waits for the result of a claimed task, as 'wait' does.
expect :: Pool -> Cell a -> IO (Either SomeException a)
expect pool cell = do
  bound <- isCurrentThreadBound
  early <- if bound then briefly 100 (yield >> poll cell) else pure Nothing
  case early of
    Just result -> pure result
    Nothing -> makeWay pool >> wait cell
