"""Starts a program with the runtime preloaded; nothing of Python's packages is imported before."""

import os
import sys

_USAGE = """usage: python -m capstan run [--] SCRIPT [ARGS...]     runs a Python program
       python -m capstan run -m MODULE [ARGS...]      runs a module as a program
       python -m capstan run -c CODE [ARGS...]        runs a line of Python
       python -m capstan env                          the variables that it sets, for a shell
"""


def _environment(paths, before):
    """What the dynamic linker is to be told. Another OpenMP runtime that is preloaded stays behind ours."""
    kept = [path for path in before.get("LD_PRELOAD", "").replace(":", " ").split() if path not in paths]
    changed = {"LD_PRELOAD": ":".join(paths + kept)}
    if not before.get("CAPSTAN_ADOPT"):
        changed["CAPSTAN_ADOPT"] = "all"
    return changed


def main(arguments, paths):
    """Replaces this process; returns only an exit status for what was wrong."""
    bad = [path for path in paths if any(letter in path for letter in " :$")]
    if bad:
        print(f"capstan: the dynamic linker cannot preload {bad[0]}: a blank, a colon or a $ in a path means "
              "something else to it. Install the package in another folder", file=sys.stderr)
        return 125
    changed = _environment(paths, os.environ)
    if arguments == ["env"]:
        print("\n".join(f"export {name}='{value}'" for name, value in changed.items()))
        return 0
    if len(arguments) < 2 or arguments[0] != "run":
        sys.stderr.write(_USAGE)
        return 64
    command = arguments[2:] if arguments[1] == "--" else arguments[1:]
    os.environ.update(changed)
    os.execv(sys.executable, [sys.executable, *command])
