# shellcheck shell=bash
# Runs a program on libgomp and on Capstan, and compares all that it wrote.
#
# A test is a script that sources this file and then says
#
#     needs PACKAGE FILE-OR-COMMAND     what it cannot run without
#     compare 'what it shows' STEPS     STEPS is a function (or a command) in which
#                                       `on PROGRAM ARGS` runs PROGRAM on one runtime
#     finish
#
# STEPS runs once per runtime, each time in an empty folder. Its standard output, its exit status
# and each file that it leaves there must be the same bytes on Capstan as on libgomp. Capstan's
# report must say that the asked-for substrate served at least one parallel region.
#
# A file NAME.close holds numbers whose last digits are free, for the program adds them up in any
# order: they are compared one by one, with $tolerance.
#
# Exit status: 0 the same, 1 not the same, 77 the program is not installed.
#
#   TESTS_INSTALL=1   install what is missing (Debian packages, wheels from PyPI)
#   CAPSTAN_TEST_ON=LIST     instead of "rts pthread"; also understood: libgomp (is the program
#                            deterministic at all?) and libomp
#   CAPSTAN_TEST_KEEP=1      keep the folder with all outputs
#   CAPSTAN_TEST_LIMIT=240   seconds that a program may take
#   CAPSTAN=FILE             the command to test instead of build/bin/capstan

set -u -o pipefail
export LC_ALL=C.UTF-8 OMP_NUM_THREADS=${OMP_NUM_THREADS:-2}
unset LD_PRELOAD CAPSTAN_SUBSTRATE CAPSTAN_CAPABILITIES
# Not for the programs: Capstan warns of a variable CAPSTAN_… that it does not know.
export -n CAPSTAN TESTS_INSTALL CAPSTAN_TEST_ON CAPSTAN_TEST_KEEP CAPSTAN_TEST_LIMIT

test_name=$(basename "$0" .sh)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source_root=$(cd "$here/../.." && pwd)
capstan=${CAPSTAN:-$source_root/build/bin/capstan}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/capstan-tests
runtimes=${CAPSTAN_TEST_ON:-rts pthread}
# The name of the runtime that the program has without Capstan.
oracle=libgomp
step_limit=${CAPSTAN_TEST_LIMIT:-240}
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-$test_name.XXXXXX") || exit 1
# Inputs that a test makes once for all runtimes.
# shellcheck disable=SC2034 # used by the tests
input=$work/input
mkdir "$work/input"
compared=0 failed=0

remove_work() {
    if [ "${CAPSTAN_TEST_KEEP:-0}" = 1 ]; then
        echo "$test_name: outputs are kept in $work"
    else
        rm -rf "$work"
    fi
}
trap remove_work EXIT

skip() {
    echo "$test_name: skipped: $*"
    exit 77
}

fail() {
    echo "$test_name: FAILED: $*"
    failed=$((failed + 1))
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

may_install() { [ "${TESTS_INSTALL:-0}" = 1 ]; }

# install_package NAME: from Debian; a new machine has no lists of packages yet.
install_package() {
    debian install "$1" && return
    debian update && debian install "$1" && return
    cat "$work/apt"
    fail "could not install $1"
    exit 1
}

debian() {
    local command=$1
    shift
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 -qq -y \
        --no-install-recommends "$command" "$@" >>"$work/apt" 2>&1
}

there() { [ -e "$1" ] || command -v "$1" >/dev/null; }

# needs PACKAGE FILE-OR-COMMAND
needs() {
    if there "$2"; then return; fi
    may_install || skip "$2 is not installed (Debian package $1)"
    install_package "$1"
    if there "$2"; then return; fi
    fail "$1 is installed, but $2 is not there"
    exit 1
}

# needs_wheel NAME MODULE... : a virtual environment with this wheel of PyPI, and those in $wheels_beside; sets
# $python. The options of pip in $wheel_options may say that the wheel is compiled here. If PyPI cannot be reached, the
# test is skipped.
wheel_options=(--only-binary :all:)
wheels_beside=(threadpoolctl)
needs_wheel() {
    local wheel=$1 modules
    shift
    modules=$(IFS=,; echo "$*")
    python=$cache/$wheel/bin/python
    if [ -x "$python" ] && "$python" -c "import $modules" 2>/dev/null; then return; fi
    may_install || skip "the wheel $wheel is not installed"
    needs python3 /usr/bin/python3
    /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || install_package python3-venv
    rm -rf "${cache:?}/$wheel"
    mkdir -p "$cache"
    if ! /usr/bin/python3 -m venv "$cache/$wheel" ||
        ! "$python" -m pip install --quiet "${wheel_options[@]}" "$wheel" "${wheels_beside[@]}" 2>"$work/pip" ||
        ! "$python" -c "import $modules"; then
        cat "$work/pip" >&2
        ! grep -q 'connection broken by' "$work/pip" || skip "PyPI, which has the wheel $wheel, cannot be reached"
        fail "could not install the wheel $wheel"
        exit 1
    fi
}

# Runs a program on the runtime of this step; adds its time and Capstan's report to the step's.
on() {
    case $runtime in
    libgomp) measure "$@" ;;
    libomp) measure env LD_PRELOAD="$(libomp)" "$@" ;;
    rts | pthread) CAPSTAN_REPORT=fd:9 measure "$capstan" run --substrate "$runtime" -- "$@" ;;
    esac
}

