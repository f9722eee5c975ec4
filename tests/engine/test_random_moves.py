"""Random moves from where plays begin: nothing raises, nothing promised breaks, a refusal leaves
the controller alone, whoever reads twice reads the same, and somebody stands for election wherever
a watch says that there is nobody.
"""

from collections.abc import Iterator
from functools import cache
from random import Random

import pytest
from msgspec.structs import replace

from kiplab.engine import at_rest, events, explain, moves, nodes, setup, truth
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster, MessageName
from kiplab.engine.enabled import EVERYTHING, enabled
from kiplab.engine.impossible_moves import why_not
from kiplab.engine.nodes import ensemble_of, has_zookeeper
from kiplab.engine.properties import LEADER_SERVES, is_promised
from kiplab.engine.step import Step, step
from kiplab.plays.header import setup_of
from kiplab.plays.library import load, names
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.clients.consumer import Consumer
from kiplab.protocol.facts import Polled, RecordsDeleted, RecordWritten, Refused
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import CONTROLLER, BrokerId, Offset
from kiplab.protocol.log import EMPTY, epoch_at
from kiplab.protocol.messages import WatcherEvent
from kiplab.protocol.releases import RELEASES, Mode
from kiplab.protocol.replica.broker_state import Loss, log_of, replica_of
from kiplab.protocol.zookeeper.znodes import CONTROLLER_PATH
from tests.engine.small_clusters import cluster, partition

KEEPS_PROPOSALS = "497.pending-outlives-metadata"
"""Kafka as implemented forgets a proposal that is still on its way when late metadata of the same
partition epoch arrives, and so breaks its promise: tests/explore/test_found.py. Here it does not.
"""
RELEASED = [
    parse_features(name, on=(KEEPS_PROPOSALS,) if release.mode is Mode.KRAFT else ())
    for name, release in RELEASES.items()
]
SWITCHED = [
    parse_features("3.5/3.4-IV0", on=(KEEPS_PROPOSALS,)),
    parse_features("3.5", off=("903",)),
    parse_features("3.5", off=("841",)),
    parse_features("3.5", off=("320",)),
    parse_features("3.5", on=("903.bump-leader-epochs",)),
    parse_features("3.5", on=(KEEPS_PROPOSALS, "704.specified")),
]
FEATURES = [*RELEASED, *SWITCHED]
READ = (moves.Poll, moves.RefreshMetadata, moves.ResetOffset)
MOVES = 50
"""Of one walk."""
AT_ONCE = 3
"""Chosen of what is possible, and done as far as they still are."""
QUICK, LONG, PARTS = 20_000, 500_000, 10
QUICKLY = "tests/engine/test_random_moves.py::test_nothing_promised_breaks"


def small_cluster(features: Features, brokers: int) -> Cluster:
    """Broker 1 leads alone; the last has a shorter log."""
    log = ((3, 4), (2, 5))
    return cluster(features, partition("orders-0", brokers, isr=1, log=log, behind=((3, 4),)))


@cache
def beginning(name: str, features: Features) -> Cluster | None:
    """The cluster that a play begins with; None where it cannot begin so."""
    try:
        return setup.cluster_of(setup_of(load(name), features))
    except PlayError:
        return None


def first_cluster(dice: Random) -> Cluster:
    features = dice.choice(FEATURES)
    if features.mode is Mode.KRAFT and dice.random() < 0.3:
        return small_cluster(features, dice.choice((2, 3)))
    while (begun := beginning(dice.choice(names()), features)) is None:
        pass
    return begun


