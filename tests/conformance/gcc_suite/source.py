"""The testsuite's sources: taken once from the tarball of Debian's gcc-N-source package."""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import json
import re
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

from gcc_suite import SetupError


@dataclasses.dataclass(frozen=True)
class SourceTree:
    version: str  # as in the tarball's name
    root: Path  # has libgomp/ and include/
    shim: Path  # headers that only a configured build tree would have
    key: str  # changes when the extracted text does
    branch_tests: frozenset[str]  # tests newer than the release that the system's library is built from

    @property
    def testsuite(self) -> Path:
        return self.root / "libgomp" / "testsuite"

    @property
    def map(self) -> Path:
        return self.root / "libgomp" / "libgomp.map"


# What tests include from a configured libgomp build directory.
_SHIM_HEADERS = {
    "config.h": "#define HAVE_PTHREAD_AFFINITY_NP 1\n",
    "gstdint.h": "#include <stdint.h>\n",
}
_WANTED_MEMBER = re.compile(r"[^/]+/(libgomp/testsuite/.+|libgomp/[^/]+\.(?:h|map)|include/gomp-constants\.h)$")
_TARBALL_NAME = re.compile(r"gcc-(\d+(?:\.\d+)*)(?:-[^/]*)?\.tar\.(?:xz|gz|bz2)$")


def find_tarball(override: str | None) -> tuple[Path, str]:
    """The newest tarball an installed gcc-N-source has, and its version."""
    paths = [override] if override else glob.glob("/usr/src/gcc-*/gcc-*.tar.*")
    found = []
    for path in paths:
        if match := _TARBALL_NAME.search(path):
            found.append((tuple(int(n) for n in match[1].split(".")), match[1], Path(path)))
    if not found:
        if override:
            raise SetupError(f"{override}: not named like gcc-VERSION.tar.xz")
        raise SetupError("no GCC source tarball under /usr/src: apt-get install gcc-12-source")
    _, version, tarball = max(found)
    if not tarball.is_file():
        raise SetupError(f"{tarball}: no such file")
    return tarball, version


def _update_patch(tarball: Path) -> tuple[Path | None, bool]:
    """Debian's patch from the release to a later state of its branch, and whether the package is built with it."""
    debian = tarball.parent / "debian"
    patch = debian / "patches" / "git-updates.diff"
    if not patch.is_file():
        return None, False
    try:
        rules = (debian / "rules.patch").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return patch, False
    return patch, bool(re.search(r"^[^#\n]*\bgit-updates\b", rules, re.M))


def _apply_update_patch(patch: Path, root: Path, only_new: bool) -> list[str]:
    """Apply the part of PATCH that is about files wanted here; the names of those added.

    Files that are not exactly what the patch expects are left alone.
    """
    added = []
    text = patch.read_text(encoding="utf-8", errors="surrogateescape")
    pieces = re.split(r"^--- (\S+).*\n\+\+\+ (\S+).*\n", text, flags=re.M)
    for old_name, new_name, body in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=False):
        name = new_name.split("/", 2)[-1]  # b/src/libgomp/...
        if not _WANTED_MEMBER.match("x/" + name) or ".." in name.split("/"):
            continue
        target = root / name
        is_new = old_name == "/dev/null"
        if is_new:
            lines: list[str] = []
        elif target.is_file() and not only_new:
            lines = target.read_text(encoding="utf-8", errors="surrogateescape").splitlines(keepends=True)
        else:
            continue
        result = _apply_hunks(lines, body)
        if result:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text("".join(result), encoding="utf-8", errors="surrogateescape")
            if is_new:
                added.append(name)
    return added


def _apply_hunks(lines: list[str], body: str) -> list[str] | None:
    result = list(lines)
    shift = 0
    header = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
    rows = body.splitlines(keepends=True)
    i = 0
    while i < len(rows):
        match = header.match(rows[i])
        i += 1
        if not match:
            continue
        old_left, new_left = (int(match[g]) if match[g] else 1 for g in (2, 4))
        old: list[str] = []
        new: list[str] = []
        while i < len(rows) and (old_left > 0 or new_left > 0):
            mark, rest = rows[i][:1], rows[i][1:]
            if mark in (" ", "-", "\n"):
                old.append(rest or "\n")
                old_left -= 1
            if mark in (" ", "+", "\n"):
                new.append(rest or "\n")
                new_left -= 1
            i += 1
        at = max(int(match[1]) - 1, 0) + shift
        if result[at : at + len(old)] != old:
            return None
        result[at : at + len(old)] = new
        shift += len(new) - len(old)
    return result


def source_tree(cache: Path, override: str | None) -> SourceTree:
    """Extract what the tests need from the tarball, once."""
    tarball, version = find_tarball(override)
    patch, patch_used = _update_patch(tarball)
    origin = f"{tarball.name} {tarball.stat().st_size} {_SHIM_HEADERS}"
    if patch:
        origin += f" {patch.name} {patch.stat().st_size} {patch_used}"
    key = hashlib.sha256(origin.encode()).hexdigest()[:12]
    base = cache / version
    root = base / "source"
    stamp = root / "stamp.json"
    try:
        facts = json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        facts = {}
    if facts.get("key") != key:
        print(f"extracting the testsuite from {tarball.name} (once)", file=sys.stderr)
        base.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(prefix="source.", dir=base))
        try:
            _extract(tarball, fresh)
            added = _apply_update_patch(patch, fresh, only_new=not patch_used) if patch else []
            (fresh / "shim").mkdir()
            for name, text in _SHIM_HEADERS.items():
                (fresh / "shim" / name).write_text(text, encoding="utf-8")
            facts = {"key": key, "branch_tests": [] if patch_used else added}
            (fresh / stamp.name).write_text(json.dumps(facts), encoding="utf-8")
            if root.exists():
                shutil.rmtree(root)
            fresh.chmod(0o755)
            fresh.rename(root)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    prefix = "libgomp/testsuite/"
    branch_tests = frozenset(name[len(prefix) :] for name in facts["branch_tests"] if name.startswith(prefix))
    return SourceTree(version, root, root / "shim", key, branch_tests)


def _extract(tarball: Path, into: Path) -> None:
    count = 0
    with tarfile.open(tarball, "r|*") as archive:
        for member in archive:
            match = _WANTED_MEMBER.match(member.name)
            if not match or not member.isreg() or ".." in match[1].split("/"):
                continue
            content = archive.extractfile(member)
            if content is None:
                continue
            path = into / match[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
            count += 1
    if count == 0:
        raise SetupError(f"{tarball}: no libgomp/testsuite in it")
