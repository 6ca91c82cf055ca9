#!/bin/sh
# What the suite keeps of a compilation: an executable, and a compiler's refusal; not that the compiler was not done
# in time, or that somebody ended it.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/capstan-compile.XXXXXX")
trap 'rm -rf "$work"' EXIT

# A compiler that does as the file tells, and counts.
cat >"$work/compiler" <<'END'
#!/bin/sh
echo x >>"${0%/*}/count"
while [ "$1" != -o ]; do shift; done
echo "as it is told: $2"
. "${0%/*}/told"
END
chmod +x "$work/compiler"

PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$root/tests/conformance exec python3 - "$work" <<'END'
import sys
from pathlib import Path

from gcc_suite import build
from gcc_suite.execute import COMPILE_FAIL
from gcc_suite.parallel import unrun_result
from gcc_suite.source import SourceTree
from gcc_suite.targets import Compiler
from gcc_suite.tests import Test

work = Path(sys.argv[1])
tree = SourceTree("1", work, work, "key", frozenset())
builder = build.Builder(tree, {"c": Compiler(str(work / "compiler"), "1", "here")}, work, False)
test = Test("one.c", "c", "c", work / "one.c")


def compile_as(told: str) -> build.Build:
    (work / "told").write_text(told)
    return builder.build(test)


def count() -> int:
    return len((work / "count").read_text().splitlines())


build.COMPILE_TIMEOUT = 0.2
late = unrun_result(test, compile_as("exec sleep 60"))
assert (late.status, late.reason) == (COMPILE_FAIL, "error: not compiled within 0.2 s")
(work / "count").write_text("")
build.COMPILE_TIMEOUT = 600.0
assert compile_as("kill -KILL $$").executable is None
assert count() == 1, "that the compiler took too long was kept"
assert compile_as("echo 'gcc: fatal error: Killed signal terminated program cc1'; exit 1").executable is None
assert count() == 2, "that the compiler was killed was kept"
refused = compile_as("exit 1")
assert refused.executable is None and not refused.cached and "as it is told" in refused.log
assert count() == 3, "that a part of the compiler was killed was kept"
refused = compile_as(': >"$2"')
assert refused.executable is None and refused.cached and "as it is told" in refused.log
assert count() == 3, "a refusal was not kept"
test.flags.append("-O0")
made = compile_as(': >"$2"')
assert made.executable is not None and made.executable.is_file() and not made.cached
assert compile_as("exit 1").executable == made.executable
assert count() == 4, "an executable was not kept"
END
