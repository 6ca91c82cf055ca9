-- |
-- Module      : Capstan
-- Description : Where to begin: tasks, loops, and OpenMP code, on one set of threads
-- Stability   : experimental
--
-- A program that depends on this package has one scheduler for two kinds of parallel work. The
-- functions of this module share out Haskell code, and OpenMP shares out C, C++ or Fortran code.
-- Both run on GHC's Capabilities, so they do not compete for the processors.
--
-- This module has the functions that most programs need first. It may be imported unqualified.
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
-- @-threaded@ links the runtime system that has several Capabilities, and @-N@ starts one
-- Capability for each processor. Without these options the program works, on one processor. The
-- command @capstan init NAME@ writes such a project, with a C file and a test.
--
-- == A program
--
-- The program makes no pool and shuts nothing down:
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
-- A program that learns of its work only as it runs starts tasks in a scope. 'run' returns when all
-- tasks of its scope have ended:
--
-- > sumTree :: Scope -> [[Int]] -> IO Int
-- > sumTree scope branches = do
-- >   promises <- mapM (\branch -> async scope (pure $! sum branch)) branches
-- >   sum <$> awaitAll promises
-- >
-- > sumOfAll :: IO Int
-- > sumOfAll = run (\scope -> sumTree scope [[1, 2], [3, 4], [5]])
--
-- If a task throws, the other tasks of the scope are interrupted. 'run' throws the same exception
-- when they have ended. 'both', 'parFor' and the loops do so, too. 'runWithin' sets a limit of
-- time, which is a 'Duration':
--
-- > inTime :: IO (Maybe Int)
-- > inTime = runWithin (milliseconds 500) (\scope -> sumTree scope [[1 .. 1000000], [2]])
--
-- A task may block: another task has its processor meanwhile.
--
-- == Beside C
--
-- A C function that uses OpenMP needs a @safe@ foreign import and nothing else. Its file is
-- compiled with @-fopenmp@: a @.cabal@ file names it in @c-sources@ and has @cc-options: -fopenmp@.
-- GCC's own runtime is not linked.
--
-- > foreign import ccall safe "norm"
-- >   c_norm :: Ptr Double -> CSize -> IO Double
-- >
-- > -- With four threads, whatever the machine has.
-- > norm :: Ptr Double -> Int -> IO Double
-- > norm samples count = withThreads 4 (c_norm samples (fromIntegral count))
--
-- Tasks may call such a function, and its threads may call Haskell ('withCallback').
--
-- == Where to go on
--
-- [Tasks and loops] "Capstan.Task" has all functions for tasks and loops, with their promises and
-- costs. "Capstan.Task.Lifted" has these functions for monads over 'System.IO.IO', and
-- "Capstan.Task.Par" has the interface of monad-par for pure code. "Capstan.Vector" maps, filters
-- and folds vectors, "Capstan.Chan" has channels, and "Capstan.Domain" is the layer below.
--
-- [OpenMP] "Capstan.OpenMP" changes and reads OpenMP's settings. "Capstan.Callback" makes C
-- function pointers of Haskell functions. "Capstan.Array" and "Capstan.Array.Linear" share memory
-- with C. "Capstan.Binding" keeps the results of C functions, and "Capstan.Batch" makes many short
-- calls.
--
-- [Waiting for the world] "Capstan.Event" watches descriptors and keeps timers.
--
-- The page docs\/tasks.md compares these functions with @async@, sparks, Domainslib and OpenMP
-- tasks. The folder @examples@ has programs to start from.
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
