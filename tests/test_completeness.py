"""Whoever dispatches on a closed union knows every member of it, or says why not.

Each test fails with sentences: which member, which table, what to add.
"""

import ast
from collections.abc import Callable, Collection, Iterator, Mapping
from enum import IntEnum
from functools import cache, partial
from importlib import import_module
from inspect import getattr_static
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec
import pytest
from msgspec.structs import FieldInfo, fields

import kiplab.protocol
from kiplab.engine import (
    at_rest,
    clock,
    enabled,
    events,
    moves,
    observer,
    properties,
    routes,
    step,
    unclean_leader_epochs,
    world_moves,
    zookeeper_routes,
)
from kiplab.engine.cluster import Cluster
from kiplab.engine.events import Event
from kiplab.engine.nodes import Clients
from kiplab.figures.timeline import axis, lane_marks, legend_marks
from kiplab.plays import grammar, header, play, runner, transcript
from kiplab.plays.library import load
from kiplab.plays.runner import open_stage
from kiplab.plays.values import LOSSES
from kiplab.protocol import facts, guards, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import BrokerChange, Fact, Replayed
from kiplab.protocol.ids import ApiVersion
from kiplab.protocol.kraft import records
from kiplab.protocol.kraft.controller_state import ControllerTimers
from kiplab.protocol.messages import (
    ANSWERED,
    BODIES,
    Against,
    Api,
    ApiMessage,
    ApiRequest,
    ApiResponse,
    Body,
    Request,
    Response,
)
from kiplab.protocol.messages.api_message import ControlRequest, GatedRequest
from kiplab.protocol.releases import RELEASES, Mode
from kiplab.protocol.replica import fetching, isr_proposals
from kiplab.protocol.replica.broker_state import Broker, Lifecycle, Loss, Timers
from kiplab.rows import broker_log, sentences, step_labels
from kiplab.rows.columns import MarkKind
from kiplab.widgets.controls import broker_offers
from tests.engine import unrouted


class Table(NamedTuple):
    """A table that dispatches on a union, and what it leaves out with a reason."""

    union: str
    what: str
    where: str
    has: Callable[[], Collection[Any]]
    leaves_out: Mapping[Any, str] = {}
    allows: str = ""
    """Where a member that is left out is entered, with the reason."""


def offered() -> set[type]:
    """The families of moves that the largest menu comes to, possible or not."""
    cluster = open_stage(load("kafka-14139")).cluster
    cluster = step.step(cluster, moves.Elect("orders-0")).cluster
    menu = msgspec.structs.replace(enabled.EVERYTHING, advance_ms=(1,))
    return {type(move) for move in enabled._candidates(cluster, menu)}


@cache
def named_in(file: str | None, owner: str) -> set[str]:
    """The members of an enumeration that a file names: ``owner.MEMBER``."""
    assert file is not None
    nodes = ast.walk(ast.parse(Path(file).read_text(encoding="utf-8")))
    found = (n for n in nodes if isinstance(n, ast.Attribute))
    return {n.attr for n in found if ast.unparse(n.value).split(".")[-1] == owner}


def texts_in(file: str | None) -> set[str]:
    """The texts that a file compares with or looks up, each as a whole."""
    assert file is not None
    nodes = ast.walk(ast.parse(Path(file).read_text(encoding="utf-8")))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def driven() -> set[moves.Timer]:
    """The timers that a timed run fires by itself: control planes' are read off TIMERS."""
    of_brokers = {moves.Timer[name] for name in named_in(clock.__file__, "Timer")}
    return of_brokers | {timer for kind, timer in routes.TIMERS if kind is not Broker}


def with_a_button() -> set[moves.Timer]:
    return {moves.Timer[name] for name in named_in(broker_offers.__file__, "Timer")}


def answered_with() -> set[KafkaError]:
    """The errors that a rule of the protocol names, by itself or through its guard."""
    root = Path(kiplab.protocol.__file__ or "").parent
    rooms = ("kraft", "replica", "clients", "zookeeper")
    files = [f for room in rooms for f in (root / room).glob("*.py")]
    names = set().union(*(named_in(str(f), owner) for f in files for owner in ("KafkaError", "_E")))
    return {KafkaError[n] for n in names} | {g.error for g in guards.GUARDS.values() if g.error}


def fetch_errors() -> set[KafkaError]:
    """What a fetch may be refused with."""
    own = {KafkaError[name] for name in named_in(fetching.__file__, "KafkaError")}
    return own | {guards.GUARDS[id].error or KafkaError.NONE for id in FETCH_GUARDS}


