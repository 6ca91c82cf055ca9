-- | Colour for output on a terminal, unless the variable @NO_COLOR@ is set.
module Capstan.CLI.Style
  ( Style,
    styleFor,
    plain,
    heading,
    good,
    caution,
    bad,
    faint,
  )
where

import System.Console.ANSI
import System.Environment (lookupEnv)
import System.IO (Handle)

-- | Functions that add colour to text, for one handle.
newtype Style = Style ([SGR] -> String -> String)

-- | The style that suits the handle. <https://no-color.org> is respected.
styleFor :: Handle -> IO Style
styleFor handle = do
  unwanted <- maybe False (not . null) <$> lookupEnv "NO_COLOR"
  able <- hSupportsANSI handle
  pure (if able && not unwanted then coloured else plain)

coloured :: Style
coloured = Style $ \codes text -> setSGRCode codes <> text <> setSGRCode [Reset]

-- | No colour at all.
plain :: Style
plain = Style (const id)

apply :: [SGR] -> Style -> String -> String
apply codes (Style dress) = dress codes

-- | The title of a section.
heading :: Style -> String -> String
heading = apply [SetConsoleIntensity BoldIntensity]

-- | Text of a good finding.
good :: Style -> String -> String
good = apply [SetColor Foreground Dull Green]

-- | Text of a note.
caution :: Style -> String -> String
caution = apply [SetColor Foreground Dull Yellow]

-- | Text of a problem.
bad :: Style -> String -> String
bad = apply [SetColor Foreground Dull Red, SetConsoleIntensity BoldIntensity]

-- | Text of minor interest.
faint :: Style -> String -> String
faint = apply [SetConsoleIntensity FaintIntensity]
