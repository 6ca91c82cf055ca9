#!/bin/sh
# Each fuzzer of tests/fuzz for a while, beginning with the inputs that are kept in its corpus.
#
#     tests/fuzz/fuzz.sh               for 8 seconds each: what make check runs
#     tests/fuzz/fuzz.sh 600           for so many; what is new is kept below build/fuzz
#     tests/fuzz/fuzz.sh 600 places    one of them
#
# A finding is an input in build/fuzz, which the fuzzer runs again when it is given the file's name.
set -eu

cd "$(dirname "$0")/../.."
seconds=${1:-8}
clang=${CLANG:-clang-14}
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-fuzz.XXXXXX")
trap 'rm -rf "$work"' EXIT

echo 'int LLVMFuzzerTestOneInput(const char *data, long size) { return data && size < 0; }' >"$work/none.c"
if ! "$clang" -fsanitize=fuzzer,address,undefined "$work/none.c" -o "$work/none" 2>/dev/null; then
    echo "no $clang with libFuzzer (clang-14, libclang-rt-14-dev)"
    exit 77
fi
if ! make -s -j2 CLANG="$clang" fuzzers >"$work/make" 2>&1; then
    cat "$work/make"
    exit 1
fi

# An allocator may be asked for more than there is, and then has nothing.
export ASAN_OPTIONS=allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
unset OMP_NUM_THREADS OMP_PLACES OMP_AFFINITY_FORMAT || true

# A short run keeps nothing, so that it is the same each time but for the machine's speed.
run() {
    if [ "$seconds" -gt 60 ]; then
        new=build/fuzz/corpus/$1 seed=0
    else
        new=$work/$1 seed=1
    fi
    mkdir -p "$new"
    "build/fuzz/$1" -max_total_time="$seconds" -seed=$seed -max_len=2048 -timeout=60 -rss_limit_mb=4096 \
        -close_fd_mask=2 -artifact_prefix="build/fuzz/$1-" -print_final_stats=1 \
        "$new" "tests/fuzz/corpus/$1" >"$work/$1.log" 2>&1
}

status=0
for source in tests/fuzz/fuzz_*.c; do
    name=${source#tests/fuzz/fuzz_}
    name=${name%.c}
    [ -z "${2:-}" ] || [ "$2" = "$name" ] || continue
    if run "$name"; then
        [ $# -eq 0 ] || echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$name.log") inputs"
    else
        echo "$name:"
        tail -n 60 "$work/$name.log"
        status=1
    fi
done
exit $status
