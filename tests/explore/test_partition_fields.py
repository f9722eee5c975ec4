"""Every field of a cluster is in a state of the level "partition", or it is said why not."""

import types
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from kiplab.engine.cluster import Cluster
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import do, offered
from kiplab.explore.search.engine_model import spent
from kiplab.explore.search_terms import Budgets
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.messages import KINDS
from tests.explore.conftest import Start
from tests.explore.partition_fields import CONSTANT, IN_STATE, TOLD_FROM_OTHERS

PARTITION = level_named("partition")
HELD = {body for body, kind in KINDS.items() if kind in PARTITION.holds}
"""Messages that stay in flight; all others are on their way within an action only."""
FILE = "tests/explore/partition_fields.py"


class MadeUp(msgspec.Struct):
    """A part of a state that no table speaks of."""


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
    """What is reached from Cluster and its Controller by fields that are part of a state."""
    found: set[type] = {Cluster, Controller}
    todo: list[type] = [Cluster, Controller]
    for kind in todo:
        hints = get_type_hints(kind)
        inside = {p for name in IN_STATE.get(kind, ()) for p in parts_of(hints[name])}
        todo += sorted(inside - found, key=lambda part: part.__name__)
        found |= inside
    return found


def structs_amiss(there: set[type]) -> Iterator[str]:
    """What the tables lack of these structs, and what they have beside them."""
    for kind in sorted(there - set(IN_STATE), key=lambda part: part.__name__):
        yield (
            f"a state holds {kind.__name__} now: add it to IN_STATE in {FILE} with its fields that"
            " make a difference, and the others to CONSTANT or TOLD_FROM_OTHERS"
        )
    for kind in {*IN_STATE, *CONSTANT, *TOLD_FROM_OTHERS} - there:
        yield f"no state of this level holds {kind.__name__}: take it out of {FILE}"


def fields_amiss(kind: type, fields: Sequence[str]) -> Iterator[str]:
    """What the tables lack of the fields of a struct, and what they say that is not so."""
    said = [*IN_STATE[kind], *CONSTANT.get(kind, ()), *TOLD_FROM_OTHERS.get(kind, ())]
    for field in fields:
        if field not in said:
            yield (
                f"nothing is said of {kind.__name__}.{field} in {FILE}: add it to IN_STATE if"
                " situations differ by it (then it needs a place in levels/normal_partition.py and"
                " in the words of explore/compiled too), or with the reason to CONSTANT or"
                " TOLD_FROM_OTHERS"
            )
    for field in said:
        if field not in fields:
            yield f"{kind.__name__} has no field {field}: take it out of {FILE}"
        elif said.count(field) > 1:
            yield f"{kind.__name__}.{field} is in two of the tables of {FILE}: one is enough"


def test_the_tables_speak_of_every_struct_of_a_state_and_of_no_other() -> None:
    said = list(structs_amiss(structs_of_a_state()))
    assert not said, "\n".join(said)


@pytest.mark.parametrize("kind", IN_STATE, ids=lambda kind: kind.__name__)
def test_every_field_is_in_one_of_the_tables(kind: type) -> None:
    said = list(fields_amiss(kind, fields_of(kind)))
    assert not said, "\n".join(said)


def test_a_field_and_a_struct_that_are_made_up_are_named() -> None:
    said = fields_amiss(Cluster, (*fields_of(Cluster), "made_up"))
    (field,) = (line for line in said if "made_up" in line)
    assert field.startswith(f"nothing is said of Cluster.made_up in {FILE}: add it to IN_STATE if")
    (struct,) = structs_amiss({*IN_STATE, MadeUp})
    assert struct.startswith(f"a state holds MadeUp now: add it to IN_STATE in {FILE} with its")


@pytest.mark.parametrize("kafka", ["3.5", "4.0"])
def test_what_is_said_to_be_constant_is(start: Start, kafka: str) -> None:
    met: dict[tuple[type, str], set[Any]] = defaultdict(set)
    for cluster in clusters_of_a_search(start(kafka=kafka, off=("903",)), 1_000):
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
            after = spent(left, names, kind.cost(cluster, action))
            done = None if after is None else do(PARTITION, cluster, action)
            if after is None or done is None or not done.came:
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
