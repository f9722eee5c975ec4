"""The study: what it counts, that it counts the same everywhere, and how it says so."""

import math

import pytest

from kiplab import fleet
from kiplab.figures.drawing.theme import DARK
from kiplab.fleet.race_schedules.random_schedule import Window
from kiplab.fleet.race_schedules.result import CAVEAT, Schedules
from kiplab.fleet.race_schedules.study import BLOCK_SCHEDULES, orders
from kiplab.plays.library import decode
from kiplab.plays.runner import run_play
from kiplab.plays.verdict import LOSS, lost, verdict
from kiplab.protocol.features import parse_features
from tests.figures.boxes import covered, cut_off, words
from tests.repeated import in_long

ON_SPARK = (
    "tests/fleet/test_study_on_spark.py"
    "::TestOnThisMachine::test_layouts_give_the_partials_of_plain_python"
)
N = 500
"""As in lab 04."""
NAMES = ["neither", "KIP-841 only", "KIP-903 only", "both"]


@pytest.fixture(scope="module")
def study() -> Schedules:
    return fleet.schedules(N, spark=False)


def events(study: Schedules, metric: str) -> dict[str, int]:
    return {row.features: row.events for row in study.rows if row.metric == metric}


# --- what it counts -----------------------------------------------------------------------------


def test_each_rule_alone_prevents_some_stale_joins_and_both_prevent_all(study: Schedules) -> None:
    found = events(study, "stale join")
    assert list(found) == NAMES
    assert found["neither"] > max(found["KIP-841 only"], found["KIP-903 only"]) > 0
    assert min(found["KIP-841 only"], found["KIP-903 only"]) > 0
    assert found["both"] == 0


def test_losses_happen_with_one_rule_alone(study: Schedules) -> None:
    found = events(study, "loss")
    assert all(found[name] > 0 for name in NAMES[:3])


def test_with_both_rules_only_the_last_replica_loses(study: Schedules) -> None:
    both = next(r for r in study.rows if (r.features, r.metric) == ("both", "loss"))
    assert both.events == both.excused > 0


def test_no_promise_is_broken(study: Schedules) -> None:
    assert not any(run["broke_promise"] for run in study.runs)


def test_no_rule_causes_what_it_is_there_to_prevent(study: Schedules) -> None:
    """Schedule by schedule, which averages could hide."""
    rows = study.runs
    for what in ("stale_join", "lost"):
        without, *others = ([r[what] for r in rows if r["features"] == k] for k in range(4))
        assert all(
            before >= now for each in others for before, now in zip(without, each, strict=True)
        )


def test_every_feature_set_gets_the_same_schedules(study: Schedules) -> None:
    """When the request arrives is no business of the rules that judge it."""
    rows = study.runs
    arrived = [[r["arrived"] for r in rows if r["features"] == k] for k in range(4)]
    assert arrived[0] == arrived[1] == arrived[2] == arrived[3]
    assert [r["schedule"] for r in rows] == [*range(N)] * 4


def test_another_seed_gives_other_schedules() -> None:
    one, other = (fleet.schedules(40, seed=s, spark=False, features=["3.2"]) for s in (0, 1))
    assert one.runs != other.runs


def test_the_first_schedules_of_a_larger_study_are_those_of_a_smaller_one(study: Schedules) -> None:
    small = fleet.schedules(30, spark=False)
    large = [r for r in study.runs if r["schedule"] < 30]
    assert small.runs == large


# --- where it runs ------------------------------------------------------------------------------


def test_blocks_cover_every_schedule_once() -> None:
    features = (parse_features("3.4"), parse_features("3.5"))
    blocks = orders(features, Window(), 0, 2 * BLOCK_SCHEDULES + 1)
    assert len(blocks) == 3
    assert [i for b in blocks for i in range(b.first, b.last)] == [*range(2 * BLOCK_SCHEDULES + 1)]
    assert all(block.sets == features for block in blocks)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("partitions", in_long([1, 3, 8], ON_SPARK))
def test_any_number_of_partitions_gives_the_integers_of_plain_python(
    study: Schedules, partitions: int
) -> None:
    assert fleet.schedules(N, partitions=partitions).runs == study.runs


