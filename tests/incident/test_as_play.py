"""A history as a play: the engine writes the records of the log, or is told not to."""

import pytest

import kiplab
from kiplab.incident.as_play.play_of_history import NoHistoryError, PlayOfHistory, as_play
from kiplab.plays.grammar import parse
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.protocol.features import parse_features
from kiplab.protocol.releases import Mode
from tests.incident.play_records import log_of
from tests.incident.short_log import replayed, short_log

START = """
0 0 topic orders
2 0 feature metadata.version 8
3 0 register 1@3 X1 8
6 0 register 2@6 X2 8
9 0 register 3@9 X3 8
10 0 unfence 1@3
11 0 unfence 2@6
12 0 unfence 3@9
"""
OTHER_LIFE = (
    START
    + """
15 2.5 new p1 replicas=2,3,1 isr=2,3,1 leader=2
23 11.5 change p1 isr=2,1 leader=2
24 11.5 fence 3@9
32 16.0 stop 2@6
34 16.0 change p1 isr=1 leader=1
40 20.0 fence 2@6
54 37.0 change p1 leader=-1
55 37.0 fence 1@3
60 40.3 register 1@60 Y1 8
61 40.3 unfence 1@60
62 40.3 change p1 leader=1
"""
)
QUICK_JOIN = (
    START
    + """
14 2.5 new p0 replicas=1,2,3 isr=1,2,3 leader=1
17 5.0 change p0 isr=1,2 leader=1
24 14.0 fence 3@9
29 20.0 register 3@29 Y3 8
30 20.0 unfence 3@29
31 20.0 change p0 isr=1,2,3
"""
)
TWO_DISKS = """
0 0 topic orders
2 0 feature metadata.version 21
3 0 register 1@3 X1 21 A,B
6 0 register 2@6 X2 21 C,D
10 0 unfence 1@3
11 0 unfence 2@6
14 2.5 new p0 replicas=1,2 isr=1,2 leader=1 directories=A,AAAAAAAAAAAAAAAAAAAAAQ
15 2.6 change p0 directories=A,C
17 20 change p0 isr=1
18 20 fence 2@6
"""


def play_of(text: str) -> PlayOfHistory:
    return as_play(replayed(list(short_log(text)))[0])


@pytest.mark.parametrize("log", [OTHER_LIFE, QUICK_JOIN])
def test_the_engine_writes_the_records_of_an_incident(log: str) -> None:
    play = play_of(log)
    assert (play.failed, play.records) == ("", play.of)
    state = kiplab.run(play.text).partitions[0]
    wanted = replayed(list(short_log(log)))[1].partitions.popitem()[1]
    for field in ("leader", "leader_epoch", "partition_epoch"):
        assert state[field] == getattr(wanted, field)
    parse(play.text)


@pytest.mark.parametrize(
    ("log", "least", "rules", "verdict"),
    [
        (QUICK_JOIN, 1, {}, "harm"),
        (QUICK_JOIN, 1, {"kafka": "3.5"}, "safe"),
        # KIP-903 compares broker epochs of who is proposed, not of who is elected.
        (OTHER_LIFE, 1, {}, "loss"),
        (OTHER_LIFE, 1, {"kafka": "3.5"}, "loss"),
        # Eligible leader replicas help where one replica alone does not commit.
        (OTHER_LIFE, 1, {"kafka": "4.1", "elr": 1}, "loss"),
        (OTHER_LIFE, 2, {"kafka": "4.1", "elr": 0}, "loss"),
        (OTHER_LIFE, 2, {"kafka": "4.1", "elr": 1}, "safe"),
    ],
)  # fmt: skip
def test_whether_another_release_would_have_helped(
    log: str, least: int, rules: dict[str, object], verdict: str
) -> None:
    setting = f"13 2.0 cluster-config min.insync.replicas {least}\n"
    play = play_of(START + setting + log.removeprefix(START))
    assert not play.failed
    assert kiplab.run(play.text, **rules).verdict == verdict  # type: ignore[arg-type]


