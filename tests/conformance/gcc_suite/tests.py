"""The tests that there are, and what each one's directives say of it."""

from __future__ import annotations

import dataclasses
import fnmatch
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from gcc_suite.directives import Directive, find_directives, tcl_words
from gcc_suite.source import SourceTree
from gcc_suite.targets import Targets


@dataclasses.dataclass(frozen=True)
class Suite:
    name: str  # as given to --suite
    label: str  # as reported
    folder: str
    patterns: tuple[str, ...]
    lang: str
    default_flags: str  # replaced by dg-options
    id_suffix: str = ""


_FORTRAN_PATTERNS = tuple(f"*.{f}{n}" for f in "fF" for n in ("", "90", "95", "03", "08"))
SUITES = (
    Suite("c", "c", "libgomp.c", ("*.c",), "c", "-O2"),
    Suite("c-c++-common", "c-c++-common as C", "libgomp.c-c++-common", ("*.c",), "c", "-O2", ":c"),
    Suite("c-c++-common", "c-c++-common as C++", "libgomp.c-c++-common", ("*.c",), "c++", "-O2", ":c++"),
    Suite("c++", "c++", "libgomp.c++", ("*.C",), "c++", "-O2"),
    Suite("fortran", "fortran", "libgomp.fortran", _FORTRAN_PATTERNS, "fortran", ""),
    Suite(
        "graphite",
        "graphite",
        "libgomp.graphite",
        ("*.c",),
        "c",
        "-ansi -pedantic-errors -O2 -ftree-parallelize-loops=4 -floop-parallelize-all "
        "-fno-loop-strip-mine -fno-loop-block",
    ),
)
DEFAULT_SUITES = ("c", "c-c++-common", "c++", "fortran")
FORTRAN_LEVEL = "-O2"
TORTURE_LEVELS = (
    "-O0",
    "-O1",
    "-O2",
    "-O3 -fomit-frame-pointer -funroll-loops -fpeel-loops -ftracer -finline-functions",
    "-O3 -g",
    "-Os",
)


@dataclasses.dataclass
class Test:
    id: str
    suite: str
    lang: str
    source: Path
    flags: list[str] = dataclasses.field(default_factory=list)
    extra_sources: list[Path] = dataclasses.field(default_factory=list)
    env: dict[str, str] = dataclasses.field(default_factory=dict)
    outputs: list[str] = dataclasses.field(default_factory=list)
    should_fail: bool = False
    xfail: bool = False
    timeout: float | None = None
    timeout_factor: float = 1.0
    skip: str | None = None


def _flags_match(flags: Sequence[str], include: str | None, exclude: str | None) -> bool:
    """The option lists of dg-skip-if and dg-xfail-run-if."""

    def any_of(patterns: str) -> bool:
        return any(p == "*" or any(fnmatch.fnmatchcase(f, p) for f in flags) for p in tcl_words(patterns))

    if include is not None and include.strip() and not any_of(include):
        return False
    return not (exclude is not None and exclude.strip() and any_of(exclude))


def _wanted_flag(flag: str) -> bool:
    # Dumps are only there to be scanned; offloading is disabled altogether.
    return not flag.startswith(("-fdump-", "-foffload"))


