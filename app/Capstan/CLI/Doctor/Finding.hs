-- | A finding of the doctor.
module Capstan.CLI.Doctor.Finding
  ( Finding (..),
    Severity (..),
    healthy,
    good,
    note,
    problem,
  )
where

-- | The importance of a finding.
data Severity = Good | Note | Problem
  deriving (Eq, Ord, Show)

-- | One finding.
data Finding = Finding
  { findingSeverity :: Severity,
    -- | A name that stays the same from version to version.
    findingName :: String,
    findingText :: String,
    -- | Advice to the user.
    findingAdvice :: Maybe String
  }
  deriving (Eq, Show)

-- | Whether no problem was found.
healthy :: [Finding] -> Bool
healthy = all ((/= Problem) . findingSeverity)

-- | A finding without a problem: name, text.
good :: String -> String -> Finding
good name text = Finding Good name text Nothing

-- | A finding that the user should know: name, text, advice.
note :: String -> String -> String -> Finding
note name text advice = Finding Note name text (Just advice)

-- | A finding that the user should act on: name, text, advice.
problem :: String -> String -> String -> Finding
problem name text advice = Finding Problem name text (Just advice)
