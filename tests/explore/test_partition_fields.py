"""Every field of a cluster is in a state of the level "partition", or it is said why not.

A field is part of a state, or the same throughout a search, or told from other fields. What is none
of these would let a search prove falsehoods. A field of the first kind also needs a place in
`normal_partition.py` and in `compiled/packing.py`.
"""

import types
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.engine.cluster import Cluster, Message, MessageName, Observed
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search_terms import Halt, HaltReason, Progress
from kiplab.protocol import messages
from kiplab.protocol.kraft.controller_state import Contact, Controller, HeartbeatState
from kiplab.protocol.log import EpochStart, Log
from kiplab.protocol.registrations import PartitionRegistration, Registration
from kiplab.protocol.replica import broker_state
from tests.explore.bounds import PARTITION, begun

HELD = {body for body, kind in messages.KINDS.items() if kind in PARTITION.holds}
"""Messages that stay in flight; all others are on their way within an action only."""
FILE = "tests/explore/test_partition_fields.py"

IN_STATE: Mapping[type, tuple[str, ...]] = {
    Cluster: ("controller", "brokers", "messages", "observed"),
    Controller: ("registrations", "partitions", "heartbeats", "contacts"),
    Contact: ("broker", "epoch"),
    HeartbeatState: ("broker", "fenced"),
    Registration: ("broker", "epoch", "incarnation", "fenced", "in_controlled_shutdown"),
    PartitionRegistration: (
        "isr",
        "leader",
        "leader_epoch",
        "partition_epoch",
        "recovery",
        "elr",
        "last_known",
    ),
    broker_state.Broker: ("id", "incarnation", "durable", "process"),
    broker_state.Durable: ("replicas", "clean_epoch"),
    broker_state.DurableReplica: ("log", "checkpoint"),
    Log: ("epochs", "end"),
    EpochStart: ("epoch", "offset"),
    broker_state.Volatile: ("epoch", "image", "replicas", "items", "in_flight"),
    messages.MetadataUpdate: ("registrations", "partitions"),
    broker_state.Replica: (
        "leader",
        "leader_epoch",
        "partition_epoch",
        "high_watermark",
        "leading",
    ),
    broker_state.Leading: ("start_offset", "isr_state", "remotes"),
    broker_state.IsrState: ("isr", "sent", "recovery"),
    broker_state.RemoteReplica: ("broker", "end", "epoch", "observed"),
    messages.AlterPartitionItem: ("leader_epoch", "partition_epoch", "isr"),
    messages.IsrMember: ("broker", "epoch", "observed"),
    Message: ("name", "receiver", "receiver_incarnation", "body"),
    MessageName: ("sender", "incarnation", "kind"),
    messages.AlterPartitionRequest: ("broker", "broker_epoch", "items"),
    Observed: ("committed", "isr_epochs", "damaged", "excused"),
}
"""Fields that make one state another one."""