def test_what_is_kept_on_the_disk_is_not_lost() -> None:
    events = replayed(list(short_log(OTHER_LIFE)))[0]
    assert kiplab.run(as_play(events, disk="kept").text).verdict == "safe"


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (QUICK_JOIN + "70 50 clear orders", "; the language of plays has no line for it."),
        (QUICK_JOIN + "70 50 change p0 isr=3 leader=3", "`elect orders-0` the engine writes no"),
        (TWO_DISKS + "29 30 register 2@29 Y 21 a,C\n70 50 moved 2@29", "has no line for it."),
    ],
)
def test_the_record_that_the_engine_does_not_write_is_told(log: str, told: str) -> None:
    play = play_of(log)
    assert play.failed.startswith("At offset 70 the log has ")
    assert told in play.failed
    assert play.failed in play.text
    assert play.records == play.of - 1
    parse(play.text)


MOVED = "\n40 40 change p0 directories=A,D"


@pytest.mark.parametrize(
    ("log", "verbs"),
    [
        ("register 2@29 Y 21 C", ["remove-directory", "hold", "start"]),
        ("register 2@29 Y 21 D" + MOVED, ["remove-directory", "hold", "start", "release"]),
        # Another disk in the place of one has its number.
        ("register 2@29 Y 21 E,D\n40 40 change p0 directories=A,E", ["start"]),
        ("register 2@29 Y 21 C,D" + MOVED, ["start", "hold", "send", "deliver"]),
        # What goes offline holds no replica of the partition.
        ("register 2@29 Y 21 a,D\n40 40 change p0 directories=A,a\n41 41 moved 2@29", ["start"]),
    ],
)
def test_a_replica_moves_to_another_directory(log: str, verbs: list[str]) -> None:
    play = play_of(TWO_DISKS + "29 30 " + log)
    assert (play.failed, play.of) == ("", play.records)
    lines = [statement.verb for statement in parse(play.text).statements if statement.verb]
    assert lines[lines.index("expire") + 1 :] == ["produce", *verbs]


def test_a_play_begins_behind_the_reassignment_that_ends_it() -> None:
    log = QUICK_JOIN + (
        "32 20 register 4@32 X4 8\n33 20 unfence 4@32\n"
        "70 50 change p0 replicas=1,2,3,4 addingReplicas=4 removingReplicas=3\n"
        "71 51 change p0 leader=1 isr=1,2,4 replicas=1,2,4 addingReplicas= removingReplicas="
    )
    failed = play_of(log).failed
    assert failed.endswith("has no line for it. Let it begin later, with --from 70.")
    play = as_play([e for e in replayed(list(short_log(log)))[0] if e.record.offset >= 70])
    assert (play.failed, play.records) == ("", 1)


def test_nothing_is_written_of_an_unknown_partition() -> None:
    with pytest.raises(NoHistoryError):
        play_of(START)


RULES_OF_NO_RELEASE = {
    "704-election-epoch",
    "903-bump-leader-epochs",
    "903-bump-price",
}
"""Plays that switch on a guard which no release has: a real log has no such records."""


@pytest.mark.long(quick="::test_the_engine_writes_the_records_of_an_incident")
@pytest.mark.parametrize("kafka", ["", "3.5", "3.9", "4.1", "4.3"])
def test_plays_come_back_from_their_records(kafka: str) -> None:
    failed, partitions = set(), 0
    for name in names():
        if run_play(load(name)).features.mode is Mode.ZOOKEEPER:
            continue
        stage = run_play(load(name), parse_features(kafka, elr=kafka > "4") if kafka else None)
        events = replayed([written.record for written in log_of(stage)])[0]
        for key in dict.fromkeys(e.after.key for e in events if e.after):
            partitions += 1
            play = as_play(events, key)
            if play.failed:
                failed.add(name)
                print(name, key, play.failed)
            else:
                assert run_play(parse(play.text)).strict
    assert (partitions, failed) == (82, set() if kafka else RULES_OF_NO_RELEASE)


@pytest.mark.parametrize(("kafka", "verdict"), [("4.1", "safe"), ("4.3", "loss")])
def test_a_disk_that_is_removed_empties_the_elr_again(kafka: str, verdict: str) -> None:
    stage = run_play(load("elr-removed-disk"), parse_features(kafka, elr=1))
    play = as_play(replayed([written.record for written in log_of(stage)])[0])
    assert (play.failed, play.records) == ("", 8)
    assert kiplab.run(play.text).verdict == verdict


def test_a_play_ends_where_it_would_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplab.incident.as_play.play_of_history.LINES_MAX", 106)
    play = play_of(OTHER_LIFE)
    assert "let it begin later" in play.failed
    assert 0 < play.records < play.of
    parse(play.text)