class Walk:
    """Random moves of the full menu from one beginning, equal for equal seeds."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(f"random moves, {seed}")
        self.cluster = first_cluster(self.dice)
        self.done: list[moves.Move] = []
        self.read: dict[tuple[str, int], int] = {}
        """The leader epochs of what consumers have read."""
        self.durable = True
        """Whether no committed record is lost or deleted yet."""
        self.unseen = False
        """Whether /controller was deleted while no session that lasts watched it."""

    def run(self) -> None:
        while len(self.done) < MOVES:
            for move in self._next():
                self._do(move)
        once = canonical(self.cluster)
        assert canonical(once) == once, "canonical is a projection"

    def _next(self) -> Iterator[moves.Move]:
        """Anything; what is no fault; or all messages but one kind, which is slow that way."""
        chance = self.dice.random()
        if chance > 0.8:
            yield from self._deliveries(self.dice.choice(["alter-partition", "watch", "fetch", ""]))
            return
        offered = enabled(self.cluster, EVERYTHING)
        if chance < 0.4:
            calm = [move for move in offered if not isinstance(move, moves.FAULTS)]
            offered = tuple(calm) or offered
        # To find what is possible takes longer than to do it.
        for move in self.dice.sample(offered, min(AT_ONCE, len(offered))):
            if why_not(self.cluster, move) is None:
                yield move

    def _deliveries(self, slow: str) -> Iterator[moves.Move]:
        for _ in range(20):
            ready = (moves.Deliver(m.name) for m in self.cluster.messages if m.name.kind != slow)
            move = next((m for m in ready if why_not(self.cluster, m) is None), None)
            if move is None:
                return
            yield move

    def _do(self, move: moves.Move) -> None:
        before, done = self.cluster, step(self.cluster, move)
        self.done.append(move)
        assert step(before, move) == done, "equal moves from equal states give equal results"
        assert all(explain.sentence(e) for e in done.events)
        broken = [e for e in done.events if isinstance(e, events.PropertyBroken) and e.promised]
        assert not broken, (broken, self.told())
        refused = any(isinstance(e, Refused) and e.node == CONTROLLER for e in done.events)
        if refused and not any(isinstance(e, RecordWritten) for e in done.events):
            assert done.cluster.controller is before.controller
        for event in done.events:
            if isinstance(event, events.CommittedLost | RecordsDeleted):
                self.durable = False
            if isinstance(event, Polled):
                self._read(before, event)
        assert isinstance(move, READ) or positions(done.cluster) == positions(before)
        self.cluster = done.cluster
        if has_zookeeper(before):
            self._watch(before, done)

    def _read(self, before: Cluster, polled: Polled) -> None:
        """Nothing above the high watermark, and at one offset always the same record."""
        node = nodes.state_of(before, polled.node)
        replica, log = replica_of(node, polled.partition), log_of(node, polled.partition)
        assert replica is not None
        assert polled.last < max(replica.high_watermark, polled.first)
        for offset in range(polled.first, polled.last + 1) if self.durable else ():
            epoch = epoch_at(log, Offset(offset))
            assert self.read.setdefault((polled.partition, offset), epoch) == epoch, self.told()

    def _watch(self, before: Cluster, done: Step) -> None:
        after = done.cluster
        lasting = {session.id for session in ensemble_of(after).sessions}
        if truth.controller_of(before) is not None and truth.controller_of(after) is None:
            watching = (w.session for w in ensemble_of(before).watches if w.path == CONTROLLER_PATH)
            self.unseen = lasting.isdisjoint(watching)
        if lasting and truth.controller_of(after) is None and at_rest.is_at_rest(after):
            assert self.unseen, f"nobody stands for election: {self.told()}"

    def told(self) -> str:
        return "\n".join(map(str, [self.cluster.features, *self.done]))


def positions(cluster: Cluster) -> list[Consumer]:
    """What consumers know; what they have read is for the observer, who forgets what is deleted."""
    return [replace(reader, observed=EMPTY) for reader in cluster.consumers]


def walk(count: int, first: int = 0) -> None:
    """So many random moves in all."""
    for seed in range(first, first + count // MOVES):
        Walk(seed).run()


def test_nothing_promised_breaks() -> None:
    walk(QUICK)


@pytest.mark.long(quick=QUICKLY)
@pytest.mark.parametrize("part", range(PARTS))
def test_nothing_promised_breaks_for_long(part: int) -> None:
    walk(LONG // PARTS, QUICK // MOVES + part * LONG // PARTS // MOVES)


# --- what random moves found ----------------------------------------------------------------------


def elected_alone() -> Cluster:
    """Broker 2 has just been elected, and has not handled NodeCreated of its own election."""
    begun = beginning("kafka-17793-too-soon", parse_features("zk-3.4"))
    assert begun is not None
    one, two = BrokerId(1), BrokerId(2)
    crashes = [moves.Crash(b, Loss.DISK) for b in (one, two)]
    return done(begun, *crashes, *map(moves.ExpireSession, (one, two)), moves.Start(two))


def done(begun: Cluster, *some: moves.Move) -> Cluster:
    for move in some:
        begun = step(begun, move).cluster
    return begun


def watch_event(now: Cluster) -> MessageName:
    (name,) = (m.name for m in now.messages if isinstance(m.body, WatcherEvent))
    return name


def test_nobody_stands_for_election_where_a_deletion_comes_between() -> None:
    """A real 3.4.1 does the same: /controller was deleted as soon as it was created, and 20 s later
    there was no controller, and the controller epoch had not changed.
    """
    now = done(elected_alone(), moves.FailOver())
    now = done(now, moves.Deliver(watch_event(now)))
    assert (truth.controller_of(now), now.messages) == (None, ())
    assert at_rest.is_at_rest(now)
    assert "leader-serves" in {broken for broken, _ in now.broken}
    assert not is_promised(
        LEADER_SERVES, now.features, excused=False, forged=False, without_controller=True
    )
    assert is_promised(LEADER_SERVES, now.features, excused=False, forged=False)


def test_a_watch_event_is_lost_only_with_its_session() -> None:
    now = elected_alone()
    drop = moves.Drop(watch_event(now))
    reason = "controller on broker 2 gets every watch event while its session lasts"
    assert (why_not(now, drop) or "").startswith(reason)
    assert why_not(done(now, moves.ExpireSession(BrokerId(2))), drop) is None
