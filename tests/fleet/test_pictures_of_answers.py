"""From an answer to its pictures and its page: what is drawn, from which rows, and what is said."""

import re
from itertools import product

import pytest
from msgspec.structs import replace

from kiplab.figures.drawing.svg import draws
from kiplab.figures.how_often.measured_rate import Certainty
from kiplab.fleet.estimators.forced_outages import left_out
from kiplab.fleet.fleet_answers.fleet_answer import FleetAnswer
from kiplab.fleet.fleet_answers.fleet_row import FleetRow
from kiplab.fleet.fleet_answers.quick_estimate import estimate
from kiplab.fleet.fleet_answers.yearly_incidents import TOGETHER
from kiplab.fleet.parameters.fleet_study import study_of
from kiplab.fleet.parameters.parameter_table import PARAMETERS, Parameters
from kiplab.fleet.parameters.scenario import MICROSECONDS_PER_YEAR, Scenario
from kiplab.fleet.pictures.answer_pictures import (
    delay_map,
    forest,
    incident_sizes,
    losses_by_cause,
    pictures_of,
    rates_by_reboots,
    strongest,
    survival,
    tornado,
)
from kiplab.fleet.pictures.picture_rows import (
    at_reboots,
    differences_of,
    fleets_of,
    levers_of,
    map_cells_of,
    measured,
    rate_points_of,
)
from kiplab.fleet.pipeline.study_plan import SummaryRow
from kiplab.fleet.statistics import block_means
from kiplab.fleet.statistics.event_rates import (
    FoundRate,
    NeverHappens,
    NeverSeen,
    NothingWeighed,
    SeenRate,
    WeighedRate,
    event_rate,
)
from kiplab.pages.fleet_page import checks_in, fleet_page, rates_in
from tests.html_outline import Outline

SETS = ("none", "841", "841+903")
METRICS = (
    *("stale_join", "stale_join_after_crash", "committed_loss"),
    *("race_loss", "last_replica_loss", "shock_loss", "unclean_loss"),
)
YEARS = 1_000
REFUSED = NeverHappens(because="KIP-841 refuses <this>, KIP-903 that")


def answer(**swept: list[float]) -> FleetAnswer:
    """Every metric under every set at every point, without a kernel."""
    fleet = {"brokers": 6, "partitions": 600, "racks": 1, "clusters": 2, **swept}
    about = {"about": "Made up & small.", "feature_sets": list(SETS)}
    study = study_of({**about, "parameters": fleet})
    asked = list(product(study.scenarios, SETS, METRICS))
    rows = tuple(
        _row(scenario, features, metric, tuple(swept)) for scenario, features, metric in asked
    )
    summary = tuple(_sums(scenario, features, metric) for scenario, features, metric in asked)
    return FleetAnswer(study=study, rows=rows, summary=summary, seconds=None, partition_years=YEARS)


def forced_too(asked: FleetAnswer) -> FleetAnswer:
    """With a forced row and 40 blocks for what is lost by the race and with the last replica."""
    lost = [row for row in asked.rows if row.metric in ("race_loss", "last_replica_loss")]
    return replace(
        asked,
        rows=(*asked.rows, *(replace(row, method="forced") for row in lost)),
        summary=(*asked.summary, *map(sums_of_blocks, map(asked.sums_of, lost))),
    )


def sums_of_blocks(one: SummaryRow) -> SummaryRow:
    weights = tuple(_block(one, number) for number in range(40))
    return replace(one, method="forced", weights=weights)


def _block(row: SummaryRow, number: int) -> block_means.Weights:
    share = {"none": 1.0, "841": 0.5}.get(row.features, 0.0)
    total = number % 4 * share if row.metric == "race_loss" else 10.0
    return block_means.Weights(samples=100, total=total, squares=total, largest=total)


def _events(features: str, metric: str) -> int:
    if metric == "committed_loss":
        return 8
    return {"none": 40, "841": 4}.get(features, 0) if metric == "stale_join" else 0


