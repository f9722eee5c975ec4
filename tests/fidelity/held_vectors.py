"""Kafka's unit tests as this suite holds them: one entry for each vector, by its id.

`vectors.tsv` names every vector that was taken from Kafka's tests and code, with Kafka's own test,
and why it is not held where it is not. Which of our tests holds one is read off the tests: from
their names (``test_l26_...``) and from the ids of their rows (``"L26a-b 3.7"``).
"""

import csv
import importlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from kiplab.protocol import features, guards
from tests.protocol.looked_at import Vector, without

HERE = Path(__file__).parent
PROTOCOL = HERE.parent / "protocol"
_VECTOR = re.compile(r"\b([A-Z]{1,3}\d+)([a-z]?)(?:-([a-z]))?(?![\w.])")
_IN_NAME = re.compile(r"_([a-z]\d+[a-z]?)(?=_)")


class Listed(NamedTuple):
    """One vector of the list: its id, Kafka's test, and why it is not held (or nothing)."""

    id: str
    kafka_test: str
    left_out: str


class Held(NamedTuple):
    """A test of ours, and the releases that it is called with."""

    test: str
    releases: frozenset[str]


def listed() -> tuple[Listed, ...]:
    """Every vector that there is, in the order of the list."""
    with (HERE / "vectors.tsv").open(encoding="utf-8", newline="") as file:
        return tuple(Listed(*row) for row in list(csv.reader(file, delimiter="\t"))[1:])


def held() -> dict[str, list[Held]]:
    """For each id that is found, the tests that hold it."""
    found: dict[str, list[Held]] = {}
    for file in sorted(PROTOCOL.glob("test_vectors_*.py")):
        module = importlib.import_module(f"tests.protocol.{file.stem}")
        for name, ids in _ids_in(module).items():
            for id, releases in ids.items():
                found.setdefault(id, []).append(Held(name, frozenset(releases)))
    return found


def not_as_listed(vectors: tuple[Listed, ...], found: Mapping[str, list[Held]]) -> Iterator[str]:
    """What to mend: vectors that nothing holds and no reason excuses, and the other way round."""
    for vector in vectors:
        if not vector.left_out and vector.id not in found:
            yield f"no test holds {vector.id}: add it to tests/protocol, or say why in vectors.tsv"
        if vector.left_out and vector.id in found:
            yield f"{vector.id} is held: take the reason out of tests/fidelity/vectors.tsv"


def vectors_named(text: str) -> Iterator[str]:
    """The ids in a row's id: ``"L26a-b 3.7"`` names L26a and L26b."""
    for stem, first, last in _VECTOR.findall(text):
        for letter in range(ord(first or "\0"), ord(last or first or "\0") + 1):
            yield stem + (chr(letter) if first else "")


def vectors_of_name(test: str) -> Iterator[str]:
    """The ids in the name of a test: ``test_h2a_a_session_...`` names H2a."""
    return (id.capitalize() for id in _IN_NAME.findall(test))


def _ids_in(module: ModuleType) -> dict[str, dict[str, set[str]]]:
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_")}
    where = module.__name__.rpartition(".")[2]
    return {f"{where}::{name}": _ids_of(name, test) for name, test in tests.items()}


def _ids_of(name: str, test: Callable[..., None]) -> dict[str, set[str]]:
    """The vectors of one test, each with the releases that it is looked at with."""
    found: dict[str, set[str]] = {}
    rows = [
        row
        for mark in getattr(test, "pytestmark", ())
        if mark.name == "parametrize"
        for row in mark.args[1]
    ]
    everywhere = {release for row in rows for release in _releases(row)}
    for id in vectors_of_name(name):
        found.setdefault(id, set()).update(everywhere)
    for row in rows:
        for id in vectors_named(str(getattr(row, "id", ""))):
            found.setdefault(id, set()).update(_releases(row) or everywhere)
    return found


def _releases(row: Any) -> set[str]:
    values = getattr(row, "values", row)
    values = values if isinstance(values, tuple) else (values,)
    return {value.release for value in values if isinstance(value, features.Features)}


class RuleRow(NamedTuple):
    """A guard, the ids of the vectors that need it, and how many rows of the tests do."""

    guard: guards.Guard
    vectors: tuple[str, ...]
    rows: int


def rule_rows(vectors: Sequence[Vector], listed: Sequence[str]) -> tuple[RuleRow, ...]:
    """All rules in the order of their table. `listed` are the ids that Kafka's tests go by."""
    return tuple(_row(guard, vectors, listed) for guard in guards.GUARDS.values())


def _row(guard: guards.Guard, vectors: Sequence[Vector], listed: Sequence[str]) -> RuleRow:
    having = (vector for vector in vectors if vector.has(guard.id))
    failing = [vector for vector in having if not vector.passes(without(guard.id))]
    named = {id for vector in failing for id in ids_of(vector)}
    return RuleRow(guard, tuple(id for id in listed if id in named), len(failing))


def ids_of(vector: Vector) -> set[str]:
    """The vectors that one row of a test stands for, by its name and by its test's."""
    return set(vectors_named(vector.row)) | set(vectors_of_name(vector.test.__name__))
