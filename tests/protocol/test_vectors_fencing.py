"""Fencing, elections, controlled shutdown, registration: what the controller writes and replies.

E5b, E8 and E10a are in `rows`. unclean.leader.election.enable is a partition's here, wherever
Kafka's test sets it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features, parse_features
from kiplab.protocol.ids import CONTROLLER, BrokerEpoch, BrokerId, MetadataOffset
from kiplab.protocol.kraft import sessions
from kiplab.protocol.kraft.controller_state import Controller, HeartbeatState, heartbeat
from kiplab.protocol.kraft.elections import balance_leaders, elect_leaders, elect_unclean_leaders
from kiplab.protocol.kraft.fencing import expire_session, fail_over
from kiplab.protocol.kraft.heartbeats import current_state
from kiplab.protocol.kraft.records import (
    BrokerRegistrationChangeRecord,
    Record,
    RegisterBrokerRecord,
    fence_record,
)
from kiplab.protocol.kraft.replay import ControllerEffect
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration, registration
from kiplab.protocol.releases import at_least
from tests.protocol.building import (
    beats,
    brokers,
    but,
    cases,
    change,
    controller,
    instance,
    partition,
    present,
    registers,
    texts,
    written,
)

RECOVERING = LeaderRecoveryState.RECOVERING
E = KafkaError
ANY, OLD, NEW = "any", "< 3.6-IV0", ">= 3.6-IV0"

Do = Callable[[Controller, Features], ControllerEffect]


def fence(broker: int) -> Do:
    return lambda c, features: expire_session(c, BrokerId(broker), features, None)


def beat(
    broker: int, *, offset: int | None = None, shut_down: bool = False, epoch: int | None = None
) -> Do:
    """A heartbeat, without wantFence, by default of a broker that has replicated everything."""

    return lambda c, features: beats(
        c, broker, features, epoch=epoch, offset=offset, want_shut_down=shut_down
    )


def elect(names: Sequence[str] | None, *, unclean: bool = False) -> Do:
    """`names` None is Kafka's null: every partition."""
    asked = None if names is None else tuple(names)
    request = messages.ElectLeadersRequest(unclean=unclean, partitions=asked)
    return lambda c, features: elect_leaders(c, request, features)


def register(broker: int, incarnation: int, now_ms: int = 0) -> Do:
    return lambda c, features: registers(c, broker, incarnation, features, now_ms)


def fences(broker: int, *, epoch: int | None = None, unfence: bool = False) -> Any:
    """The record that fences a broker; its kind depends on the metadata version."""
    return partial(
        fence_record,
        BrokerId(broker),
        BrokerEpoch(100 + broker if epoch is None else epoch),
        fence=not unfence,
    )


def leaves(broker: int) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        BrokerId(broker), BrokerEpoch(100 + broker), in_controlled_shutdown=1
    )


def elected(**errors: KafkaError) -> messages.ElectLeadersResponse:
    named = ((name.replace("_", "-"), error) for name, error in errors.items())
    return messages.ElectLeadersResponse(results=tuple(named))


def unclean(state: PartitionRegistration) -> PartitionRegistration:
    """`state` in a topic with unclean.leader.election.enable."""
    return replace(state, unclean_leader_election=True)


UNFENCED = messages.BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)
LEAVING = UNFENCED
"""The reply to a broker in controlled shutdown is the same; the state tells them apart."""
GRANTED = messages.BrokerHeartbeatResponse(is_caught_up=True, is_fenced=True, should_shut_down=True)


class Row(msgspec.Struct, frozen=True):
    """One act on a controller. `after` lists the partitions that changed."""

    id: str
    releases: str
    metadata: str
    given: Controller
    act: Do
    reply: object
    records: tuple[Any, ...] = ()
    after: tuple[PartitionRegistration, ...] = ()

    def expected(self, features: Features) -> list[Record]:
        version = features.metadata_version
        return [r(metadata_version=version) if callable(r) else r for r in self.records]


# 3. Elections
FOO_0 = partition("foo-0", [1, 2, 3], [1], -1, le=1, pe=3)
FOO_1 = partition("foo-1", [2, 3, 4], [4], 4, le=2, pe=2)
FOO_2 = partition("foo-2", [0, 2, 1], [0], 0, pe=2)
BEFORE_2 = controller(brokers(0, 4, fenced=[1, 2, 3]), FOO_0, FOO_1, FOO_2)
GROWN_1 = but(FOO_1, isr=[2, 4], pe=3)
WITH_2 = controller(brokers(0, 2, 4, fenced=[1, 3]), FOO_0, GROWN_1, FOO_2)
RECOVERS_0 = but(FOO_0, isr=[2], leader=2, le=2, pe=4, recovery=RECOVERING)
UNCLEANLY = change("foo-0", isr=[2], leader=2, recovery=RECOVERING)
FOO = ("foo-0", "foo-1", "foo-2")

