"""What can be wrong with a play: file, line, column, what was found, what was expected there."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.library import find
from kiplab.plays.play import LINE_LENGTH_MAX, LINES_MAX, Statement
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import do_line, open_stage, run_play

HEAD = "kafka 3.4\nbroker 1\nbroker 2\ntopic orders replicas=1,2 isr=1 log=10@0\n"


@pytest.mark.parametrize(
    ("line", "column", "found", "expected"),
    [
        ("delivr alter-partition", 1, "unknown verb 'delivr'", "'deliver'"),
        ("crash 7", 7, "no broker '7'", "the brokers are 1, 2"),
        ("crash 2 dsk=kept", 9, "'crash' has no 'dsk'", "disk"),
        ("crash 2 disk=melted", 14, "'melted' is not known", "replaced"),
        ("crash", 1, "'crash' has 0", "crash BROKER"),
        ("crash 2 1", 9, "'crash' has 2", "crash BROKER"),
        ("hold alter-partitions", 6, "'alter-partitions'", "'alter-partition'"),
        ("produce clicks-0 count=1", 9, "no partition 'clicks-0'", "orders-0"),
        ("produce orders-0 count=none", 24, "no whole number", "expected 0, 17"),
        ("advance 9", 9, "no duration", "9s"),
        ("expect error=INELIGIBLE", 14, "no Kafka error", "INELIGIBLE_REPLICA"),
        ("expect guard=904.x", 14, "unknown guard '904.x'", "kiplab guards"),
        ("expect @3.1 verdict=safe", 8, "unknown release '3.1'", "3.2"),
        ("upgrade 1 kafka=2.8", 17, "unknown release '2.8'", "3.2"),
        ("send metadata from=1", 6, "'metadata' is not known", "alter-partition"),
    ],
)
def test_a_line_that_cannot_be_read(line: str, column: int, found: str, expected: str) -> None:
    with pytest.raises(PlayError) as problem:
        parse(HEAD + line, "race.play")
    text = str(problem.value)
    assert text.startswith(f"race.play:5:{column}: ")
    assert found in text
    assert expected in text


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("kafka 3.1\nbroker 1", "unknown release '3.1'"),
        ("kafka 3.3/3.5-IV1\nbroker 1", "does not know metadata version 3.5-IV1"),
        ("off 904\nbroker 1", "unknown guard '904'"),
        ("title only", "there is no broker"),
        ("broker 1\ncrash 1\nbroker 2", "belongs to the header"),
        ("broker 1\ntopic t log=5@2,5@1", "leader epochs have to rise"),
    ],
)
def test_a_header_that_cannot_be_read(header: str, found: str) -> None:
    with pytest.raises(PlayError, match=found.replace("(", r"\(")):
        parse(header)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("start 1", "broker 1 is running already"),
        ("deliver alter-partition from=1", "no such message is in flight (in flight: nothing)"),
        ("recover 1", "broker 1 is RUNNING"),
        ("advance 9s", "this run has no clock"),
        ("produce orders-0 count=1 to=2", "broker 2 does not lead orders-0"),
        ("heal 1 2", "that link is not cut"),
        ("retry 1", "no AlterPartition to retry"),
    ],
)
def test_a_move_that_is_impossible_now(line: str, reason: str) -> None:
    with pytest.raises(PlayError) as problem:
        run_play(parse(HEAD + line, "race.play"))
    assert str(problem.value).startswith("race.play:5:1: ")
    assert reason in str(problem.value)


def test_an_impossible_line_leaves_the_history_as_it_was() -> None:
    stage = open_stage(parse(HEAD))
    with pytest.raises(PlayError):
        do_line(stage, Statement("start", ("1",)), 5)
    assert stage == open_stage(parse(HEAD))


def test_under_other_features_a_line_without_object_is_not_applicable() -> None:
    from kiplab.protocol.features import parse_features

    play = parse(HEAD + "start 1\ncrash 2\n")
    stage = run_play(play, parse_features("3.9"))
    assert stage.performed[0].not_applicable is not None
    assert stage.performed[1].not_applicable is None


def test_sizes_are_bounded() -> None:
    with pytest.raises(PlayError, match=f"at most {LINES_MAX}"):
        parse("# a\n" * (LINES_MAX + 1))
    with pytest.raises(PlayError, match=f"at most {LINE_LENGTH_MAX}"):
        parse("title " + "x" * LINE_LENGTH_MAX)
    with pytest.raises(PlayError, match="at most 12 brokers"):
        run_play(parse("\n".join(f"broker {n}" for n in range(40))))
    with pytest.raises(PlayError, match="control character"):
        parse("title \x00\nbroker 1")


@pytest.mark.parametrize("source", ["no-such-play", "no/such/file.play"])
def test_a_play_that_is_not_there(source: str) -> None:
    with pytest.raises(PlayError, match=r"no-such-play|No such file"):
        find(source)
