"""What is told of the results: on the terminal, as JSON and as JUnit's XML, and as a baseline."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from gcc_suite import SetupError
from gcc_suite.execute import BAD, COMPILE_FAIL, FAIL, FLAKY, PASS, SKIP, TIMEOUT, XFAIL, Result, Runner

FREQUENT_REASONS = 10


def read_baseline(path: Path) -> dict[str, str]:
    """Test id -> status."""
    baseline = {}
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SetupError(str(error)) from error
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(maxsplit=2)
        if len(words) < 2:
            raise SetupError(f"{path}:{number}: should be STATUS TEST [REASON]")
        baseline[words[1]] = words[0]
    return baseline


def write_baseline(path: Path, results: Sequence[Result], header: Sequence[str]) -> None:
    """One line per test.  What PATH already calls FLAKY and still passes stays FLAKY."""
    marked: dict[str, str] = {}
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            words = line.split(maxsplit=2)
            if len(words) >= 2 and words[0] == FLAKY:
                marked[words[1]] = words[2] if len(words) > 2 else ""
    lines = [f"# {text}" for text in header]
    for result in results:
        status, reason = result.status, result.reason
        if result.flaky:
            status = FLAKY
        elif status == PASS and result.test.id in marked:
            status, reason = FLAKY, marked[result.test.id]
        lines.append(f"{status:<5} {result.test.id} {reason}".rstrip())
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def broken_promises(promised: Iterable[str], results: Sequence[Result]) -> list[str]:
    """Which of the tests PROMISED to pass did not, and why."""
    by_id = {r.test.id: r for r in results}
    broken = []
    for test_id in promised:
        result = by_id.get(test_id)
        if result is None:
            broken.append(f"{test_id}: no such test in this testsuite")
        elif result.status != PASS:
            broken.append(f"{test_id}: {result.status} {result.reason}".rstrip())
    return broken


def print_failures(results: Sequence[Result], runner: Runner, verbose: bool) -> None:
    reasons: Counter[str] = Counter()
    for result in results:
        if result.status not in BAD:
            continue
        if result.status == FAIL:
            reasons[result.reason] += 1
        print(f"{result.status:<12} {result.test.id}: {result.reason}")
        if verbose:
            if result.executable:
                print(f"    {runner.reproduce(result.test, result.executable)}")
            for line in result.output.splitlines()[-12:]:
                print(f"    | {line}")
    if reasons.total() > 2 * FREQUENT_REASONS:
        print("most frequent reasons:")
        for reason, count in reasons.most_common(FREQUENT_REASONS):
            print(f"    {count:>4} x {reason}")


def print_table(results: Sequence[Result]) -> None:
    columns = (PASS, FAIL, TIMEOUT, COMPILE_FAIL, XFAIL, SKIP)
    counts: dict[str, Counter[str]] = {}
    for result in results:
        counts.setdefault(result.test.suite, Counter())[result.status] += 1
    counts["all"] = Counter(r.status for r in results)
    print("".join([f"{'suite':<22}"] + [f"{c.lower():>13}" for c in columns]))
    for suite, counter in counts.items():
        print("".join([f"{suite:<22}"] + [f"{counter[c]:>13}" for c in columns]))


def summary_line(results: Sequence[Result]) -> str:
    counter = Counter(r.status for r in results)
    failed = sum(counter[status] for status in BAD)
    line = f"{counter[PASS]} passed, {failed} failed, {counter[SKIP]} skipped"
    return line + (f", {counter[XFAIL]} expected failures" if counter[XFAIL] else "")


def write_json(path: Path, results: Sequence[Result], facts: dict[str, object]) -> None:
    tests = [
        {
            "id": r.test.id,
            "suite": r.test.suite,
            "status": r.status,
            "reason": r.reason,
            "flaky": r.flaky,
            "env": r.test.env,
            "runs": [{"status": o.status, "reason": o.reason, "seconds": round(o.seconds, 3)} for o in r.outcomes],
            "output": r.output[-4000:] if r.status in BAD else "",
        }
        for r in results
    ]
    summary = dict(Counter(r.status for r in results))
    path.write_text(json.dumps(facts | {"summary": summary, "tests": tests}, indent=1) + "\n", encoding="utf-8")


def write_junit(path: Path, results: Sequence[Result]) -> None:
    unprintable = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd]")
    root = ElementTree.Element("testsuites")
    suites: dict[str, list[Result]] = {}
    for result in results:
        suites.setdefault(result.test.suite, []).append(result)
    for name, members in suites.items():
        counter = Counter(r.status for r in members)
        suite = ElementTree.SubElement(
            root,
            "testsuite",
            name=f"libgomp {name}",
            tests=str(len(members)),
            failures=str(counter[FAIL] + counter[TIMEOUT]),
            errors=str(counter[COMPILE_FAIL]),
            skipped=str(counter[SKIP] + counter[XFAIL]),
            time=f"{sum(r.seconds for r in members):.3f}",
        )
        for result in members:
            case = ElementTree.SubElement(
                suite, "testcase", classname=f"libgomp.{name}", name=result.test.id, time=f"{result.seconds:.3f}"
            )
            if result.status in (SKIP, XFAIL):
                ElementTree.SubElement(case, "skipped", message=f"{result.status}: {result.reason}")
            elif result.status in BAD:
                kind = "error" if result.status == COMPILE_FAIL else "failure"
                message = unprintable.sub("?", f"{result.status}: {result.reason}")
                ElementTree.SubElement(case, kind, message=message).text = unprintable.sub("?", result.output[-4000:])
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