def _row(scenario: Scenario, features: str, metric: str, swept: tuple[str, ...]) -> FleetRow:
    return FleetRow(
        scenario_id=scenario.scenario_id,
        features=features,
        label="as Kafka",
        metric=metric,
        counts=metric,
        unit="per partition and year",
        events=_events(features, metric),
        exposure=YEARS,
        found=_found(scenario, features, metric),
        method="naive",
        swept=tuple((name, getattr(scenario.parameters, name)) for name in swept),
    )


def _found(scenario: Scenario, features: str, metric: str) -> FoundRate:
    reboots = scenario.parameters.bounces_per_year
    if metric in ("race_loss", "stale_join_after_crash"):
        if features == "841+903":
            return REFUSED
        rate = 1e-9 * reboots * scenario.parameters.slow_alter_partition_s
        return SeenRate(rate=rate, low=rate / 2, high=rate * 2, method="")
    if metric == "last_replica_loss":
        return SeenRate(rate=2e-5, low=1e-5, high=3e-5, method="")
    return event_rate(_events(features, metric), YEARS)


def _sums(scenario: Scenario, features: str, metric: str) -> SummaryRow:
    """Whatever happens under a set happens under the first one too."""
    events = _events(features, metric)
    return SummaryRow(
        scenario_id=scenario.scenario_id,
        features=features,
        metric=metric,
        replications=10,
        exposure_us=YEARS * MICROSECONDS_PER_YEAR,
        events=events,
        clusters_hit=0,
        cross=events,
        weights=(block_means.Weights(samples=10, total=0.0, squares=0.0, largest=0.0),),
    )


# --- rows -----------------------------------------------------------------------------------------


def test_every_kind_of_finding_keeps_its_kind() -> None:
    weighed = WeighedRate(
        rate=2.0,
        low=-1.0,
        high=5.0,
        effective_samples=40.0,
        alarms=("only 40 effective samples",),
        method="t",
    )
    kinds: dict[FoundRate, Certainty] = {
        SeenRate(rate=2.0, low=1.0, high=3.0, method=""): Certainty.SEEN,
        weighed: Certainty.SEEN,
        NeverSeen(high=3.0, method=""): Certainty.UNSEEN,
        REFUSED: Certainty.NEVER,
        NothingWeighed(samples=10): Certainty.NOT_REACHED,
    }
    assert {found: measured(found).certainty for found in kinds} == kinds
    shown = measured(weighed)
    assert (shown.low, shown.effective, shown.alarms) == (0.0, 40.0, weighed.alarms)


def test_rates_are_taken_at_the_first_value_of_whatever_else_was_swept() -> None:
    asked = answer(bounces_per_year=[0, 4, 12], slow_alter_partition_s=[10, 30])
    points = rate_points_of(asked, ["race_loss"])
    assert len(points) == 2 * len(SETS), "no reboots have no place on the axis"
    of_none = [point.estimate.rate for point in points if point.features == "none"]
    assert of_none == pytest.approx([4e-8, 12e-8])
    picture = rates_by_reboots(asked)
    assert picture.where == "At slow_alter_partition_s = 10"
    assert not any(at_reboots(row) for row in answer().rows)


def test_a_map_counts_the_incidents_of_all_clusters() -> None:
    """Two clusters of six brokers: 60 ways to be the leader of one follower."""
    asked = answer(bounces_per_year=[4, 12], slow_alter_partition_s=[10, 30])
    cells = map_cells_of(asked, "race_loss", "none", "slow_alter_partition_s")
    assert {(c.reboots, c.delay): round(c.estimate.rate / 1e-9 / 60) for c in cells} == {
        (4.0, 10.0): 40,
        (4.0, 30.0): 120,
        (12.0, 10.0): 120,
        (12.0, 30.0): 360,
    }
    assert "4 of 4" not in delay_map(asked, "race_loss").sentence


@pytest.mark.parametrize("unclean", [True, False])
def test_a_map_says_where_a_shock_is_counted_once_for_each_replica_set(unclean: bool) -> None:
    asked = answer(
        bounces_per_year=[4, 12], slow_alter_partition_s=[10, 30], unclean_elections=[unclean]
    )
    picture = delay_map(asked, "committed_loss", against=None)
    assert (f"A{TOGETHER[1:]}." in picture.sentence) is unclean
    assert all((TOGETHER in " ".join(line)) is unclean for line in picture.words.lines)