PREFER_0 = partition("foo-0", [1, 2, 3], [2, 3], 2)
PREFER_1 = partition("foo-1", [2, 3, 4], [2, 3, 4], 2)
PREFER_2 = partition("foo-2", [0, 2, 1], [2], 2)
LATER_0, LATER_2 = but(PREFER_0, isr=[1, 2, 3], pe=1), but(PREFER_2, isr=[0, 2, 1], pe=1)
BAR = ("bar-0", "bar-1")
NO_BAR = {name.replace("-", "_"): E.UNKNOWN_TOPIC_OR_PARTITION for name in BAR}

ALL_0 = partition("foo-0", [1, 2, 4], [4], -1, le=3, pe=3)
ALL_1 = partition("foo-1", [1, 3, 4], [4], -1, le=3, pe=3)
ALL_2 = partition("foo-2", [0, 2, 4], [4], -1, le=3, pe=3)
UNCLEAN_ALLOWED = but(ALL_0, unclean_leader_election=True)

# 3 and 9. Fencing and shutdown
SHUT = partition("foo-0", [0, 1, 2], [0, 1, 2], 0)
FULL = partition("p-0", [1, 2, 3], [1, 2, 3], 1, le=5, pe=10)
LAST = partition("p-0", [1, 2, 3], [1], 1, le=5, pe=10)
OFFLINE = but(LAST, leader=-1, le=6, pe=11)
OFFLINE_AGAIN = but(OFFLINE, le=7, pe=12)
REFILLED = partition("p-0", [1, 2], [1, 2], 1, le=5, pe=11)
DEAD = controller(brokers(2, 3, fenced=[1]), OFFLINE)
NO_LEADER_ANY_MORE = change("p-0", leader=-1)


def shutting_down(other_offset: int) -> Controller:
    heard = (
        HeartbeatState(BrokerId(1), fenced=False, controlled_shutdown_offset=MetadataOffset(500)),
        HeartbeatState(BrokerId(2), fenced=False, metadata_offset=MetadataOffset(other_offset)),
        HeartbeatState(BrokerId(3), fenced=False, metadata_offset=MetadataOffset(500)),
    )
    return controller(brokers(2, 3, leaving=[1]), OFFLINE, heartbeats=heard)


def failed_over(*partitions: PartitionRegistration) -> Controller:
    before = controller(brokers(2, 3, leaving=[1]), *partitions)
    return fail_over(before, parse_features("3.9"), None)[0]


