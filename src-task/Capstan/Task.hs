-- |
-- Module      : Capstan.Task
-- Description : Structured parallel tasks
-- Stability   : experimental
--
-- Tasks that return results, throw exceptions and end with their scope. A task costs little more
-- than a spark. The program sets up no pool: the Capabilities are the pool.
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
-- 'both' is cheaper where two branches start and join in the same function, and 'bothPure' does the
-- same for pure code. 'parallelFor' and its relatives are for loops: a loop is shared only when
-- another Capability wants work.
--
-- == Promises
--
-- 1. No task outlives its scope: 'run', 'both' and the loops return, or throw, when all tasks that
--    they started have ended.
-- 2. Each task runs at most once, and exactly once if its scope does not fail.
-- 3. The first exception of a scope reaches the caller of 'run'; the other tasks are interrupted, or end
--    without running. An asynchronous exception to the caller does the same.
-- 4. 'await' waits only for what its task truly needs. The caller runs the task itself, or its
--    green thread waits and the Capability goes on with other tasks. It never runs another task on
--    top of its own stack. An exception that interrupts the wait, such as a
--    'System.Timeout.timeout', leaves the task alone.
-- 5. A task may block in an 'Control.Concurrent.MVar.MVar', in STM or in a safe foreign call (an OpenMP
--    region, for one): another worker of the Capability goes on. So tasks, branches of 'both' and
--    actions of 'parTraverse' may wait for each other. Bodies of loops over ranges must not, because
--    one thread runs several of them in turn.
-- 6. Everything that may wait works on one Capability too.
-- 7. A pure value, or a value of 'Control.Monad.ST.runST', survives an asynchronous exception that
--    interrupts its evaluation. The next thread that needs the value resumes the evaluation where
--    it stopped, as with any value in GHC.
-- 8. The branches of 'both' and the bodies of loops have the masking state of their caller, on
--    whichever Capability they run. A task of a scope runs with exceptions unmasked.
--
-- 9. Results are evaluated to weak head normal form by the task, the branch or the body that computes them; functions whose names end
--    in @NF@ evaluate them completely.
-- 10. Pure functions have the same value in each run, to the last bit, on any number of
--     Capabilities. Functions whose value could depend on the schedule are in 'IO', or their names
--     begin with @unsafe@.
--
-- == Cautions
--
-- Workers are green threads. In a program without @-threaded@ they run on one processor, so nothing
-- is parallel. A body that does not allocate cannot be interrupted, as everywhere in GHC. A
-- deadline that expires meanwhile takes effect when that body ends.
--
-- GHC (9.0.2 and 9.6.6 at least) may crash when several threads throw to a thread that has masked
-- exceptions. In this library one thread at a time throws to a task; the program's own
-- 'Control.Concurrent.throwTo' and 'Control.Concurrent.killThread' come on top of that. Where
-- several threads may kill the same thread, let one thread do it for them, or cancel its scope.
--
-- GHC's non-moving collector (of 9.0.2, 9.6.6 and 9.10.3 at least) may corrupt a value whose
-- evaluation was interrupted and is resumed later. Promise 7 holds with the copying collector.
--
-- Tasks allow a call of 'Control.Concurrent.setNumCapabilities' at any moment. GHC 9.0.2 itself may
-- hang if the number changes while threads compute.
--
-- In the child of a @forkProcess@ tasks work as in any process. Tasks that the parent had started
-- belong to the parent: the child does not run them. A thread of the child that awaits such a task
-- may wait for ever.
--
-- A parallel program's results should not depend on which task comes first. To find out whether
-- they do, 'seeded' runs tasks in an order that follows from a number: a test can try many orders,
-- and repeat each.
--
-- A program's main thread is /bound/ to an OS thread. GHC must switch OS threads twice to let
-- another Haskell thread run in its place. Loops cost the same from a bound thread. But a bound
-- thread that waits for longer than a tenth of a millisecond wakes some tens of microseconds late.
-- A program that waits for tasks very often is faster in 'Control.Concurrent.runInUnboundThread'.
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
    parTraverseN,
    parTraverseN_,
    parForN,
    parForN_,
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

-- $unsafe As the functions above, but for 'Control.Monad.ST.ST' and any other primitive monad. The
-- result is pure only if no branch or body writes memory that another branch or body reads or
-- writes. The caller answers for that: an array of which each body fills its own part is pure, a
-- shared counter is not.