def test_a_map_is_held_against_the_last_replica_by_intervals_where_nothing_is_paired() -> None:
    asked = answer(bounces_per_year=[4, 12], slow_alter_partition_s=[10, 30])
    cells = map_cells_of(
        asked, "race_loss", "none", "slow_alter_partition_s", against="last_replica_loss"
    )
    (first, *_) = [cell.ratio for cell in cells if cell.ratio is not None]
    rate = 1e-9 * 4 * 10
    assert first.rate == pytest.approx(rate / 2e-5)
    assert (first.low, first.high) == pytest.approx((rate / 2 / 3e-5, rate * 2 / 1e-5))
    assert "lost with the last replica" in delay_map(asked, "race_loss").sentence
    assert "last replica" not in delay_map(asked, "race_loss", against=None).sentence


def test_a_line_has_one_method_and_its_table_says_which() -> None:
    asked = forced_too(answer(bounces_per_year=[4, 12]))
    assert {point.method for point in rate_points_of(asked, ["race_loss"])} == {"forced"}
    assert {line[-1] for line in rates_by_reboots(asked, ["race_loss"]).words.lines} == {"forced"}


def test_what_plain_sampling_did_not_see_is_paired_and_held_against_by_forced_blocks() -> None:
    asked = forced_too(answer(bounces_per_year=[4, 12], slow_alter_partition_s=[10, 30]))
    lost = ("race_loss", "last_replica_loss")
    rows = [
        replace(row, found=NeverSeen(high=1e-3, method=""))
        if row.metric in lost and row.method == "naive"
        else row
        for row in asked.rows
    ]
    asked = replace(asked, rows=tuple(rows))
    found = {row.features: row for row in differences_of(asked, "race_loss")}
    assert {row.method for row in found.values()} == {"forced"}
    # Of 40 blocks, 0 to 3 losses each without KIPs, half of that with KIP-841, none with both.
    assert found["841"].gap == pytest.approx(-0.75 * 40 / YEARS)
    assert found["841+903"].gap == pytest.approx(-1.5 * 40 / YEARS)
    assert found["841"].high < 0
    here, there = ([share * (n % 4) * 40 / YEARS for n in range(40)] for share in (0.5, 1.0))
    chance = block_means.paired_gap(here, there)
    share = left_out(asked.study.scenarios[0].parameters, "race_loss")
    left = share * (sum(here) + sum(there)) / 40
    assert found["841"].low == pytest.approx(chance.low - left)
    assert found["841"].high == pytest.approx(chance.high + left)
    assert found["841"].gain == pytest.approx(5)
    cells = map_cells_of(asked, "race_loss", "none", "slow_alter_partition_s", lost[1])
    ratios = [cell.ratio for cell in cells if cell.ratio is not None]
    assert [ratio.rate for ratio in ratios] == pytest.approx([1.5 / 10] * 4)
    assert all(ratio.low < ratio.rate < ratio.high for ratio in ratios)


A_YEAR = 15 * 2e-5 + 30 * 1e-9 * 12 * 30
"""One cluster: the last replica of a set, and the race between a leader and a follower."""


def test_fleets_are_so_many_clusters_of_the_study() -> None:
    fleets = fleets_of(answer(), "committed_loss", "841")
    found = {fleet.name: fleet.yearly.rate for fleet in fleets}
    assert found == {
        "1 cluster, 15 replica sets": pytest.approx(A_YEAR),
        "2 clusters, 30 replica sets": pytest.approx(2 * A_YEAR),
        "10 clusters, 150 replica sets": pytest.approx(10 * A_YEAR),
        "100 clusters, 1,500 replica sets": pytest.approx(100 * A_YEAR),
    }


def test_pairs_are_what_only_one_of_two_sets_had() -> None:
    found = {row.features: row for row in differences_of(answer(), "stale_join")}
    assert list(found) == ["841", "841+903"]
    assert found["841"].gap == pytest.approx(-0.036)
    assert found["841"].against == "none"
    assert found["841"].sign == -1
    (alike,) = [r for r in differences_of(answer(), "committed_loss") if r.features == "841"]
    assert alike.alike
    assert alike.low < 0 < alike.high, "that no schedule told them apart is no proof"


