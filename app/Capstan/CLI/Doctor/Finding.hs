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

-- | How much a finding matters.
data Severity = Good | Note | Problem
  deriving (Eq, Ord, Show)

-- | One finding.
data Finding = Finding
  { findingSeverity :: Severity,
    -- | A name that stays the same from version to version.
    findingName :: String,
    findingText :: String,
    -- | What to do.
    findingAdvice :: Maybe String
  }
  deriving (Eq, Show)

-- | Whether no problem was found.
healthy :: [Finding] -> Bool
healthy = all ((/= Problem) . findingSeverity)

-- | All is well: name, text.
good :: String -> String -> Finding
good name text = Finding Good name text Nothing

-- | Something to know: name, text, advice.
note :: String -> String -> String -> Finding
note name text advice = Finding Note name text (Just advice)

-- | Something to change: name, text, advice.
problem :: String -> String -> String -> Finding
problem name text advice = Finding Problem name text (Just advice)
