"""Compiles tests, each once, into a cache."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from gcc_suite.source import SourceTree
from gcc_suite.targets import Compiler
from gcc_suite.tests import Test

COMPILE_TIMEOUT = 600.0


@dataclasses.dataclass
class Build:
    executable: Path | None
    log: str = ""
    cached: bool = False


class Builder:
    """Compiles tests into the cache; an executable is made again only if its command or sources changed."""

    def __init__(self, tree: SourceTree, compilers: dict[str, Compiler], cache: Path, rebuild: bool) -> None:
        self._tree = tree
        self._compilers = compilers
        self._root = cache / tree.version / "build"
        self._rebuild = rebuild

    def command(self, test: Test) -> list[str]:
        """The command that compiles TEST, but for -o."""
        tree = self._tree
        argv = shlex.split(self._compilers[test.lang].command)
        if test.lang == "c++":
            argv += ["-x", "c++"]
        argv += [f"-I{path}" for path in (tree.shim, tree.root / "include", tree.root / "libgomp")]
        argv += ["-fmessage-length=0", "-fno-diagnostics-show-caret", "-fdiagnostics-color=never"]
        argv += ["-fopenmp", "-foffload=disable", *test.flags]
        argv += [str(test.source)] + [str(path) for path in test.extra_sources]
        return argv + [flag for flag in test.flags if flag.startswith("-l")] + ["-lm"]

    def build(self, test: Test) -> Build:
        compiler = self._compilers[test.lang]
        argv = self.command(test)
        # The extracted tree has a key of its own, which stands for all included files too.
        words = [word.replace(str(self._tree.root), "SOURCE") for word in argv]
        key = hashlib.sha256(json.dumps([compiler.version, self._tree.key, words]).encode()).hexdigest()
        folder = self._root / compiler.key / test.id.replace(":", "@")
        stamp, log_file = folder / "key", folder / "log"
        executable = folder / (test.source.stem + ".exe")
        if not self._rebuild and stamp.is_file() and stamp.read_text(encoding="ascii") == key:
            log = log_file.read_text(encoding="utf-8")
            return Build(executable if executable.is_file() else None, log, cached=True)
        folder.mkdir(parents=True, exist_ok=True)
        # Fortran writes module files into the current folder.
        with tempfile.TemporaryDirectory(prefix="compile.", dir=folder) as work:
            made = Path(work) / executable.name
            status, log = self._compile([*argv, "-o", str(made)], work)
            stamp.unlink(missing_ok=True)
            executable.unlink(missing_ok=True)
            if status == 0:
                made.rename(executable)
            # What kept the compiler from an answer says nothing about the next time.
            if status >= 0:
                log_file.write_text(log, encoding="utf-8")
                stamp.write_text(key, encoding="ascii")
        return Build(executable if status == 0 else None, log)

    @staticmethod
    def _compile(argv: list[str], work: str) -> tuple[int, str]:
        """The compiler's exit status, negative if it was ended before its own end; and what it said."""
        env = dict(os.environ, LC_ALL="C", LANG="C")
        try:
            done = subprocess.run(
                argv,
                cwd=work,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMPILE_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL, f"{shlex.join(argv)}\nerror: not compiled within {COMPILE_TIMEOUT:g} s\n"
        log = done.stdout.decode("utf-8", "replace")
        # As gcc says of the programs that it starts.
        if "signal terminated program" in log:
            return -signal.SIGKILL, log
        return done.returncode, shlex.join(argv) + "\n" + log
