"""Eligible leader replicas in rows, tables, log lines, metrics and the state (KIP-966)."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.rows.columns import STRIPS, STRIPS_OF_ELR, Rows, strips_of
from kiplab.rows.difference import differences, first_difference
from kiplab.rows.log_blocks import log_blocks
from kiplab.rows.run_titles import own_title, titles
from kiplab.rows.sentences import sentences, table
from kiplab.rows.state_tree import StateNode, tree_of
from tests.figures.small_plays import (
    ACKS_1_AND_ELR,
    ELR_ELECTED,
    ELR_WAITED_FOR,
    TRIO,
    WITH_ELR,
    play,
    spans,
)

DESCRIBE = "kafka-topics.sh --describe, t-0"
LEFT = ELR_WAITED_FOR + "start 1\nunfence 1\n"
LAST_LEADER = WITH_ELR + "crash 3\nexpire 3\ncrash 2\nexpire 2\ncrash 1\nexpire 1\n"
LAST_LEADER += "start 2\nstart 1\nunfence 1\n"
CLEARED = ELR_WAITED_FOR + "configure t min-insync-replicas=1\n"
ALIVE = WITH_ELR + "crash 3\nexpire 3\ncut 2 1\nexpire 2\nunfence 2\n"


def log(rows: Rows, word: str) -> list[str]:
    lines = (line for event in rows.events for line in event.log.split("\n"))
    return [line.partition(" log, ")[2] for line in lines if word in line]


def short(rows: Rows, x: int) -> list[str]:
    return [tick.short for tick in rows.ticks if tick.x == x and tick.short]


@pytest.mark.parametrize(
    ("text", "elr", "last_known", "isr"),
    [
        (
            *(ELR_ELECTED, ["{2}", "{1, 2}", "{1}"], ["1"]),
            ["{1, 2, 3}", "{1, 2}", "{1}", "{}", "{2}"],
        ),
        (LEFT, ["{2}", "{1, 2}", "{2}"], ["1"], ["{1, 2, 3}", "{1, 2}", "{1}", "{}"]),
        (CLEARED, ["{2}", "{1, 2}"], ["1"], ["{1, 2, 3}", "{1, 2}", "{1}", "{}"]),
    ],
    ids=["elected", "left", "cleared"],
)
def test_both_lists_are_tracks_where_they_are_not_empty(
    text: str, elr: list[str], last_known: list[str], isr: list[str]
) -> None:
    rows = play(text, "4.3", elr=1)
    for track, values in {"ELR": elr, "last known leader": last_known, "ISR": isr}.items():
        assert [value for *_, value in spans(rows, "partition", track)] == values
    assert strips_of((rows,), "t-0") == (*STRIPS, *STRIPS_OF_ELR)


def test_a_run_without_them_has_the_tracks_that_it_always_had() -> None:
    rows = play(TRIO + "crash 1\nexpire 1\n", "4.3", elr=1)
    assert strips_of((rows,), "t-0") == STRIPS
    assert table(rows)[0][3:6] == list(STRIPS)


def test_4_0_may_note_that_there_was_no_leader() -> None:
    head = WITH_ELR.replace("leader=1 ", "isr=1 leader=none ")
    rows = play(head + "crash 1\nexpire 1\nstart 1\n", "4.0", elr=1)
    assert rows.text("partition", "last known leader", 3, "t-0") == "-1"


def test_tables_and_sentences_tell_them() -> None:
    rows = play(ELR_ELECTED, "4.3", elr=1)
    heads, body = table(rows)
    assert heads[3:8] == [*STRIPS, *STRIPS_OF_ELR]
    assert body[6][5:8] == ["{}", "{1, 2}", "broker 1"]
    said = sentences(rows)
    assert any("t-0 has leader epoch 7, partition epoch 14, ISR {2}, ELR {1}, c" in s for s in said)
    assert any("broker 2 is elected from the ELR to lead t-0" in s for s in said)


@pytest.mark.parametrize(
    ("text", "marked", "tick"),
    [
        (ELR_ELECTED, ["from ELR"], ["unfence 2", "elect 2 from ELR"]),
        (LAST_LEADER, ["unclean"], ["unfence 1", "elect 1 uncleanly"]),
        (CLEARED, [], ["clear ELR"]),
    ],
    ids=["elected", "last known leader", "cleared"],
)
def test_the_ways_to_elect_have_marks_and_ticks_of_their_own(
    text: str, marked: list[str], tick: list[str]
) -> None:
    rows = play(text, "4.3", elr=1)
    assert [m.kind for m in rows.marks if m.kind in ("from ELR", "unclean")] == marked
    assert short(rows, rows.meta.end - 1) == tick


def test_a_record_that_clears_them_in_several_partitions_is_about_no_single_one() -> None:
    topic = WITH_ELR.splitlines()[3]
    two = CLEARED.replace(topic, f"{topic} partition=0\n{topic} partition=1")
    (tick,) = [t for t in play(two, "4.3", elr=1).ticks if t.record == "ClearElrRecord"]
    assert (tick.short, tick.partition, len(tick.events)) == ("clear ELR", "", 5)


def test_a_broker_in_the_elr_that_runs_is_out_of_the_isr_and_says_so() -> None:
    rows = play(ELR_ELECTED, "4.3", elr=1)
    (waiting, leading) = [s for s in rows.tracks["broker 2", "role"] if s.x0 >= 7]
    assert (waiting.value, waiting.text) == ("out", "out of the ISR, in the ELR")
    assert ("in ELR" in waiting.flags, leading.value) == (True, "leader")


BY_ELR = (
    "INFO PartitionChangeBuilder: Setting new leader for topicId …, partition 0 to 2 using ELR."
    " Previous partition: …, change record: …"
)
REMOVED = "INFO ReplicationControlManager: Removed ELRs from 1 partitions of topic t."
STRUCK_OFF = "INFO ReplicationControlManager: handleBrokerUncleanShutdown: changing 1 partition(s)"


@pytest.mark.parametrize(
    ("text", "kafka", "word", "lines"),
    [
        (ELR_ELECTED, "4.0", "using ELR", []),
        (ELR_ELECTED, "4.1", "using ELR", [BY_ELR]),
        (CLEARED, "4.0", "Removed ELRs", [REMOVED]),
        (CLEARED, "4.3", "Removed ELRs", [REMOVED]),
        (LEFT, "4.3", "Shutdown:", [STRUCK_OFF]),
        (ELR_ELECTED, "4.3", "Shutdown:", []),
    ],
)
def test_what_a_controller_logs_of_them(text: str, kafka: str, word: str, lines: list[str]) -> None:
    assert log(play(text, kafka, elr=1), word) == lines


@pytest.mark.parametrize(
    ("text", "kafka", "unclean", "from_elr"),
    [
        (ELR_ELECTED, "4.0", 0, None),
        (ELR_ELECTED, "4.1", 0, 1),
        (ELR_ELECTED, "4.3", 0, 1),
        # KAFKA-19212: 4.0 takes it for clean, as the broker was in the ELR before it registered.
        (LAST_LEADER, "4.0", 0, None),
        (LAST_LEADER, "4.3", 1, 0),
    ],
)
def test_an_election_from_the_elr_is_counted_and_is_not_unclean(
    text: str, kafka: str, unclean: int, from_elr: int | None
) -> None:
    last = {row.metric: row.value for row in play(text, kafka, elr=1).metrics}
    assert last["UncleanLeaderElectionsPerSec"] == unclean
    assert last.get("ElectionFromEligibleLeaderReplicasPerSec") == from_elr


def test_runs_with_and_without_them_part_where_the_first_replica_enters() -> None:
    runs = play(ELR_WAITED_FOR, "4.3", elr=1), play(ELR_WAITED_FOR, "4.3")
    assert first_difference(*runs) == 3
    found = {(d.field, d.one, d.other) for d in differences(*runs, at=6)}
    assert {("ELR", "{1, 2}", "none"), ("ISR", "{}", "{1}")} < found
    assert titles(runs) == ("ELR on · Kafka 4.3", "ELR off · Kafka 4.3")
    assert [own_title(run) for run in runs] == ["ELR on · Kafka 4.3", "Kafka 4.3"]


def test_the_logs_part_after_an_election_from_the_elr_that_cuts_records() -> None:
    blocks = log_blocks(play(ACKS_1_AND_ELR, "4.3", elr=1), "t-0")
    assert [block.words for block in blocks] == [
        "election from the ELR",
        "broker 1 truncates to 10",
    ]
    assert log_blocks(play(ELR_ELECTED, "4.3", elr=1), "t-0") == ()


def rows_of_tree(node: StateNode) -> dict[str, str]:
    """Values by the field that they were read from; the first of each."""
    found = {node.field: node.value}
    for child in node.children:
        found = rows_of_tree(child) | found
    return found


def test_the_state_has_what_belongs_to_them_where_there_is_any() -> None:
    features = parse_features("4.3", elr=1)
    fields = {
        "Features.elr": "1",
        "PartitionRegistration.elr": "{1, 2}",
        "PartitionRegistration.last_known": "{1}",
        "Durable.clean_epoch": "41",
    }
    cluster = run_play(parse(ELR_WAITED_FOR), features).cluster
    found = rows_of_tree(tree_of(cluster))
    assert {field: found.get(field) for field in fields} == fields
    without = rows_of_tree(tree_of(run_play(parse(TRIO), parse_features("4.3")).cluster))
    assert not {*fields} & {*without}


@pytest.mark.parametrize(
    ("release", "elr", "lists"),
    [
        ("4.3", 1, "  Elr: 2  LastKnownElr: "),
        ("4.3", 0, "  Elr:   LastKnownElr: "),
        ("3.8", 0, "  Elr:   LastKnownElr: "),
        ("3.7", 0, ""),
    ],
)
def test_a_broker_describes_a_topic_by_its_own_metadata(release: str, elr: int, lists: str) -> None:
    text = WITH_ELR + "crash 3\nexpire 3\nshut-down 2\nexpire 2\n"
    cluster = run_play(parse(text), parse_features(release, elr=elr)).cluster
    told = {
        n.label: c.value
        for n in tree_of(cluster).children
        for c in n.children
        if DESCRIBE in c.label
    }
    assert told == {"broker 1": f"Leader: 1  Replicas: 1,2,3  Isr: 1{lists}"}
