-- |
-- Module      : Capstan.Duration
-- Description : Spans of time, with their unit
-- Stability   : experimental
--
-- All functions of this package that take a time take a 'Duration', so that a number never stands without its unit:
--
-- > sleep (milliseconds 5)
-- > answer <- runWithin (seconds 2) solve
--
-- "Capstan", "Capstan.Task" and "Capstan.Event" have these names too.
--
-- @since 0.1.0
module Capstan.Duration
  ( Duration,
    nanoseconds,
    microseconds,
    milliseconds,
    seconds,
    unlimited,
    since,
    toNanoseconds,
    toMicroseconds,
  )
where

import Data.Word (Word64)

-- | A span of time: whole nanoseconds, 584 years at most. Or a point of it, where a clock says how long ago it began.
--
-- '<>' is the sum, and 'mempty' no time. A longer sum is 'unlimited', the longest span.
newtype Duration = Duration Word64
  deriving (Eq, Ord)

instance Semigroup Duration where
  Duration a <> Duration b = Duration (if b > maxBound - a then maxBound else a + b)

instance Monoid Duration where
  mempty = Duration 0

instance Bounded Duration where
  minBound = mempty
  maxBound = unlimited

-- | As one of the functions below makes it, of the largest unit that fits.
instance Show Duration where
  showsPrec precedence span'@(Duration n)
    | span' == unlimited = showString "unlimited"
    | otherwise = showParen (precedence > 10) (showString name . showChar ' ' . shows (n `quot` unit))
    where
      (name, unit) = head [known | known <- units, n `rem` snd known == 0]
      units = [("seconds", 1000000000), ("milliseconds", 1000000), ("microseconds", 1000), ("nanoseconds", 1)]

-- | So many nanoseconds; a negative number is none.
nanoseconds :: Int -> Duration
nanoseconds = inUnits 1

-- | So many microseconds; a negative number is none.
microseconds :: Int -> Duration
microseconds = inUnits 1000

-- | So many milliseconds; a negative number is none.
milliseconds :: Int -> Duration
milliseconds = inUnits 1000000

-- | So many seconds; a negative number is none.
--
-- > timer <- startTimer manager (seconds 30) (Run (const (putStrLn "now")))
seconds :: Int -> Duration
seconds = inUnits 1000000000

inUnits :: Word64 -> Int -> Duration
inUnits unit n
  | n <= 0 = mempty
  | fromIntegral n > maxBound `quot` unit = unlimited
  | otherwise = Duration (unit * fromIntegral n)
{-# INLINE inUnits #-}

-- | Longer than anything lasts: a limit that is none.
unlimited :: Duration
unlimited = Duration maxBound

-- | How much longer the first is than the second; no time if it is not.
--
-- > before <- clock
-- > program
-- > spent <- (`since` before) <$> clock
since :: Duration -> Duration -> Duration
since (Duration later) (Duration earlier) = Duration (if later > earlier then later - earlier else 0)

-- | For functions that take a number of nanoseconds.
toNanoseconds :: Duration -> Word64
toNanoseconds (Duration n) = n

-- | For functions that take a number of microseconds, as 'Control.Concurrent.threadDelay' does; rounded up.
toMicroseconds :: Duration -> Int
toMicroseconds (Duration n) = fromIntegral (n `quot` 1000 + (if n `rem` 1000 == 0 then 0 else 1))