# fmt: off
ROWS = (
    Row("E5a", "3.6-4.3", NEW, BEFORE_2, beat(2, offset=1), UNFENCED, (fences(2, unfence=True),)),
    Row("E5c", "3.6-4.3", NEW, WITH_2, elect(FOO, unclean=True),
        elected(foo_0=E.NONE, foo_1=E.ELECTION_NOT_NEEDED, foo_2=E.ELECTION_NOT_NEEDED),
        (UNCLEANLY,), (RECOVERS_0,)),
    Row("E5d", "3.6-4.3", NEW, WITH_2, elect(None, unclean=True),
        elected(foo_0=E.NONE), (UNCLEANLY,), (RECOVERS_0,)),
    Row("E5d-empty", "3.2-4.3", ANY, WITH_2, elect((), unclean=True), elected()),
    Row("E6", "3.6-4.3", NEW,
        controller(brokers(2, 4, fenced=[1, 3]), unclean(FOO_0)), elect(["foo-0"]),
        elected(foo_0=E.PREFERRED_LEADER_NOT_AVAILABLE)),
    Row("E7", "3.3-4.3", ">= 3.3-IV3",
        controller(brokers(2, 3, 4, fenced=[0], leaving=[1]), PREFER_0, PREFER_1, PREFER_2),
        elect(FOO + BAR),
        elected(foo_0=E.PREFERRED_LEADER_NOT_AVAILABLE, foo_1=E.ELECTION_NOT_NEEDED,
                foo_2=E.PREFERRED_LEADER_NOT_AVAILABLE, **NO_BAR)),
    Row("E9", "3.3-4.3", ">= 3.3-IV3",
        controller(brokers(0, 1, 2, 3, 4), LATER_0, PREFER_1, LATER_2), elect(FOO + BAR),
        elected(foo_0=E.NONE, foo_1=E.ELECTION_NOT_NEEDED, foo_2=E.NONE, **NO_BAR),
        (change("foo-0", leader=1), change("foo-2", leader=0)),
        (but(LATER_0, leader=1, le=1, pe=2), but(LATER_2, leader=0, le=1, pe=2))),
    Row("E10b", "3.2-4.3", ANY,
        controller(brokers(1, 2, 3, 4, fenced=[0]), LATER_0, PREFER_1, PREFER_2),
        balance_leaders, None, (change("foo-0", leader=1),),
        (but(LATER_0, leader=1, le=1, pe=2),)),
    Row("E13b", "3.9-4.3", NEW, controller(brokers(2, fenced=[0, 1, 3, 4]), ALL_0, ALL_1, ALL_2),
        elect_unclean_leaders, None),
    Row("E13b-on", "3.9-4.3", NEW,
        controller(brokers(2, fenced=[0, 1, 3, 4]), *(unclean(p) for p in (ALL_0, ALL_1, ALL_2))),
        elect_unclean_leaders, None,
        tuple(change(name, isr=[2], leader=2, recovery=RECOVERING) for name in ("foo-0", "foo-2")),
        tuple(but(unclean(p), isr=[2], leader=2, le=4, pe=4, recovery=RECOVERING)
              for p in (ALL_0, ALL_2))),
    Row("E13a", "3.9-4.3", NEW, controller(brokers(fenced=range(5)), ALL_0, ALL_1, ALL_2),
        beat(2, offset=1), UNFENCED, (fences(2, unfence=True),)),
    Row("E13a-by-config", "3.9-4.3", NEW, controller(brokers(fenced=range(5)), UNCLEAN_ALLOWED),
        beat(2, offset=1), UNFENCED,
        (fences(2, unfence=True), change("foo-0", isr=[2], leader=2, recovery=RECOVERING)),
        (but(UNCLEAN_ALLOWED, isr=[2], leader=2, recovery=RECOVERING, le=4, pe=4),)),
    Row("E16", "3.3-4.3", "3.3-IV3", controller(brokers(0, 1, 2), SHUT),
        beat(0, offset=0, shut_down=True), LEAVING,
        (leaves(0), change("foo-0", isr=[1, 2], leader=1)),
        (but(SHUT, isr=[1, 2], leader=1, le=1, pe=1),)),
    Row("E17", "3.3-3.9", "3.3-IV2", controller(brokers(0, 1, 2), SHUT),
        beat(0, offset=0, shut_down=True), LEAVING,
        (change("foo-0", isr=[1, 2], leader=1),),
        (but(SHUT, isr=[1, 2], leader=1, le=1, pe=1),)),
    Row("D4", "3.3-3.4", ANY, controller(brokers(1, 2, epochs={2: 250}), REFILLED), fence(1), None,
        (change("p-0", isr=[2], leader=2), fences(1)),
        (but(REFILLED, isr=[2], leader=2, le=6, pe=12),)),
    Row("skips-leaving", "3.3-4.3", ">= 3.3-IV3", controller(brokers(1, 3, leaving=[2]), FULL),
        fence(1), None,
        (change("p-0", isr=[2, 3], leader=3), fences(1)),
        (but(FULL, isr=[2, 3], leader=3, le=6, pe=11),)),
    Row("D5a", "3.2-4.3", OLD, controller(brokers(1, 2, 3), FULL), fence(3), None,
        (change("p-0", isr=[1, 2], leader=1), fences(3)),
        (but(FULL, isr=[1, 2], le=6, pe=11),)),
    Row("D5b", "3.6-4.3", NEW, controller(brokers(1, 2, 3), FULL), fence(3), None,
        (change("p-0", isr=[1, 2]), fences(3)),
        (but(FULL, isr=[1, 2], le=5, pe=11),)),
    Row("D6a", "3.2-4.3", ANY, controller(brokers(1, 2, 3), LAST), fence(1), None,
        (NO_LEADER_ANY_MORE, fences(1)), (OFFLINE,)),
    Row("D6c", "3.2-4.3", ANY, controller(brokers(2, 3, fenced=[1], epochs={1: 250}), OFFLINE),
        beat(1, epoch=250), UNFENCED,
        (fences(1, epoch=250, unfence=True), change("p-0", leader=1)),
        (but(OFFLINE, leader=1, le=7, pe=12),)),
    Row("D7a", "3.2-3.7", OLD, DEAD, beat(1, shut_down=True), GRANTED,
        (NO_LEADER_ANY_MORE, fences(1)), (OFFLINE_AGAIN,)),
    Row("D7b", "3.8-4.3", OLD, DEAD, beat(1, shut_down=True), GRANTED, (fences(1),)),
    Row("D7c", "3.6-4.3", NEW, DEAD, beat(1, shut_down=True), GRANTED, (fences(1),)),
    Row("D18a", "3.3-4.3", ">= 3.3-IV3", controller(brokers(1, 2, 3), LAST),
        beat(1, shut_down=True), LEAVING,
        (leaves(1), NO_LEADER_ANY_MORE), (OFFLINE,)),
    Row("D18b", "3.2-3.9", "< 3.3-IV3", controller(brokers(1, 2, 3), LAST),
        beat(1, shut_down=True), LEAVING,
        (NO_LEADER_ANY_MORE,), (OFFLINE,)),
    Row("D18c", "3.6-4.3", NEW, shutting_down(500), beat(1, shut_down=True), GRANTED,
        (fences(1),)),
    Row("D18d", "3.3-3.7", OLD, shutting_down(500), beat(1, shut_down=True), GRANTED,
        (NO_LEADER_ANY_MORE, fences(1)), (OFFLINE_AGAIN,)),
    Row("D18e", "3.8-4.3", OLD, shutting_down(500), beat(1, shut_down=True), GRANTED,
        (fences(1),)),
    Row("D18f", "3.3-4.3", ANY, shutting_down(499), beat(1, shut_down=True), LEAVING),
    Row("D19a", "3.3-4.3", ">= 3.3-IV3", failed_over(LAST), beat(1, shut_down=True), LEAVING,
        (NO_LEADER_ANY_MORE,), (OFFLINE,)),
    Row("D19b", "3.3-4.3", ">= 3.3-IV3", failed_over(), beat(1, shut_down=True), GRANTED,
        (fences(1),)),
)
# fmt: on


