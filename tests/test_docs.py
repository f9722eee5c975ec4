"""The documentation: its links, examples and numbers hold; what is built has every public name."""

import doctest
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from html import unescape
from importlib import import_module
from inspect import isclass
from pathlib import Path

import pytest

import kiplab
from kiplab.cli.command import _parser
from kiplab.cli.common_options import COMMANDS
from kiplab.cli.play_commands import split
from tests.made_pages import ROOT

DOCS = ROOT / "assets" / "docs"
STORIES = [DOCS / f"{name}.md" for name in ("engine", "fidelity", "statistics")]
LECTURERS = ROOT / "labs" / "instructor"
NAMING = [*STORIES, ROOT / "README.md", LECTURERS / "README.md", LECTURERS / "class.md"]
WRITTEN = sorted(
    path
    for pattern in ("*.md", "assets/docs/*.md", "labs/**/*.md", "kiplab/**/README.md")
    for path in ROOT.glob(pattern)
)
PUBLIC = ("kiplab", "kiplab.fleet", "kiplab.classroom")
ESTIMATES = {"60,000", "100,000", "10,000", "1,000,000"}
"""Numbers of examples, and of a command: `make fleet-long`."""


def prose(file: Path) -> str:
    return re.sub(r"^```.*?^```", "", file.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(file: Path) -> set[str]:
    """The headings as GitHub and the pages name them in links."""
    heads = re.findall(r"^#+ (.*)", prose(file), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("file", WRITTEN, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_link_leads_to_a_file_and_a_heading(file: Path) -> None:
    text = re.sub(r"`[^`]*`", "", prose(file))
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)", text):
        target = (file.parent / path).resolve() if path else file
        assert target.is_file(), path
        assert target.suffix != ".md" or not anchor or anchor in anchors(target), anchor


@pytest.mark.parametrize("file", STORIES, ids=lambda file: file.stem)
def test_the_examples_of_a_page_print_what_it_says(file: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", file.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, file.stem, None, None)
    result = doctest.DocTestRunner().run(examples)
    assert (result.failed, result.attempted > 2) == (0, True)


@pytest.mark.parametrize("file", STORIES, ids=lambda file: file.stem)
def test_a_large_number_is_one_of_the_page_that_is_made_of_the_tests(file: Path) -> None:
    numbers = set(re.findall(r"\b\d{1,3}(?:,\d{3})+\b", file.read_text("utf-8")))
    made = (ROOT / "labs" / "fidelity.md").read_text("utf-8")
    assert {number for number in numbers if number not in made} <= ESTIMATES


@pytest.mark.parametrize("file", STORIES, ids=lambda file: file.stem)
def test_every_file_that_a_page_names_is_there(file: Path) -> None:
    named = re.findall(r"`((?:tests|kiplab)/[\w/.]+)`", file.read_text("utf-8"))
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("file", NAMING, ids=lambda file: str(file.relative_to(ROOT)))
def test_every_command_that_a_page_names_is_one(file: Path) -> None:
    text = file.read_text("utf-8")
    assert {*re.findall(r"`kiplab (\w+)", text)} <= {*COMMANDS}
    for line in re.findall(r"^\$ (?:\w+=\S+ )?kiplab ([^>\n]*)", text, re.MULTILINE):
        words, _ = split(shlex.split(line, comments=True))
        assert _parser().parse_args(words)


def public_members() -> Iterator[str]:
    for package in PUBLIC:
        for name in import_module(package).__all__:
            value = getattr(import_module(package), name)
            yield f"{package}.{name}"
            is_again = package != "kiplab" and getattr(kiplab, name, None) is value
            if isclass(value) and not is_again:
                yield from (f"{package}.{name}.{own}" for own in vars(value) if own[0] != "_")


@pytest.mark.long(quick="tests/test_docs.py::test_every_link_leads_to_a_file_and_a_heading")
def test_the_pages_are_built_without_a_warning_and_have_every_name(tmp_path: Path) -> None:
    for builder in ("html", "man"):
        sphinx = f"-m sphinx -W -n -q -b {builder} -d {tmp_path}/trees {DOCS} {tmp_path}/docs"
        subprocess.run([sys.executable, *sphinx.split()], check=True, cwd=ROOT)
    built = tmp_path / "docs"
    page = (built / "api.html").read_text("utf-8")
    described = set(re.findall(r'<dt class="sig[^>]* id="([^"]+)"', page))
    assert described == {*public_members()}
    manual = (built / "kiplab.1").read_text("utf-8")
    assert [name for name in COMMANDS if f"usage: kiplab {name}" not in unescape(manual)] == []
    for file in built.glob("*.html"):
        links = re.findall(r'(?:href|src)="(?!https?:|#|data:)([^"#?]+)', file.read_text("utf-8"))
        assert [link for link in links if not (built / link).exists()] == []
