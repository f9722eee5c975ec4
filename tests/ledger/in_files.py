"""Entries of the ledger that are found in files: tests, Kafka's cases, fields, words of labs.

Tests are found by reading their files, not by importing them; fields on the structs of the engine,
or among the names that the judge writes and reads by Kafka's schemas; words of labs under their
headings, with the explanations that open there. Each check yields sentences; no sentence means that
the entry holds.
"""

import ast
import importlib
import json
import pkgutil
import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

import kiplab.protocol
from kiplab.classroom.forms.held_back import EXPLANATIONS
from tests.fidelity.held_vectors import listed
from tests.ledger.in_plays import Shown, Wrong
from tests.made_pages import LABS, ROOT

_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


class OwnTest(Shown, frozen=True):
    """A test of ours, as ``file::name``."""

    kind = "a test"
    test: str

    def wrong(self) -> Wrong:
        file, _, name = self.test.partition("::")
        if not (ROOT / file).is_file():
            yield f"there is no file {file}"
        elif name not in _functions(file) or not name.startswith("test_"):
            yield f"there is no test {name} in {file}"


@cache
def _functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@cache
def kafkas_tests() -> dict[str, str]:
    """The vectors that are held, each with Kafka's own test."""
    return {vector.id: vector.kafka_test for vector in listed() if not vector.left_out}


class KafkasTest(Shown, frozen=True):
    """One of Kafka's own test cases, by the id that the fidelity page knows it by."""

    kind = "a test"
    vector: str

    def wrong(self) -> Wrong:
        if self.vector not in kafkas_tests():
            yield f"there is no vector {self.vector} that is held: see tests/fidelity/vectors.tsv"


class FieldHere(Shown, frozen=True):
    """A field of a message, a record or a state of the engine, as ``Struct.field``."""

    kind = "a field"
    field: str

    def wrong(self) -> Wrong:
        struct, _, field = self.field.partition(".")
        if field not in _structs().get(struct, ()):
            yield f"there is no field {self.field} on a struct of kiplab/protocol"


@cache
def _structs() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for module in pkgutil.walk_packages(kiplab.protocol.__path__, "kiplab.protocol."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, type) and issubclass(value, msgspec.Struct):
                found[name] = value.__struct_fields__
    return found


class FieldOnWire(Shown, frozen=True):
    """A field that the judge writes or reads by Kafka's own schema, and of which message."""

    kind = "a field"
    wire: str
    of: str

    def wrong(self) -> Wrong:
        if self.wire not in _spoken().get(self.of, ()):
            yield f"the judge neither writes nor reads {self.wire} of {self.of}: see {_TERMS.name}"


_TERMS = ROOT / "kiplab" / "judge" / "conversation" / "kafka_terms.py"


@cache
def _spoken() -> dict[str, set[str]]:
    """The names that the judge has for each API and record, read off the file that has the
    engine's terms and Kafka's side by side: its tables and cases say which code is about which.
    """
    tree = ast.parse(_TERMS.read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    spoken: dict[str, set[str]] = {}
    for name, code in _subjects(tree):
        kind = name.partition("(")[0].rpartition(".")[2].removesuffix("Request")
        texts = (text for part in code for text in _texts_below(part, functions, set()))
        spoken.setdefault(kind, set()).update(texts)
    return spoken


def _subjects(tree: ast.Module) -> Iterator[tuple[str, Sequence[ast.AST]]]:
    """What the file's tables and its `match` statements are about, each with the code for it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.match_case):
            yield ast.unparse(node.pattern), node.body
        elif isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            for key, value in zip(node.value.keys, node.value.values, strict=True):
                yield (
                    str(key.value) if isinstance(key, ast.Constant) else ast.unparse(key or value),
                    [value],
                )


def _texts_below(
    node: ast.AST, functions: dict[str, ast.FunctionDef], seen: set[str]
) -> Iterator[str]:
    """Every text in a piece of code and in the functions that it names."""
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in functions and part.id not in seen:
            seen.add(part.id)
            yield from _texts_below(functions[part.id], functions, seen)


class ToldInLab(Shown, frozen=True):
    """Words of a lab, under a heading of it; also those that open with an answer there."""

    kind = "a lab"
    lab: str
    heading: str
    words: str

    def wrong(self) -> Wrong:
        if not (LABS / f"{self.lab}.ipynb").is_file():
            yield f"there is no lab {self.lab}"
            return
        text = _sections(self.lab).get(self.heading)
        if text is None:
            yield f"lab {self.lab} has no heading {self.heading!r}"
        elif self.words not in text:
            yield f"lab {self.lab} does not say {self.words!r} under {self.heading!r}"


@cache
def _sections(lab: str) -> dict[str, str]:
    """What a lab says under each of its headings, on one line, without links and emphasis."""
    notebook = json.loads((LABS / f"{lab}.ipynb").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    heading = ""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.setdefault(heading, []).extend(opened(source))
            continue
        for line in source.splitlines():
            heading = line.lstrip("# ") if re.match(r"#+ ", line) else heading
            found.setdefault(heading, []).append(line)
    return {name: _plain(" ".join(lines)) for name, lines in found.items()}


def opened(source: str) -> Iterator[str]:
    """The explanations that a cell shows once its question is answered."""
    for id, part in re.findall(r'explain\("([^"]+)"(?:, "([^"]+)")?\)', source):
        file = EXPLANATIONS / f"{id}{'.' * bool(part)}{part}.md"
        yield file.read_text(encoding="utf-8")


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("*", "").split())