def structs_of(kind: Any, seen: set[type] | None = None) -> Iterator[type]:
    """Every struct that the state is made of; messages and their parts have their own words."""
    seen = set() if seen is None else seen
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind in seen or kind is msgspec.Struct:
            return
        seen.add(kind)
        if not kind.__module__.startswith(messages.__name__):
            yield kind
        hints = get_type_hints(kind)
        for field in kind.__struct_fields__:
            yield from structs_of(hints[field], seen)
    for part in get_args(kind):
        yield from structs_of(part, seen)


def with_a_version(requests: Collection[type[Any]]) -> list[type[Any]]:
    """Those whose version hangs on who speaks to whom."""
    return [r for r in requests if any(_is_open_version(r, field) for field in fields(r))]


def _is_open_version(request: type[Any], field: FieldInfo) -> bool:
    hint = get_type_hints(request, include_extras=True)[field.name]
    return bool(hint == ApiVersion) and field.default is msgspec.NODEFAULT


FETCH_GUARDS = [id for id in guards.GUARDS if id.endswith("-fetch")]
TIMERS = (Timers, ControllerTimers)
NAMED_TABLES = Path(__file__).with_name("named_tables.txt").read_text("utf-8")


def named_tables() -> Iterator[Table]:
    """What NAMED_TABLES says."""
    for entry in NAMED_TABLES.strip().replace("\n    ", "; ").splitlines()[1:]:
        union, what, where, *reasons = entry.split("; ")
        leaves_out = named(*reasons) if reasons else {}
        has = HAS.get((union, what)) or partial(named, where)
        yield Table(union, what, where, has, leaves_out, *reasons)


def named(where: str) -> Any:
    """The value of NAME, of a file, as the entries have it; of NAME or NAME what both have."""
    names, path = where.split(" in ")
    module = import_module(path.removesuffix(".py").replace("/", "."))
    values = [getattr(module, name) for name in names.split(" or ")]
    return values[0] if len(values) == 1 else {*chain.from_iterable(values)}


HAS: dict[tuple[str, str], Callable[[], Collection[Any]]] = {
    ("body", "sentence"): lambda: having("in_words", ApiMessage),
    ("body", "rule"): lambda: {b for _, b in (*routes.ROUTES, *zookeeper_routes.JOINT_ROUTES)},
    ("request", "answer"): lambda: {BODIES[kind] for kind in ANSWERED.values()},
    ("response", "request that it answers"): lambda: {BODIES[kind] for kind in ANSWERED},
    ("request with a version", "version that is sent"): lambda: having("version_sent", ApiRequest),
    ("move", "effect"): lambda: {*step._OF_NODES, *world_moves.OF_THE_WORLD},
    ("move", "place in a menu"): offered,
    ("header verb", "reader"): lambda: (
        texts_in(header.__file__) | texts_in(play.__file__) | texts_in(runner.__file__)
    ),
    ("timer", "rule"): lambda: {
        timer for _, timer in (*routes.TIMERS, *zookeeper_routes.JOINT_TIMERS)
    },
    ("timer", "field"): lambda: {
        moves.Timer(f.replace("_", "-")) for kept in TIMERS for f in kept.__struct_fields__
    },
    ("timer", "verb"): lambda: {timer for timer in moves.Timer if timer.verb in grammar.VERBS},
    ("loss", "word"): lambda: set(map(Loss, LOSSES.values())),
    ("loss", "label"): lambda: {Loss(LOSSES[word]) for word in step_labels._CRASHES},
    ("timer", "turn in timed runs"): driven,
    ("timer", "button"): with_a_button,
    ("timer", "place in the largest menu"): lambda: enabled.EVERYTHING.timers,
    ("sign", "entry in the legend"): lambda: (
        {mark.id for mark in legend_marks.MARKS}
        | {why.removeprefix("down: ") for mark in legend_marks.MARKS for why in mark.signs}
    ),
    ("mode", "release"): lambda: {release.mode for release in RELEASES.values()},
    ("error", "rule that answers with it"): answered_with,
    ("property", "check"): lambda: {
        getattr(properties, name).id
        for room in (observer, unclean_leader_epochs, at_rest)
        for name in named_in(room.__file__, "properties")
        if isinstance(getattr(properties, name), properties.Property)
    },
}
"""By union and what its members have, the tables of NAMED_TABLES that are no name of a file."""
TABLES = (
    *named_tables(),
    Table(
        "request",
        "word on what its sender does without an answer",
        "UNANSWERED in kiplab/engine/routes.py",
        lambda: {request for _, request in routes.UNANSWERED},
        {request: why for (_, request), why in unrouted.NOT_MISSED.items()},
        "NOT_MISSED in tests/engine/unrouted.py",
    ),
    Table(
        "response",
        "log lines",
        "_ANSWERS in kiplab/rows/broker_log.py",
        lambda: {*broker_log._ANSWERS, *(r for r in get_args(Response) if r.unlogged)},
        allows="its own `unlogged`",
    ),
)

