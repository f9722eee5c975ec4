"""Every rule says what it does, which clause each check stands for, and where that was read."""

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import kiplab.protocol
from kiplab.protocol.guards import GUARDS, Guard
from kiplab.protocol.releases import RELEASES

PROTOCOL = Path(kiplab.protocol.__file__).parent
VALUES = ("__init__.py", "messages")
"""Files and rooms that hold what is said, and judge nothing."""
ROOMS = sorted(
    path for path in PROTOCOL.glob("*/*.py") if not {path.name, path.parent.name} & set(VALUES)
)
RULES = [PROTOCOL / "log.py", *ROOMS]
READING_DISTANCE = 6
"""So many lines above a check may its comment begin to be read with it."""
_OUTLINES = tomllib.loads(Path(__file__).with_name("kip_outlines.toml").read_text("utf-8"))
OUTLINES = {int(kip): tuple(places) for kip, places in _OUTLINES.items()}
"""The places that each KIP has."""
UNREAD = (320, 497, 570, 631)
"""KIPs whose whole text was not to be had: their clauses name a Kafka class and method too, unless
the place is a schema.
"""
CLAUSE = re.compile(r"KIP-(\d+), (?=[A-Z])(?!KIP|KAFKA)")
METHOD = re.compile(r"\b[A-Z]\w+\.[A-Za-z]\w+ ?[^.;]*?\(?\d\.\d\.\d")
READ_AT = {f"{r.code.major}.{r.code.minor}" for r in RELEASES.values()}
TAG = re.compile(r"\b(\d+\.\d+)\.\d+(?:-rc\d+)?\b")


class Ask(NamedTuple):
    """A line at which a rule asks for a guard, and the first line of the function around it."""

    file: Path
    line: int
    begins: int

    def __str__(self) -> str:
        return f"{self.file.relative_to(PROTOCOL.parent)}:{self.line}"


@pytest.mark.parametrize("path", RULES, ids=lambda p: p.name)
def test_a_rule_file_opens_with_its_theory(path: Path) -> None:
    opening = ast.get_docstring(ast.parse(path.read_text())) or ""
    lines = len(opening.splitlines())
    assert lines >= 5, (
        f"{path.name} opens with {lines} lines; say in about ten what comes in, in which order it"
        " is judged, what goes out, and what stays the same object"
    )


@pytest.mark.parametrize("path", RULES, ids=lambda p: p.name)
def test_a_public_rule_ends_with_its_source(path: Path) -> None:
    module = ast.parse(path.read_text())
    if (ast.get_docstring(module) or "").split("\n\n")[-1].startswith("Source: none; "):
        return  # Of the whole file Kafka has nothing.
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            last = (ast.get_docstring(node) or "").split("\n\n")[-1]
            assert re.search(r"(^|\. )Source: ", last), (
                f"{path.name}: end the docstring of {node.name} with a paragraph that begins with"
                " 'Source: ' and names Kafka's class and method, the release at which they were"
                " read, and the KIP; where Kafka has no such thing, say what it stands for"
            )


@pytest.mark.parametrize("path", RULES, ids=lambda p: p.name)
def test_a_source_names_class_method_and_the_release_at_which_they_were_read(path: Path) -> None:
    for source in _sources(path.read_text()):
        if source.startswith(("none;", "stands for")):
            continue
        tags = TAG.findall(source)
        assert tags, f"{path.name}: name the release, such as (3.5.0), in 'Source: {source}'"
        assert set(tags) <= READ_AT, (
            f"{path.name}: 'Source: {source}' names a release that is not in releases.txt"
        )


@pytest.mark.parametrize("path", sorted(PROTOCOL.rglob("*.py")), ids=lambda p: p.name)
def test_a_clause_names_a_place_that_its_kip_has(path: Path) -> None:
    text = _prose(path.read_text())
    for found in CLAUSE.finditer(text):
        places, rest = OUTLINES.get(int(found[1]), ()), text[found.end() :]
        assert any(rest.startswith(place) for place in places), (
            f"{path.name} names '{found[0]}{rest[:50]}...', which is no place of KIP-{found[1]} in"
            " OUTLINES: read the KIP, and add the heading as it is written there"
        )


