"""A play in two columns: what is compared, and what a parting looks like."""

from typing import Any

import pytest

from kiplab.judge.side_by_side.deciding import RealNodes
from kiplab.judge.side_by_side.two_columns import TwoColumns, columns_text, play_in_two_columns
from kiplab.plays import grammar, library, play_errors
from kiplab.plays.play import Play
from kiplab.plays.verdict import verdict
from kiplab.protocol.features import parse_features
from tests.judge.another_engine import AnotherEngine

MADE = """\
title    Made for a test
kafka    3.5
broker   1 epoch=101
broker   2 epoch=102
topic    orders replicas=1,2 isr=1,2 leader=1
"""


def columns(play: Play, kafka: str, decided_by: str, **switched: Any) -> TwoColumns:
    other = AnotherEngine(parse_features(decided_by, **switched))
    return play_in_two_columns(play, parse_features(kafka), lambda _: RealNodes(other))


def made(*lines: str) -> Play:
    return grammar.parse(MADE + "\n".join(lines) + "\n", "made")


@pytest.fixture
def parted() -> TwoColumns:
    """Without KIP-903's check the old request is obeyed."""
    return columns(library.load("kafka-14139"), "3.5", "3.5", off=("903.controller-epoch",))


def test_the_same_rules_agree_line_by_line() -> None:
    both = columns(library.load("kafka-14139"), "3.5", "3.5")
    assert both.agree
    assert both.requests == 5
    assert both.records == 8


def test_other_rules_part_where_they_decide_otherwise(parted: TwoColumns) -> None:
    first = next(line for line in parted.lines if not line.agree)
    assert (first.step, first.play) == (6, "deliver alter-partition from=1")
    assert any("refuses alter-partition" in said for said in first.engine)
    assert "@59 PartitionChangeRecord partition=orders-0 isr=[1,2]" in first.kafka
    assert [line.agree for line in parted.lines[:6]] == [True] * 6


def test_after_a_parting_each_column_goes_its_own_way(parted: TwoColumns) -> None:
    assert (verdict(parted.engine), verdict(parted.kafka)) == ("safe", "loss")


def test_no_column_of_kafka_names_the_check_that_failed() -> None:
    both = columns(library.load("kafka-14139"), "3.5", "3.5")
    (mine,) = [said for line in both.lines for said in line.engine if "refuses" in said]
    (theirs,) = [said for line in both.lines for said in line.kafka if "refuses" in said]
    assert "KIP-903" in mine
    assert theirs == "⊘ controller refuses alter-partition for orders-0: INELIGIBLE_REPLICA"


@pytest.mark.parametrize(
    "lines",
    [
        ("lose-reply alter-partition from=1",),
        ("duplicate alter-partition from=1", "deliver alter-partition from=1"),
        ("drop alter-partition from=1",),
    ],
)
def test_what_becomes_of_a_held_request_is_the_same_in_both(lines: tuple[str, ...]) -> None:
    before = ("hold alter-partition", "produce orders-0 count=2", "check-lag 1")
    assert columns(made(*before, *lines), "3.5", "3.5").agree


def test_operators_ask_both() -> None:
    asked = ("elect orders-0", "configure-brokers min-insync-replicas=2", "fail-over")
    both = columns(made("crash 1", "expire 1", *asked), "3.5", "3.5")
    assert both.agree
    assert both.requests == 1
    (setting,) = [line for line in both.lines if line.play.startswith("configure-brokers")]
    assert setting.kafka[0].endswith("ConfigRecord topic= name=min.insync.replicas value=2")


@pytest.mark.parametrize(
    ("line", "release", "why"),
    [
        ("upgrade controller kafka=3.6", "3.5", "stays on its release"),
        ("upgrade all kafka=3.6", "3.5", "stays on its release"),
        ("elect-unclean", "3.9", "switched off, so that nothing happens by itself"),
    ],
)
def test_what_no_real_controller_can_be_told_is_named_with_its_line(
    line: str, release: str, why: str
) -> None:
    with pytest.raises(play_errors.PlayError, match=why) as refused:
        columns(made("crash 1", line), release, release)
    assert str(refused.value).startswith(f"made:7:1: no real controller can be told {line!r}")


def text_of(both: TwoColumns, width: int) -> list[str]:
    return columns_text(both, ("engine", "Apache Kafka 3.5.2"), ("a note",), width).split("\n")


@pytest.mark.parametrize("width", [1, 80, 120, 1000])
def test_both_columns_fit_the_terminal(parted: TwoColumns, width: int) -> None:
    lines = text_of(parted, width)
    assert max(map(len, lines)) <= max(80, min(width, 180))
    assert lines[1] == "a note"
    assert len({line.index("│") for line in lines if "│" in line}) == 1


def test_the_text_says_where_they_part_and_what_comes_of_it(parted: TwoColumns) -> None:
    lines = text_of(parted, 120)
    assert "  6  deliver alter-partition from=1   ≠ here they part" in lines
    ending = lines[-4:-1]
    assert ending[0] == (
        "They part at step 6, 'deliver alter-partition from=1' (5 requests, 8 records)."
    )
    assert ending[1].startswith("the engine: safe")
    assert ending[2].startswith("Kafka: loss")