UNIONS: dict[str, Callable[[], Collection[Any]]] = {
    "body": lambda: get_args(Body),
    "request": lambda: get_args(Request),
    "request with a version": lambda: with_a_version(get_args(Request)),
    "response": lambda: get_args(Response),
    "move": lambda: get_args(moves.Move),
    "event": lambda: get_args(Event),
    "header verb": lambda: [name for name, verb in grammar.VERBS.items() if verb.header],
    "verb": lambda: [name for name, verb in grammar.VERBS.items() if not verb.header],
    "timer": lambda: list(moves.Timer),
    "record": lambda: get_args(records.Record),
    "replayed fact": lambda: get_args(Replayed),
    "change of a broker": lambda: list(BrokerChange),
    "mark": lambda: get_args(MarkKind),
    "sign": lambda: [*lane_marks.GLYPHS, *lane_marks.SIGNS],
    "struct of the state": lambda: [
        found for kind in {Cluster, *routes.node_kinds()} - {Clients} for found in structs_of(kind)
    ],
    "kind of guard": lambda: list(guards.GuardKind),
    "mode": lambda: list(Mode),
    "property": lambda: [
        found.id for found in vars(properties).values() if isinstance(found, properties.Property)
    ],
    "error": lambda: list(KafkaError),
    "error at which a leader waits": lambda: isr_proposals.WAITING,
    "error of a fetch": lambda: fetch_errors() - {KafkaError.NONE},
    "loss": lambda: list(Loss),
    "lifecycle": lambda: list(Lifecycle),
    "comparison": lambda: list(Against),
}


def having(method: str, base: type) -> set[type]:
    """The bodies below `base` whose class has a method of its own."""
    inherited = getattr_static(base, method)
    below = (b for b in get_args(Body) if issubclass(b, base))
    return {b for b in below if getattr_static(b, method) is not inherited}


def missing(tables: Collection[Table], members: Callable[[str], Collection[Any]]) -> list[str]:
    """What is in a union and in no table, a sentence each."""
    said = []
    for table in tables:
        has = table.has()
        for member in members(table.union):
            if member not in has and member not in table.leaves_out:
                reason = f", or the reason why not to {table.allows}" if table.allows else ""
                said.append(
                    f"the {table.union} {name(member)} has no {table.what}:"
                    f" add it to {table.where}{reason}"
                )
    return said


def name(member: Any) -> str:
    if isinstance(member, IntEnum):
        return member.name
    return member.__name__ if isinstance(member, type) else str(member)


def test_every_table_knows_every_member() -> None:
    said = missing(TABLES, lambda union: UNIONS[union]())
    assert not said, "\n".join(said)


@pytest.mark.parametrize("table", TABLES, ids=lambda t: f"{t.union}: {t.where}")
def test_what_is_left_out_has_a_reason_and_is_really_left_out(table: Table) -> None:
    assert all(table.leaves_out.values())
    has = table.has()
    both = [name(m) for m in table.leaves_out if m in has]
    strange = [name(m) for m in table.leaves_out if m not in UNIONS[table.union]()]
    assert not both + strange, f"take {', '.join(both + strange)} out of {table.allows}"


def test_every_message_that_is_written_down_is_in_the_union() -> None:
    def below(base: type[Any]) -> set[type[Any]]:
        found = {c for c in base.__subclasses__() if c.__module__.startswith("kiplab.protocol.")}
        return found.union(*(below(one) for one in found))

    for module in iter_modules(messages.__path__, f"{messages.__name__}."):
        import_module(module.name)
    abstract = {ApiRequest, ApiResponse, ControlRequest, GatedRequest}
    left = sorted(s.__name__ for s in below(ApiMessage) - abstract - set(get_args(Body)))
    assert not left, (
        f"write {', '.join(left)} in one of the FILES in kiplab/protocol/messages/__init__.py, or"
        " add their own to these, and take over all of its names there"
    )


