-- |
-- Module      : Capstan
-- Description : Where to begin: tasks, loops, and OpenMP code, on one set of threads
-- Stability   : experimental
--
-- A program that depends on this package has one scheduler for two kinds of parallel work. This module's functions share out Haskell
-- code; OpenMP shares out C, C++ or Fortran code. Both run on GHC's Capabilities, so they do not compete for the processors.
--
-- This module has the functions that most programs need first. It may be imported as it is.
--
-- == Set up
--
-- In the program's stanza of the @.cabal@ file:
--
-- @
-- build-depends:    base, capstan
-- ghc-options:      -threaded -rtsopts \"-with-rtsopts=-N\"
-- @
--
-- @-threaded@ links the runtime system that has several Capabilities, and @-N@ starts as many as there are processors. Without
-- them all works, on one processor. The command @capstan init NAME@ writes such a project, with a C file and a test.
--
-- == A program
--
-- No pool is made, and nothing is shut down:
--
-- > import Capstan
-- >
-- > main :: IO ()
-- > main = do
-- >   -- A loop, whose results are summed.
-- >   total <- parallelForReduce (range 0 1000000) (+) 0 (\i -> pure $! sqrt (fromIntegral i :: Double))
-- >   -- An action for each element of a container.
-- >   squares <- parFor [1, 2, 3 :: Int] (\n -> pure (n * n))
-- >   -- Two actions at the same time.
-- >   (text, lines') <- both (readFile "/etc/hostname") (length . lines <$> readFile "/etc/passwd")
-- >   print (total, squares, text, lines')
--
-- == Which function for what
--
-- +--------------------------------------------------+------------------------------------------------------+
-- | two actions                                      | 'both'                                               |
-- +--------------------------------------------------+------------------------------------------------------+
-- | two pure values                                  | 'bothPure'                                           |
-- +--------------------------------------------------+------------------------------------------------------+
-- | several different actions                        | 'Parallel', with '<$>' and '<*>'                     |
-- +--------------------------------------------------+------------------------------------------------------+
-- | an action for each element of a container        | 'parFor', 'parTraverse'; 'parFor_', 'parTraverse_'   |
-- +--------------------------------------------------+------------------------------------------------------+
-- | a pure function of each element                  | 'parMap'; of a vector's: "Capstan.Vector"            |
-- +--------------------------------------------------+------------------------------------------------------+
-- | an action for each of many indices               | 'parallelFor'                                        |
-- +--------------------------------------------------+------------------------------------------------------+
-- | the sum, or any combination, of many results     | 'parallelForReduce'                                  |
-- +--------------------------------------------------+------------------------------------------------------+
-- | the first index that has an answer               | 'parallelFind'                                       |
-- +--------------------------------------------------+------------------------------------------------------+
-- | tasks that are started here and awaited there    | 'run', 'async', 'await'                              |
-- +--------------------------------------------------+------------------------------------------------------+
-- | a limit of time                                  | 'runWithin', 'awaitWithin'                           |
-- +--------------------------------------------------+------------------------------------------------------+
-- | OpenMP code, with a number of threads            | a @safe@ foreign import; 'withThreads'               |
-- +--------------------------------------------------+------------------------------------------------------+
-- | a Haskell function that OpenMP code calls        | 'withCallback'                                       |
-- +--------------------------------------------------+------------------------------------------------------+
--
-- == Tasks
--
-- Where it is not known beforehand what there is to do, tasks are started in a scope. 'run' returns when all of them have ended:
--
-- > sumTree :: Scope -> [[Int]] -> IO Int
-- > sumTree scope branches = do
-- >   promises <- mapM (\branch -> async scope (pure $! sum branch)) branches
-- >   sum <$> awaitAll promises
-- >
-- > sumOfAll :: IO Int
-- > sumOfAll = run (\scope -> sumTree scope [[1, 2], [3, 4], [5]])
--
-- If a task throws, the others are interrupted, and 'run' throws the same when they have ended. 'both', 'parFor' and the loops do so, too.
-- A limit of time is set by 'runWithin', which takes a 'Duration':
--
-- > inTime :: IO (Maybe Int)
-- > inTime = runWithin (milliseconds 500) (\scope -> sumTree scope [[1 .. 1000000], [2]])
--
-- A task may block: another one has its processor meanwhile.
--
-- == Beside C
--
-- A function with OpenMP in it needs a @safe@ foreign import and nothing else. It is compiled with @-fopenmp@, which a @.cabal@ file
-- says by @c-sources@ and @cc-options: -fopenmp@; GCC's own runtime is not linked.
--
-- > foreign import ccall safe "norm"
-- >   c_norm :: Ptr Double -> CSize -> IO Double
-- >
-- > -- With four threads, whatever the machine has.
-- > norm :: Ptr Double -> Int -> IO Double
-- > norm samples count = withThreads 4 (c_norm samples (fromIntegral count))
--
-- Tasks may call it, and its threads may call Haskell ('withCallback').
--
-- == Where to go on
--
-- [Tasks and loops] "Capstan.Task" has all of them, with their promises and costs. "Capstan.Task.Lifted" has them for monads over
-- 'System.IO.IO', and "Capstan.Task.Par" for pure code as monad-par writes it. "Capstan.Vector" maps, filters and folds vectors,
-- "Capstan.Chan" has channels, and "Capstan.Domain" is the layer below.
--
-- [OpenMP] "Capstan.OpenMP" has settings and questions, and "Capstan.Callback" has Haskell functions for C. "Capstan.Array" and
-- "Capstan.Array.Linear" share memory with C. "Capstan.Binding" keeps the results of C functions, and "Capstan.Batch" makes many short calls.
--
-- [Waiting for the world] "Capstan.Event" for descriptors and timers.
--
-- The documentation has pages for those who come from @async@, sparks, Domainslib or OpenMP tasks (docs\/tasks.md), and @examples@ has
-- programs to start from.
--
-- @since 0.1.0
module Capstan
  ( -- * Branches and containers
    both,
    bothNF,
    bothPure,
    Parallel (..),
    parFor,
    parFor_,
    parTraverse,
    parTraverse_,
    parMap,

    -- * Loops
    Range,
    range,
    chunk,
    parallelFor,
    parallelForReduce,
    parallelFind,
    mapChunks,

    -- * Tasks
    Scope,
    run,
    runWithin,
    cancel,
    Promise,
    async,
    asyncNF,
    asyncCancellable,
    await,
    awaitAll,
    awaitAny,
    awaitCatch,
    awaitWithin,
    poll,

    -- * Time
    Duration,
    nanoseconds,
    microseconds,
    milliseconds,
    seconds,
    unlimited,

    -- * OpenMP
    withThreads,
    withCallback,
    Mode (..),

    -- * Exceptions
    CapstanException (..),
    Cancelled (..),
  )
where

import Capstan.Callback
import Capstan.Exception
import Capstan.OpenMP
import Capstan.Task
