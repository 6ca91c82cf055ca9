-- |
-- Module      : Capstan.Task
-- Description : Structured parallel tasks
-- Stability   : experimental
--
-- Tasks that return results, throw exceptions and end with their scope, at a cost near that of a
-- spark. No pool is set up: the Capabilities are the pool.
--
-- > fibonacci :: Scope -> Int -> IO Integer
-- > fibonacci _ n | n < 2 = pure (toInteger n)
-- > fibonacci scope n = do
-- >   right <- async scope (fibonacci scope (n - 2))
-- >   left <- fibonacci scope (n - 1)
-- >   (left +) <$!> await right
-- >
-- > main = run (\scope -> fibonacci scope 30) >>= print
--
-- Where the branches join in the same function, 'both' is cheaper; for pure code there is 'bothPure';
-- for loops 'parallelFor' and its relatives, which are shared only when another Capability wants work.
--
-- == Promises
--
-- 1. No task outlives its scope: 'run' and 'both' and the loops return, or throw, when all that they
--    started has ended.
-- 2. Each task runs at most once, and exactly once if its scope does not fail.
-- 3. The first exception of a scope reaches the caller of 'run'; the other tasks are interrupted, or end
--    without running. An asynchronous exception to the caller does the same.
-- 4. 'await' waits only for what its task truly needs. It runs the task itself, or the green thread waits
--    and the Capability goes on with other tasks; never does it run another task on top of its own stack. What interrupts the wait, as a
--    'System.Timeout.timeout', leaves the task alone.
-- 5. A task may block in an 'Control.Concurrent.MVar.MVar', in STM or in a safe foreign call (an OpenMP
--    region, for one): another worker of the Capability goes on.
-- 6. Everything works on one Capability.
-- 7. A pure value, or one of 'Control.Monad.ST.runST', whose evaluation an asynchronous exception has ended is not spoilt: who needs it
--    later goes on where it was, as with any value.
-- 8. The branches of 'both' and the bodies of loops have exceptions masked as the caller has, on whichever Capability they run. A task
--    of a scope has not.
--
-- 9. Results are evaluated to weak head normal form by the task, the branch or the body that computes them; functions whose names end
--    in @NF@ evaluate them completely.
-- 10. Pure functions have the same value in each run, to the last bit, on any number of Capabilities. What could depend on the schedule is in
--    'IO', or is named @unsafe@.
--
-- == Cautions
--
-- Workers are green threads; in a program without @-threaded@ they are the only parallelism that there
-- is: none. A body that does not allocate cannot be interrupted, as everywhere in GHC; a deadline, too, is
-- then kept when it ends.
--
-- GHC (9.0.2 and 9.6.6 at least) may crash when several threads throw to one that has masked exceptions. What is
-- interrupted here is thrown to by one thread at a time; the program's own 'Control.Concurrent.throwTo' and
-- 'Control.Concurrent.killThread' come on top of that. Where several threads may kill the same one, let one
-- thread do it for them, or cancel its scope.
--
-- GHC's non-moving collector (of 9.0.2, 9.6.6 and 9.10.3 at least) may corrupt values whose evaluation was interrupted and that are
-- evaluated further later. Promise 7 is that of the copying collector.
--
-- 'Control.Concurrent.setNumCapabilities' may be called at any moment as far as tasks go. GHC 9.0.2 itself may hang
-- where the number changes while threads compute.
--
-- In the child of a @forkProcess@ tasks work as in any process. What its parent had started is the parent's: it is not run in the
-- child, and who awaits it there may wait for ever.
--
-- A parallel program's results should not depend on which task comes first. Where they might, 'seeded' runs tasks in an order
-- that follows from a number, so that a test can try many orders and repeat one.
--
-- A program's main thread is /bound/ to one of the system, and to let another run there takes two switches of these. Its loops cost what others do,
-- but who is bound and waits for longer than a tenth of a millisecond is woken late, by some tens of microseconds: a program that waits for
-- tasks very often is faster in 'Control.Concurrent.runInUnboundThread'.
--
-- @since 0.1.0
module Capstan.Task
  ( -- * Scopes
    Scope,
    run,
    runOn,
    runWithin,
    cancel,
    Duration,
    nanoseconds,
    microseconds,
    milliseconds,
    seconds,
    unlimited,
    Cancelled (..),
    ScopeEnded (..),
    PoolEnded (..),

    -- * Tasks
    Promise,
    async,
    asyncNF,
    asyncCancellable,
    await,
    awaitCatch,
    awaitWithin,
    awaitAll,
    awaitAny,
    awaitSTM,
    poll,
    pollSTM,

    -- * Two branches
    both,
    bothNF,
    bothOn,
    bothPure,

    -- * Containers
    parTraverse,
    parTraverse_,
    parFor,
    parFor_,
    parMap,
    parMapWith,
    Parallel (..),

    -- * Loops
    Range,
    range,
    chunk,
    onPool,
    parallelFor,
    parallelForAfter,
    parallelForReduce,
    parallelFind,
    mapChunks,
    mapChunksNF,

    -- * Loops over several dimensions
    Grid,
    along,
    crossing,
    parallelForGrid,

    -- * States of workers
    WorkerStates,
    newWorkerStates,
    withWorkerState,
    workerStates,

    -- * In ST
    -- $unsafe
    unsafeBoth,
    unsafeParallelFor,
    unsafeParallelForReduce,
    unsafeParallelFind,
    unsafeMapChunks,

    -- * Vectors
    parallelScan,
    prefixSum,
    parallelSort,
    parallelSortBy,

    -- * Pools
    Pool,
    defaultPool,
    withPool,
    lookupPool,
    poolName,
    poolSize,

    -- * An order that follows from a seed
    seeded,
    switchPoint,
  )
where

import Capstan.Duration
import Capstan.Task.Join.Await
import Capstan.Task.Join.Fork (both, bothNF, bothOn, bothPure, unsafeBoth)
import Capstan.Task.Join.Scope
import Capstan.Task.Loop.For
import Capstan.Task.Loop.Grid
import Capstan.Task.Loop.Lanes (parallelForAfter)
import Capstan.Task.Loop.State
import Capstan.Task.Loop.Traverse
import Capstan.Task.Pool (Pool, poolName, poolSize)
import Capstan.Task.Thread.Seeded (seeded, switchPoint)
import Capstan.Task.Vector.Scan (parallelScan)
import Capstan.Task.Vector.Sort
import Capstan.Task.Vector.Sums (prefixSum)

-- $unsafe
-- The same for 'Control.Monad.ST.ST', and any other monad of states. What they do is pure only where no branch or body writes what another
-- one reads or writes, for which the caller answers: an array that each fills a part of is pure, a counter is not.
