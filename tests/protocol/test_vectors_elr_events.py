"""Eligible leader replicas (KIP-966): what happens to one partition, event after event.

A state is written as ``12 / 3 / 1 / -``: ISR, ELR, leader, last known leader. Each record raises
the partition epoch. Vectors that begin with V are Kafka's tests; the others were seen on real
controllers, 4.3.1 and, where a row reaches to it, 4.0.2.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import msgspec
import pytest

from kiplab.protocol import messages
from kiplab.protocol.features import Features, with_elr
from kiplab.protocol.ids import BrokerEpoch, BrokerId
from kiplab.protocol.kraft.alter_partition import alter_partition
from kiplab.protocol.kraft.broker_registration import unregister_broker
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.kraft.elections import elect_leaders
from kiplab.protocol.kraft.fencing import expire_session
from kiplab.protocol.kraft.log_directories import assign_replicas
from kiplab.protocol.kraft.records import PartitionChangeRecord, Record
from kiplab.protocol.kraft.replay import ControllerEffect
from kiplab.protocol.kraft.topic_settings import set_min_insync_replicas
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration, registration
from tests.protocol.building import (
    at,
    beats,
    brokers,
    but,
    change,
    controller,
    partition,
    present,
    registers,
    texts,
    written,
)
from tests.protocol.rows import item

RECOVERING = LeaderRecoveryState.RECOVERING
Do = Callable[[Controller, Features], ControllerEffect]
Step = tuple[Do, PartitionChangeRecord | None, str]
"""An event, the record about the partition, and the partition after it."""


# --- events ---------------------------------------------------------------------------------------


def fence(broker: int) -> Do:
    return lambda c, features: expire_session(c, BrokerId(broker), features, None)


def unfence(broker: int, **wishes: bool) -> Do:
    return lambda c, features: beats(c, broker, features, epoch=epoch_of(c, broker), **wishes)


shut_down = partial(unfence, want_shut_down=True)


def returns(broker: int, *, clean: bool) -> Do:
    """A new process registers; a clean one names the broker epoch of the one before it."""

    def do(c: Controller, features: Features) -> ControllerEffect:
        incarnation = c.next_offset  # a new one each time
        previous = epoch_of(c, broker) if clean else -1
        return registers(c, broker, incarnation, features, None, previous=previous)

    return do


crashed, stopped = partial(returns, clean=False), partial(returns, clean=True)


def alters(*isr: int) -> Do:
    def do(c: Controller, features: Features) -> ControllerEffect:
        (state,) = c.partitions
        members = {member: epoch_of(c, member) for member in isr}
        wanted = item(state.name, members, le=state.leader_epoch, pe=state.partition_epoch)
        request = messages.AlterPartitionRequest(
            version=3,
            broker=state.leader,
            broker_epoch=BrokerEpoch(epoch_of(c, state.leader)),
            items=(wanted,),
        )
        return alter_partition(c, request, features, None)

    return do


def elects(*, unclean: bool = False) -> Do:
    request = messages.ElectLeadersRequest(unclean=unclean, partitions=("foo-0",))
    return lambda c, features: elect_leaders(c, request, features)


def sets(topic: str, count: int) -> Do:
    return lambda c, features: set_min_insync_replicas(c, topic, count, features)


def unregisters(broker: int) -> Do:
    request = messages.UnregisterBrokerRequest(broker=BrokerId(broker))
    return lambda c, features: unregister_broker(c, request, features, None)


def reports(broker: int, directory: int) -> Do:
    """Its replica is in this log directory."""

    def do(c: Controller, features: Features) -> ControllerEffect:
        request = messages.AssignReplicasToDirsRequest(
            broker=BrokerId(broker),
            broker_epoch=BrokerEpoch(epoch_of(c, broker)),
            items=(messages.AssignedReplica("foo-0", directory),),
        )
        return assign_replicas(c, request, features)

    return do


def epoch_of(c: Controller, broker: int) -> int:
    return present(registration(c.registrations, BrokerId(broker))).epoch


# --- situations -----------------------------------------------------------------------------------


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """Events one after the other, on a partition of `min_isr`."""

    id: str
    releases: str = "4.1-4.3"
    metadata: str = ">= 4.0-IV1"
    elr: int = 1
    given: Controller
    steps: tuple[Step, ...]


def foo(text: str, replicas: list[int], min_isr: int = 2, **fields: Any) -> PartitionRegistration:
    isr, elr, leader, last_known = text.split(" / ")
    lists = {"elr": listed(elr), "last_known": listed(last_known), **fields}
    bare = partition("foo-0", replicas, listed(isr), int(leader), **lists)
    return but(bare, min_insync_replicas=min_isr)


def listed(digits: str) -> list[int]:
    return [] if digits == "-" else [int(digit) for digit in digits]


def shown(state: PartitionRegistration) -> str:
    lists = ["".join(map(str, ids)) or "-" for ids in (state.isr, state.elr, state.last_known)]
    recovers = " recovering" if state.recovery is RECOVERING else ""
    return f"{lists[0]} / {lists[1]} / {state.leader} / {lists[2]}{recovers}"


def writes(**fields: Any) -> PartitionChangeRecord:
    return change("foo-0", **fields)


def of_three(text: str, *unfenced: int, min_isr: int = 2, **fields: Any) -> Controller:
    out = {1, 2, 3} - {*unfenced}
    state = foo(text, [1, 2, 3], min_isr, **fields)
    return controller(brokers(*unfenced, fenced=out), state)


def of_four(text: str, *unfenced: int) -> Controller:
    state = foo(text, [0, 1, 2, 3], min_isr=3)
    return controller(brokers(*unfenced, fenced={0, 1, 2, 3} - {*unfenced}), state)


WHOLE, DOWN, ALONE = "123 / - / 1 / -", "- / 12 / -1 / 1", "- / 2 / -1 / 1"
ONE = controller(brokers(1), foo("1 / - / 1 / -", [1], 1))
FIRST_LEADS = writes(isr=[1], leader=1, recovery=RECOVERING, elr=[], last_known=[])
# fmt: off
STORIES = (
    Story(id="all-fenced", releases="4.0-4.3", given=of_three(WHOLE, 1, 2, 3), steps=(
        (fence(3), writes(isr=[1, 2]), "12 / - / 1 / -"),
        (fence(2), writes(isr=[1], elr=[2]), "1 / 2 / 1 / -"),
        (fence(1), writes(isr=[], leader=-1, elr=[1, 2], last_known=[1]), DOWN))),
    Story(id="a-waits-for-2", releases="4.0-4.3", given=of_three(DOWN), steps=(
        (crashed(1), writes(elr=[2]), ALONE),
        (unfence(1), None, ALONE),
        (stopped(3), None, ALONE),
        (unfence(3), None, ALONE),
        (stopped(2), None, ALONE),
        (unfence(2), writes(isr=[2], leader=2, elr=[], last_known=[]), "2 / - / 2 / -"))),
    Story(id="b-last-leader-lives", releases="4.0-4.3", given=of_three(ALONE, 1), steps=(
        (crashed(2), FIRST_LEADS, "1 / - / 1 / - recovering"),)),
    Story(id="c-last-leader-fenced", given=of_three(ALONE), steps=(
        (crashed(2), writes(elr=[]), "- / - / -1 / 1"),
        (unfence(3), None, "- / - / -1 / 1"),
        (elects(), None, "- / - / -1 / 1"),
        (unfence(1), writes(isr=[1], leader=1, recovery=RECOVERING, last_known=[]),
         "1 / - / 1 / - recovering"))),
    Story(id="d-dead-leader", releases="4.0", given=of_three(ALONE), steps=(
        (crashed(2), FIRST_LEADS, "1 / - / 1 / - recovering"),)),
    Story(id="leader-alone", releases="4.0-4.3", given=of_three(WHOLE, 1, 2, 3), steps=(
        (alters(1), writes(isr=[1], elr=[2, 3]), "1 / 23 / 1 / -"),
        (fence(1), writes(isr=[2], leader=2, elr=[1, 3]), "2 / 13 / 2 / -"))),
    Story(id="before-its-fence", releases="4.0-4.3", given=of_three("1 / 2 / 1 / -", 1, 2),
          steps=((crashed(1), writes(isr=[2], leader=2, elr=[]), "2 / - / 2 / -"),)),
    Story(id="clean-before-its-fence", releases="4.0-4.3", given=of_three("1 / 2 / 1 / -", 1),
          steps=((stopped(1), writes(isr=[], leader=-1, elr=[1, 2], last_known=[1]), DOWN),)),
    Story(id="controlled-shutdown", releases="4.0-4.3", given=of_three("1 / - / 1 / -", 1), steps=(
        (shut_down(1), writes(isr=[], leader=-1, elr=[1], last_known=[1]), "- / 1 / -1 / 1"),
        (shut_down(1), None, "- / 1 / -1 / 1"),
        (fence(1), None, "- / 1 / -1 / 1"),
        (stopped(1), None, "- / 1 / -1 / 1"),
        (unfence(1), writes(isr=[1], leader=1, elr=[], last_known=[]), "1 / - / 1 / -"))),
    Story(id="one-replica", releases="4.0-4.3", given=ONE, steps=(
        (crashed(1), writes(isr=[], leader=-1, last_known=[1]), "- / - / -1 / 1"),
        (unfence(1), writes(isr=[1], leader=1, recovery=RECOVERING, last_known=[]),
         "1 / - / 1 / - recovering"))),
    Story(id="one-replica-without", releases="3.2-4.3", metadata="any", elr=0, given=ONE, steps=(
        (fence(1), writes(leader=-1), "1 / - / -1 / -"),
        (unfence(1), writes(leader=1), "1 / - / 1 / -"))),
    Story(id="unclean-by-config", releases="4.0-4.3",
          given=of_three("1 / 2 / 1 / -", 1, 3, unclean_leader_election=True), steps=(
        (fence(1), writes(isr=[3], leader=3, recovery=RECOVERING, elr=[]),
         "3 / - / 3 / - recovering"),)),
    Story(id="unregistered", releases="4.0-4.3", given=of_three(ALONE), steps=(
        # Kafka looks at its ELRs, and finds nothing to write: it stays in them.
        (unregisters(2), None, ALONE),)),
    # Who reports a directory that its broker has is left where it is.
    Story(id="directory", releases="4.3", given=of_three(
        "1 / 2 / 1 / -", 1, directories=(1, 2, 1)), steps=(
        (reports(2, 1), writes(directories=[1, 1, 1]), "1 / 2 / 1 / -"),)),
    Story(id="directory-clears", releases="4.0-4.2", given=of_three(
        "1 / 2 / 1 / -", 1, directories=(1, 2, 1)), steps=(
        (reports(2, 1), writes(elr=[], directories=[1, 1, 1]), "1 / - / 1 / -"),)),
    Story(id="cleared-in-an-outage", releases="4.0-4.3", given=of_three(DOWN), steps=(
        (sets("foo", 1), None, "- / - / -1 / -"),
        (stopped(1), None, "- / - / -1 / -"),
        (unfence(1), None, "- / - / -1 / -"),
        (elects(), None, "- / - / -1 / -"),
        (elects(unclean=True), writes(isr=[1], leader=1, recovery=RECOVERING),
         "1 / - / 1 / - recovering"))),
    Story(id="switched-off-a", releases="4.0-4.3", elr=0, given=of_three(DOWN), steps=(
        (unfence(3), writes(elr=[]), "- / - / -1 / 1"),
        (unfence(1), None, "- / - / -1 / 1"),
        (elects(unclean=True), writes(isr=[1], leader=1, recovery=RECOVERING),
         "1 / - / 1 / 1 recovering"))),
    Story(id="switched-off-b", releases="4.0-4.3", elr=0, given=of_three(DOWN), steps=(
        (unfence(2), writes(isr=[2], leader=2, elr=[]), "2 / - / 2 / 1"),)),
    Story(id="switched-on-a", given=of_three("1 / - / -1 / -"), steps=(
        (crashed(1), writes(isr=[]), "- / - / -1 / -"),
        (unfence(1), None, "- / - / -1 / -"))),
    Story(id="switched-on-b", releases="4.0", given=of_three("1 / - / -1 / -"), steps=(
        (crashed(1), writes(isr=[], last_known=[-1]), "- / - / -1 / -1"),
        (unfence(1), None, "- / - / -1 / -1"),
        (elects(unclean=True), None, "- / - / -1 / -1"))),
    Story(id="V12", releases="4.0-4.3", given=controller(
        brokers(0, 1, 2), foo("012 / - / 0 / -", [0, 1, 2])), steps=(
        (alters(0), writes(isr=[0], elr=[1, 2]), "0 / 12 / 0 / -"),
        (alters(0, 1), writes(isr=[0, 1], elr=[]), "01 / - / 0 / -"))),
    Story(id="V13", releases="4.0-4.3", given=controller(
        brokers(0, fenced=[1, 2]), foo("0 / 12 / 0 / -", [0, 1, 2], 3)), steps=(
        (stopped(0), writes(isr=[], leader=-1, elr=[0, 1, 2], last_known=[0]),
         "- / 012 / -1 / 0"),)),
    Story(id="V14", releases="4.0-4.3", given=of_four("0123 / - / 0 / -", 0, 1, 2, 3), steps=(
        (fence(2), writes(isr=[0, 1, 3]), "013 / - / 0 / -"),
        (fence(3), writes(isr=[0, 1], elr=[3]), "01 / 3 / 0 / -"),
        (fence(1), writes(isr=[0], elr=[1, 3]), "0 / 13 / 0 / -"),
        *((unfence(b), None, "0 / 13 / 0 / -") for b in (1, 2, 3)))),
    Story(id="V15", releases="4.0-4.3", given=of_four("0 / 23 / 0 / -", 0, 2), steps=(
        (fence(0), writes(isr=[2], leader=2, elr=[0, 3]), "2 / 03 / 2 / -"),)),
    Story(id="V16a-b", releases="4.0-4.3", given=of_four("0 / 23 / 0 / -", 0), steps=(
        (crashed(3), writes(elr=[2]), "0 / 2 / 0 / -"),
        (crashed(0), writes(isr=[], leader=-1, last_known=[0]), "- / 2 / -1 / 0"))),
    Story(id="V19 topic", releases="4.0-4.3", given=of_three("2 / 1 / 2 / -", 2), steps=(
        (sets("bar", 1), None, "2 / 1 / 2 / -"), (sets("foo", 1), None, "2 / - / 2 / -"))),
    Story(id="V21", releases="4.0-4.3", given=of_three(DOWN), steps=(
        (crashed(1), writes(elr=[2]), ALONE),
        (stopped(2), None, ALONE),
        (unfence(2), writes(isr=[2], leader=2, elr=[], last_known=[]), "2 / - / 2 / -"))),
    Story(id="V22", releases="4.0-4.3", elr=0, given=of_three(WHOLE, 1, 2, 3), steps=(
        (crashed(1), writes(isr=[2, 3], leader=2), "23 / - / 2 / -"),
        (crashed(2), writes(isr=[3], leader=3), "3 / - / 3 / -"),
        (crashed(3), writes(leader=-1), "3 / - / -1 / -"))),
    # Who is dropped while the ISR is too small enters the ELR, and is no replica any more.
    Story(id="reassigned", releases="4.0-4.3", given=of_three(
        "12 / - / 1 / -", 1, 2, 3, adding=[3], removing=[1], min_isr=3), steps=(
        (alters(1, 2, 3), writes(isr=[2, 3], leader=2, replicas=[2, 3], adding=[], removing=[],
                                 elr=[1]), "23 / 1 / 2 / -"),)),
)
# fmt: on


def told(stories: Iterable[Story]) -> list[Any]:
    return [
        pytest.param(s, with_elr(f, s.elr), id=f"{s.id} {f.release}@{f.metadata_version}")
        for s in stories
        for f in at(s.releases, s.metadata)
    ]


@pytest.mark.parametrize(("story", "features"), told(STORIES))
def test_what_happens(story: Story, features: Features) -> None:
    state = story.given
    for number, (act, record, after) in enumerate(story.steps, 1):
        state, _, facts = act(state, features)
        records: list[Record] = [] if record is None else [record]
        changes = [text for text in written(facts) if text.startswith("PartitionChange")]
        assert changes == texts(records), f"step {number}"
        assert shown(state.partitions[0]) == after, f"step {number}"


@pytest.mark.parametrize(
    ("previous", "count", "features"),
    [
        pytest.param(previous, count, with_elr(f, 1), id=f"{id} {f.release}@{f.metadata_version}")
        for id, previous, count in (("V23a", 100, 1), ("V23b", 10, 2))
        for f in at("4.0-4.3", ">= 4.0-IV1")
    ],
)
def test_v23_the_registration_comes_last_and_has_the_first_offset(
    previous: int, count: int, features: Features
) -> None:
    state = foo("2 / 1 / 2 / -", [1, 2, 3])
    before = controller(brokers(2, leaving=[1], epochs={1: 100}), state, next_offset=111)
    after, _, facts = registers(before, 1, 2, features, None, previous=previous)
    registered = present(registration(after.registrations, BrokerId(1)))
    assert (registered.epoch, registered.in_controlled_shutdown) == (111, False)
    records = written(facts)
    assert (len(records), records[-1].split()[0]) == (count, "RegisterBrokerRecord")