class _Reader:
    """Takes a test's directives one by one, in the order they stand."""

    def __init__(self, test: Test, suite: Suite, level: str, targets: Targets) -> None:
        self._test = test
        self._targets = targets
        self._lang = suite.lang
        self._level = level.split()
        self._options = suite.default_flags.split()
        self._kind = "run"
        self._selector: str | None = None  # the last one of a dg-do
        self._kind_selected: bool | None = None
        self._unmet: list[str] = []

    def take(self, directive: Directive) -> None:
        least, method = self._DIRECTIVES.get(directive.name, (0, None))
        if method and len(directive.args) >= least:
            method(self, directive)

    def settle(self) -> None:
        """What follows from all directives together."""
        if self._kind != "run":
            self._test.skip = f"{self._kind}-only test"
        elif self._unmet:
            self._test.skip = self._unmet[0]
        elif self._kind_selected is False and self._selector is not None:
            self._test.skip = f"only for {self._selector.strip()}"
        self._test.flags = self._level + [flag for flag in self._options if _wanted_flag(flag)]

    def _selected(self, directive: Directive) -> bool:
        """Whether the directive's optional second argument, { target ... }, selects us."""
        if len(directive.args) <= 1:
            return True
        words = tcl_words(directive.args[1])
        if words[:1] != ["target"]:  # { xfail ... } does not deselect
            return True
        return self._targets.selects(" ".join(f"{{{w}}}" for w in words[1:]), self._lang)

    def _applies(self, d: Directive) -> bool:
        """For dg-skip-if and dg-xfail-run-if: a selector, then options that must and must not be there."""
        options = [d.args[i] if len(d.args) > i else None for i in (2, 3)]
        return self._targets.selects(d.args[1], self._lang) and _flags_match(self._level + self._options, *options)

    def _do(self, d: Directive) -> None:
        self._kind = d.args[0]
        if len(d.args) > 1:
            self._selector = d.args[1]
            self._kind_selected = bool(self._kind_selected) or self._selected(d)
        else:
            self._kind_selected = True

    def _set_options(self, d: Directive) -> None:
        if self._selected(d):
            self._options = shlex.split(d.args[0])

    def _add_options(self, d: Directive) -> None:
        if self._selected(d):
            self._options += shlex.split(d.args[0])

    def _require(self, d: Directive) -> None:
        if self._selected(d):
            answer = self._targets.effective(d.args[0], self._lang)
            if answer is None:
                self._unmet.append(f"effective target {d.args[0]} is not known to this runner")
            elif not answer:
                self._unmet.append(f"needs {d.args[0]}")

    def _skip_if(self, d: Directive) -> None:
        if self._applies(d):
            self._unmet.append("dg-skip-if" + (f": {d.args[0]}" if d.args[0] else ""))

    def _xfail_if(self, d: Directive) -> None:
        if self._applies(d):
            self._test.xfail = True

    def _should_fail(self, d: Directive) -> None:
        self._test.should_fail = self._selected(d)

    def _output(self, d: Directive) -> None:
        if self._selected(d):
            self._test.outputs.append(d.args[0])

    def _environment(self, d: Directive) -> None:
        self._test.env[d.args[0]] = d.args[1]

    def _sources(self, d: Directive) -> None:
        if self._selected(d):
            self._test.extra_sources = [self._test.source.parent / name for name in d.args[0].split()]

    def _timeout(self, d: Directive) -> None:
        if self._selected(d):
            self._test.timeout = float(d.args[0])

    def _timeout_factor(self, d: Directive) -> None:
        if self._selected(d):
            self._test.timeout_factor = float(d.args[0])

    # How many arguments a directive has at least, and what it does.
    _DIRECTIVES: ClassVar[dict[str, tuple[int, Callable[[_Reader, Directive], None]]]] = {
        "dg-do": (1, _do),
        "dg-options": (1, _set_options),
        "dg-additional-options": (1, _add_options),
        "dg-require-effective-target": (1, _require),
        "dg-skip-if": (2, _skip_if),
        "dg-xfail-run-if": (2, _xfail_if),
        "dg-shouldfail": (0, _should_fail),
        "dg-output": (1, _output),
        "dg-set-target-env-var": (2, _environment),
        "dg-additional-sources": (1, _sources),
        "dg-timeout": (1, _timeout),
        "dg-timeout-factor": (1, _timeout_factor),
    }


def parse_test(suite: Suite, source: Path, test_id: str, level: str, targets: Targets) -> Test:
    """Read a test's directives."""
    test = Test(test_id, suite.label, suite.lang, source)
    reader = _Reader(test, suite, level, targets)
    for directive in find_directives(source.read_text(encoding="utf-8", errors="replace")):
        reader.take(directive)
    reader.settle()
    return test


def discover(
    tree: SourceTree, names: Sequence[str], targets: Targets, torture: bool, branch_tests: bool
) -> Iterator[Test]:
    """All tests of the suites NAMES, in a fixed order."""
    for test in _discover(tree, names, targets, torture):
        name = test.source.relative_to(tree.testsuite).as_posix()
        if not branch_tests and name in tree.branch_tests and not test.skip:
            test.skip = "newer than the release (--branch-tests)"
        yield test


def _discover(tree: SourceTree, names: Sequence[str], targets: Targets, torture: bool) -> Iterator[Test]:
    for suite in SUITES:
        if suite.name not in names:
            continue
        folder = tree.testsuite / suite.folder
        sources = sorted({path for pattern in suite.patterns for path in folder.rglob(pattern)})
        for source in sources:
            test_id = source.relative_to(tree.testsuite).as_posix() + suite.id_suffix
            if suite.lang != "fortran":
                yield parse_test(suite, source, test_id, "", targets)
                continue
            # Tests that say dg-do run are torture tests, the others run at -O.
            text = source.read_text(encoding="utf-8", errors="replace")
            if not re.search(r"dg-do\s+run", text):
                yield parse_test(suite, source, test_id, "-O", targets)
            elif not torture:
                yield parse_test(suite, source, test_id, FORTRAN_LEVEL, targets)
            else:
                for level in TORTURE_LEVELS:
                    words = level.split()
                    suffix = "" if level == FORTRAN_LEVEL else ":" + words[0][1:] + words[-1] * (words[-1] == "-g")
                    yield parse_test(suite, source, test_id + suffix, level, targets)
