"""A history as a play: the engine writes the records of the log, or is told not to."""

import pytest

import kiplab
from kiplab.incident.as_play.play_of_history import NoHistoryError, PlayOfHistory, as_play
from kiplab.plays.grammar import parse
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
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
    ("line", "told"),
    [
        ("70 50 clear orders", "; the language of plays has no line for it."),
        ("70 50 change p0 isr=3 leader=3", "; after `elect orders-0` the engine writes no record."),
    ],
)
def test_the_record_that_the_engine_does_not_write_is_told(line: str, told: str) -> None:
    play = play_of(QUICK_JOIN + line)
    assert play.failed.startswith("At offset 70 the log has ")
    assert told in play.failed
    assert play.failed in play.text
    assert play.records == play.of - 1
    parse(play.text)


def test_assigned_directories_are_left_out() -> None:
    play = play_of(QUICK_JOIN + "70 50 change p0 directories=A,B,C\n71 60 change p0 leader=-1")
    assert play.failed.startswith("At offset 71 ")
    assert "directories" in play.text


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
def test_plays_come_back_from_their_records() -> None:
    failed, partitions = set(), 0
    for name in names():
        stage = run_play(load(name))
        if stage.features.mode is Mode.ZOOKEEPER:
            continue
        events = replayed([written.record for written in log_of(stage)])[0]
        for key in dict.fromkeys(e.after.key for e in events if e.after):
            partitions += 1
            play = as_play(events, key)
            if play.failed:
                failed.add(name)
                print(name, key, play.failed)
            else:
                assert run_play(parse(play.text)).strict
    assert (partitions, failed) == (82, RULES_OF_NO_RELEASE)


def test_a_play_ends_where_it_would_be_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplab.incident.as_play.play_of_history.LINES_MAX", 106)
    play = play_of(OTHER_LIFE)
    assert "let it begin later" in play.failed
    assert 0 < play.records < play.of
    parse(play.text)
