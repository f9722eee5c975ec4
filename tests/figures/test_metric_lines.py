"""Kafka's metrics as small rows under a picture."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kiplab.cli.command import main
from kiplab.figures.drawing.svg import draws, svg
from kiplab.figures.drawing.theme import DARK, LIGHT
from kiplab.figures.timeline.metric_lines import RATES
from kiplab.figures.timeline.whole_runs import drawing_so_far, timeline_drawing, twin_drawing
from kiplab.pages.page import picture
from kiplab.rows.columns import Rows
from kiplab.rows.metric_readings import ALL, chosen, moves, totals
from kiplab.rows.metrics import METRICS
from kiplab.rows.view import until
from kiplab.runs import run
from tests.figures.boxes import texts
from tests.kafka_14139 import rows_on

MOVING = [
    *("ActiveBrokerCount", "FencedBrokerCount", "FailedIsrUpdatesPerSec"),
    *("UnderReplicatedPartitions", "AtMinIsrPartitionCount", "LeaderCount"),
    *("OfflinePartitionsCount", "PreferredReplicaImbalanceCount"),
]


def said(drawing: Any) -> dict[str, tuple[float, float]]:
    """Every word that is seen, without breaks, and where it stands."""
    return {
        text.replace("<br>", ""): (x, y)
        for trace in drawing["data"]
        if trace["mode"] == "text"
        for text, x, y in zip(trace["text"], trace["x"], trace["y"], strict=True)
        if x is not None
    }


def rows_in(drawing: Any) -> list[str]:
    """The metrics that have a row, from the top."""
    found = {name: at for name, at in said(drawing).items() if name in METRICS}
    return sorted(found, key=lambda name: found[name][1])


HAVE = [name for name, metric in METRICS.items() if metric.since <= (3, 5)]
NAMED = ["LeaderCount", "ActiveControllerCount"]


@pytest.mark.parametrize(
    ("metrics", "names"), [(False, []), (True, MOVING), (ALL, HAVE), (NAMED, NAMED)]
)
def test_it_has_the_rows_that_are_asked_for(saved: Rows, metrics: Any, names: list[str]) -> None:
    assert rows_in(timeline_drawing(saved, metrics=metrics)) == names


def test_the_first_to_move_comes_first(saved: Rows) -> None:
    assert list(moves([saved])) == MOVING
    assert list(moves([saved]).values()) == sorted(moves([saved]).values())


def test_another_name_is_answered_with_those_there_are(saved: Rows) -> None:
    with pytest.raises(ValueError, match="no metric 'LeaderCounts'; there are UnderReplicated"):
        timeline_drawing(saved, metrics=["LeaderCounts"])


def test_a_total_is_what_the_nodes_report_together_or_nothing_if_none_does() -> None:
    rows = run("last-replica").rows()
    assert totals(rows, "UnderReplicatedPartitions") == (1, 0, 0, 0, 1, 1)
    assert chosen([rows], False) == ()
    alone = run("kafka-14139-after-step-4", kafka="3.8").rows()
    assert set(totals(alone, "UncleanLeaderElectionsPerSec")) == {None}


def test_a_metric_that_the_release_lacks_has_words_for_its_line(saved: Rows) -> None:
    drawn = said(timeline_drawing(saved, metrics=["UncleanLeaderElectionsPerSec"]))
    assert "Kafka 3.5 has no such metric in KRaft: it came with 3.9" in drawn


IS_RECORDS = re.compile(r"committed ?records$").match


@pytest.mark.parametrize("width", [480, 840, 1400])
def test_rows_fit_between_the_lanes_and_the_axis_and_on_the_sheet(
    shipped: Rows, width: int
) -> None:
    drawn = timeline_drawing(shipped, metrics=ALL, width=width)
    words = said(drawn)
    heights = [words[name][1] for name in rows_in(drawn)]
    if not shipped.metrics:
        assert not heights, "ZooKeeper's time has none of these metrics"
        return
    (records,) = (at for word, at in words.items() if IS_RECORDS(word))
    number = words["<b>0</b>"][1]
    assert records[1] < min(heights)
    assert max(heights) < number < drawn["layout"]["height"]


def test_a_value_stands_where_it_begins(saved: Rows) -> None:
    drawn = timeline_drawing(saved, metrics=["OfflinePartitionsCount"], width=980)
    (trace,) = (t for t in drawn["data"] if t["name"] == "words")
    numbers = [(t, int(x)) for t, x in zip(trace["text"], trace["x"], strict=True) if t in "01"]
    assert numbers == [("0", 0), ("1", 8), ("0", 10)]


def test_what_has_become_of_a_rate_is_said_where_there_is_one(saved: Rows) -> None:
    assert RATES in said(timeline_drawing(saved, metrics=True))
    assert RATES not in said(timeline_drawing(saved, metrics=["LeaderCount"]))


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_still_renderer_draws_them_in_both_themes(saved: Rows, theme: Any) -> None:
    drawn = timeline_drawing(saved, metrics=True, theme=theme.name)
    assert draws(drawn)
    assert "LeaderCount" in svg(drawn)
    assert theme.epoch_fill in svg(drawn)


def test_the_description_tells_them_too(saved: Rows) -> None:
    told = timeline_drawing(saved, metrics=True)["layout"]["meta"]["description"]
    assert "OfflinePartitionsCount 0, 1 at 8, 0 at 10" in told


def test_a_card_says_who_reports_what_and_what_it_counts(saved: Rows) -> None:
    drawn = timeline_drawing(saved, metrics=["LeaderCount"])
    cards = next(t for t in drawn["data"] if t["name"] == "cards")["text"]
    (card,) = (c for c in cards if c.startswith("<b>LeaderCount at 5: 1"))
    assert "broker 1: 1, broker 2: 0" in card
    assert "kafka.server:type=ReplicaManager,name=LeaderCount" in card


def test_a_row_is_not_there_before_it_moves(saved: Rows) -> None:
    for step in range(saved.meta.end):
        first = [name for name, x in moves([saved]).items() if x <= step]
        assert rows_in(drawing_so_far(until(saved, step), saved, metrics=True)) == first
        assert rows_in(timeline_drawing(saved, metrics=True, until=step)) == first


def test_one_that_is_asked_for_by_name_is_there_from_the_start(saved: Rows) -> None:
    asked = ("OfflinePartitionsCount",)
    assert rows_in(drawing_so_far(until(saved, 0), saved, metrics=asked)) == list(asked)


def test_nothing_moves_from_step_to_step(shipped: Rows) -> None:
    steps = [
        drawing_so_far(until(shipped, x), shipped, metrics=True) for x in range(shipped.meta.end)
    ]
    assert len({step["layout"]["height"] for step in steps}) == 1
    places = said(steps[-1])
    for step in steps:
        assert all(said(step)[row] == places[row] for row in rows_in(step))


def test_the_last_step_draws_what_the_timeline_draws(saved: Rows) -> None:
    shown, whole = drawing_so_far(saved, saved, metrics=True), timeline_drawing(saved, metrics=True)
    places = said(whole)
    assert rows_in(shown) == rows_in(whole)
    assert all(said(shown)[name][1] == places[name][1] for name in MOVING)


def test_a_twin_has_the_rows_of_both_under_each(saved: Rows) -> None:
    drawn = twin_drawing(rows_on("kafka-14139", "3.4"), saved, metrics=True)
    words = [text.replace("<br>", "") for text in texts(drawn)]
    assert words.count("OfflinePartitionsCount") == words.count("FailedIsrUpdatesPerSec") == 2


def test_a_ladder_has_no_room_for_metrics(saved: Rows) -> None:
    with pytest.raises(ValueError, match="metrics"):
        picture((saved, saved, saved), "light", None, metrics=True)


@pytest.mark.parametrize(
    ("options", "drawn"), [([], 0), (["--metrics"], 8), (["--all-metrics"], 12)]
)
def test_the_command_draws_them_when_asked(
    options: list[str], drawn: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "a.svg"
    assert main(["timeline", "kafka-14139", "--kafka", "3.5", "-o", str(out), *options]) == 0
    assert capsys.readouterr().err == ""
    described = out.read_text(encoding="utf-8").split("</desc>")[0]
    assert sum(name in described for name in METRICS) == drawn


def test_the_command_says_that_a_ladder_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compare = ["--compare", "3.5", "--compare", "3.9"]
    out = str(tmp_path / "a.svg")
    assert main(["timeline", "kafka-14139", "-o", out, "--metrics", *compare]) == 2
    assert "metrics" in capsys.readouterr().err


def test_the_json_of_a_run_has_them_all(tmp_path: Path) -> None:
    out = tmp_path / "a.json"
    assert main(["timeline", "kafka-14139", "--kafka", "3.5", "-o", str(out)]) == 0
    (found,) = json.loads(out.read_text(encoding="utf-8"))["runs"]
    row = {"metric": "OfflinePartitionsCount", "kind": "gauge", "node": "controller"}
    assert {**row, "x0": 8, "x1": 10, "value": 1} in found["metrics"]
