#!/bin/bash
# Tools see what a program with regions and callbacks does: GHC's event log has OpenMP's events, perf
# finds the user's functions and who called them, and valgrind follows the side stacks.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-tools.XXXXXX")
trap 'rm -rf "$work"' EXIT

cat >"$work/work.c" <<'END'
#include <omp.h>

__attribute__((noinline)) static double burn(long turns) {
    volatile double sum = 0;
    for (long i = 0; i < turns; i++) sum += 1;
    return sum;
}

/* Each of two members burns, calls back and meets the other; the first one makes three tasks. */
double work(double (*function)(double), long turns) {
    double sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    {
        sum += function(burn(turns));
#pragma omp barrier
#pragma omp master
        {
            for (int i = 0; i < 3; i++) {
#pragma omp task
                burn(1);
            }
#pragma omp taskwait
        }
    }
    return sum;
}
END
cat >"$work/Main.hs" <<'END'
import Capstan.Callback
import Control.Monad (replicateM_, when)
import Foreign.C.Types
import Foreign.Ptr
import System.Environment (getArgs)
import System.Exit (die)
import System.Mem (performMajorGC)

foreign import ccall safe "work" work :: FunPtr (Double -> IO Double) -> CLong -> IO Double

main :: IO ()
main = do
  [turns] <- map read <$> getArgs
  replicateM_ 10 $ do
    got <- withCallback Kept (\x -> pure (x + 1)) $ \f -> work f (fromIntegral turns)
    when (got /= 2 * (fromIntegral turns + 1)) (die (show got))
    performMajorGC
END
cat >"$work/Look.hs" <<'END'
-- What the log has: events of OpenMP, each as often as it happened and in order, beside GHC's own.
import Control.Monad (unless, when)
import Data.List (isPrefixOf, isInfixOf)
import Data.Maybe (isNothing)
import qualified Data.Text as Text
import GHC.RTS.Events
import System.Environment (getArgs)
import System.Exit (die)

main :: IO ()
main = do
  [file] <- getArgs
  Right eventLog <- readEventLogFromFile file
  let all' = sortEvents (events (dat eventLog))
      markers = [(evCap e, Text.unpack t) | e <- all', UserMarker t <- [evSpec e]]
      messages = [(evCap e, Text.unpack t) | e <- all', UserMessage t <- [evSpec e]]
      ours = [t | e <- all', Just t <- [text (evSpec e)], "OpenMP: " `isPrefixOf` t]
      count part = length (filter (part `isInfixOf`) ours)
      expect part wanted = unless (count part == wanted) (die (part ++ ": " ++ show (count part) ++ ", not " ++ show wanted))
  expect "region begins, 2 threads" 10
  expect "region ends, 2 threads" 10
  expect "barrier begins, thread 0 of 2" 10
  expect "barrier ends, thread 1 of 2" 10
  expect "task begins" 30
  expect "task ends" 30
  when (any (isNothing . fst) (markers ++ messages)) (die "an event without a Capability")
  unless (length markers == 20) (die "regions are not markers")
  unless (length [() | e <- all', EndGC <- [evSpec e]] >= 10) (die "no collections")
  ordered 0 ours
  where
    text (UserMarker t) = Just (Text.unpack t)
    text (UserMessage t) = Just (Text.unpack t)
    text _ = Nothing

-- All happens in regions, and these do not overlap.
ordered :: Int -> [String] -> IO ()
ordered open (t : rest)
  | "OpenMP: region begins" `isPrefixOf` t = if open == 0 then ordered 1 rest else die "regions overlap"
  | "OpenMP: region ends" `isPrefixOf` t = if open == 1 then ordered 0 rest else die "a region ends twice"
  | open == 0 = die (t ++ " outside of regions")
  | otherwise = ordered open rest
ordered open [] = when (open /= 0) (die "a region does not end")
END

folder=$root/build/cabal/dist
(cd "$root" && cabal -v1 build --builddir="$folder" lib:capstan) >"$work/log" 2>&1 || {
    cat "$work/log"
    fail 'the library does not build'
}
cd "$work"
ghc -v0 -O1 -threaded -rtsopts -eventlog -package-db "$folder/packagedb/ghc-$(ghc --numeric-version)" \
    -package capstan -optc-fopenmp -optc-O1 -optc-g -optc-fno-omit-frame-pointer Main.hs work.c -o work

./work 10 +RTS -N2 || fail 'without a log'
[ ! -e work.eventlog ] || fail 'a log that nobody asked for'
./work 10 +RTS -N2 -l || fail 'with a log'
ghc -v0 Look.hs -o look
./look work.eventlog || fail 'the event log is not as it should be'

if command -v perf >/dev/null && perf record -q -e cpu-clock -o probe.data true >/dev/null 2>&1; then
    perf record -q -g -F 999 -e cpu-clock -o perf.data ./work 20000000 +RTS -N2 >/dev/null 2>&1 || fail 'under perf'
    perf script -i perf.data -F comm,ip,sym >perf.txt 2>/dev/null
    # A stack is a paragraph: the function itself first, then its callers.
    awk 'BEGIN { RS = "" } $3 == "burn" && /work\._omp_fn\.0/ { found++ } END { exit found < 10 }' perf.txt ||
        fail 'perf does not say who called the function that takes all the time'
    awk 'BEGIN { RS = "" } $3 == "burn" && /[0-9a-f] work\n/ { found++ } END { exit found < 10 }' perf.txt ||
        fail 'perf does not say who opened the region'
else
    echo 'perf cannot sample here'
fi

# GHC reserves 1 TiB of addresses if it may, and memcheck marks all of it, for a minute.
if command -v valgrind >/dev/null; then
    (ulimit -v 33554432 && valgrind --error-limit=no ./work 10 +RTS -N2) >valgrind.txt 2>&1 || fail "under valgrind: $(tail -n 20 valgrind.txt)"
    ! grep -q -e 'client switching stacks' -e 'Invalid \(read\|write\)' valgrind.txt || fail "$(grep -A 12 -m 3 -e switching -e Invalid valgrind.txt)"
fi