@pytest.mark.parametrize("guard", GUARDS.values(), ids=lambda g: g.id)
def test_a_clause_names_a_place_and_not_the_kip_alone(guard: Guard) -> None:
    for ask in _asks(guard.id):
        beside = _prose("\n".join(_comments_beside(ask)))
        place = f'{guard.subject}, "' if guard.kip is None else f"{guard.subject}, "
        if guard.id.startswith("zookeeper."):
            # As old as Kafka's use of ZooKeeper: no text asks for it, and the code alone tells.
            assert METHOD.search(beside), f"{ask} asks for {guard.id}; name class, method, release"
            continue
        assert place in beside, f"{ask} asks for {guard.id}; name where {guard.subject} says so"
        if guard.kip in UNREAD and "Request" not in beside and "Response" not in beside:
            assert METHOD.search(beside), (
                f"{ask} asks for {guard.id}; the text of {guard.subject} was not to be had, so name"
                " the class, the method and the releases that do it too"
            )


@pytest.mark.parametrize("guard", GUARDS.values(), ids=lambda g: g.id)
def test_the_clause_of_a_guard_stands_beside_each_of_its_checks(guard: Guard) -> None:
    asks = list(_asks(guard.id))
    assert asks, f"no rule in kiplab/protocol asks for {guard.id}: add its check, or take it out"
    for ask in asks:
        assert guard.subject in "".join(_comments_beside(ask)), (
            f"{ask} asks for {guard.id}; write beside the check, at most {READING_DISTANCE} lines"
            f" above it, the clause that it stands for: what {guard.subject} says, in our words,"
            " and where it says so"
        )


def _prose(source: str) -> str:
    """Comments and docstrings as one line each may go on in the next."""
    return re.sub(r"\s+", " ", re.sub(r"\n\s*#", " ", source))


def _sources(text: str) -> Iterator[str]:
    for found in re.finditer(r'Source: (.*?)(?="""|\n\s*\n|\n[A-Z_])', text, re.DOTALL):
        yield " ".join(found[1].split())


def _asks(guard: str) -> list[Ask]:
    return _asked()[guard]


@cache
def _asked() -> dict[str, list[Ask]]:
    """Where each guard is asked for: the rules are read once for all of them."""
    found: dict[str, list[Ask]] = {guard: [] for guard in GUARDS}
    for path in sorted(PROTOCOL.rglob("*.py")):
        if path.name != "guards.py":
            for guard, line, begins in _lines(ast.parse(path.read_text())):
                found[guard].append(Ask(path, line, begins))
    return found


def _lines(tree: ast.Module) -> Iterator[tuple[str, int, int]]:
    """Per function the first line that names a guard; for a row of a table, its check's."""
    functions = {f.name: f for f in ast.walk(tree) if isinstance(f, ast.FunctionDef)}
    for function in functions.values():
        for guard, lines in _named(ast.walk(function)).items():
            yield guard, min(lines), function.lineno
    for row in (n for n in ast.walk(tree) if isinstance(n, ast.Tuple)):
        checks = [e.id for e in row.elts if isinstance(e, ast.Name) and e.id in functions]
        for guard in _named(row.elts):
            for check in (functions[name] for name in checks):
                yield guard, check.body[0].lineno, check.lineno


def _named(nodes: Iterable[ast.AST]) -> dict[str, list[int]]:
    """The guards that are among the nodes, and at which lines."""
    found: dict[str, list[int]] = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in GUARDS:
            found[node.value].append(node.lineno)
    return found


def _comments_beside(ask: Ask) -> Iterator[str]:
    lines = ask.file.read_text().splitlines()
    first = max(ask.begins - 1, ask.line - 1 - READING_DISTANCE)
    return (line for line in lines[first : ask.line] if line.lstrip().startswith("#"))
