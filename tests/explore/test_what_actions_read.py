"""Nobody says what an action reads: it is found out, so that no list of it can be incomplete.

Every kind of action is made nosy, one after the other and for every part of a state: it comes to
nothing where that part looks odd. The memoised model has to follow the engine all the same.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from kiplab.engine import observer, route_kinds, routes
from kiplab.engine.cluster import Cluster, Message
from kiplab.engine.truth import truth
from kiplab.explore.levels.level_table import Action, Kind, Level
from kiplab.explore.search import hidden_parts as pieces
from kiplab.explore.search.action_effects import Option
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.hidden_parts import UnforeseenError
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.protocol.messages import MetadataUpdate
from kiplab.protocol.replica.broker_state import Broker
from tests.explore.bounds import PARTITION, begun, bounds
from tests.explore.test_memoised_model import assert_same_graph

KINDS = [kind.name for kind in PARTITION.within(bounds(1, 1, 0)).kinds]
REPEATED = pytest.mark.long(quick="::test_whatever_an_action_reads_it_is_remembered_under")
Peek = Callable[[Cluster, Action], int]
"""A number told from some part of a cluster; an odd one brings a nosy action to nothing."""


def own(cluster: Cluster, action: Action) -> Broker:
    return next(b for b in cluster.brokers if b.id == action.node)


def others(cluster: Cluster, action: Action) -> list[Broker]:
    return [b for b in cluster.brokers if b.id != action.node]


def in_flight(cluster: Cluster, kind: str) -> list[Message]:
    return [m for m in cluster.messages if m.name.kind == kind]


def image_of(cluster: Cluster, action: Action) -> list[MetadataUpdate]:
    process = own(cluster, action).process
    return [process.image] if process and process.image else []


def ends_of_others(cluster: Cluster, action: Action) -> int:
    return sum(b.durable.replicas[0].log.end for b in others(cluster, action))


PEEKS: dict[str, Peek] = {
    "the controller": lambda cluster, _: truth(cluster).partitions[0].partition_epoch,
    "its own broker": lambda *here: len(own(*here).durable.replicas[0].log.epochs),
    "other brokers": ends_of_others,
    "whether others run": lambda *here: sum(b.up for b in others(*here)),
    "incarnations of others": lambda *here: sum(b.incarnation for b in others(*here)),
    "requests in flight": lambda cluster, _: sum(
        m.name.sender for m in in_flight(cluster, "alter-partition")
    ),
    "images on their way": lambda cluster, _: sum(
        m.receiver_incarnation for m in in_flight(cluster, "metadata")
    ),
    "its own metadata": lambda *here: sum(
        r.fenced for image in image_of(*here) for r in image.registrations
    ),
    "age of its metadata": lambda *here: sum(image.offset for image in image_of(*here)),
}


def level_with(kind: str, change: Callable[[Kind], Kind]) -> Level:
    kinds = tuple(change(k) if k.name == kind else k for k in PARTITION.kinds)
    return replace(PARTITION, kinds=kinds)


def nosy(kind: str, peek: Peek) -> Level:
    """The level with a kind of action that looks at what `peek` looks at."""

    def change(of: Kind) -> Kind:
        return replace(
            of, moves=lambda cluster, a: () if peek(cluster, a) % 2 else of.moves(cluster, a)
        )

    return level_with(kind, change)


@pytest.mark.parametrize(
    ("kind", "peek"),
    [
        pytest.param(kind, peek, id=f"{kind}-{peek}", marks=REPEATED if (n + m) % 3 else ())
        for n, kind in enumerate(KINDS)
        for m, peek in enumerate(PEEKS)
    ],
)
def test_whatever_an_action_reads_it_is_remembered_under(kind: str, peek: str) -> None:
    within = bounds(1, 1, 0) if kind in ("write", "fetch") else bounds(0, 1, 0)
    assert_same_graph(begun(play="kafka-14139"), within, level=nosy(kind, PEEKS[peek]))


def is_of_another(option: Option, piece: int) -> bool:
    return pieces.place_of(piece) >= pieces.FIRST_BROKER and pieces.place_of(piece) != option.place


Forgotten = Callable[[Option, int], bool]
"""Whether a piece that was read is left out of what an effect is remembered under."""
FORGOTTEN: dict[str, tuple[str, Forgotten]] = {
    "the controller": ("write", lambda _, piece: piece == pieces.CONTROLLER),
    "its own broker": ("write", lambda option, piece: piece == option.place),
    "other brokers": ("fetch", is_of_another),
    "whether others run": ("write", is_of_another),
    "incarnations of others": ("write", is_of_another),
    "requests in flight": ("write", lambda _, piece: piece == pieces.REQUESTS),
    "images on their way": ("write", lambda _, piece: piece == pieces.CONTROLLER),
    "its own metadata": (
        "write",
        lambda option, piece: piece == pieces.image_at(option.place),
    ),
    "age of its metadata": ("write", lambda _, piece: piece == pieces.CONTROLLER),
}


@pytest.mark.parametrize("peek", PEEKS)
def test_a_part_that_was_forgotten_would_show(monkeypatch: pytest.MonkeyPatch, peek: str) -> None:
    """The comparison above can fail: each part makes a difference, and is what it is named for."""
    remember, (kind, forgotten) = Option.remember, FORGOTTEN[peek]

    def forgetful(option: Option, state: Any, parts: Any, read: list[int], effect: Any) -> None:
        left = [p for p in read if option.action.kind != kind or not forgotten(option, p)]
        remember(option, state, parts, left, effect)

    monkeypatch.setattr(Option, "remember", forgetful)
    level = nosy(kind, PEEKS[peek])
    with pytest.raises(AssertionError):
        assert_same_graph(begun(play="kafka-14139"), bounds(1, 1, 0), level=level)


NEVER_READ: dict[str, tuple[str, ...]] = {
    "write": ("controller", "other", "its image", "other's image", "requests"),
    "fetch": ("controller", "its image", "requests"),
    "deliver": ("other", "other's image", "requests"),
    "view": ("other", "other's image", "requests"),
    "crash": ("other", "other's image", "requests"),
    "start": ("other", "its image", "other's image", "requests"),
    "fence": ("its own", "other", "its image", "other's image", "requests"),
    "unfence": ("other", "other's image", "requests"),
}
"""What decides on the speed of a search: every piece that is read without need multiplies what has
to be worked out. (``has_zookeeper`` once read the controller, `running_incarnation` the whole
broker.)
"""


def piece_name(option: Option, piece: int) -> str:
    if piece in (pieces.CONTROLLER, pieces.REQUESTS):
        return "controller" if piece == pieces.CONTROLLER else "requests"
    mine, place = pieces.place_of(piece) == option.place, pieces.place_of(piece)
    if piece == pieces.image_at(place):
        return "its image" if mine else "other's image"
    if piece == pieces.incarnation_at(place):
        return "its incarnation" if mine else "other's incarnation"
    return "its own" if mine else "other"


def test_actions_read_no_more_than_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    remember, reads = Option.remember, defaultdict[str, set[str]](set)

    def noting(option: Option, state: Any, parts: Any, read: list[int], effect: Any) -> None:
        reads[option.action.kind] |= {piece_name(option, piece) for piece in read}
        remember(option, state, parts, read, effect)

    monkeypatch.setattr(Option, "remember", noting)
    search(MemoisedModel(PARTITION, begun(), bounds(1, 1, 0)), ())
    assert reads.keys() == NEVER_READ.keys()
    assert [kind for kind, never in NEVER_READ.items() if reads[kind] & {*never}] == []


def test_no_rule_is_given_the_messages_in_flight() -> None:
    """How many there are is the one thing that could be asked without anybody noticing."""
    texts = [Path(str(file.__file__)).read_text() for file in (routes, route_kinds)]
    trees = [ast.parse(text) for text in (*texts, *route_kinds._ASKED.values())]
    nodes = (node for tree in trees for node in ast.walk(tree))
    read = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert {"features", "clock"} <= read
    assert not {"messages", "sent"} & read, "hidden_parts.py does not notice who counts messages"


@pytest.mark.parametrize("kind", KINDS)
def test_no_action_reads_what_the_observer_knows(kind: str) -> None:
    level = nosy(kind, lambda cluster, _: cluster.observed[0].committed.end)
    with pytest.raises(UnforeseenError, match="no node can know"):
        search(MemoisedModel(level, begun(play="kafka-14139"), bounds(1, 1, 0)), ())


@pytest.mark.parametrize("kind", KINDS)
def test_an_offer_that_hangs_on_another_broker_ends_the_search(kind: str) -> None:
    def change(of: Kind) -> Kind:
        def offered(cluster: Cluster) -> Iterator[Action]:
            return (a for a in of.offered(cluster) if not ends_of_others(cluster, a) % 2)

        def fits(cluster: Cluster, node: Broker) -> bool:
            odd = ends_of_others(cluster, Action(kind, node.id)) % 2
            return of.fits is not None and of.fits(cluster, node) and not odd

        return replace(of, offered=offered, fits=of.fits and fits)

    model = MemoisedModel(level_with(kind, change), begun(), bounds(1, 1, 0))
    with pytest.raises(UnforeseenError, match=kind):
        search(model, ())


def test_the_observer_sees_no_more_than_its_answer_is_remembered_under(
    monkeypatch: pytest.MonkeyPatch,
) -> None:

    def nosy_checks(before: Cluster, after: Cluster) -> Any:
        assert sum(b.incarnation for b in after.brokers)
        return observer.checks(before, after)

    monkeypatch.setattr(observer, "checks", nosy_checks)
    with pytest.raises(UnforeseenError, match=r"'incarnation'.*BrokerView"):
        search(MemoisedModel(PARTITION, begun(), bounds(0, 1, 0)), ())


def test_an_observer_who_sees_nothing_new_learns_nothing_new() -> None:
    """So that what shows the observer nothing needs no answer of its own."""
    met: dict[Cluster, None] = {}

    def noted(cluster: Cluster) -> Cluster:
        normal = PARTITION.normal(cluster)
        met[normal] = None
        return normal

    level = replace(PARTITION, normal=noted)
    search(EngineModel(level, begun(play="kafka-14139"), bounds(1, 1, 0)), ())
    for cluster in met:
        brokers = tuple(replace(b, durable=replace(b.durable)) for b in cluster.brokers)
        after, _ = observer.observe(cluster, replace(cluster, brokers=brokers), ())
        assert after.observed == cluster.observed
    assert len(met) > 300
