"""What real controllers of ZooKeeper's years did, as it was recorded: complete, and as it was seen
before. F is a partition that broker 1 follows at first, L one that it leads.
"""

from itertools import pairwise

import pytest

from kiplab.judge.zookeeper_era.real_control_requests import CONTROLLER_RELEASES, recorded_sequences
from kiplab.judge.zookeeper_era.sequences import (
    LEADER_AND_ISR,
    NO_EPOCH,
    STOP_REPLICA,
    UPDATE_METADATA,
    Passage,
    SentRequest,
    StateZnode,
)
from tests.judge.zookeeper.situations import CONTROLLER, situations, titles_of, why_not

BEFORE_380, SINCE_380 = "2.1.1", CONTROLLER_RELEASES[1:]
WRITE_IT = "run python -m tests.judge controllers --record"
RECORDED = [
    (patch, name)
    for patch in CONTROLLER_RELEASES
    for name in situations()
    if not why_not(name, patch)
]

all_since_380 = pytest.mark.parametrize("patch", SINCE_380)
each_recording = pytest.mark.parametrize(("patch", "name"), RECORDED)


def passages(patch: str, name: str) -> tuple[Passage, ...]:
    return recorded_sequences(patch)[name]


def kinds(sent: tuple[SentRequest, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Each request's kind, and the topics that it is about."""
    return [(one.api, topics_of(one)) for one in sent]


def topics_of(sent: SentRequest) -> tuple[str, ...]:
    return (*(p.topic for p in sent.partitions), *(r.topic for r in sent.stopped))


def leaders(passage: Passage) -> dict[str, tuple[int, int, tuple[int, ...]]]:
    """Leader, leader epoch and ISR of each topic in ZooKeeper."""
    return {z.topic: (z.leader, z.leader_epoch, z.isr) for z in passage.znodes}


def errors(passage: Passage) -> list[int]:
    return [answer.error for answer in passage.answers]


# --- form -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("patch", CONTROLLER_RELEASES)
def test_every_situation_is_recorded_of_every_release_or_says_why_not(patch: str) -> None:
    wanted = {name for release, name in RECORDED if release == patch}
    assert set(recorded_sequences(patch)) == wanted, f"{WRITE_IT} --release {patch}"


@each_recording
def test_a_recording_has_the_passages_of_its_situation(patch: str, name: str) -> None:
    titles = tuple(passage.title for passage in passages(patch, name))
    assert titles == titles_of(situations()[name]), WRITE_IT


@each_recording
def test_a_controller_never_takes_a_leader_epoch_or_a_version_back(patch: str, name: str) -> None:
    seen: dict[str, StateZnode] = {}
    for znode in (znode for passage in passages(patch, name) for znode in passage.znodes):
        before = seen.setdefault(znode.topic, znode)
        assert (znode.leader_epoch, znode.zk_version) >= (before.leader_epoch, before.zk_version)
        seen[znode.topic] = znode


@each_recording
def test_what_carries_an_earlier_generation_is_answered_77_and_nothing_else_is(
    patch: str, name: str
) -> None:
    for passage in passages(patch, name):
        for sent in passage.requests:
            stale = sent.stamped not in (NO_EPOCH, sent.generation)
            assert sent.answer == (77 if stale else 0)


@pytest.mark.parametrize(
    ("patch", "versions"),
    [
        ("2.1.1", {LEADER_AND_ISR: 1, UPDATE_METADATA: 4, STOP_REPLICA: 0}),
        ("2.2.2", {LEADER_AND_ISR: 2, UPDATE_METADATA: 5, STOP_REPLICA: 1}),
        ("2.6.3", {LEADER_AND_ISR: 4, UPDATE_METADATA: 6, STOP_REPLICA: 3}),
        ("2.8.2", {LEADER_AND_ISR: 5, UPDATE_METADATA: 7, STOP_REPLICA: 3}),
        ("3.4.1", {LEADER_AND_ISR: 7, UPDATE_METADATA: 8, STOP_REPLICA: 4}),
    ],
)
def test_each_release_sends_the_versions_of_its_protocol(
    patch: str, versions: dict[str, int]
) -> None:
    told = [p for n, ps in recorded_sequences(patch).items() if n != "protocol-2.1" for p in ps]
    assert {(s.api, s.version) for p in told for s in p.requests} == set(versions.items())


def test_the_controller_is_never_among_those_that_are_listened_to() -> None:
    told = [s for patch, name in RECORDED for p in passages(patch, name) for s in p.requests]
    assert CONTROLLER not in {sent.broker for sent in told}
    assert {sent.sender for sent in told} == {CONTROLLER}


# --- case D: a bounce -----------------------------------------------------------------------------


def test_2_1_1_sends_nothing_after_a_bounce_and_changes_nothing() -> None:
    for passage in passages(BEFORE_380, "bounce"):
        assert passage.requests == ()
        assert leaders(passage) == {"F": (2, 0, (2, 1)), "L": (1, 0, (1, 2))}


@all_since_380
def test_since_2_2_a_bounce_takes_the_broker_out_of_both_isrs(patch: str) -> None:
    at_once, behind_the_gate = passages(patch, "bounce")
    assert leaders(at_once) == {"F": (2, 1, (2,)), "L": (2, 1, (2,))}
    assert leaders(behind_the_gate) == leaders(at_once)


@all_since_380
def test_since_2_2_the_next_generation_is_told_everything_under_its_own_epoch(patch: str) -> None:
    for passage, generation in zip(passages(patch, "bounce"), ("b1g2", "b1g3"), strict=True):
        told = passage.to(1)
        assert kinds(told) == [
            (UPDATE_METADATA, ("F", "L")),
            (LEADER_AND_ISR, ("F", "L")),
            (UPDATE_METADATA, ("F", "L")),
        ]
        assert [sent.full for sent in told] == [True, False, False]
        assert {(sent.stamped, sent.generation) for sent in told} == {(generation, generation)}


# --- case A: mail of an earlier generation --------------------------------------------------------


def test_2_1_1_tells_the_next_generation_to_stop_what_the_earlier_one_gave_up() -> None:
    _, late, known, back, gone = passages(BEFORE_380, "earlier-mail")
    assert kinds(late.to(1)) == [
        (LEADER_AND_ISR, ("L",)),
        (UPDATE_METADATA, ("L",)),
        (STOP_REPLICA, ()),
        (STOP_REPLICA, ("F",)),
        (UPDATE_METADATA, ("F",)),
        (STOP_REPLICA, ()),
        (STOP_REPLICA, ("F",)),
    ]
    assert {(sent.generation, sent.answer) for sent in late.to(1)} == {("b1g2", 0)}
    assert known.requests == ()
    assert leaders(back) == {"F": (2, 1, (2, 1)), "L": (2, 1, (2, 1))}
    assert [leader for leader, _, _ in leaders(gone).values()] == [-1, -1]


def test_2_2_2_has_the_same_seven_refused_by_the_epoch_and_tries_none_twice() -> None:
    late = passages("2.2.2", "earlier-mail")[1].to(1)
    assert kinds(late) == kinds(passages(BEFORE_380, "earlier-mail")[1].to(1))
    assert {(sent.generation, sent.stamped, sent.answer) for sent in late} == {("b1g2", "b1g1", 77)}


# --- case B: a stale controlled shutdown ----------------------------------------------------------


def test_2_1_1_grants_the_shutdown_of_a_generation_that_is_gone() -> None:
    *_, back, stale, gone = passages(BEFORE_380, "stale-shutdown")
    assert leaders(back) == {"F": (2, 1, (2, 1)), "L": (2, 1, (2, 1))}
    assert errors(stale) == [0]
    assert leaders(stale) == {"F": (2, 2, (2,)), "L": (2, 2, (2,))}
    assert leaders(gone)["L"][0] == -1


@all_since_380
def test_since_2_2_a_stale_controlled_shutdown_is_refused_and_nothing_is_sent(patch: str) -> None:
    *_, back, stale, gone = passages(patch, "stale-shutdown")
    assert errors(stale) == [77]
    assert stale.requests == ()
    assert leaders(stale) == leaders(back)
    assert leaders(gone)["L"][0] == 1


# --- answers to a controlled shutdown -------------------------------------------------------------


def test_2_1_1_knows_no_epoch_of_who_asks_to_shut_down() -> None:
    _, unknown, _, live = passages(BEFORE_380, "shutdown-answers")
    assert errors(unknown) == [8, 8, 8, 8]
    assert errors(live) == [0, 0, 0, 0]


@all_since_380
def test_since_2_2_a_live_id_is_refused_an_older_epoch_alone(patch: str) -> None:
    live = passages(patch, "shutdown-answers")[3]
    assert errors(live) == [77, 0, 0, 0]


# --- controllers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("patch", CONTROLLER_RELEASES)
def test_a_deposed_controller_still_sends_and_cannot_write(patch: str) -> None:
    blind, knows, again = passages(patch, "deposed")
    assert ("F",) in [topics for api, topics in kinds(blind.to(1)) if api == STOP_REPLICA]
    assert {sent.controller_epoch for sent in blind.requests} == {1}
    assert {passage.controller_epoch for passage in (blind, knows, again)} == {2}
    assert leaders(again) == {"F": (2, 0, (2, 1))}
    assert errors(knows) + errors(again) == [11, 11]


@all_since_380
def test_under_protocol_2_1_no_epoch_is_sent_and_both_checks_are_done_all_the_same(
    patch: str,
) -> None:
    bounced, stale = passages(patch, "protocol-2.1")
    assert {(s.api, s.version, s.stamped) for s in bounced.requests} == {
        (LEADER_AND_ISR, 1, NO_EPOCH),
        (UPDATE_METADATA, 4, NO_EPOCH),
    }
    assert leaders(bounced) == {"F": (2, 1, (2,)), "L": (2, 1, (2,))}
    assert errors(stale) == [77]


@all_since_380
def test_since_2_2_a_dead_broker_is_elected_while_a_bounce_of_the_same_change_is_handled(
    patch: str,
) -> None:
    (change,) = passages(patch, "one-change")
    told = [p for s in change.to(1) for p in s.partitions if p.topic == "Y"]
    led = [(p.leader, p.leader_epoch) for p in told]
    assert [one for one, other in pairwise((*led, (-9, -9))) if one != other] == [(3, 1), (1, 2)]
    assert leaders(change)["Y"] == (1, 2, (1,))
