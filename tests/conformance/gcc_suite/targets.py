"""The compilers, and what holds for them and this machine: DejaGnu's effective targets and selectors."""

from __future__ import annotations

import dataclasses
import fnmatch
import hashlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

from gcc_suite.directives import tcl_words


@dataclasses.dataclass(frozen=True)
class Compiler:
    command: str
    version: str
    machine: str

    @property
    def key(self) -> str:
        return hashlib.sha256(f"{self.version}\n{self.machine}".encode()).hexdigest()[:12]


def find_compiler(name: str, major: str | None, override: str | None) -> Compiler | None:
    """The compiler NAME ("gcc", ...), the one of version MAJOR where there is one."""
    candidates = [override] if override else [f"{name}-{major}", name]
    for command in candidates:
        if command is None or not shutil.which(shlex.split(command)[0]):
            continue
        argv = shlex.split(command)
        version = subprocess.run([*argv, "--version"], capture_output=True, text=True, check=False)
        machine = subprocess.run([*argv, "-dumpmachine"], capture_output=True, text=True, check=False)
        if version.returncode == 0 and machine.returncode == 0:
            # The first word is the command's own name: gcc and gcc-12 are one compiler.
            words = version.stdout.splitlines()[0].split(maxsplit=1)
            return Compiler(command, " ".join([name, *words[1:]]), machine.stdout.strip())
    return None


class Targets:
    """Answers DejaGnu target selectors for a host without offload device."""

    # Effective targets that hold on every hosted GNU/Linux system, and that never hold here.
    ALWAYS = (
        "alias alloca dfp fd_truncate fpic large_long_double mmap pthread pthread_h shared size20plus size32plus "
        "sync_char_short sync_int_long tls tls_native tls_runtime trampolines wchar weak_undefined"
    ).split()
    NEVER = "aarch64_tiny ia32 ilp32 llp64 keeps_null_pointer_checks newlib omp_usm x32".split()
    # Effective targets found out by compiling: flags, and source.
    PROBES: ClassVar[dict[str, tuple[str, str]]] = {
        "__float128": ("", "__float128 x;"),
        "avx": ("-O2 -mavx", "typedef float v __attribute__((vector_size(32))); v f(v a){return a+a;}"),
        "sse2": ("-O2 -msse2", "typedef double v __attribute__((vector_size(16))); v f(v a){return a+a;}"),
        "avx512f": ("-O2 -mavx512f", "typedef double v __attribute__((vector_size(64))); v f(v a){return a+a;}"),
        "fgraphite": ("-O1 -fgraphite", "void f(void){}"),
        "int128": ("", "__int128 x;"),
        "lto": ("-flto", "void f(void){}"),
    }

    def __init__(self, cc: Compiler, expensive: bool) -> None:
        self._cc = cc
        self._expensive = expensive
        parts = cc.machine.split("-")
        # DejaGnu's names have four parts: x86_64-linux-gnu is x86_64-pc-linux-gnu.
        self.triplet = "-".join([parts[0], "pc", *parts[1:]]) if len(parts) == 3 else cc.machine
        self._x86 = parts[0] == "x86_64"
        self._probed: dict[str, bool] = {}
        self.cpu_flags = frozenset(self._read_cpu_flags())

    @staticmethod
    def _read_cpu_flags() -> list[str]:
        try:
            text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
        except OSError:
            return []
        match = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.M)
        return match[1].split() if match else []

    def _probe(self, name: str) -> bool:
        if name not in self._probed:
            flags, source = self.PROBES[name]
            argv = shlex.split(self._cc.command) + flags.split() + ["-x", "c", "-c", "-o", "/dev/null", "-"]
            done = subprocess.run(argv, input=source, capture_output=True, text=True, check=False)
            self._probed[name] = done.returncode == 0
        return self._probed[name]

    def effective(self, name: str, lang: str) -> bool | None:
        """Whether effective target NAME holds; None if it is not known here."""
        if name in ("c", "c++"):
            return lang == name
        if name in self.ALWAYS:
            return True
        if name == "offload_device_shared_as":
            # Despite its name true without a device: the host fallback shares memory.
            return True
        if name in self.NEVER or name.startswith(("offload_", "openacc_")):
            return False
        if name in self.PROBES:
            return self._probe(name)
        if name == "lp64":
            return sys.maxsize > 2**32
        if name == "run_expensive_tests":
            return self._expensive
        if name == "vect_simd_clones":
            return self._x86 and self._probe("avx512f")
        if name.endswith("_runtime") and name[: -len("_runtime")] in self.PROBES:
            base = name[: -len("_runtime")]
            return self._x86 and base in self.cpu_flags and self._probe(base)
        return None

    def selects(self, selector: str, lang: str) -> bool:
        """Evaluate a selector: triplets and effective targets, with ! && || and braces."""
        words = tcl_words(selector)
        for operator, combine in (("||", any), ("&&", all)):
            if operator in words:
                groups: list[list[str]] = [[]]
                for word in words:
                    if word == operator:
                        groups.append([])
                    else:
                        groups[-1].append(word)
                return combine(self.selects(" ".join(f"{{{w}}}" for w in group), lang) for group in groups)
        if words and words[0] == "!":
            return not self.selects(" ".join(f"{{{w}}}" for w in words[1:]), lang)
        return any(self._selects_word(word, lang) for word in words)

    def _selects_word(self, word: str, lang: str) -> bool:
        if word.split() != [word]:  # a braced expression
            return self.selects(word, lang)
        if word.count("-") >= 2:
            return fnmatch.fnmatchcase(self.triplet, word)
        return bool(self.effective(word, lang))
