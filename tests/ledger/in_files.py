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
from tests.ledger.clauses import FieldHere, FieldOnWire, KafkasTest, OwnTest, ToldInLab
from tests.made_pages import LABS, ROOT

Wrong = Iterator[str]
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def tested(entry: OwnTest) -> Wrong:
    """A test of ours."""
    file, _, name = entry.test.partition("::")
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


def kafkas_test(entry: KafkasTest) -> Wrong:
    """One of Kafka's cases."""
    if entry.vector not in kafkas_tests():
        yield f"there is no vector {entry.vector} that is held: see tests/fidelity/vectors.tsv"


def field_here(entry: FieldHere) -> Wrong:
    """A field of the engine."""
    struct, _, field = entry.field.partition(".")
    if field not in _structs().get(struct, ()):
        yield f"there is no field {entry.field} on a struct of kiplab/protocol"


@cache
def _structs() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for module in pkgutil.walk_packages(kiplab.protocol.__path__, "kiplab.protocol."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, type) and issubclass(value, msgspec.Struct):
                found[name] = value.__struct_fields__
    return found


def field_on_wire(entry: FieldOnWire) -> Wrong:
    """A field that only the wire has."""
    if entry.wire not in _spoken().get(entry.of, ()):
        yield f"the judge neither writes nor reads {entry.wire} of {entry.of}: see {_TERMS.name}"


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


def told_in_lab(entry: ToldInLab) -> Wrong:
    """Words of a lab."""
    if not (LABS / f"{entry.lab}.ipynb").is_file():
        yield f"there is no lab {entry.lab}"
        return
    text = _sections(entry.lab).get(entry.heading)
    if text is None:
        yield f"lab {entry.lab} has no heading {entry.heading!r}"
    elif entry.words not in text:
        yield f"lab {entry.lab} does not say {entry.words!r} under {entry.heading!r}"


@cache
def _sections(lab: str) -> dict[str, str]:
    """What a lab says under each of its headings, on one line, without links and emphasis."""
    notebook = json.loads((LABS / f"{lab}.ipynb").read_text(encoding="utf-8"))
    found: dict[str, list[str]] = {}
    heading = ""
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            found.setdefault(heading, []).extend(_opened(source))
            continue
        for line in source.splitlines():
            heading = line.lstrip("# ") if re.match(r"#+ ", line) else heading
            found.setdefault(heading, []).append(line)
    return {name: _plain(" ".join(lines)) for name, lines in found.items()}


def _opened(source: str) -> Iterator[str]:
    """The explanations that a cell shows once its question is answered."""
    for id, part in re.findall(r'explain\("([^"]+)"(?:, "([^"]+)")?\)', source):
        file = EXPLANATIONS / f"{id}{'.' * bool(part)}{part}.md"
        yield file.read_text(encoding="utf-8")


def _plain(text: str) -> str:
    return " ".join(_LINK.sub(r"\1", text).replace("*", "").split())
