"""The symbols that a library exports, compared with GCC's version script."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from gcc_suite import LIBRARY, SetupError

REQUIRED_GROUPS = ("OMP", "GOMP")
OPTIONAL_GROUPS = ("GOMP_PLUGIN", "OACC", "GOACC")
DEFAULT_ALLOWED = ("omp_", "GOMP_", "ompd_", "ompt_", "capstan_")


@dataclasses.dataclass(frozen=True, order=True)
class Symbol:
    version: str
    name: str
    default: bool  # name@@VERSION, what a program linked today gets; else name@VERSION

    def __str__(self) -> str:
        return f"{self.name}{'@@' if self.default else '@'}{self.version}"

    @property
    def group(self) -> str:
        return self.version.rsplit("_", 1)[0]


def parse_version_script(text: str) -> list[Symbol]:
    """The symbols a version script exports.

    A name in several nodes is the compatibility symbol in all but the last.
    Conditional parts count: GNU/Linux has symbol renaming.
    """
    text = re.sub(r"/\*.*?\*/", "", re.sub(r"^\s*#.*$", "", text, flags=re.M), flags=re.S)
    versions: dict[str, list[str]] = {}
    for node, body in re.findall(r"([A-Za-z_][\w.]*)\s*\{(.*?)\}[^;]*;", text, flags=re.S):
        exported = re.split(r"\blocal\s*:", body)[0].split("global:")[-1]
        for name in (part.strip() for part in exported.split(";")):
            if re.fullmatch(r"\w+", name):
                versions.setdefault(name, []).append(node)
    return sorted(Symbol(node, name, node == nodes[-1]) for name, nodes in versions.items() for node in nodes)


def exported_symbols(library: Path) -> tuple[set[Symbol], set[str]]:
    """Versioned and unversioned symbols that LIBRARY defines and exports."""
    if not shutil.which("readelf"):
        raise SetupError("readelf is not installed: apt-get install binutils")
    done = subprocess.run(["readelf", "--dyn-syms", "-W", str(library)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupError(f"readelf {library}: {done.stderr.strip()}")
    versioned: set[Symbol] = set()
    bare: set[str] = set()
    for line in done.stdout.splitlines():
        fields = line.split()
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        binding, index, name = fields[4], fields[6], fields[7]
        if binding == "LOCAL" or index == "UND":
            continue
        plain, at, version = name.partition("@")
        if not at:
            bare.add(plain)
        elif index != "ABS" or plain != version.lstrip("@"):  # not the version itself
            versioned.add(Symbol(version.lstrip("@"), plain, version.startswith("@")))
    # A linker may name the versions themselves without @@.
    nodes = {s.version for s in versioned}
    return versioned, bare - nodes


def stock_library() -> Path:
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False)
    matches = re.findall(rf"{re.escape(LIBRARY)} \((.*?)\) => (\S+)", cache.stdout)
    native = [path for kind, path in matches if "64" in kind] or [path for _, path in matches]
    if not native:
        raise SetupError(f"no {LIBRARY} is installed: apt-get install libgomp1")
    return Path(native[0])


def _order(groups: Iterable[str]) -> list[str]:
    """GROUPS, those that are required first."""
    known = [g for g in REQUIRED_GROUPS + OPTIONAL_GROUPS if g in groups]
    return known + [g for g in groups if g not in known]


def check_abi(library: Path, script: Path, allowed: Sequence[str], json_out: Path | None) -> int:
    """Compare what LIBRARY exports with the version script; 0 if all required symbols are there and none else."""
    expected = parse_version_script(script.read_text(encoding="utf-8"))
    versioned, bare = exported_symbols(library)
    missing: dict[str, list[Symbol]] = {}
    for symbol in expected:
        missing.setdefault(symbol.group, [])
        if symbol not in versioned:
            missing[symbol.group].append(symbol)
    groups = _order(missing)
    known = {s.name for s in expected}
    exports = {str(s): s.name for s in versioned} | {name: name for name in bare}
    unexpected = sorted(e for e, name in exports.items() if name not in known and not name.startswith(tuple(allowed)))

    print(f"{library} against {script.name}")
    for group in groups:
        total = sum(s.group == group for s in expected)
        note = "" if group in REQUIRED_GROUPS else " (optional)"
        print(f"  {group + note:<24} {total - len(missing[group]):>4} of {total:>4}")
    for group in groups:
        for symbol in missing[group]:
            others = sorted(export for export, name in exports.items() if name == symbol.name)
            hint = f" (there is {', '.join(others)})" if others else ""
            print(f"missing {group}: {symbol}{hint}")
    for name in unexpected:
        print(f"unexpected export: {name}")
    if json_out:
        report = {
            "library": str(library),
            "missing": {g: [str(s) for s in missing[g]] for g in groups},
            "unexpected": unexpected,
        }
        json_out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    required = sum(s.group in REQUIRED_GROUPS for s in expected)
    absent = sum(len(missing.get(g, [])) for g in REQUIRED_GROUPS)
    optional_absent = sum(len(m) for g, m in missing.items() if g not in REQUIRED_GROUPS)
    print(
        f"{required - absent} of {required} required symbols, {absent} missing, "
        f"{optional_absent} optional missing, {len(unexpected)} unexpected exports"
    )
    return 1 if absent or unexpected else 0
