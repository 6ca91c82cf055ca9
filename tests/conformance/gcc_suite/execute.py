"""Runs an executable as a process of its own, under a time limit, and judges what it did."""

from __future__ import annotations

import contextlib
import dataclasses
import glob
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from gcc_suite import LIBRARY, SetupError
from gcc_suite.targets import Compiler
from gcc_suite.tests import Test

OUTPUT_LIMIT = 1 << 20  # bytes of a test's output that are looked at
OUTPUT_FILE_LIMIT = 256 << 20  # bytes a test may write to one file
MAX_DEFAULT_THREADS = 8  # what libgomp's own `make check' limits itself to

PASS, FAIL, TIMEOUT, XFAIL = "PASS", "FAIL", "TIMEOUT", "XFAIL"
SKIP, COMPILE_FAIL, FLAKY = "SKIP", "COMPILE-FAIL", "FLAKY"
BAD = (FAIL, TIMEOUT, COMPILE_FAIL)
# The dynamic loader's complaints, most telling part only.
_LOADER_ERROR = re.compile(
    r"(?<=: )undefined symbol: .*|(?<=: )version `.*' not found|(?<=error while loading shared libraries: ).*"
)


@dataclasses.dataclass
class Outcome:
    """One execution of a test."""

    status: str
    reason: str
    seconds: float
    output: str


@dataclasses.dataclass
class Result:
    test: Test
    status: str
    reason: str = ""
    outcomes: list[Outcome] = dataclasses.field(default_factory=list)
    executable: Path | None = None
    log: str = ""

    @property
    def flaky(self) -> bool:
        return len({o.status for o in self.outcomes}) > 1

    @property
    def seconds(self) -> float:
        return sum(o.seconds for o in self.outcomes)

    @property
    def output(self) -> str:
        """The output of the first execution that went wrong, or of the first."""
        for outcome in self.outcomes:
            if outcome.status in BAD:
                return outcome.output
        return self.outcomes[0].output if self.outcomes else self.log


def _thread_report(pid: int) -> str:
    """What a hanging process is doing: sleeping threads are stuck, running ones spin."""
    states: Counter[str] = Counter()
    ticks = 0
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        try:
            fields = Path(path).read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue
        states[fields[0]] += 1
        ticks += int(fields[11]) + int(fields[12])
    if not states:
        return "no thread left"
    names = {"R": "running", "S": "sleeping", "D": "in the kernel", "Z": "dead"}
    threads = ", ".join(f"{n} {names.get(state, state)}" for state, n in sorted(states.items()))
    return f"threads: {threads}; {ticks / os.sysconf('SC_CLK_TCK'):.1f} s of CPU time"


