"""Every field of a cluster is in a state of the level "partition", or it is said why not."""

from __future__ import annotations

import types
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from kiplab.engine.cluster import Cluster
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import do, offered
from kiplab.explore.levels.partition_fields import CONSTANT, IN_STATE, TOLD_FROM_OTHERS
from kiplab.explore.search.engine_model import spent
from kiplab.explore.search_terms import Budgets
from kiplab.protocol.messages import KINDS
from tests.explore.conftest import Start

PARTITION = level_named("partition")
HELD = {body for body, kind in KINDS.items() if kind in PARTITION.holds}
"""Messages that stay in flight; all others are on their way within an action only."""


def fields_of(kind: type) -> tuple[str, ...]:
    """Of a struct or a named tuple; nothing else is looked into."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    named: tuple[str, ...] = getattr(kind, "_fields", ())
    return named


def parts_of(annotation: Any) -> Iterator[type]:
    """The structs that a field may hold."""
    for part in get_args(annotation):
        yield from parts_of(part)
    if not isinstance(annotation, type) or isinstance(annotation, types.GenericAlias):
        return
    if fields_of(annotation) and (annotation not in KINDS or annotation in HELD):
        yield annotation


def structs_of_a_state() -> set[type]:
    """Whatever is reached from Cluster through fields that are part of a state."""
    found: set[type] = {Cluster}
    todo: list[type] = [Cluster]
    for kind in todo:
        hints = get_type_hints(kind)
        inside = {p for name in IN_STATE.get(kind, ()) for p in parts_of(hints[name])}
        todo += sorted(inside - found, key=lambda part: part.__name__)
        found |= inside
    return found


def test_the_tables_speak_of_every_struct_of_a_state_and_of_no_other() -> None:
    assert structs_of_a_state() == set(IN_STATE)
    assert {*CONSTANT, *TOLD_FROM_OTHERS} <= set(IN_STATE)


@pytest.mark.parametrize("kind", IN_STATE, ids=lambda kind: kind.__name__)
def test_every_field_is_in_one_of_the_tables(kind: type) -> None:
    said = [*IN_STATE[kind], *CONSTANT.get(kind, ()), *TOLD_FROM_OTHERS.get(kind, ())]
    assert sorted(said) == sorted(fields_of(kind)), (
        f"say in levels/partition_fields.py what becomes of every field of {kind.__name__}, and"
        " give those that are part of a state a place in the normal form and in the compiled words"
    )


def test_what_is_said_to_be_constant_is(start: Start) -> None:
    met: dict[tuple[type, str], set[Any]] = defaultdict(set)
    for cluster in clusters_of_a_search(start(off=("903",)), 1_500):
        collect(cluster, met)
    for (kind, name), values in met.items():
        assert len(values) == 1, (kind, name, values)
    assert {kind for kind, _ in met} == set(CONSTANT)


def clusters_of_a_search(start: Cluster, most: int) -> Iterator[Cluster]:
    """What actions lead to, as the engine leaves it, breadth first."""
    full: Budgets = (1, 1, 1)
    first = PARTITION.admit(start), full
    yield start
    known, todo, names = {first}, [first], ("writes", "crashes", "fences")
    for cluster, left in todo:
        for kind, action in offered(PARTITION, cluster):
            after = spent(left, names, kind.costs(cluster, action))
            done = None if after is None else do(PARTITION, cluster, action)
            if after is None or done is None or not kind.came(done.cluster, action):
                continue
            yield done.cluster
            state = PARTITION.normal(done.cluster), after
            if state not in known and len(known) < most:
                known.add(state)
                todo.append(state)


def collect(value: Any, met: dict[tuple[type, str], set[Any]]) -> None:
    """Add what the constant fields of `value`, and of everything in it, hold."""
    kind = type(value)
    if kind in IN_STATE:
        for name in CONSTANT.get(kind, ()):
            if not empty_in_a_normal_form(value, name):
                met[kind, name].add(getattr(value, name))
        for name in (*IN_STATE[kind], *TOLD_FROM_OTHERS.get(kind, ())):
            collect(getattr(value, name), met)
    elif isinstance(value, tuple):
        for part in value:
            collect(part, met)


def empty_in_a_normal_form(value: Any, name: str) -> bool:
    """In the metadata that a leader keeps, a partition is its name and its partition epoch."""
    return getattr(value, "replicas", None) == () and name != "name"
