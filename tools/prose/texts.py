"""From a file to its prose: pieces of text with the line where each begins, and their sentences.

A piece is a paragraph of Markdown, a cell of a table, one comment, or one text that a user is
shown. Code stands in it as a placeholder, CODE, as what code says is no prose.
"""

import re

CODE = "CODE"


class Piece:
    """One stretch of prose. `kind`: paragraph, heading, cell, comment, haddock or message."""

    def __init__(self, line, text, kind):
        self.line, self.text, self.kind = line, text, kind


# --- Markdown ------------------------------------------------------------------------------


def plain(text):
    """Without links, emphasis and code."""
    text = re.sub(r"``.*?``|`[^`]*`", CODE, text, flags=re.S)
    text = re.sub(r"\{[a-z]+\}" + CODE, CODE, text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)|!?\[([^\]]*)\]\[[^\]]*\]",
                  lambda match: match[1] or match[2] or "", text)
    text = re.sub(r"<https?://[^>]*>|https?://\S+", CODE, text)
    text = re.sub(r"\\([^\w\s])", r"\1", text)
    return re.sub(r"\*\*|(?<!\w)[*_]|[*_](?!\w)", "", text)


def markdown(lines):
    """The pieces of a page. Blocks of code, HTML and directives are left out."""
    fence, block, start, kind = None, [], 0, "paragraph"

    def flush():
        nonlocal block
        if block:
            yield Piece(start, plain("\n".join(block)), kind)
        block = []

    previous_blank = True
    for number, line in enumerate(lines, 1):
        opened = re.match(r"\s*(`{3,}|~{3,}|:{3,})", line)
        if fence or opened:
            yield from flush()
            if not fence:
                fence = opened[1] if not opened[1].startswith(":") else None
            elif opened and opened[1].startswith(fence):
                fence = None
            continue
        text = line.strip()
        indented = line.startswith("    ") and previous_blank and not block
        previous_blank = not text or (indented and previous_blank)
        if not text or indented or text.startswith(("<", "[^")) or re.match(r"\([\w-]+\)=$", text):
            yield from flush()
        elif text.startswith("|"):
            yield from flush()
            for cell in re.split(r"(?<!\\)\|", text)[1:-1]:
                if not re.fullmatch(r"[\s:-]*", cell):
                    yield Piece(number, plain(cell.strip()), "cell")
        elif text.startswith("#"):
            yield from flush()
            yield Piece(number, plain(text.lstrip("# ")), "heading")
        else:
            item = re.match(r"(?:[-*+]|\d+\.)\s+(.*)", text)
            if item or not block:
                yield from flush()
                start, kind = number, "paragraph"
            block.append(item[1] if item else text)
    yield from flush()


# --- comments of C and Haskell ---------------------------------------------------------------

# A text or a character comes first, so that a comment sign inside it is none.
C_TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|/\*.*?\*/|//[^\n]*', re.S)
HASKELL_TOKEN = re.compile(
    r'"(?:\\.|\\\s+\\|[^"\\\n])*"|\'(?:\\.[^\']*|[^\'\\\n])\'|\{-(?!#).*?-\}|(?<![!#$%&*+./<=>?@\\^|~:-])--+(?![!#$%&*+./<=>?@\\^~:])[^\n]*',
    re.S)
MESSAGE_CALL = re.compile(r"cst_message\w*\s*\(\s*(?:\w+\s*,\s*)*$")
# What reads like a comment's code: a diagram, a rule of dashes, a directive of the tests or linters.
NO_PROSE = re.compile(r"^\s*(?:test:|NOLINT|clang-format|HLINT|[-=+|/\\<>^.\s]*$|>)")


# A licence's text is as lawyers wrote it.
LICENCE = re.compile(r"Permission is hereby granted|Redistribution and use in source|All rights reserved")


def comment_text(token):
    """The text of one comment, with the signs taken off, by lines."""
    token = re.sub(r"^/\*+<?!?|\*+/$|^\{-\|?|-\}$", "", token)
    return [re.sub(r"^\s*(?:///?[/!<]?|\*(?!\*)|--+(?:\s[|^*])?)?\s?", "", line)
            for line in token.split("\n")]


def paragraphs(lines, first, kind, code):
    """Comment lines to pieces: blank lines, examples and lists part them."""
    block, start, fenced = [], first, False
    for number, line in enumerate(lines + [""], first):
        text = line.strip()
        if text.startswith("```") or (text == "@" and kind == "haddock"):
            fenced = not fenced
            text = ""
        item = re.match(r"(?:[-*]|\d+[.)]|\(\w\)|[A-Z]\d\.|\[\w[^\]]*\]:?)\s+(.*)", text)
        drawn = line.startswith(("    ", "|")) and not block
        if fenced or not text or item or drawn or NO_PROSE.match(text):
            if block:
                yield Piece(start, code(" ".join(block)), kind)
            block = []
        if item and not fenced:
            text = item[1]
        if text and not fenced and not drawn and not NO_PROSE.match(text):
            if not block:
                start = number
            block.append(text)