class Runner:
    def __init__(
        self,
        environment: dict[str, str],
        wrapper: Sequence[str],
        timeout: float,
        scratch: Path,
        keep: bool,
    ) -> None:
        self._environment = environment
        self._wrapper = list(wrapper)
        self._timeout = timeout
        self._scratch = scratch
        self._keep = keep
        self._running: set[int] = set()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End what is running; what is started from now on ends at once."""
        self._stopping.set()
        for pid in list(self._running):
            self._kill_group(pid)

    @staticmethod
    def _kill_group(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)

    def reproduce(self, test: Test, executable: Path) -> str:
        """A command line that runs TEST the same way."""
        settings = {n: v for n, v in self._environment.items() if os.environ.get(n) != v} | test.env
        words = [f"{n}={shlex.quote(v)}" for n, v in settings.items() if n not in ("LC_ALL", "LANG")]
        return " ".join(words + [shlex.quote(w) for w in [*self._wrapper, str(executable)]])

    def run(self, test: Test, executable: Path) -> Outcome:
        limit = self._timeout * test.timeout_factor
        if test.timeout is not None:
            limit = min(limit, test.timeout)
        work = Path(tempfile.mkdtemp(prefix="run.", dir=self._scratch))
        output_file = work / "output"
        started = time.monotonic()
        status, reason = self._execute(test, executable, limit, work, output_file)
        seconds = time.monotonic() - started
        with output_file.open("rb") as stream:
            output = stream.read(OUTPUT_LIMIT).decode("utf-8", "replace")
        if status is None:
            outcome = Outcome(TIMEOUT, f"after {limit:g} s; {reason}", seconds, output)
        else:
            outcome = Outcome(*self._judge(test, status, output), seconds, output)
        if self._keep and outcome.status in BAD:
            outcome.reason += f" [kept: {work}]"
        else:
            shutil.rmtree(work, ignore_errors=True)
        return outcome

    def _execute(
        self, test: Test, executable: Path, limit: float, work: Path, output_file: Path
    ) -> tuple[int | None, str]:
        """Run the executable; its exit status, or None and a word on what it was doing at the time limit."""
        with output_file.open("wb") as stream:
            process = subprocess.Popen(
                [*self._wrapper, str(executable)],
                cwd=work,
                env=self._environment | test.env,
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            self._running.add(process.pid)
            try:
                with contextlib.suppress(ProcessLookupError):
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (OUTPUT_FILE_LIMIT, OUTPUT_FILE_LIMIT))
                return process.wait(0 if self._stopping.is_set() else limit), ""
            except subprocess.TimeoutExpired:
                return None, _thread_report(process.pid)
            finally:
                self._kill_group(process.pid)  # with what the test may have left behind
                self._running.discard(process.pid)
                process.wait()

    @staticmethod
    def _judge(test: Test, status: int, output: str) -> tuple[str, str]:
        reason = ""
        if loader := _LOADER_ERROR.search(output):
            reason = loader[0].strip()
        elif status < 0 and not test.should_fail:
            try:
                reason = signal.Signals(-status).name
            except ValueError:
                reason = f"signal {-status}"
        elif status != 0 and not test.should_fail:
            reason = f"exit status {status}"
        elif status == 0 and test.should_fail:
            reason = "exit status 0, but should have failed"
        elif test.outputs and not re.search("".join(test.outputs), output):
            reason = "output is not as expected"
        if not reason:
            return PASS, ""
        return (XFAIL if test.xfail else FAIL), reason


def resolve_library(compiler: Compiler, environment: dict[str, str]) -> Path:
    """The libgomp.so.1 that a program run in ENVIRONMENT gets, as the dynamic loader sees it."""
    with tempfile.TemporaryDirectory() as work:
        program = Path(work) / "probe"
        source = "#include <omp.h>\nint main (void) { return omp_get_thread_num (); }\n"
        argv = [*shlex.split(compiler.command), "-fopenmp", "-foffload=disable", "-x", "c", "-", "-o", str(program)]
        done = subprocess.run(argv, input=source, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SetupError(f"{compiler.command} cannot compile an OpenMP program:\n{done.stderr}")
        traced = subprocess.run(
            [str(program)],
            env=environment | {"LD_TRACE_LOADED_OBJECTS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        match = re.search(rf"{re.escape(LIBRARY)} => (\S+)", traced.stdout)
        if not match or match[1] == "not":
            raise SetupError(f"the dynamic loader finds no {LIBRARY}:\n{traced.stdout}{traced.stderr}")
        return Path(match[1])


def test_environment(lib: Path | None, settings: Iterable[str]) -> dict[str, str]:
    """This process's environment without OpenMP settings, plus those asked for."""
    prefixes = ("OMP_", "GOMP_", "ACC_", "KMP_", "CAPSTAN_")
    environment = {n: v for n, v in os.environ.items() if not n.startswith(prefixes)}
    environment |= {"LC_ALL": "C", "LANG": "C"}
    cpus = len(os.sched_getaffinity(0))
    if cpus > MAX_DEFAULT_THREADS:
        environment["OMP_NUM_THREADS"] = str(MAX_DEFAULT_THREADS)
    if lib:
        old = environment.get("LD_LIBRARY_PATH")
        environment["LD_LIBRARY_PATH"] = f"{lib}:{old}" if old else str(lib)
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise SetupError(f"--env {setting}: should be KEY=VAL")
        environment[name] = value
    return environment
