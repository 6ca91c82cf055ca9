"""The tests together: several at a time, each as often as asked for."""

from __future__ import annotations

import concurrent.futures
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from gcc_suite.build import Build, Builder
from gcc_suite.execute import BAD, COMPILE_FAIL, FAIL, SKIP, Outcome, Result, Runner
from gcc_suite.tests import Test


class Progress:
    """A line that is rewritten on a terminal; elsewhere one line for every tenth of the way."""

    def __init__(self, title: str, total: int) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._tenth = 0
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._tty = sys.stderr.isatty()

    def step(self) -> None:
        with self._lock:
            self._done += 1
            tenth = self._done * 10 // max(self._total, 1)
            text = f"{self._title} {self._done}/{self._total} ({time.monotonic() - self._started:.0f} s)"
            if self._tty:
                end = "\n" if self._done == self._total else ""
                print(f"\r\033[K{text}", end=end, file=sys.stderr, flush=True)
            elif tenth != self._tenth:
                print(text, file=sys.stderr, flush=True)
            self._tenth = tenth


T = TypeVar("T")
R = TypeVar("R")


def parallel(function: Callable[[T], R], items: Sequence[T], jobs: int, title: str) -> list[R]:
    """What FUNCTION returns for each of ITEMS, in their order; stops early when interrupted."""
    progress = Progress(title, len(items))

    def one(item: T) -> R:
        value = function(item)
        progress.step()
        return value

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        try:
            return list(pool.map(one, items))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def build_all(tests: Sequence[Test], builder: Builder, jobs: int) -> dict[str, Build]:
    builds = parallel(builder.build, tests, jobs, "compiled")
    return {test.id: build for test, build in zip(tests, builds, strict=False)}


def unrun_result(test: Test, build: Build | None) -> Result:
    """What is known of a test before it runs."""
    if test.skip or build is None:
        return Result(test, SKIP, test.skip or "not compiled")
    if build.executable:
        return Result(test, FAIL, "not run", executable=build.executable)
    errors = [line for line in build.log.splitlines()[1:] if re.search(r"error|undefined", line, re.I)]
    reason = re.sub(r"\S*/", "", errors[0]) if errors else ""
    return Result(test, COMPILE_FAIL, reason, log=build.log)


def run_all(results: Sequence[Result], runner: Runner, jobs: int, repeat: int) -> None:
    """Execute what has an executable, REPEAT times, and settle each test's status."""
    todo = [r for r in results if r.executable]

    def one(result: Result) -> Outcome:
        assert result.executable is not None
        return runner.run(result.test, result.executable)

    try:
        outcomes = parallel(one, todo * repeat, jobs, "ran")
    except BaseException:
        runner.stop()
        raise
    for result, outcome in zip(todo * repeat, outcomes, strict=False):
        result.outcomes.append(outcome)
    for result in todo:
        worst = next((o for o in result.outcomes if o.status in BAD), result.outcomes[0])
        result.status, result.reason = worst.status, worst.reason
        if result.flaky:
            bad = sum(o.status in BAD for o in result.outcomes)
            result.reason = f"flaky, {bad} of {repeat} runs went wrong: {worst.reason}"
