"""The manual as a site: `make site`. What is chosen here, and why: adr/0021-a-manual-by-sphinx.md."""

import pathlib
import re

from docutils import nodes
from pygments.lexers.special import TextLexer

ROOT = pathlib.Path(__file__).resolve().parent.parent

project = "Capstan"
html_show_copyright = False
version = re.search(r"^version: *(\S+)", (ROOT / "capstan.cabal").read_text(), re.M)[1]
html_title = f"Capstan {version}"
extensions = ["myst_parser"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
exclude_patterns = ["_build"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["capstan.css"]
html_js_files = [("capstan.js", {"defer": "defer"})]
html_show_sphinx = False
html_copy_source = False
highlight_language = "none"
suppress_warnings = ["myst.header"]


NAMED_BLOCK = re.compile(r"^```(\w+) (\S+)\n", re.M)


def show_names(_app, _page, source):
    """The name of a block's file (tools/run-manual) becomes the block's caption."""
    source[0] = NAMED_BLOCK.sub(r"```{code-block} \1\n:caption: \2\n\n", source[0])


def name_source(_app, _env, node, contents):
    """A link to a file of the source, which is no page of the site, becomes the file's name."""
    target = node.get("reftarget", "").partition("#")[0]
    page = ROOT / "docs" / (node.get("refdoc", "") + ".md")
    there = (page.parent / target).resolve()
    if not target or not there.exists():
        return None
    path = str(there.relative_to(ROOT))
    text = contents.astext()
    shown = nodes.inline()
    if text and text not in (target, path):
        shown += nodes.Text(text + " (")
    shown += nodes.literal(path, path)
    if len(shown.children) > 1:
        shown += nodes.Text(")")
    return shown


def setup(app):
    app.add_lexer("cabal", TextLexer)  # Pygments does not know this language
    app.connect("source-read", show_names)
    app.connect("missing-reference", name_source)
