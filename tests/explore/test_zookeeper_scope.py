"""What the level "zookeeper" does not offer: whatever is not offered has a reason, and is not."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args

import pytest

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.events import Sent
from kiplab.engine.step import Step, step
from kiplab.explore.levels import zookeeper_level as scope
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import ExploreError, do, offered
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.question import question_about
from kiplab.explore.search_terms import PROVED
from kiplab.plays.grammar import parse
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.messages import BODIES, Body
from kiplab.protocol.releases import RELEASES, Mode
from tests.explore.bounds import begun
from tests.explore.test_zookeeper_level import TWO

LEVEL = level_named("zookeeper")
FILE = "kiplab/explore/levels/zookeeper_level.py"
_CONNECTIONS = "Left out: a connection breaks only when a process ends."
_STAYS = "Left out: the controller of the beginning stays in office."
_SETTINGS = "Left out: settings and releases stay as they are."
NOT_OFFERED: Mapping[type, str] = {
    moves.Drop: _CONNECTIONS,
    moves.TimeOut: _CONNECTIONS,
    moves.LoseReply: _CONNECTIONS,
    moves.Cut: _CONNECTIONS,
    moves.Heal: _CONNECTIONS,
    moves.Duplicate: "A broker that gives up waiting asks anew (`shutdown`), a controller never.",
    moves.Race: "Two fetches race, and nobody fetches.",
    moves.Advance: "With ZooKeeper there is no clock.",
    moves.Fire: (
        "Left out: fetches, leaders that look for members that lag, and every round but the first"
        " in which high watermarks are written."
    ),
    moves.HeartbeatTimeout: "Plays with KIP-343's heartbeats are refused.",
    moves.Produce: scope.NO_DATA,
    moves.EndTransaction: scope.NO_DATA,
    moves.ProduceAs: scope.NO_DATA,
    moves.Resend: scope.NO_DATA,
    moves.DeleteRecords: scope.NO_DATA,
    moves.Poll: scope.NO_DATA,
    moves.RefreshMetadata: scope.NO_DATA,
    moves.ResetOffset: scope.NO_DATA,
    moves.FinishRecovery: "Who has recovered its logs registers: with ZooKeeper that is `start`.",
    moves.FinishLeaderRecovery: "No election is unclean.",
    moves.FailOver: _STAYS,
    moves.Configure: _SETTINGS,
    moves.ConfigureBrokers: _SETTINGS,
    moves.DeleteTopic: _SETTINGS,
    moves.RemoveDirectory: "A cluster with ZooKeeper has no log directories here.",
    moves.Upgrade: _SETTINGS,
    moves.UpgradeMetadata: _SETTINGS,
    moves.UpgradeElr: _SETTINGS,
    moves.RawRequest: "What no rule sends shows nothing about the rules.",
}
"""Moves that no action makes. "Left out" is what happens in Kafka and in no search of the level."""

ALWAYS: Mapping[tuple[type, str], str] = {
    (moves.Crash, "loss"): "Left out: no disk is lost, and there is nothing unflushed.",
    (moves.Start, "server"): "Which server of ZooKeeper it is decides on session ids alone.",
    (moves.Elect, "unclean"): "Left out: an operator asks for the preferred leader.",
}
"""What an action could say of a move and always says in the same way, by (move, setting)."""
KAFKAS = [
    *(r.name for r in RELEASES.values() if r.mode is Mode.ZOOKEEPER and r.specified is None),
    "zk-3.4/2.7-IV2",
]
NOTHING = dict.fromkeys(LEVEL.with_defaults({}), 0)
BACK = TWO.replace("F replicas=0,1", "F replicas=1,0")
"""Another broker leads F than the first of its replicas."""
_ONE_LIFE = ("380.control-request-epoch", "380.shutdown-epoch", "380.bounce-detection")
SEARCHES: tuple[tuple[str, str, tuple[str, ...], tuple[str, ...], str], ...] = (
    *((TWO, kafka, (), (), "shutdowns") for kafka in KAFKAS),
    *((BACK, "zk-2.2", (), (), bound) for bound in NOTHING),
    *((TWO, "zk-3.4", _ONE_LIFE, (), bound) for bound in ("crashes", "expiries")),
    (TWO, "zk-2.2", (), ("380.live-set-first",), "crashes"),
)
"""(situation, Kafka, guards off, guards on, what happens once)."""


class Seen:
    """What searches have done: moves, kinds of messages that were sent, guards asked for."""

    def __init__(self) -> None:
        self.moves: set[Any] = set()
        self.sent: set[str] = set()
        self.asked: set[str] = set()

    def step(self, cluster: Cluster, move: Any, *, checked: bool = False) -> Step:
        self.moves.add(move)
        done = step(cluster, move, checked=checked)
        self.sent |= {e.message.kind for e in done.events if isinstance(e, Sent)}
        return done


class Watched(EngineModel):
    """Does every action once more, and notes what comes of it."""

    notes: Seen

    def successors(self, state: Any) -> Iterator[Any]:
        for _, action in offered(self.level, state[0]):
            do(self.level, state[0], action, self.notes.step)
        return super().successors(state)


class Asked(frozenset[str]):
    """Guards that are on, and a note of which were asked for."""

    notes: set[str]

    def __contains__(self, id: object) -> bool:
        self.notes.add(str(id))
        return super().__contains__(id)


@pytest.fixture(scope="module")
def seen() -> Iterator[Seen]:
    notes = Seen()
    active = Features.active

    def asked(features: Features, node: BrokerId) -> Asked:
        found = Asked(active(features, node))
        found.notes = notes.asked
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Features, "active", cache(asked))
        for text, kafka, off, on, bound in SEARCHES:
            start = begun(text, kafka, off=off, on=on)
            model = Watched(LEVEL, start, {**NOTHING, bound: 1})
            model.notes = notes
            assert search(model, ()).verdict == PROVED
        yield notes


# --- moves ----------------------------------------------------------------------------------------


def test_every_move_is_made_or_there_is_a_reason_why_not(seen: Seen) -> None:
    made = {type(move) for move in seen.moves}
    missing = set(get_args(moves.Move)) - made - set(NOT_OFFERED)
    assert not missing, f"no action makes {missing}: say in NOT_OFFERED why not"
    wrong = made & set(NOT_OFFERED)
    assert not wrong, f"actions make {wrong}: take them out of NOT_OFFERED"


def settings(move: Any) -> set[str]:
    """What a move says besides whom it is about."""
    return {*move.__struct_fields__} - {"broker", "message", "partition"}


def test_what_a_move_could_say_and_never_does_has_a_reason(seen: Seen) -> None:
    said: dict[tuple[type, str], set[Any]] = {}
    for move in seen.moves:
        for name in settings(type(move)):
            said.setdefault((type(move), name), set()).add(getattr(move, name))
    assert {key for key, values in said.items() if len(values) == 1} == set(ALWAYS)


# --- messages -------------------------------------------------------------------------------------


def test_every_message_is_held_or_arrives_at_once_or_is_never_sent(seen: Seen) -> None:
    kinds = {*LEVEL.holds, *kinds_of(scope.AT_ONCE), *kinds_of(scope.NEVER_SENT)}
    assert kinds == set(BODIES)
    assert not set(scope.AT_ONCE) & set(scope.NEVER_SENT)
    assert seen.sent == kinds - kinds_of(scope.NEVER_SENT)


def kinds_of(bodies: Any) -> set[str]:
    return {kind for kind, body in BODIES.items() if body in bodies}


def test_a_message_that_nobody_speaks_of_is_held() -> None:
    """So that a new one takes its time, until somebody says why it need not."""
    assert len(LEVEL.holds) + len(scope.AT_ONCE) + len(scope.NEVER_SENT) == len(get_args(Body))


# --- guards ---------------------------------------------------------------------------------------


def test_every_guard_is_asked_for_or_there_is_a_reason_why_not(seen: Seen) -> None:
    there = {guard.id for guard in GUARDS.values() if Mode.ZOOKEEPER in guard.modes}
    unspoken = there - seen.asked - set(LEVEL.unasked)
    assert not unspoken, f"no rule asks for {sorted(unspoken)}: say in NOT_ASKED of {FILE} why"
    wrong = seen.asked & set(LEVEL.unasked)
    assert not wrong, f"rules ask for {sorted(wrong)}: take them out of NOT_ASKED of {FILE}"
    assert set(LEVEL.unasked) <= there


def test_a_question_about_a_guard_that_no_rule_asks_for_is_refused() -> None:
    play = parse(TWO, "two")
    features = parse_features("zk-2.2", off=("zookeeper.isr-version",))
    with pytest.raises(ExploreError, match=r"no rule reads zookeeper\.isr-version at level"):
        question_about(play, features, level="zookeeper")