def test_pairs_that_come_by_fives_are_as_sure_as_a_fifth_of_them() -> None:
    asked = answer()
    by_fives = replace(
        asked,
        summary=tuple(
            replace(
                one,
                weights=(
                    block_means.Weights(samples=1_000, total=n, squares=5.0 * n, largest=5.0),
                ),
            )
            for one in asked.summary
            for n in [one.events]
        ),
    )
    (alone, _), (fives, _) = (differences_of(each, "stale_join") for each in (asked, by_fives))
    assert fives.gap == alone.gap
    assert fives.low < alone.low < alone.high < fives.high


def test_a_set_that_the_study_does_not_have_is_refused() -> None:
    with pytest.raises(ValueError, match=r"903.*none, 841, 841\+903"):
        survival(answer(), features="903")


# --- which pictures -------------------------------------------------------------------------------


def test_a_study_feeds_the_pictures_that_it_has_rows_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kiplab.fleet.pictures.answer_pictures.forced_metrics", lambda _: ())
    assert len(pictures_of(answer())) == 4
    assert len(pictures_of(answer(bounces_per_year=[4, 12]))) == 5
    asked = answer(bounces_per_year=[4, 12], slow_alter_partition_s=[10, 30])
    assert len(pictures_of(asked)) == 6
    for picture in pictures_of(asked):
        assert draws(picture.drawing(theme="dark"))
        assert picture.sentence in picture.drawing()["layout"]["meta"]["description"]
        assert list(picture.table().columns) == list(picture.words.heads)


