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

OF_ALL = tuple(name for name in situations() if not why_not(name, "2.2.2"))
"""Situations that every release since 2.2.2 has."""

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


def alterations(passage: Passage) -> list[int]:
    """What each AlterPartition came to: its own error, or that of its one partition."""
    return [asked.error or asked.partitions[0].error for asked in passage.altered]


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
    told = [
        p for name, ps in recorded_sequences(patch).items() if name != "protocol-2.1" for p in ps
    ]
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


def test_2_1_1_does_nothing_where_the_last_isr_member_bounces() -> None:
    before, bounced = passages(BEFORE_380, "last-member")
    assert bounced.requests == ()
    assert leaders(bounced) == leaders(before)


@all_since_380
def test_since_2_2_the_bounce_of_the_last_isr_member_burns_two_epochs(patch: str) -> None:
    before, bounced = passages(patch, "last-member")
    assert leaders(before)["L"] == (1, 1, (1,))
    assert leaders(bounced)["L"] == (1, 3, (1,))
    told = [p for sent in bounced.to(1) for p in sent.partitions if p.topic == "L"]
    assert {(p.leader, p.leader_epoch) for p in told} == {(-1, 2), (1, 3)}


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


@all_since_380
def test_since_2_2_all_mail_of_the_earlier_generation_is_refused_and_it_may_lead_later(
    patch: str,
) -> None:
    _, late, known, _, gone = passages(patch, "earlier-mail")
    assert {(sent.stamped, sent.answer) for sent in late.to(1)} == {("b1g1", 77)}
    assert {(sent.stamped, sent.answer) for sent in known.to(1)} == {("b1g2", 0)}
    assert [leader for leader, _, _ in leaders(gone).values()] == [1, 1]


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


# --- a late answer --------------------------------------------------------------------------------


@pytest.mark.parametrize("patch", CONTROLLER_RELEASES)
def test_after_an_unseen_bounce_three_requests_that_waited_reach_the_next_generation(
    patch: str,
) -> None:
    first, *waited = passages(patch, "late-answer")[1].to(1)
    assert first.generation == "b1g1"
    assert [sent.generation for sent in waited] == ["b1g2"] * 3
    assert kinds(tuple(waited)) == [
        (UPDATE_METADATA, ("Q1",)),
        (LEADER_AND_ISR, ("Q2",)),
        (UPDATE_METADATA, ("Q2",)),
    ]
    stamped = NO_EPOCH if patch == BEFORE_380 else "b1g1"
    assert {sent.stamped for sent in waited} == {stamped}, "of when it was queued, not sent"


@all_since_380
def test_since_2_2_a_bounce_that_is_seen_drops_what_waited(patch: str) -> None:
    first, *after = passages(patch, "late-answer")[-1].to(1)
    assert (first.generation, first.stamped) == ("b1g2", "b1g2")
    assert {(sent.generation, sent.stamped) for sent in after} == {("b1g3", "b1g3")}
    assert after[0].full


# --- answers to a controlled shutdown -------------------------------------------------------------


def test_2_1_1_knows_no_epoch_of_who_asks_to_shut_down() -> None:
    _, unknown, _, live = passages(BEFORE_380, "shutdown-answers")
    assert errors(unknown) == [8, 8, 8, 8]
    assert errors(live) == [0, 0, 0, 0]


@all_since_380
def test_since_2_2_an_id_that_is_not_registered_is_answered_by_whether_it_has_an_epoch(
    patch: str,
) -> None:
    unknown = passages(patch, "shutdown-answers")[1]
    assert [(a.stamped, a.error) for a in unknown.answers] == [("b1g1", -1), ("-1", 8)] * 2


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


@pytest.mark.parametrize("patch", CONTROLLER_RELEASES)
def test_the_next_controller_tells_everything_again_at_the_same_leader_epochs(patch: str) -> None:
    (after,) = passages(patch, "fail-over")
    assert {sent.controller_epoch for sent in after.requests} == {2}
    assert leaders(after) == {"F": (2, 0, (2, 1)), "L": (1, 0, (1, 2))}
    assert (LEADER_AND_ISR, ("F", "L")) in kinds(after.to(1))


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


# --- one change with three brokers in it ----------------------------------------------------------


