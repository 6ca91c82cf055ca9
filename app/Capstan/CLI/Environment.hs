-- | The environment of programs that the command starts.
module Capstan.CLI.Environment
  ( withVariables,
    exportVariables,
  )
where

import System.Posix.Env (getEnvironment, setEnv)

-- | This process's environment, with the given variables set.
withVariables :: [(String, String)] -> IO [(String, String)]
withVariables variables = do
  inherited <- getEnvironment
  pure (variables <> [(name, value) | (name, value) <- inherited, name `notElem` map fst variables])

-- | Sets variables in this process, for a program that takes its place or is
-- forked from it.
exportVariables :: [(String, String)] -> IO ()
exportVariables = mapM_ (\(name, value) -> setEnv name value True)
