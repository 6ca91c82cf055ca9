-- | Models of the deque, a task's cell, a group, a scope and its end, a loop's shares, the scouts'
-- sleep, and the turns of throwing threads. Each is explored in every order of its steps, and has
-- seeded faults, which the exploration must find.
module ModelTests (tests) where

import qualified Model.Cell as Cell
import qualified Model.Deque as Deque
import qualified Model.End as End
import qualified Model.Group as Group
import qualified Model.Scope as Scope
import qualified Model.Shares as Shares
import qualified Model.Sleep as Sleep
import qualified Model.Stretch as Stretch
import qualified Model.Turn as Turn
import qualified Model.Variable as Variable
import qualified Model.Visit as Visit
import Test.Tasty

tests :: TestTree
tests = testGroup "models" [Deque.tests, Cell.tests, Group.tests, Scope.tests, End.tests, Shares.tests, Sleep.tests, Stretch.tests, Turn.tests, Variable.tests, Visit.tests]
