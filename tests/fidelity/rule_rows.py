"""Every rule of the table, with the vectors that fail once it is off."""

from collections.abc import Sequence
from typing import NamedTuple

from kiplab.protocol.guards import GUARDS, Guard
from tests.fidelity.held_vectors import vectors_named, vectors_of_name
from tests.protocol.looked_at import Vector, without


class RuleRow(NamedTuple):
    """A guard, the ids of the vectors that need it, and how many rows of the tests do."""

    guard: Guard
    vectors: tuple[str, ...]
    rows: int


def rule_rows(vectors: Sequence[Vector], listed: Sequence[str]) -> tuple[RuleRow, ...]:
    """All rules in the order of their table. `listed` are the ids that Kafka's tests go by."""
    return tuple(_row(guard, vectors, listed) for guard in GUARDS.values())


def _row(guard: Guard, vectors: Sequence[Vector], listed: Sequence[str]) -> RuleRow:
    having = (vector for vector in vectors if vector.has(guard.id))
    failing = [vector for vector in having if not vector.passes(without(guard.id))]
    named = {id for vector in failing for id in ids_of(vector)}
    return RuleRow(guard, tuple(id for id in listed if id in named), len(failing))


def ids_of(vector: Vector) -> set[str]:
    """The vectors that one row of a test stands for, by its name and by its test's."""
    return set(vectors_named(vector.row)) | set(vectors_of_name(vector.test.__name__))
