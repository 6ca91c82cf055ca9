-- | Which objects of a process are OpenMP runtimes, which call one, and which
-- bring another pool of threads.
module Capstan.CLI.OpenMP
  ( isOpenMPSymbol,
    Family (..),
    familyName,
    Calls (..),
    callsText,
    Object (..),
    classify,
    runtimes,
    callers,
    pools,
    isObjectSymbol,
  )
where

import Capstan.CLI.Elf
import Capstan.CLI.Pool
import qualified Data.ByteString.Char8 as C
import Data.List (isInfixOf)
import Data.Maybe (isJust, isNothing)
import System.FilePath (takeFileName)

-- | Symbols that tell a runtime or a caller of one.
isOpenMPSymbol :: C.ByteString -> Bool
isOpenMPSymbol name = any ((`C.isPrefixOf` name) . C.pack) (["GOMP_", "__kmpc_", "omp_"] <> capstanMarks)

-- | Those that 'classify' looks for.
isObjectSymbol :: C.ByteString -> Bool
isObjectSymbol name = isOpenMPSymbol name || isPoolSymbol name

-- Capstan's public calls, and the version of its symbols, which stands among
-- them in the shared library.
capstanMarks :: [String]
capstanMarks = ["capstan_", "CAPSTAN_"]

-- | Who made a runtime.
data Family = Capstan | Gnu | Llvm | Intel
  deriving (Eq, Ord, Show)

-- | As users call it.
familyName :: Family -> String
familyName maker = case maker of
  Capstan -> "Capstan"
  Gnu -> "GNU libgomp"
  Llvm -> "LLVM libomp"
  Intel -> "Intel libiomp5"

-- | Through which doors an object enters a runtime: it depends on the compiler
-- that made it.
data Calls = Calls
  { -- | GCC's entry points, @GOMP_*@.
    callsGomp :: Bool,
    -- | Those of LLVM and Intel, @__kmpc_*@.
    callsKmpc :: Bool,
    -- | The user's functions, @omp_*@.
    callsApi :: Bool
  }
  deriving (Eq, Show)

-- | As in "calls ...".
callsText :: Calls -> String
callsText calls = case [name | (True, name) <- [(callsGomp calls, "GOMP_*"), (callsKmpc calls, "__kmpc_*"), (callsApi calls, "omp_*")]] of
  [] -> "nothing"
  names -> foldr1 (\a b -> a <> ", " <> b) names

-- | An object that has to do with OpenMP, or brings another pool.
data Object = Object
  { objectFile :: FilePath,
    -- | The runtime that it is.
    objectRuntime :: Maybe Family,
    -- | Which entry points it offers to others.
    objectOffers :: Calls,
    -- | Which it wants from others.
    objectCalls :: Calls,
    -- | It prefers its own symbols, so nothing can take its runtime over.
    objectSymbolic :: Bool,
    -- | The pool that it brings beside OpenMP's.
    objectPool :: Maybe Pool
  }
  deriving (Eq, Show)

-- | 'Nothing' for an object that has nothing to do with threads.
classify :: FilePath -> Elf -> Maybe Object
classify file elf = do
  body <- elfBody elf
  let object =
        Object
          { objectFile = file,
            objectRuntime = family file (bodyDefined body),
            objectOffers = doors (bodyDefined body),
            objectCalls = doors (bodyUndefined body),
            objectSymbolic = bodySymbolic body,
            objectPool = poolOf file body
          }
  if isJust (objectRuntime object) || isJust (objectPool object) || callsAny object
    then Just object
    else Nothing

callsAny :: Object -> Bool
callsAny object = objectCalls object /= Calls False False False

doors :: [C.ByteString] -> Calls
doors names = Calls (anyWith "GOMP_") (anyWith "__kmpc_") (anyWith "omp_")
  where
    anyWith prefix = any (C.isPrefixOf (C.pack prefix)) names

-- LLVM's runtime offers GCC's entry points too, hence the order.
family :: FilePath -> [C.ByteString] -> Maybe Family
family file defined
  | hasGomp && or [C.pack mark `C.isPrefixOf` name | mark <- capstanMarks, name <- defined] = Just Capstan
  | has "__kmpc_fork_call" = Just (if "iomp" `isInfixOf` takeFileName file then Intel else Llvm)
  | hasGomp = Just Gnu
  | otherwise = Nothing
  where
    hasGomp = has "GOMP_parallel"
    has name = C.pack name `elem` defined

-- | The runtimes among the objects.
runtimes :: [Object] -> [(Family, Object)]
runtimes objects = [(f, object) | object <- objects, Just f <- [objectRuntime object]]

-- | The objects that call a runtime and are none.
callers :: [Object] -> [Object]
callers objects = [object | object <- objects, isNothing (objectRuntime object), callsAny object]

-- | The objects that bring a pool beside OpenMP's.
pools :: [Object] -> [(Pool, Object)]
pools objects = [(pool, object) | object <- objects, Just pool <- [objectPool object]]
