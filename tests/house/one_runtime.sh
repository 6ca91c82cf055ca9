#!/bin/sh
# One runtime for each process: OpenBLAS and FFTW, loaded late into a Haskell program that depends on
# capstan, have regions on its one pool of threads, and capstan doctor says so. Linked statically and
# dynamically.
# test: timeout 1200
# shellcheck source=tests/cabal.sh
. "$(dirname "$0")/../cabal.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-one.XXXXXX")
trap 'rm -rf "$work"' EXIT

# The libraries, as Debian has them: with OpenMP, under names of their own.
blas=$(find /usr/lib -path '*/openblas-openmp/libopenblas.so.0' | head -n 1)
fftw=$(find /usr/lib -name 'libfftw3_omp.so.3' | head -n 1)
[ -n "$blas" ] && [ -n "$fftw" ] || {
    echo "needs libopenblas0-openmp and libfftw3-double3"
    exit 77
}

cd "$work"
# Calls by address, as a program does that loads its libraries.
cat >late.c <<'END'
#include <dlfcn.h>
#include <stdlib.h>

static void *find(const char *library, const char *name) {
    void *there = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void *address = there ? dlsym(there, name) : NULL;
    if (!address) abort();
    return address;
}

/* An element of the product of two matrices of ones. */
double late_blas(const char *library) {
    enum { N = 400 };
    void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int,
                  double, double *, int) = find(library, "cblas_dgemm");
    double *a = malloc(N * N * sizeof *a), *c = calloc(N * N, sizeof *c);
    for (int i = 0; i < N * N; i++) a[i] = 1;
    dgemm(101, 111, 111, N, N, N, 1, a, N, a, N, 0, c, N);
    double result = c[N * N - 1];
    free(a);
    free(c);
    return result;
}

/* The first coefficient of a transform of ones. */
double late_fftw(const char *library, int threads) {
    enum { N = 256 };
    double(*data)[2] = malloc(N * N * sizeof *data);
    if (!((int (*)(void))find(library, "fftw_init_threads"))()) abort();
    ((void (*)(int))find(library, "fftw_plan_with_nthreads"))(threads);
    void *plan = ((void *(*)(int, int, double(*)[2], double(*)[2], int, unsigned))find(
        library, "fftw_plan_dft_2d"))(N, N, data, data, -1, 64);
    for (int i = 0; i < N * N; i++) data[i][0] = 1, data[i][1] = 0;
    ((void (*)(void *))find(library, "fftw_execute"))(plan);
    double result = data[0][0];
    free(data);
    return result;
}
END
cat >Main.hs <<'END'
import Capstan.OpenMP
import Control.Monad (unless)
import Foreign.C
import System.Directory (listDirectory)
import System.Environment (getArgs)
import System.Exit (die)

foreign import ccall safe "late_blas" blas :: CString -> IO Double

foreign import ccall safe "late_fftw" fftw :: CString -> CInt -> IO Double

main :: IO ()
main = do
  [blasFile, fftwFile] <- getArgs
  before <- statistics
  -- The first call makes the pool, and what GHC's runtime system needs for safe calls.
  first <- withThreads members (withCString blasFile blas)
  regionsOf "OpenBLAS" before
  between <- statistics
  threadsBetween <- osThreads
  second <- withThreads members (withCString fftwFile (`fftw` fromIntegral members))
  third <- withThreads members (withCString blasFile blas)
  regionsOf "FFTW" between
  after <- statistics
  threadsAfter <- osThreads
  expect "results" (400, 65536, 400) (first, second, third)
  expect "workers" (fromIntegral members - 1, statWorkers between) (statWorkers between, statWorkers after)
  expect "largest team" (fromIntegral members) (statLargestTeam after)
  -- A second pool would have as many threads as ours.
  unless (threadsAfter < threadsBetween + members - 1) $
    die (show threadsAfter ++ " threads after " ++ show threadsBetween)
  putStrLn "one"

members :: Int
members = 9

regionsOf :: String -> Statistics -> IO ()
regionsOf name before = do
  after <- statistics
  unless (statRegions after > statRegions before) (die (name ++ " has opened no region on Capstan"))

osThreads :: IO Int
osThreads = length <$> listDirectory "/proc/self/task"

expect :: (Eq a, Show a) => String -> a -> a -> IO ()
expect name wanted got = unless (wanted == got) (die (name ++ ": " ++ show got ++ ", not " ++ show wanted))
END
# A program with regions of its own that also names libgomp, which comes first for the linker.
cat >team.c <<'END'
#include <omp.h>
int team(int size) {
    int sum = 0;
#pragma omp parallel num_threads(size) reduction(+ : sum)
    {
#pragma omp single
        sum += 1000;
#pragma omp barrier
#pragma omp critical
        sum += omp_get_num_threads();
    }
    return sum;
}
END
cat >Named.hs <<'END'
import Capstan.OpenMP
import Foreign.C

foreign import ccall safe "team" team :: CInt -> IO CInt

main :: IO ()
main = do
  before <- statistics
  sums <- mapM team [3, 4]
  after <- statistics
  print (sums, statRegions after - statRegions before)
END
cat >one.cabal <<'END'
cabal-version: 3.0
name:          one
version:       0
build-type:    Simple

executable one
  main-is:          Main.hs
  c-sources:        late.c
  default-language: Haskell2010
  ghc-options:      -threaded
  build-depends:    base, capstan, directory

executable named
  main-is:          Named.hs
  c-sources:        team.c
  cc-options:       -O2 -fopenmp
  extra-libraries:  gomp
  default-language: Haskell2010
  ghc-options:      -threaded
  build-depends:    base, capstan
END
cabal_project

built=$root/build/cabal/user
without_stale_objects "$built"
for way in --disable-executable-dynamic --enable-executable-dynamic; do
    cabal -v1 build exe:one "$way" --builddir="$built" >build.log 2>&1 || {
        cat build.log
        fail "it does not build $way"
    }
    program=$(cabal -v0 list-bin exe:one "$way" --builddir="$built")
    result=$("$program" "$blas" "$fftw" 2>&1) || fail "$way: $result"
    [ "$result" = one ] || fail "$way: $result"
    "$root/build/bin/capstan" doctor "$program" >doctor.log || fail "$(cat doctor.log)"
    # As the program's own, or as that of the package's shared library.
    grep -q -e 'Capstan linked into it, which serves every library' -e 'uses one OpenMP runtime: Capstan (.*libHScapstan' doctor.log ||
        fail "$(cat doctor.log)"
done

cabal -v1 build exe:named --builddir="$built" >build.log 2>&1 || fail "$(cat build.log)"
program=$(cabal -v0 list-bin exe:named --builddir="$built")
result=$("$program" 2>&1) || fail "named: $result"
[ "$result" = '([1009,1016],2)' ] || fail "named: $result"
"$root/build/bin/capstan" doctor "$program" >doctor.log || fail "$(cat doctor.log)"
grep -q 'Capstan linked into it, which serves every library' doctor.log || fail "$(cat doctor.log)"

# In GHCi the program is interpreted, and the package is a shared library that GHC has loaded.
printf ':main %s %s\n' "$blas" "$fftw" | cabal -v0 repl exe:one --enable-executable-dynamic --builddir="$built" \
    --repl-options=-v0 --repl-options=-ignore-dot-ghci >repl.log 2>&1 || fail "cabal repl: $(cat repl.log)"
grep -qx one repl.log || fail "cabal repl: $(cat repl.log)"