# by_path PROGRAM ARGS: the same, but the loader finds Capstan in the place of libgomp. No command of
# ours starts the program.
by_path() {
    case $runtime in
    rts | pthread)
        CAPSTAN_REPORT=fd:9 CAPSTAN_SUBSTRATE=$runtime measure env \
            LD_LIBRARY_PATH="$source_root/build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
        ;;
    *) on "$@" ;;
    esac
}

# on_ranks COUNT PROGRAM ARGS: the same for the processes of an MPI program; $binding has mpirun's
# options about processors.
binding=(--oversubscribe --bind-to none)
on_ranks() {
    local start=(mpirun --allow-run-as-root "${binding[@]}" -np "$1")
    shift
    case $runtime in
    libgomp) measure "${start[@]}" "$@" ;;
    libomp) measure "${start[@]}" env LD_PRELOAD="$(libomp)" "$@" ;;
    rts | pthread)
        # mpirun closes all descriptors but three, so each process opens the report itself.
        # shellcheck disable=SC2016 # for the inner shell
        measure "${start[@]}" bash -c 'exec 9>>"$0"; CAPSTAN_REPORT=fd:9 exec "$@"' \
            "$place/report" "$capstan" run --substrate "$runtime" -- "$@"
        ;;
    esac
}

measure() {
    local began=$EPOCHREALTIME status=0
    timeout --kill-after=10 "$step_limit" "$@" 8>&- || status=$?
    echo "$began $EPOCHREALTIME" >&8
    if [ "$status" -ge 124 ]; then
        # To the error output and not to the output: that one is compared.
        echo "exit status $status on $runtime (124, 137: stopped after $step_limit s): $*" >&2
    fi
    return "$status"
}

# LLVM's runtime serves GOMP_* calls too.
libomp() {
    local file
    for file in /usr/lib/*/libomp.so.5 /usr/lib/llvm-*/lib/libomp.so.5; do
        [ -e "$file" ] && echo "$file" && return
    done
}

# The folder of OpenBLAS built with OpenMP; Debian's alternatives may point to another variant.
openblas_openmp() {
    echo "/usr/lib/$(uname -m)-linux-gnu/openblas-openmp"
}

# run_steps RUNTIME STEPS...: one run in $place/files, with its records beside it.
run_steps() {
    runtime=$1
    shift
    place=$folder/$runtime
    mkdir -p "$place/files"
    (
        cd "$place/files" || exit 1
        "$@" >stdout 2>"$place/stderr" 8>>"$place/times" 9>>"$place/report"
        echo "exit status $?" >>stdout
    )
}

# The seconds that the programs of a run took together.
seconds() {
    awk '{ sum += $2 - $1 } END { printf "%.2f s", sum }' "$folder/$1/times"
}

# field NAME < report: the values of a field of Capstan's report, one per line.
field() {
    grep -o "\"$1\":[^,}]*" | cut -d: -f2- | tr -d '"'
}

