-- | Finds the objects of a process that are OpenMP runtimes, those that call a runtime, and those
-- that bring another pool of threads.
module Capstan.CLI.OpenMP
  ( isOpenMPSymbol,
    Family (..),
    familyName,
    isCapstan,
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

-- | Whether a symbol is the mark of a runtime, or of an object that calls a runtime.
isOpenMPSymbol :: C.ByteString -> Bool
isOpenMPSymbol name = any ((`C.isPrefixOf` name) . C.pack) (["GOMP_", "__kmpc_", "omp_"] <> capstanMarks)

-- | Whether 'classify' looks for a symbol.
isObjectSymbol :: C.ByteString -> Bool
isObjectSymbol name = isOpenMPSymbol name || isPoolSymbol name

-- The beginnings of Capstan's public calls, and of the version of its symbols, which the shared
-- library lists as a symbol.
capstanMarks :: [String]
capstanMarks = ["capstan_", "CAPSTAN_"]

-- | The maker of a runtime.
data Family
  = Capstan
  | -- | A file that has the names of LLVM's or Intel's runtime, and leads to Capstan.
    CapstanNames
  | Gnu
  | Llvm
  | Intel
  deriving (Eq, Ord, Show)

-- | The name of a family that users know.
familyName :: Family -> String
familyName maker = case maker of
  Capstan -> "Capstan"
  CapstanNames -> "names of Capstan"
  Gnu -> "GNU libgomp"
  Llvm -> "LLVM libomp"
  Intel -> "Intel libiomp5"

-- | The groups of entry points by which an object calls a runtime. They depend on the compiler that
-- made the object.
data Calls = Calls
  { -- | GCC's entry points, @GOMP_*@.
    callsGomp :: Bool,
    -- | The entry points of LLVM and Intel, @__kmpc_*@.
    callsKmpc :: Bool,
    -- | The user's functions, @omp_*@.
    callsApi :: Bool
  }
  deriving (Eq, Show)

-- | The groups as text, as in "calls ...".
callsText :: Calls -> String
callsText calls = case [name | (True, name) <- [(callsGomp calls, "GOMP_*"), (callsKmpc calls, "__kmpc_*"), (callsApi calls, "omp_*")]] of
  [] -> "nothing"
  names -> foldr1 (\a b -> a <> ", " <> b) names

-- | An object that uses OpenMP, or that brings another pool.
data Object = Object
  { objectFile :: FilePath,
    -- | The family, if the object is a runtime.
    objectRuntime :: Maybe Family,
    -- | The entry points that the object offers to other objects.
    objectOffers :: Calls,
    -- | The entry points that the object needs from other objects.
    objectCalls :: Calls,
    -- | Whether the object prefers its own symbols, so no other library can replace its runtime.
    objectSymbolic :: Bool,
    -- | The pool that the object brings beside OpenMP's.
    objectPool :: Maybe Pool
  }
  deriving (Eq, Show)

-- | Classifies an object. 'Nothing' if the object uses neither OpenMP nor another pool.
classify :: FilePath -> Elf -> Maybe Object
classify file elf = do
  body <- elfBody elf
  let object =
        Object
          { objectFile = file,
            objectRuntime = family file body,
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

-- LLVM's runtime also offers GCC's entry points, so it is tested first. Of the libraries named
-- libgomp.so.1, only Capstan has LLVM's entry points. So a filter for that name leads to Capstan.
family :: FilePath -> Body -> Maybe Family
family file body
  | has "__kmpc_fork_call", bodyFilter body == Just "libgomp.so.1" = Just CapstanNames
  | hasGomp && or [C.pack mark `C.isPrefixOf` name | mark <- capstanMarks, name <- defined] = Just Capstan
  | has "__kmpc_fork_call" = Just (if "iomp" `isInfixOf` takeFileName file then Intel else Llvm)
  | hasGomp = Just Gnu
  | otherwise = Nothing
  where
    defined = bodyDefined body
    hasGomp = has "GOMP_parallel"
    has name = C.pack name `elem` defined

-- | Whether Capstan serves the calls that reach this object.
isCapstan :: Object -> Bool
isCapstan object = objectRuntime object `elem` [Just Capstan, Just CapstanNames]

-- | The runtimes among the objects.
runtimes :: [Object] -> [(Family, Object)]
runtimes objects = [(f, object) | object <- objects, Just f <- [objectRuntime object]]

-- | The objects that call a runtime but are no runtime themselves.
callers :: [Object] -> [Object]
callers objects = [object | object <- objects, isNothing (objectRuntime object), callsAny object]

-- | The objects that bring a pool beside OpenMP's.
pools :: [Object] -> [(Pool, Object)]
pools objects = [(pool, object) | object <- objects, Just pool <- [objectPool object]]
