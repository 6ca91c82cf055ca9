-- |
-- Module      : Capstan.Task.Work.Visit
-- Description : The membership of a worker in the group of a scope, from one task to the next
--
-- A worker mostly runs many tasks of one scope, one after the other. It enters the scope's group
-- with the first of them, and remains a member until it takes something else, or ends. This is a
-- /visit/. A visit has a cell, by which a failure of the group interrupts the worker. While a task
-- runs, the cell is 'Started'. Between two tasks it is 'Pending': then a failure throws nothing. The
-- worker looks whether the group has failed before each task. A group that fails after that look
-- finds the worker among its members. So each task ends, and an interrupt arrives in a task of its
-- own scope, or never ("Capstan.Task.Work.Cell"; a model is in @tests\/hs\/task\/Model\/Visit.hs@).
module Capstan.Task.Work.Visit
  ( Visits,
    newVisits,
    Outcome (..),
    during,
    leave,
  )
where

import Capstan.Task.Work.Border
import Capstan.Task.Work.Cell
import Capstan.Task.Work.Group
import Control.Exception
import Data.IORef
import Data.Maybe (fromMaybe, isJust)

-- | The visit of a worker, if there is one.
newtype Visits = Visits (IORef (Maybe Visit))

-- | The group, the cell of the visit, and the context of the tasks.
data Visit = Visit !Group !(Cell ()) !Context

newVisits :: IO Visits
newVisits = Visits <$> newIORef Nothing

-- | The end of a task.
data Outcome a
  = Returned a
  | Threw !SomeException
  | -- | The task was interrupted or did not begin, as its scope has failed with the exception.
    Stopped !SomeException

-- | Runs a task of a group in the calling worker, to which the place belongs. The caller has masked
-- exceptions.
during :: Visits -> Place -> Group -> IO a -> IO (Outcome a)
during visits place members action = do
  Visit _ cell inside <- visitTo visits place members
  failed <- isJust <$> fate members
  begun <- if failed then pure False else begin (target place) (pure ()) cell
  if begun
    then do
      outcome <- within place inside (try (aboveBorderUnmasked action))
      pause cell
      case outcome of
        Right x -> pure (Returned x)
        Left e
          | isInterrupt cell e -> stoppedBy e
          | otherwise -> pure (Threw e)
    else stoppedBy (interruptOf cell)
  where
    stoppedBy e = Stopped . fromMaybe e <$> fate members

-- | The visit to a group, which begins if the worker visits another group or none.
visitTo :: Visits -> Place -> Group -> IO Visit
visitTo visits@(Visits present) place members = do
  now <- readIORef present
  case now of
    Just visit@(Visit known _ _) | known == members -> pure visit
    _ -> do
      leave visits
      cell <- newCell (Open Pending [])
      let inside = Inside (target place) members (interruptOf cell)
          visit = Visit members cell inside
      -- If the group has failed, no task begins.
      _ <- enter inside (Member (isEnded cell) (interrupt cell))
      visit <$ writeIORef present (Just visit)

-- | Ends the visit of a worker.
leave :: Visits -> IO ()
leave (Visits present) = do
  now <- readIORef present
  case now of
    Just (Visit _ cell _) -> writeIORef present Nothing >> finish cell (Done ())
    Nothing -> pure ()
