#!/bin/sh
# The wheel for Python programs, as make wheel packs it: its list of files is right, the same bytes come out twice, and a
# program that imports it, or is started by it, has Capstan's threads in place of the runtime that it loads itself.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
[ -e "$root/build/lib/libcapstan-tcm.so" ] || { echo 'the library is not built: make lib'; exit 77; }
python=/usr/bin/python3
[ -x "$python" ] || { echo "there is no $python"; exit 77; }
unset LD_PRELOAD CAPSTAN_ADOPT CAPSTAN_REPORT CAPSTAN_LIBDIR

fail() {
    echo "$1"
    exit 1
}

"$root/tools/make-wheel" --out "$work/first" >"$work/name"
"$root/tools/make-wheel" --out "$work/second" >/dev/null
wheel=$(cat "$work/name")
cmp "$wheel" "$work/second/$(basename "$wheel")" || fail 'two runs of make-wheel differ'
mkdir "$work/site"
"$python" -m zipfile -e "$wheel" "$work/site"
(cd "$work/site" && "$python" - <<'CHECK') || fail 'RECORD does not say what is in the wheel'
import base64, csv, glob, hashlib, os, sys
record = glob.glob("*.dist-info/RECORD")[0]
listed = {name: (digest, size) for name, digest, size in csv.reader(open(record))}
found = {os.path.join(folder, name)[2:] for folder, _, names in os.walk(".") for name in names}
wrong = set(listed) ^ found
for name, (digest, size) in listed.items():
    data = open(name, "rb").read()
    own = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    if name != record and (digest != "sha256=" + own or int(size) != len(data)):
        wrong.add(name)
sys.exit(f"wrong: {wrong}" if wrong else 0)
CHECK

# A library as wheels bring them, with a runtime under a name of the packer's: the system's.
cat >"$work/work.c" <<'C'
#include <omp.h>
int work(void) {
    int sum = 0;
#pragma omp parallel num_threads(3) reduction(+ : sum)
    sum += omp_get_thread_num() + 1;
    return sum;
}
C
gcc -fopenmp -shared -fPIC "$work/work.c" -o "$work/work.so"
cat >"$work/program.py" <<'PYTHON'
import ctypes, os, sys
if "import" in sys.argv:
    import capstan
sys.stdout.write(f"{ctypes.CDLL(sys.argv[1]).work()}\n")
PYTHON
export PYTHONPATH="$work/site" PYTHONDONTWRITEBYTECODE=1

# expect WAY COMMAND...: the right sum, and one region of three threads on the wheel's library.
expect() {
    way=$1
    shift
    CAPSTAN_REPORT=fd:2 "$@" >"$work/out" 2>"$work/report" || { cat "$work/report"; fail "$way: it failed"; }
    [ "$(cat "$work/out")" = 6 ] || fail "$way: the sum is $(cat "$work/out")"
    grep -q '"regions":1,.*"threads":3,"largest_team":3' "$work/report" || fail "$way: $(cat "$work/report")"
    grep -q "\"library\":\"$work/site/capstan/lib/libgomp.so.1\"" "$work/report" || fail "$way: $(cat "$work/report")"
}

expect import "$python" "$work/program.py" "$work/work.so" import
expect run "$python" -m capstan run "$work/program.py" "$work/work.so"
expect 'run and import' "$python" -m capstan run -- "$work/program.py" "$work/work.so" import

# Too late: the program is told.
"$python" -c "import ctypes; ctypes.CDLL('$work/work.so'); import capstan" 2>"$work/report"
grep -q 'Import capstan first' "$work/report" || fail "no warning where a runtime was there before: $(cat "$work/report")"
"$python" -c 'import capstan' 2>"$work/report"
[ ! -s "$work/report" ] || fail "import capstan says $(cat "$work/report")"
status=0
"$python" -m capstan walk >/dev/null 2>&1 || status=$?
[ "$status" = 64 ] || fail "a wrong command line gives $status, not 64"