# Whether Capstan's report shows that the substrate served; prints regions and threads. Lines of
# the report that match $may_differ may name another substrate.
served() {
    local report=$folder/$1/report lines others regions threads
    lines=$(grep '"regions":[1-9]' "$report")
    if [ -z "$lines" ]; then
        echo "the report shows no region: $(tail -n 1 "$report")"
        return 1
    fi
    others=$(grep -v -e "\"substrate\":\"$1\"" -e "${may_differ:-^$}" <<<"$lines")
    if [ -n "$others" ]; then
        echo "another substrate served: $(head -n 1 <<<"$others")"
        return 1
    fi
    regions=$(field regions <<<"$lines" | awk '{ sum += $1 } END { print sum }')
    threads=$(field threads <<<"$lines" | sort -n | tail -n 1)
    echo "$regions regions, $threads threads"
}

# compare TITLE STEPS...
compare() {
    local title=$1 candidate summary served
    shift
    compared=$((compared + 1))
    folder=$work/$compared
    run_steps libgomp "$@"
    if ! [ -s "$folder/libgomp/times" ]; then
        fail "$title: nothing was run"
        return
    fi
    if [ "${must_succeed:-1}" = 1 ] && ! grep -q -x 'exit status 0' "$folder/libgomp/files/stdout"; then
        fail "$title: it fails on $oracle"
        tail -n 20 "$folder/libgomp/stderr" "$folder/libgomp/files/stdout"
        return
    fi
    summary="$oracle $(seconds libgomp)"
    for candidate in $runtimes; do
        [ "$candidate" != libgomp ] || mv "$folder/libgomp" "$folder/first"
        run_steps "$candidate" "$@"
        if ! same "$title" "$candidate"; then return; fi
        summary="$summary; $candidate $(seconds "$candidate")"
        case $candidate in
        rts | pthread)
            if ! served=$(served "$candidate"); then
                fail "$title: $candidate: $served"
                tail -n 20 "$folder/$candidate/stderr"
                return
            fi
            summary="$summary, $served"
            ;;
        esac
    done
    echo "  same  $title ($summary)"
}

# close FILE FILE: whether two files hold the same words and nearly the same numbers.
tolerance=1e-6
close() {
    awk -v tolerance="$tolerance" '
        function number(word) { return word ~ /^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eEdD][-+]?[0-9]+)?$/ }
        function size(value) { return value < 0 ? -value : value }
        FNR == NR { line[FNR] = $0; lines = FNR; next }
        {
            others = FNR
            count = split(line[FNR], word, " ")
            if (count != NF) { different = 1; exit }
            for (i = 1; i <= NF; i++) {
                if (word[i] == $i) continue
                if (!number(word[i]) || !number($i)) { different = 1; exit }
                gap = size(word[i] - $i)
                if (gap > tolerance * (1 + size($i))) { different = 1; exit }
            }
        }
        END { exit different || lines == 0 || lines != others }' "$1" "$2"
}

# Whether a candidate left the same bytes as libgomp; tells the difference if not.
same() {
    local base=$folder/libgomp file
    [ "$2" != libgomp ] || base=$folder/first
    if diff -r --brief --exclude='*.close' "$base/files" "$folder/$2/files" \
        >"$folder/difference" 2>&1; then
        for file in "$base"/files/*.close; do
            [ -e "$file" ] || continue
            close "$file" "$folder/$2/files/${file##*/}" || echo "${file##*/}" >>"$folder/difference"
        done
    fi
    [ -s "$folder/difference" ] || return 0
    fail "$1: not the same on $2 as on $oracle"
    sed "s|$folder/||g" "$folder/difference" | head -n 10
    diff -r "$base/files" "$folder/$2/files" 2>&1 | head -n 20 | cut -c 1-200
    tail -n 10 "$folder/$2/stderr"
    return 1
}

finish() {
    if [ "$failed" -gt 0 ]; then
        echo "$test_name: $failed failed"
        exit 1
    fi
    echo "$test_name: $compared comparisons, all the same on $oracle and on: $runtimes"
    exit 0
}

case " $runtimes " in
*" rts "* | *" pthread "*)
    if ! [ -x "$capstan" ]; then
        echo "$test_name: $capstan is not there; run make first"
        exit 1
    fi
    ;;
esac