# --- what it says -------------------------------------------------------------------------------


def test_a_losing_token_replays_to_the_same_loss(study: Schedules) -> None:
    for losing in study.losing[::10]:
        play, features = decode(losing.token)
        stage = run_play(play, features)
        assert verdict(stage) == LOSS
        assert sum(i["last"] - i["first"] + 1 for i in lost(stage)) == losing.lost_records


def test_there_is_a_token_for_every_losing_schedule_of_each_set(study: Schedules) -> None:
    for name, count in events(study, "loss").items():
        kept = [x.schedule for x in study.losing if x.features == name]
        assert len(kept) == count
        assert kept == sorted(set(kept))


def test_the_rows_hold_count_exposure_share_and_interval(study: Schedules) -> None:
    for row in study.rows:
        assert row.exposure == N
        assert row.rate == row.events / N
        assert row.low <= row.rate <= row.high
        assert row.high > 0
    assert list(study.table().columns[:4]) == ["features", "metric", "events", "excused"]
    assert len(study.table()) == 8


def test_the_caveat_is_wherever_the_numbers_are(study: Schedules) -> None:
    assert study.label == CAVEAT == "given a crash in this window; not a rate"
    assert CAVEAT in str(study)
    assert CAVEAT in study._repr_html_()
    assert any(CAVEAT in word.text for word in words(study.figure()))


def test_nothing_seen_is_said_with_its_upper_bound(study: Schedules) -> None:
    both = next(
        line for line in str(study).splitlines() if line.startswith("both  ") and "stale" in line
    )
    assert "none seen (at most 0.74 %)" in both
    assert " 0.0 %" not in str(study)


def test_the_picture_shows_every_row_with_its_interval(study: Schedules) -> None:
    traces = {trace.name: trace for trace in study.figure().data}
    rows = {(r.metric, r.features): r for r in study.rows}
    for metric in ("stale join", "loss"):
        trace = traces[metric]
        assert list(trace.y) == [-0.5, -1.5, -2.5, -3.5]
        for name, x, up, down in zip(
            NAMES, trace.x, trace.error_x.array, trace.error_x.arrayminus, strict=True
        ):
            row = rows[metric, name]
            assert math.isclose(x + up, row.high)
            assert math.isclose(x - down, row.low, abs_tol=1e-12)


def test_nothing_seen_is_an_open_marker(study: Schedules) -> None:
    (stale,) = (trace for trace in study.figure().data if trace.name == "stale join")
    filled = [color == stale.marker.line.color for color in stale.marker.color]
    assert filled == [True, True, True, False]


def test_counts_stand_beside_their_rows_whatever_the_rows_are_called() -> None:
    figure = fleet.schedules(20, features=["3.2", "3.9"], spark=False).figure(theme="dark")
    said = [word for word in words(figure) if word.text in ("3.2", "3.9")]
    (old, new) = (word.box.y0 for word in said)
    lines = [
        word.box.y0 for word in words(figure) if "none seen" in word.text or "all" in word.text
    ]
    assert {*lines} <= {old, new}
    assert (covered(figure), cut_off(figure)) == ([], [])
    assert figure.layout.paper_bgcolor == DARK.paper


# --- what it is asked ---------------------------------------------------------------------------


def test_feature_sets_can_be_named_or_listed() -> None:
    named = fleet.schedules(20, features={"old": "3.2", "new": parse_features("3.9")}, spark=False)
    listed = fleet.schedules(20, features=["3.2", parse_features("3.9")], spark=False)
    assert list(named.sets) == ["old", "new"]
    assert list(listed.sets) == ["3.2", "3.9"]
    assert named.runs == listed.runs


@pytest.mark.parametrize("n", [0, -3])
def test_no_schedules_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match=f"n is {n}; expected 1 schedule or more"):
        fleet.schedules(n, spark=False)


def test_no_feature_sets_are_refused() -> None:
    with pytest.raises(ValueError, match="there is no feature set"):
        fleet.schedules(10, features=[], spark=False)