@pytest.mark.parametrize(("row", "features"), cases(ROWS))
def test_acts(row: Row, features: Features) -> None:
    after, sends, facts = row.act(row.given, features)
    if row.reply is not None:
        assert sends[-1].body == row.reply
    assert written(facts) == texts(row.expected(features))
    changed = {p.name: p for p in row.after}
    assert after.partitions == tuple(changed.get(p.name, p) for p in row.given.partitions)


@pytest.mark.parametrize(
    ("row", "features"), cases(r for r in ROWS if r.id in {"E16", "E17", "D18a", "D18f", "D19a"})
)
def test_controlled_shutdown_has_begun(row: Row, features: Features) -> None:
    after, _, facts = row.act(row.given, features)
    leaving = present(heartbeat(after, row.given.registrations[0].broker))
    assert current_state(leaving) == "CONTROLLED_SHUTDOWN"
    directories = at_least(features.metadata_version, "3.7-IV2")
    elr = at_least(features.metadata_version, "4.0-IV1")
    versions = {"BrokerRegistrationChangeRecord": 1, "PartitionChangeRecord": directories + elr}
    records = [f for f in facts if isinstance(f, RecordWritten)]
    assert [f.version for f in records] == [versions[f.record] for f in records]


# --- sessions that lapse one after the other ------------------------------------------------------


class Lapse(msgspec.Struct, frozen=True):
    """Some brokers heartbeat when all sessions are over; the others are fenced one at a time."""

    id: str
    releases: str
    metadata: str
    given: Controller
    alive: tuple[int, ...]
    fenced: tuple[int, ...]
    after: tuple[PartitionRegistration, ...]