def test_forced_samples_alone_feed_no_picture_of_all_losses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What all causes take together, and what a shock does, is not among them."""
    monkeypatch.setattr("kiplab.fleet.pictures.answer_pictures.forced_metrics", lambda _: ())
    asked = forced_too(answer())
    alone = replace(asked, rows=tuple(row for row in asked.rows if row.method == "forced"))
    titles = [picture.drawing()["layout"]["meta"]["description"] for picture in pictures_of(alone)]
    assert len(titles) == 2
    assert "within ten years" not in "".join(titles)


def test_a_picture_that_a_study_cannot_feed_says_what_to_sweep() -> None:
    assert "Sweep it" in rates_by_reboots(answer()).sentence
    assert "Sweep both" in delay_map(answer()).sentence


def test_a_picture_shows_itself_in_a_notebook_with_a_still_image() -> None:
    bundle = losses_by_cause(answer())._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.plotly.v1+json", "text/html", "text/plain"}
    assert bundle["text/plain"] == losses_by_cause(answer()).sentence
    assert "<img" in bundle["text/html"]


def test_incidents_are_as_large_as_what_shares_their_fate() -> None:
    pytest.importorskip("numpy")
    picture = incident_sizes(answer(), ["last_replica_loss", "stale_join"])
    assert "half of 15 replica sets take" in picture.sentence
    held = [line for line in picture.words.lines if line[0].endswith("the last replica")]
    assert sum(int(line[1].replace(",", "")) * int(line[2]) for line in held) == 600 * 1


# --- what matters most ----------------------------------------------------------------------------


def test_the_race_follows_crashes_and_slow_requests_and_no_fast_ones() -> None:
    pytest.importorskip("scipy")
    names = ("crashes_per_year", "slow_alter_partition_share", "alter_partition_ms", "tail_lost")
    levers = levers_of(Parameters(), names, "none", "race_loss", 1)
    found = {lever.usual_value.partition(" = ")[0]: lever.power for lever in levers}
    assert "alter_partition_ms" not in found, "typical round trips are irrelevant"
    assert found["slow_alter_partition_share"] == pytest.approx(1, abs=0.05)
    assert found["tail_lost"] == pytest.approx(1, abs=0.2)
    assert (found["crashes_per_year"] or 0) > 0.8


def test_with_three_replicas_the_last_one_follows_crashes_three_times() -> None:
    pytest.importorskip("scipy")
    three = Parameters(
        replication_factor=3, bounces_per_year=0.0, disk_failures_per_year=0.0, tail_lost=0.2
    )
    names = ("crashes_per_year", "tail_lost", "slow_alter_partition_share")
    levers = levers_of(three, names, "none", "last_replica_loss", 1)
    found = {lever.usual_value.partition(" = ")[0]: lever.power for lever in levers}
    assert found["crashes_per_year"] == pytest.approx(3, abs=0.3)
    assert abs(found.get("slow_alter_partition_share") or 0) < 0.2


@pytest.mark.parametrize(("replicas", "first"), [(2, "hard crashes"), (3, "shocks of a cluster")])
def test_what_matters_most_is_of_the_loss_that_matters(replicas: int, first: str) -> None:
    """Of three replicas hardly any loss is without a shock."""
    pytest.importorskip("numba")
    words = strongest(estimate("small", replication_factor=replicas)).words
    assert words.lines[0][0] == first
    powers = {line[0]: line[-1] for line in words.lines}
    assert (powers["shocks of a cluster"] == "+1.0") is (replicas == 3)


@pytest.mark.parametrize(("replicas", "metric"), [(3, "race_loss"), (2, "offline")])
def test_a_tornado_is_of_what_can_be_forced(replicas: int, metric: str) -> None:
    p = Parameters(replication_factor=replicas)
    scenario = Scenario(feature_sets=("none",), parameters=p)
    with pytest.raises(ValueError, match=f"{metric} cannot be forced in this fleet: windows are"):
        tornado(scenario, metric=metric)


def test_what_is_no_number_or_would_be_no_fleet_is_left_out() -> None:
    pytest.importorskip("scipy")
    scenario = Scenario(feature_sets=("none",))
    picture = tornado(scenario, names=("bounces_wait", "clusters", "network_cuts_per_year"))
    assert not picture.words.lines
    assert not {name for name in PARAMETERS if PARAMETERS[name].kind is float} & {"clusters"}


# --- the page -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page() -> str:
    asked = answer()
    return fleet_page(asked, [survival(asked), losses_by_cause(asked), forest(asked)])


def test_a_page_needs_nothing_but_itself(page: str) -> None:
    outline = Outline(page)
    assert not [found for _, found in outline.tags if found.keys() & {"src", "href"}]
    assert not outline.named("script")
    assert "url(" not in page
    assert len(page) < 300_000


def test_a_page_has_each_picture_for_the_day_and_for_the_night(page: str) -> None:
    outline = Outline(page)
    assert len(outline.named("svg")) == 6
    assert len(outline.named("figure")) == 3
    ids = [found["id"] for _, found in outline.tags if "id" in found]
    assert len(ids) == len(set(ids)) == 6
    for own in ids:
        assert re.search(rf"<style>#{own} ", page), "each has its own style sheet"


def test_a_page_of_one_theme_has_each_picture_once() -> None:
    made = fleet_page(answer(), [survival(answer())], theme="dark")
    assert made.count("<svg") == 1
    assert "prefers-color-scheme" not in made
    with pytest.raises(ValueError, match="no theme 'sepia'"):
        fleet_page(answer(), [], theme="sepia")


def test_a_page_has_every_rate_and_nothing_of_it_is_markup(page: str) -> None:
    table = rates_in(answer())
    assert len(table.lines) == len(answer().rows)
    assert "KIP-841 refuses &lt;this&gt;, KIP-903 that" in page
    assert "Made up &amp; small." in page
    assert "none seen" in page
    assert "cannot happen" in page


def test_a_page_says_of_every_metric_who_checks_it(page: str) -> None:
    table = checks_in(answer())
    assert [line[1] for line in table.lines] == [*METRICS]
    assert all("exact chain" in line[2] or "closed form" in line[2] for line in table.lines)
    assert "<h2>Who checks these numbers?</h2>" in page


def test_an_unfinished_study_is_called_so(page: str) -> None:
    assert "not finished" in fleet_page(replace(answer(), finished=False), [])
    assert "not finished" not in page
