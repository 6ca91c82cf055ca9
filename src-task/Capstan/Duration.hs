-- |
-- Module      : Capstan.Duration
-- Description : Spans of time, with their unit
-- Stability   : experimental
--
-- All functions of this package that take a time take a 'Duration', so no number stands without its
-- unit:
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

-- | A span of time in whole nanoseconds, at most 584 years. A clock also returns a 'Duration': the
-- time since the clock began.
--
-- '<>' is the sum, and 'mempty' is no time. A sum that exceeds the longest span is 'unlimited',
-- which is the longest span.
newtype Duration = Duration Word64
  deriving (Eq, Ord)

instance Semigroup Duration where
  Duration a <> Duration b = Duration (if b > maxBound - a then maxBound else a + b)

instance Monoid Duration where
  mempty = Duration 0

instance Bounded Duration where
  minBound = mempty
  maxBound = unlimited

-- | Shows a call of one of the functions below, with the largest unit that fits.
instance Show Duration where
  showsPrec precedence span'@(Duration n)
    | span' == unlimited = showString "unlimited"
    | otherwise = showParen (precedence > 10) (showString name . showChar ' ' . shows (n `quot` unit))
    where
      (name, unit) = head [known | known <- units, n `rem` snd known == 0]
      units = [("seconds", 1000000000), ("milliseconds", 1000000), ("microseconds", 1000), ("nanoseconds", 1)]

-- | A number of nanoseconds; a negative number counts as 0.
nanoseconds :: Int -> Duration
nanoseconds = inUnits 1

-- | A number of microseconds; a negative number counts as 0.
microseconds :: Int -> Duration
microseconds = inUnits 1000

-- | A number of milliseconds; a negative number counts as 0.
milliseconds :: Int -> Duration
milliseconds = inUnits 1000000

-- | A number of seconds; a negative number counts as 0.
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

-- | The longest span, which stands for no limit.
unlimited :: Duration
unlimited = Duration maxBound

-- | The first span minus the second; no time if the second span is longer.
--
-- > before <- clock
-- > program
-- > spent <- (`since` before) <$> clock
since :: Duration -> Duration -> Duration
since (Duration later) (Duration earlier) = Duration (if later > earlier then later - earlier else 0)

-- | The number of nanoseconds, for functions that take it.
toNanoseconds :: Duration -> Word64
toNanoseconds (Duration n) = n

-- | The number of microseconds, rounded up, for functions such as 'Control.Concurrent.threadDelay'.
toMicroseconds :: Duration -> Int
toMicroseconds (Duration n) = fromIntegral (n `quot` 1000 + (if n `rem` 1000 == 0 then 0 else 1))