@all_since_380
def test_since_2_2_a_dead_broker_is_elected_while_a_bounce_of_the_same_change_is_handled(
    patch: str,
) -> None:
    (change,) = passages(patch, "one-change")
    told = [p for s in change.to(1) for p in s.partitions if p.topic == "Y"]
    led = [(p.leader, p.leader_epoch) for p in told]
    assert [one for one, other in pairwise((*led, (-9, -9))) if one != other] == [(3, 1), (1, 2)]
    assert leaders(change)["Y"] == (1, 2, (1,))


@all_since_380
def test_since_2_2_the_bounced_broker_is_first_told_under_its_old_epoch(patch: str) -> None:
    (change,) = passages(patch, "one-change")
    first, *after = change.to(2)
    assert (first.api, first.stamped, first.generation) == (UPDATE_METADATA, "b2g1", "b2g2")
    assert (first.answer, first.partitions) == (77, ())
    assert {sent.stamped for sent in after} == {"b2g2"}


# --- releases beside each other -------------------------------------------------------------------


def without_stops_and_versions(passage: Passage) -> list[tuple[object, ...]]:
    told = [sent for sent in passage.requests if sent.api != STOP_REPLICA]
    return [(s.broker, s.generation, s.api, s.stamped, s.full, s.partitions, s.live) for s in told]


@pytest.mark.parametrize("name", OF_ALL)
def test_2_6_3_and_2_8_2_do_as_2_2_2_but_for_stop_replica(name: str) -> None:
    for patch in ("2.6.3", "2.8.2"):
        for one, other in zip(passages("2.2.2", name), passages(patch, name), strict=True):
            assert without_stops_and_versions(one) == without_stops_and_versions(other)
            assert (one.answers, one.znodes) == (other.answers, other.znodes)


@pytest.mark.parametrize("name", OF_ALL)
def test_3_4_1_leaves_out_update_metadata_without_partitions_and_nothing_else(name: str) -> None:
    for one, other in zip(passages("2.8.2", name), passages("3.4.1", name), strict=True):
        earlier, later = without_stops_and_versions(one), without_stops_and_versions(other)
        left_out = [sent for sent in earlier if sent not in later]
        assert [sent for sent in earlier if sent in later] == later
        assert all(api == UPDATE_METADATA and not told for *_, api, _, _, told, _ in left_out)
        assert (one.answers, one.znodes) == (other.answers, other.znodes)


def test_3_4_1_tells_nobody_who_lives_where_a_dead_broker_led_nothing() -> None:
    told = [
        [sent.live for sent in passages(patch, "stale-shutdown")[1].to(2) if not sent.partitions]
        for patch in ("2.8.2", "3.4.1")
    ]
    assert told == [[(0, 2)], []]


# --- AlterIsr -------------------------------------------------------------------------------------


def test_3_4_1_takes_no_member_that_is_not_there_and_2_8_2_takes_anybody() -> None:
    """55 is what a leader hears that speaks version 1, 107 one that speaks version 2."""
    told = {p: passages(p, "alter-isr") for p in ("2.8.2", "3.4.1")}
    assert alterations(told["2.8.2"][1]) == [0, 0]
    assert alterations(told["3.4.1"][1]) == [55, 107]
    assert alterations(told["2.8.2"][-1]) == [0]
    assert alterations(told["3.4.1"][-1]) == [107]


def test_2_8_2_writes_a_leader_epoch_that_nobody_has_given_out() -> None:
    """What is newer than the controller knows counts as older from 3.3 on (KAFKA-14154)."""
    old, new = (passages(patch, "alter-isr")[4] for patch in ("2.8.2", "3.4.1"))
    assert alterations(old) == [95, 74, 0, 95]
    assert old.znode("H").leader_epoch == 5
    assert alterations(new) == [95, 74, 41, 41]
    assert new.znode("H").leader_epoch == 1


def test_a_leader_speaks_with_exactly_the_broker_epoch_that_is_known() -> None:
    for patch, unknown in (("2.8.2", [3, 3]), ("3.4.1", [3, 100])):
        assert alterations(passages(patch, "alter-isr")[5]) == [77, 77, 77, *unknown]


def test_since_3_4_1_nobody_goes_back_to_recovering() -> None:
    assert alterations(passages("3.4.1", "alter-isr")[6]) == [42, 42]