_ONE_PARTITION = "There is one partition."
_NO_CLOCK = "The level has no clock."
_NO_REASSIGNMENT = "The level refuses plays with a reassignment, and has no action for one."
_GRANTED = "A controlled shutdown is granted at once, or it is no action."
_NO_ZOOKEEPER = "The level is of KRaft."
_DIRECTORIES = "No action takes a log directory away, so that every replica stays where it is."
_SETTINGS = "No action changes a topic's settings."
CONSTANT: Mapping[type, Mapping[str, str]] = {
    Cluster: {
        "features": "No action switches a guard or a release.",
        "cut": "No action cuts or heals a link.",
        "timed": _NO_CLOCK,
        "now_ms": _NO_CLOCK,
        "forged": "No action is a raw request.",
        "inherited": "No action is an upgrade.",
        "consumers": "Who reads is no part of the level.",
        "producers": "Who writes, and waits for an answer, is no part of the level.",
    },
    Controller: {
        "epoch": "There is one controller, and it never fails.",
        "timers": _NO_CLOCK,
        "watches_sessions": _NO_CLOCK,
        "auto_leader_rebalance": "Only a clock lets the controller look for better leaders.",
        "checks_from_ms": _NO_CLOCK,
        "active_since_ms": _NO_CLOCK,
        "static_min_insync_replicas": _SETTINGS,
        "cluster_min_insync_replicas": _SETTINGS,
        "topics_with_min_insync": _SETTINGS,
        "elr_lists": "No action changes a topic's settings.",
    },
    HeartbeatState: {
        "last_contact_ms": _NO_CLOCK,
        "controlled_shutdown_offset": _GRANTED,
    },
    PartitionRegistration: {
        "name": _ONE_PARTITION,
        "replicas": _NO_REASSIGNMENT,
        "adding": _NO_REASSIGNMENT,
        "removing": _NO_REASSIGNMENT,
        "min_insync_replicas": _SETTINGS,
        "unclean_leader_election": _SETTINGS,
        "directories": _DIRECTORIES,
    },
    Registration: {"log_dirs": _DIRECTORIES},
    broker_state.Durable: {"directories": _DIRECTORIES},
    broker_state.DurableReplica: {"partition": _ONE_PARTITION, "directory": _DIRECTORIES},
    Log: {
        "start": "No action deletes records, and no play begins with a log that lacks some.",
        "transactions": "No action writes in a transaction, and no play begins with one.",
    },
    broker_state.Volatile: {
        "timers": _NO_CLOCK,
        "controller": "In KRaft it has one address.",
        "controller_epoch": "In KRaft no broker has one.",
        "control_plane": "In KRaft no broker has one.",
        "session": _NO_ZOOKEEPER,
        "checkpoints": "In KRaft the task runs from the start.",
        "stopped": _NO_ZOOKEEPER,
        "shutdown_tries": _NO_ZOOKEEPER,
        "isr_changes": _NO_ZOOKEEPER,
        "state": "KIP-343's heartbeats need ZooKeeper.",
    },
    broker_state.Leading: {"controller_epoch": _NO_ZOOKEEPER},
    broker_state.Replica: {
        "partition": _ONE_PARTITION,
        "replicas": _NO_REASSIGNMENT,
        "min_insync_replicas": _SETTINGS,
    },
    broker_state.RemoteReplica: {"last_fetch_ms": _NO_CLOCK, "last_caught_up_ms": _NO_CLOCK},
    messages.AlterPartitionItem: {
        "partition": _ONE_PARTITION,
        "recovery": "A leader proposes RECOVERED with every ISR.",
    },
    messages.AlterPartitionRequest: {"version": "No action switches a release."},
    Message: {"request": "Only replies have one, and every reply flows at once."},
    Observed: {"partition": _ONE_PARTITION},
}
"""Fields that have the same value in everything that a search meets."""

TOLD_FROM_OTHERS: Mapping[type, Mapping[str, str]] = {
    Cluster: {
        "broken": "What broke before makes no difference to what can happen.",
        "sent": "Counters for names: worked out of the messages in flight.",
    },
    Controller: {
        "next_offset": "Broker epochs only have to be new; they become numbers of incarnations.",
        "write_offset": "As next_offset: after a fail-over it decides which new number comes next.",
    },
    HeartbeatState: {
        "metadata_offset": "No action reads it: an unfencing broker brings its own.",
        "target_offset": "A broker that has seen its registration is beyond it.",
    },
    Registration: {"record_offset": "It is the broker epoch, or right behind that."},
    Log: {"flushed": "A crash takes the whole disk, or nothing of it."},
    broker_state.Volatile: {
        "lifecycle": "A process of a state is registered, and recovers when it is unfenced.",
        "ready_to_unfence": "As lifecycle.",
        "published": "A start ends with the image that has the registration.",
        "previous_epoch": "It has served once a process is registered.",
    },
    messages.MetadataUpdate: {
        "offset": "Whether an image is under way is told from what it would change."
    },
    broker_state.RemoteReplica: {
        "leader_end_at_last_fetch": "Only a run with a clock asks for it."
    },
    Message: {"lane": "It depends on the kind.", "connection": "No request times out."},
    Observed: {"unclean_epoch": "Only what the level is blind for depends on it."},
    Contact: {"last_contact_ms": _NO_CLOCK},
    MessageName: {"ordinal": "There is one request of each incarnation, one image to each broker."},
}
"""Fields that a normal form leaves out or sets anew."""


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
    if fields_of(annotation) and (annotation not in messages.KINDS or annotation in HELD):
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
def test_what_is_said_to_be_constant_is(kafka: str) -> None:
    met: dict[tuple[type, str], set[Any]] = defaultdict(set)
    for cluster in clusters_of_a_search(begun(kafka=kafka, off=("903",)), 1_000):
        collect(cluster, met)
    for (kind, name), values in met.items():
        assert len(values) == 1, (kind, name, values)
    assert {kind for kind, _ in met} == set(CONSTANT)


def clusters_of_a_search(start: Cluster, most: int) -> list[Cluster]:
    """What actions lead to, as the engine leaves it, breadth first."""
    met = [start]

    def noted(cluster: Cluster) -> Cluster:
        met.append(cluster)
        return PARTITION.normal(cluster)

    def stop(now: Progress) -> Halt | None:
        return Halt(HaltReason.STATES, most) if now.states >= most else None

    level = replace(PARTITION, normal=noted)
    search(EngineModel(level, start, {"writes": 1, "crashes": 1, "fences": 1}), (), stop)
    return met


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
