"""How `make docs` builds the documentation: the pages of this folder, and what the code says.

A page may hold one of these lines: `<!-- api PACKAGE -->` becomes the reference of a package's
public names, `<!-- commands -->` the help of every command, `<!-- page FILE -->` a file of the
repository. Links are written as GitHub follows them: to a file that is a page here they lead to
the page, to any other file of the repository they become its name.
"""

import argparse
import inspect
import posixpath
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from textwrap import indent

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.pycode import ModuleAnalyzer

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parents[1]
sys.path.insert(0, str(ROOT))

import kiplab  # noqa: E402
from kiplab.cli import command  # noqa: E402
from kiplab.extras import homes_of  # noqa: E402

project, author = "kiplab", "The kiplab authors"
release = version = kiplab.__version__
project_copyright = "The kiplab authors; code Apache-2.0, labs CC BY 4.0"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme, html_title = "furo", f"kiplab {release}"
html_show_sphinx = html_copy_source = False
myst_heading_anchors = 4
default_role = "code"  # docstrings mark code by single backticks
autodoc_typehints_format, autodoc_member_order = "short", "bysource"
nitpick_ignore_regex = [("py:.*", ".*")]  # a signature names types that are nobody's to import
toc_object_entries = False
man_pages = [("kiplab", "kiplab", "break a small Kafka, and see which rule saves it", author, 1)]
HERE = "assets/docs"
PAGE = re.compile(r"<!-- page (\S+) -->\s*")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#)([^)#\s]+)((?:#[^)]*)?)\)")
PAGES = {
    found[1]: path.stem
    for path in sorted(DOCS.glob("*.md"))
    if (found := PAGE.fullmatch(path.read_text("utf-8")))
} | {f"{HERE}/{path.name}": path.stem for path in DOCS.glob("*.md")}
"""Files of the repository, and the page that shows each."""


# --- the public names -----------------------------------------------------------------------------


def api(package: str) -> str:
    """Every public name, in the order of the alphabet, with the public members of its class."""
    names = sorted(import_module(package).__all__)
    parts = [_name(package, name) for name in names]
    return "\n".join(["```{eval-rst}", f".. py:currentmodule:: {package}", "", *parts, "```"])


def _name(package: str, name: str) -> str:
    value = getattr(import_module(package), name)
    if package != "kiplab" and getattr(kiplab, name, None) is value:
        return f".. py:data:: {name}\n\n   The same as `kiplab.{name}`.\n"
    if inspect.isclass(value):
        kind = "exception" if issubclass(value, Exception) else "class"
        return f".. auto{kind}:: {name}\n   :members:\n   :undoc-members:\n"
    if inspect.isfunction(value):
        return f".. autofunction:: {name}\n"
    if callable(value):  # the package `explore`, which can be called
        parameters = inspect.signature(value).parameters.values()
        bare = inspect.Signature([each.replace(annotation=each.empty) for each in parameters])
        said = indent(inspect.getdoc(value) or "", "   ")
        return f".. py:function:: {name}{bare}\n\n{said}\n"
    if inspect.ismodule(value):
        return f".. py:data:: {name}\n\n   The package `{value.__name__}`, below.\n"
    home = ModuleAnalyzer.for_module(f"{package}.{homes_of(package)[name]}")
    said = " ".join(home.find_attr_docs()["", name])
    return f".. py:data:: {name}\n\n   {said}\n"


# --- the commands ---------------------------------------------------------------------------------


def commands() -> str:
    """The help of `kiplab` and of each of its commands, from their own parsers."""
    return "\n".join(_command(command._parser(), "##"))


def _command(parser: argparse.ArgumentParser, level: str) -> Iterator[str]:
    parser.formatter_class = lambda prog: argparse.HelpFormatter(prog, width=78)
    yield f"{level} {parser.prog}\n\n```text\n{parser.format_help().strip()}\n```\n"
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _command(below, level if level == "###" else level + "#")


# --- Sphinx ---------------------------------------------------------------------------------------


def read(_app: object, page: str, source: list[str]) -> None:
    """Puts in place of a line what it stands for, and turns links to files into links to pages."""
    text, file = source[0], f"{HERE}/{page}.md"
    if found := PAGE.fullmatch(text):
        file, text = found[1], (ROOT / found[1]).read_text("utf-8")
    text = LINK.sub(lambda found: _link(posixpath.dirname(file), *found.groups()), text)
    text = re.sub(r"<!-- api (\S+) -->", lambda found: api(found[1]), text)
    source[0] = text.replace("<!-- commands -->", commands())


def _link(folder: str, text: str, path: str, anchor: str) -> str:
    target = posixpath.normpath(posixpath.join(folder, path))
    if target in PAGES:
        return f"[{text}]({PAGES[target]}.md{anchor})"
    return f"`{target}`" if target.endswith(text) else f"{text} (`{target}`)"


def list_links(app: Sphinx, problem: object) -> None:
    """Says which links leave the folder. Nothing opens them: a build needs no network."""
    pages = [] if problem else [app.env.get_doctree(name) for name in app.env.found_docs]
    links = {link.get("refuri", "") for page in pages for link in page.findall(nodes.reference)}
    outside = sorted(link for link in links if link.startswith("http"))
    if app.builder.name == "html":
        print(f"{len(outside)} links lead elsewhere and were not opened:", *outside, sep="\n  ")


def setup(app: Sphinx) -> None:
    app.connect("source-read", read)
    app.connect("build-finished", list_links)
