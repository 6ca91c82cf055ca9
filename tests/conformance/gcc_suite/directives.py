"""DejaGnu's directives, the { dg-something ... } in a test's comments, and the Tcl words in them."""

from __future__ import annotations

import dataclasses
import re

_TCL_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_DIRECTIVE_START = re.compile(r"\{[ \t]+(dg-[a-z-]+)(?=[ \t])")


def _closing_brace(text: str, start: int) -> int:
    """Index of the brace that closes the one at START, or -1."""
    depth = 0
    i = start
    while i < len(text):
        char = text[i]
        if char == "\\":
            i += 1
        elif char == "{":
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0:
                return i
        i += 1
    return -1


def _tcl_unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda m: _TCL_ESCAPES.get(m[1], m[1]), text, flags=re.S)


def tcl_words(text: str) -> list[str]:
    """Split TEXT into Tcl words: {braced} words stay raw, others are unescaped."""
    words: list[str] = []
    i = 0
    while i < len(text):
        if text[i].isspace():
            i += 1
        elif text[i] == "{":
            end = _closing_brace(text, i)
            end = len(text) if end < 0 else end
            words.append(text[i + 1 : end])
            i = end + 1
        elif text[i] == '"':
            end = i + 1
            while end < len(text) and text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            words.append(_tcl_unescape(text[i + 1 : end]))
            i = end + 1
        else:
            end = i
            while end < len(text) and not text[end].isspace():
                end += 2 if text[end] == "\\" else 1
            words.append(_tcl_unescape(text[i:end]))
            i = end
    return words


@dataclasses.dataclass(frozen=True)
class Directive:
    name: str
    args: list[str]


def find_directives(source: str) -> list[Directive]:
    """All { dg-something ... } directives of a test, in the order they stand."""
    found = []
    for line in source.splitlines():
        start = 0
        while match := _DIRECTIVE_START.search(line, start):
            end = _closing_brace(line, match.start())
            if end < 0 or not line[end - 1].isspace():
                # Unbalanced braces, in a regular expression say: take all up
                # to the last free-standing brace.
                end = max(line.rfind(" }"), line.rfind("\t}")) + 1
                if end <= match.end():
                    break
            found.append(Directive(match[1], tcl_words(line[match.end() : end])))
            start = end
    return found