E2_0 = partition("foo-0", [1, 2, 3], [1, 2, 3], 1)
E2_1 = partition("foo-1", [2, 3, 4], [2, 3, 4], 2)
E2_2 = partition("foo-2", [0, 2, 1], [0, 2, 1], 0)
E2 = controller(brokers(0, 1, 2, 3, 4), E2_0, E2_1, E2_2)
E12 = controller(
    brokers(0, 1, 2, 3, 4),
    but(ALL_0, isr=[1, 2, 4], leader=1, le=0, pe=0),
    but(ALL_1, isr=[1, 3, 4], leader=1, le=0, pe=0),
    but(ALL_2, isr=[0, 2, 4], leader=0, le=0, pe=0),
)
# fmt: off
LAPSES = (
    Lapse("E2a", "3.6-4.3", NEW, E2, (0, 1, 4), (2, 3),
          (but(E2_0, isr=[1], pe=2), but(E2_1, isr=[4], leader=4, le=2, pe=2),
           but(E2_2, isr=[0, 1], pe=1))),
    Lapse("E2b", "3.2-4.3", OLD, E2, (0, 1, 4), (2, 3),
          (but(E2_0, isr=[1], le=2, pe=2), but(E2_1, isr=[4], leader=4, le=2, pe=2),
           but(E2_2, isr=[0, 1], le=1, pe=1))),
    Lapse("E12a", "3.9-4.3", NEW, E12, (), (0, 1, 2, 3, 4), (ALL_0, ALL_1, ALL_2)),
    Lapse("E12b", "3.9-4.3", NEW, replace(E12, partitions=tuple(map(unclean, E12.partitions))), (),
          (0, 1, 2, 3, 4), (unclean(ALL_0), unclean(ALL_1), unclean(ALL_2))),
)
# fmt: on


@pytest.mark.parametrize(("row", "features"), cases(LAPSES))
def test_sessions_lapse(row: Lapse, features: Features) -> None:
    now, state = sessions.SESSION_TIMEOUT_MS + 1, sessions.carried_over(row.given, features)
    for broker in row.alive:
        state = beats(state, broker, features, now, offset=0)[0]
    fenced = []
    while (stale := next_to_fence(state, features, now)) is not None:
        fenced.append(stale)
        state = expire_session(state, stale, features, now)[0]
    assert tuple(fenced) == row.fenced
    assert state.partitions == row.after
    assert tuple(r.broker for r in state.registrations if r.fenced) == row.fenced


def next_to_fence(state: Controller, features: Features, now: int) -> BrokerId | None:
    """Of several whose session is over at once, that of the lowest id."""
    if sessions.has_contacts(features.code_of(CONTROLLER)):
        return min(sessions.out_of_contact(state, now), default=None)
    return sessions.stale_broker(state, now)


# --- registration after a death -------------------------------------------------------------------


class Registers(msgspec.Struct, frozen=True):
    """A process asks for an epoch; `epoch` is the stored one afterwards, None when refused."""

    id: str
    releases: str
    given: Controller
    act: Do
    epoch: int | None
    fenced: bool = True
    metadata: str = ANY


FENCED_1 = controller(brokers(2, 3, fenced=[1]), OFFLINE, next_offset=250)
ALIVE_1 = controller(brokers(1, epochs={1: 100}), next_offset=111)
# fmt: off
REGISTRATIONS = (
    Registers("D6b", "3.2-4.3", FENCED_1, register(1, incarnation=2), 250),
    Registers("D8a", "3.2-4.3", controller(brokers(1), next_offset=250),
              register(1, 2, now_ms=3_000), None),
    Registers("D8b", "3.2-4.3", controller(brokers(fenced=[1]), next_offset=250),
              register(1, 2, now_ms=9_001), 250),
    Registers("D9", "3.2-4.3", controller(brokers(fenced=[1]), next_offset=250),
              register(1, 2, now_ms=1_000), 250),
    Registers("D10a", "3.3-3.6", ALIVE_1, register(1, incarnation=1), 111),
    Registers("D10b", "3.7-3.8", ALIVE_1, register(1, incarnation=1), 111, fenced=False),
    Registers("D10c", "3.9-4.3", ALIVE_1, register(1, incarnation=1), 100, fenced=False),
)
# fmt: on


@pytest.mark.parametrize(("row", "features"), cases(REGISTRATIONS))
def test_registers(row: Registers, features: Features) -> None:
    given = sessions.carried_over(row.given, features)
    after, sends, facts = row.act(given, features)
    assert after.partitions == row.given.partitions
    reply = instance(messages.BrokerRegistrationResponse, sends[-1].body)
    if row.epoch is None:
        assert reply.error is E.DUPLICATE_BROKER_REGISTRATION
        assert written(facts) == []
        assert after is given
        return
    assert (reply.error, reply.broker_epoch) == (E.NONE, row.epoch)
    found = present(registration(after.registrations, BrokerId(1)))
    assert (found.epoch, found.fenced) == (row.epoch, row.fenced)
    record = RegisterBrokerRecord(
        BrokerId(1), found.incarnation, BrokerEpoch(row.epoch), fenced=row.fenced
    )
    assert written(facts) == texts([record])