def not_in_union(module: ModuleType, members: Collection[type]) -> list[str]:
    """The structs of a module that are neither in its union nor a part of a member."""
    own = [
        struct
        for struct in vars(module).values()
        if isinstance(struct, type)
        and issubclass(struct, msgspec.Struct)
        and struct.__module__ == module.__name__
    ]
    known = {base for member in members for part in structs_of(member) for base in part.__mro__}
    return [struct.__name__ for struct in own if struct not in known]


@pytest.mark.parametrize(
    ("module", "union"),
    [(moves, "Move"), (events, "Event"), (facts, "Fact"), (records, "Record")],
    ids=["move", "event", "fact", "record"],
)
def test_every_struct_that_is_written_down_is_in_its_union(module: ModuleType, union: str) -> None:
    left = not_in_union(module, get_args(getattr(module, union)))
    file = module.__name__.replace(".", "/") + ".py"
    assert not left, f"add {', '.join(left)} to the union {union} in {file}"


def test_a_struct_that_is_written_down_and_in_no_union_is_named() -> None:
    assert not_in_union(records, get_args(records.Record)[1:]) == ["RegisterBrokerRecord"]


@pytest.mark.parametrize(
    "union", [Body, moves.Move, Event, Fact], ids=["body", "move", "event", "fact"]
)
def test_every_member_can_be_told_apart_in_json(union: Any) -> None:
    tags = [str(member.__struct_config__.tag) for member in get_args(union)]
    twice = sorted({tag for tag in tags if tags.count(tag) > 1})
    assert not twice, f"give each its own tag: {', '.join(twice)}"
    msgspec.json.Decoder(union)


@pytest.mark.parametrize(
    ("where", "kinds"),
    [
        ("_ROUTINE in kiplab/rows/sentences.py", sentences._ROUTINE),
        ("_UNSPOKEN in kiplab/rows/sentences.py", sentences._UNSPOKEN),
        ("_SMALL_TALK in kiplab/figures/timeline/axis.py", axis._SMALL_TALK),
    ],
)
def test_no_list_names_an_event_that_is_none(where: str, kinds: tuple[str, ...]) -> None:
    known = {str(event.__struct_config__.tag) for event in get_args(Event)}
    assert not set(kinds) - known, f"{where} names events that are none"


def test_no_mark_of_a_transcript_belongs_to_an_event_that_is_none() -> None:
    assert {*transcript._MARKS, *transcript._QUIET} <= set(get_args(Event))


# --- trials: made-up members are missed ---------------------------------------------------------


LIST_OFFSETS = Api(label="ListOffsets", noun="look-up", lane="fetch")


class ListOffsetsRequest(ApiRequest, frozen=True, tag="list-offsets"):
    api = LIST_OFFSETS


class ListOffsetsResponse(ApiResponse, frozen=True, tag="list-offsets-reply"):
    api = LIST_OFFSETS


class MadeUpFact(msgspec.Struct, frozen=True, tag="made-up-fact"):
    pass


class MadeUpRecord(msgspec.Struct, frozen=True, tag=True):
    pass


class MadeUpMove(msgspec.Struct, frozen=True, tag="made-up-move"):
    pass


TRIALS = {
    "body": ListOffsetsRequest,
    "request": ListOffsetsRequest,
    "response": ListOffsetsResponse,
    "request with a version": ListOffsetsRequest,
    "event": MadeUpFact,
    "record": MadeUpRecord,
    "mark": "made up",
    "move": MadeUpMove,
    "verb": "made-up",
}


@pytest.mark.parametrize("union", TRIALS)
def test_a_made_up_member_is_missed_by_every_table(union: str) -> None:
    said = missing(TABLES, lambda u: [TRIALS[union]] if u == union else [])
    beginnings = [
        f"the {union} {name(TRIALS[union])} has no {table.what}: add it to {table.where}"
        for table in TABLES
        if table.union == union
    ]
    assert beginnings
    assert [s.partition(", or the reason why not to ")[0] for s in said] == beginnings


def test_it_is_told_where_the_reason_stands() -> None:
    said = missing(TABLES, lambda union: [MadeUpFact] if union == "event" else [])
    assert said[1] == (
        "the event MadeUpFact has no mark in the picture: add it to _MARKS in kiplab/rows/marks.py,"
        " or the reason why not to UNMARKED in tests/rows/left_out.py"
    )