def c_code(text):
    text = re.sub(r"`[^`]*`|#pragma[^.;]*|\"[^\"]*\"|\\[a-z]\b|https?://\S+", CODE, text)
    text = re.sub(r"\b\w+\([^)]*\)|\b\w+(?:->|\.)\w+[\w.]*(?<!\.)|\b\w*_\w+\b|\b\w+/[\w/.]*\w", CODE, text)
    return text


def haskell_code(text):
    text = re.sub(r"<[^>]*>|\$[a-z]\w*|@[^@]*@|'[\w.]+'|`[^`]*`|\"[^\"]*\"|https?://\S+|#[\w-]+#", CODE, text)
    text = re.sub(r"\b[A-Z]\w*(?:\.[A-Z]\w*)+\b|\b\w*_\w+\b|\b[a-z]+[A-Z]\w*\b|__|/(?=\w)|(?<=\w)/(?=\W|$)", CODE, text)
    return text.replace("CODECODE", CODE)


def source(text, token, code):
    """Comments of a file in order, lines of `//` or `--` that follow each other taken together."""
    def joined():
        run, run_end = None, 0
        for match in token.finditer(text):
            value = match[0]
            if value[0] in "\"'":
                continue
            line = text.count("\n", 0, match.start()) + 1
            single = value.startswith(("//", "--"))
            alone = not text[text.rfind("\n", 0, match.start()) + 1:match.start()].strip()
            if run and single and alone and line == run_end + 1 and not re.match(r"--\s[|^]", value):
                run[1].append(value)
                run_end = line
                continue
            if run:
                yield run
            run, run_end = (line, [value]), line + value.count("\n")
            if not single:
                yield run
                run = None
        if run:
            yield run

    for line, values in joined():
        kind = "haddock" if re.match(r"--\s[|^]|\{-\|", values[0]) else "comment"
        lines = [part for value in values for part in comment_text(value)]
        if any(LICENCE.search(part) for part in lines):
            continue
        yield from paragraphs(lines, line, kind, code)


def c_messages(text):
    """First texts of calls that tell the user something."""
    for match in re.finditer(r'(cst_message\w*)\s*\(((?:[^"();]*))((?:"(?:\\.|[^"\\])*"\s*)+)', text):
        value = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', match[3]))
        value = re.sub(r"%[-\d.*lhz]*[a-zA-Z]|\\.", CODE, value)
        yield Piece(text.count("\n", 0, match.start()) + 1, value, "message")


def haskell_messages(text):
    """Texts of four words and more: help, errors, what the command says."""
    for match in re.finditer(r'"((?:\\.|\\\s+\\|[^"\\\n])*)"', text):
        value = re.sub(r"\\\s+\\", "", match[1])
        value = re.sub(r"\\.", " ", value)
        if len(re.findall(r"[A-Za-z]{2,}", value)) >= 4 and not re.search(r"[{}=;]|--\w|/\w", value):
            yield Piece(text.count("\n", 0, match.start()) + 1, value, "message")


def pieces(path, text):
    """The prose of a file, by its ending."""
    if path.suffix == ".md":
        yield from markdown(text.split("\n"))
    elif path.suffix in {".c", ".h", ".cc", ".rs"}:
        if path.suffix == ".rs":
            text = re.sub(r"'(?=[a-z_]+\b(?!'))", " ", text)  # lifetimes
        yield from source(text, C_TOKEN, c_code)
        yield from c_messages(text)
    elif path.suffix in {".hs", ".hsc"}:
        yield from source(text, HASKELL_TOKEN, haskell_code)
        if "app" in path.parts or "src" in path.parts or "src-bench" in path.parts or "src-task" in path.parts:
            yield from haskell_messages(text)


# --- sentences -------------------------------------------------------------------------------

ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|cf|etc|vs|al|Fig|resp|approx|bytes|incl)|\b[A-Z])\.$")


def sentences(text):
    """Pieces end at a full stop, a question or an exclamation mark, or a semicolon."""
    text = " ".join(text.split())
    begun, result = 0, []
    for match in re.finditer(r"[.?!][)\"'”]?(?=\s+[\"'(“]?(?:[A-Z0-9]|CODE))|[.?!][)\"'”]?$", text):
        if ABBREVIATION.search(text[begun:match.end()]):
            continue
        result.append(text[begun:match.end()].strip())
        begun = match.end()
    if text[begun:].strip():
        result.append(text[begun:].strip())
    return result


def words(sentence):
    return re.findall(r"[A-Za-z0-9][\w'’.,-]*", sentence)
