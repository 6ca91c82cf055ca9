-- | The files of a newcomer's first project. It has a C function that uses OpenMP, and the same
-- function by Haskell tasks. A program runs both at the same time, and a test compares their
-- results.
module Capstan.CLI.Init.Project
  ( projectFiles,
    nameProblem,
  )
where

import Data.Char (isAlpha, isAlphaNum, isAscii)

-- | The names of files below the project's folder, with their contents. The arguments are the name
-- of the project, and the folder of Capstan's source, if the package is built from there.
projectFiles :: String -> Maybe FilePath -> [(FilePath, String)]
projectFiles name source =
  [ (name ++ ".cabal", unlines (cabalFile name)),
    ("cabal.project", unlines (cabalProject source)),
    ("README.md", unlines (readme name)),
    ("app/Main.hs", unlines program),
    ("cbits/norm.c", unlines cSource),
    ("src/Norm.hs", unlines library),
    ("test/Main.hs", unlines test)
  ]

-- | The fault of a name, if it has one. A name must follow Cabal's rule for packages, and must not
-- be the name of a package that the project needs.
nameProblem :: String -> Maybe String
nameProblem name
  | name `elem` ["base", "capstan", "vector"] = Just "is the name of a package that the project needs"
  | not (all isWord (wordsOf name)) = Just "is no name of a package: words of letters and digits, joined by '-', each with a letter"
  | otherwise = Nothing
  where
    isWord word = any isAlpha word && all (\c -> isAscii c && isAlphaNum c) word
    wordsOf text = case break (== '-') text of
      (word, _ : rest) -> word : wordsOf rest
      (word, []) -> [word]

cabalFile :: String -> [String]
cabalFile name =
  [ "cabal-version: 3.0",
    "name:          " ++ name,
    "version:       0.1.0.0",
    "build-type:    Simple",
    "",
    "common shared",
    "  default-language: Haskell2010",
    "  ghc-options:      -Wall -O2",
    "  build-depends:    base >=4.15 && <5",
    "",
    "-- Several processors: the runtime system that has them, and as many as the machine has.",
    "common parallel",
    "  ghc-options: -threaded -rtsopts \"-with-rtsopts=-N\"",
    "",
    "library",
    "  import:          shared",
    "  hs-source-dirs:  src",
    "  exposed-modules: Norm",
    "  build-depends:   capstan, vector",
    "",
    "  -- The compiler is told about OpenMP; the linker is not, for the package capstan has the runtime.",
    "  c-sources:       cbits/norm.c",
    "  cc-options:      -O2 -fopenmp",
    "",
    "executable " ++ name,
    "  import:         shared, parallel",
    "  hs-source-dirs: app",
    "  main-is:        Main.hs",
    "  build-depends:  " ++ name ++ ", capstan, vector",
    "",
    "test-suite norm",
    "  import:         shared, parallel",
    "  type:           exitcode-stdio-1.0",
    "  hs-source-dirs: test",
    "  main-is:        Main.hs",
    "  build-depends:  " ++ name ++ ", vector"
  ]

cabalProject :: Maybe FilePath -> [String]
cabalProject source = "packages: ." : maybe [] built source
  where
    built folder =
      ["", "-- The package capstan, from its source."]
        ++ ["packages: " ++ show (folder ++ package) | package <- ["/capstan.cabal", "/exports/capstan-exports.cabal", "/src-task/capstan-task.cabal"]]

readme :: String -> [String]
readme name =
  [ "# " ++ name,
    "",
    "The length of a long vector, by C with OpenMP (`cbits/norm.c`) and by Haskell tasks (`src/Norm.hs`), at the same time and on the same",
    "threads (`app/Main.hs`).",
    "",
    "    cabal run " ++ name,
    "    cabal test"
  ]

program :: [String]
program =
  [ "module Main (main) where",
    "",
    "import Capstan",
    "import qualified Data.Vector.Storable as Vector",
    "import Norm",
    "",
    "main :: IO ()",
    "main = do",
    "  let samples = Vector.generate 1000000 (\\i -> 1 / fromIntegral (i + 1))",
    "  -- Both at once, on one set of threads.",
    "  (byC, byTasks) <- both (normByC samples) (normByTasks samples)",
    "  putStrLn (\"by C with OpenMP: \" ++ show byC)",
    "  putStrLn (\"by Haskell tasks: \" ++ show byTasks)"
  ]

cSource :: [String]
cSource =
  [ "#include <math.h>",
    "#include <stddef.h>",
    "",
    "/* The length of a vector: ordinary C, with OpenMP. */",
    "double norm(const double *samples, size_t count) {",
    "    double sum = 0;",
    "#pragma omp parallel for reduction(+ : sum)",
    "    for (size_t i = 0; i < count; i++)",
    "        sum += samples[i] * samples[i];",
    "    return sqrt(sum);",
    "}"
  ]

library :: [String]
library =
  [ "-- | The length of a vector, in two ways.",
    "module Norm",
    "  ( normByC,",
    "    normByTasks,",
    "  )",
    "where",
    "",
    "import Capstan",
    "import Data.Vector.Storable (Vector)",
    "import qualified Data.Vector.Storable as Vector",
    "import Foreign.C.Types (CSize (..))",
    "import Foreign.Ptr (Ptr)",
    "",
    "-- safe: the collector runs meanwhile, and the C code may call Haskell.",
    "foreign import ccall safe \"norm\"",
    "  c_norm :: Ptr Double -> CSize -> IO Double",
    "",
    "-- | By cbits/norm.c, whose loop is OpenMP's. The vector is not copied.",
    "normByC :: Vector Double -> IO Double",
    "normByC samples = Vector.unsafeWith samples $ \\start -> c_norm start (fromIntegral (Vector.length samples))",
    "",
    "-- | By a loop of Haskell's, whose results are summed.",
    "normByTasks :: Vector Double -> IO Double",
    "normByTasks samples = sqrt <$> parallelForReduce (range 0 (Vector.length samples)) (+) 0 square",
    "  where",
    "    square i = let x = samples Vector.! i in pure $! x * x"
  ]

test :: [String]
test =
  [ "module Main (main) where",
    "",
    "import Control.Monad (unless)",
    "import qualified Data.Vector.Storable as Vector",
    "import Norm",
    "import System.Exit (die)",
    "",
    "main :: IO ()",
    "main = do",
    "  is 5 (Vector.fromList [3, 4])",
    "  is 0 Vector.empty",
    "  is 1000 (Vector.replicate 1000000 1)",
    "  where",
    "    is wanted samples = do",
    "      found <- (,) <$> normByC samples <*> normByTasks samples",
    "      unless (found == (wanted, wanted)) (die (show found ++ \", not twice \" ++ show wanted))"
  ]
