"""The pictures of fleets: what is drawn from which rows, and what their words and tables say."""

from math import log10

import pytest
from msgspec.structs import replace

from kiplab.figures.drawing.flat import color_at
from kiplab.figures.drawing.svg import draws, svg
from kiplab.figures.drawing.theme import THEMES
from kiplab.figures.how_often import fleet_words as numbers
from kiplab.figures.how_often import incident_chart as incidents
from kiplab.figures.how_often import measured_rate
from kiplab.figures.how_often import rates_by_reboots as rates
from kiplab.figures.how_often.delay_map import color_scale, map_chart, once_a_year
from kiplab.figures.how_often.first_loss_survival import loss_words, survival_chart
from kiplab.figures.how_often.fleet_words import plot_table_html, sets_words
from kiplab.figures.how_often.losses_by_cause import cause_total, causes_chart, causes_in_order
from kiplab.figures.how_often.measured_rate import NOT_REACHED, rate_of, rate_words
from kiplab.figures.how_often.paired_forest import forest_chart, forest_groups, gap_words
from kiplab.figures.how_often.plot_axis import PlotAxis, log_range, pushed_apart
from kiplab.figures.how_often.tornado_chart import by_strength, lever_ends, tornado_chart
from tests.figures import fleet_samples as samples
from tests.figures.boxes import texts, unreadable
from tests.figures.fleet_samples import (
    CHARTS,
    DELAY,
    EMPTY,
    REFUSED,
    WARY,
    about,
    never,
    unseen,
)

LONG = "the largest fleet that anybody of ours has ever been asked to look after for so many years"
LARGEST_BYTES = 40_000


@pytest.mark.parametrize("name", CHARTS)
def test_every_picture_is_a_small_still_image_in_both_themes(name: str) -> None:
    make, rows = CHARTS[name]
    for theme in THEMES:
        drawing = make(*rows).drawing(theme=theme)
        assert draws(drawing)
        assert len(svg(drawing).encode()) < LARGEST_BYTES
        assert drawing["layout"]["paper_bgcolor"] == THEMES[theme].paper
        assert drawing["layout"]["height"] <= 620, "it is to be seen whole at 1366 x 768"


@pytest.mark.parametrize("name", CHARTS)
def test_the_sentence_stands_in_the_picture_and_describes_it(name: str) -> None:
    make, rows = CHARTS[name]
    drawing = make(*rows).drawing()
    told, shown = (
        drawing["layout"]["meta"]["description"],
        " ".join(texts(drawing)).replace("<br>", " "),
    )
    assert told
    assert told.replace("&", "&amp;") in shown


@pytest.mark.parametrize("name", EMPTY)
def test_a_picture_of_nothing_says_why(name: str) -> None:
    make, rows = EMPTY[name]
    drawing = make(*rows).drawing()
    told = drawing["layout"]["meta"]["description"]
    assert told.startswith(("Nothing", "A study", "There"))
    assert any(told[:20] in text for text in texts(drawing))


@pytest.mark.parametrize("name", CHARTS)
def test_a_picture_too_narrow_for_words_is_refused(name: str) -> None:
    make, rows = CHARTS[name]
    with pytest.raises(ValueError, match="640 pixels or more"):
        make(*rows).drawing(width=500)
    with pytest.raises(ValueError, match="no theme 'sepia'"):
        make(*rows).drawing(theme="sepia")


def test_long_names_are_wrapped_or_shortened() -> None:
    fleet = replace(samples.fleets()[0], name=LONG)
    lever = replace(samples.levers()[0], parameter=LONG)
    kind = replace(samples.kinds_of_incidents()[0], name=LONG)
    changed = {"survival": fleet, "tornado": lever, "incidents": kind}
    for name, row in changed.items():
        make, (rows, *others) = CHARTS[name]
        figure = make([row, *rows[1:]], *others).drawing()
        assert unreadable(figure) == []


SENTENCES = {
    "rates": (
        "From 4 to 52 reboots per broker and year, 13 times as many.",
        "no KIP (also with 704) 13 times as often",
        "KIP-841+903 (also with 704) cannot happen",
        "KIP-841 none seen, at most 3.0×10⁻¹⁷ at first",
    ),
    "tornado": (
        "depends most on mean of slow AlterPartition requests (power +1.6)",
        "1 parameter of 7 hardly matters.",
    ),
    "survival": (
        "One cluster, three replicas none seen, at most 3.9 %",
        "The same, weighed not known: no sample hit it",
    ),
    "incidents": (
        "half of 340 incidents take 64 partitions at most, the largest 128;",
        "A shock: no incident seen.",
    ),
    "causes": (
        "No KIP: 3.0×10⁻⁵ losses per partition and year, 87 % of it lost with the last",
        "KIP-841+903: 3.0×10⁻⁵ losses per partition and year, 87 % of it lost with the last",
    ),
    "forest": ("5 sets less often, 0 more often, 1 alike on every schedule, 1 undecided",),
}
"""What the sentence of a chart says, among other things."""


@pytest.mark.parametrize("name", SENTENCES)
def test_a_sentence_says_what_grows_matters_or_never_happens(name: str) -> None:
    make, rows = CHARTS[name]
    chart = make(*rows)
    assert [part for part in SENTENCES[name] if part not in chart.sentence] == []
    assert {len(line) for line in chart.words.lines} == {len(chart.words.heads)}


def test_zero_seen_zero_by_construction_and_not_reached_are_told_apart() -> None:
    said = {rate_words(found) for found in (unseen(3e-6), never("a rule"), NOT_REACHED)}
    assert said == {"none seen, at most 3.0×10⁻⁶", "cannot happen", "no sample hit it"}
    assert measured_rate.rate_cells(never("a rule")) == ("cannot happen", "", "a rule")
    assert measured_rate.rate_cells(unseen(3e-6))[1] == "at most 3.0×10⁻⁶"
    assert measured_rate.rate_cells(WARY)[2] == "only 40 effective samples, of 100 wanted"


def test_a_bare_zero_is_never_said_of_a_rate() -> None:
    for found in (unseen(1e-9), never("so"), NOT_REACHED, rate_of(2e-9, 1e-9, 3e-9)):
        assert rate_words(found).strip() not in ("0", "")
        assert loss_words(found, 10) not in ("0", "0 %", "")


def test_numbers_are_short_and_exact_in_size() -> None:
    assert numbers.number_words(1.877e-8) == "1.9×10⁻⁸"
    assert numbers.number_words(9.96e-6) == "1.0×10⁻⁵"
    plain = [numbers.number_words(v) for v in (0, 0.012, 12, 3210, -0.5)]
    assert plain == ["0", "0.012", "12", "3,200", "−0.5"]
    assert numbers.range_words(1.7e-8, 2.1e-8) == "1.7 to 2.1×10⁻⁸"
    assert numbers.range_words(9e-9, 2.1e-8) == "9.0×10⁻⁹ to 2.1×10⁻⁸"
    # The ends of an interval are never said alike.
    assert numbers.range_words(26.0354, 26.0399) == "26.035 to 26.04"
    assert numbers.range_words(1.862e-8, 1.931e-8) == "1.86 to 1.93×10⁻⁸"
    assert rate_words(rate_of(26.0376, 26.0354, 26.0399)) == "26.038 (26.035 to 26.04)"
    tight = rate_of(0.01, 0.0099999999, 0.0100000001)
    assert rate_words(tight) == "0.01 (to within its last digit)"
    assert numbers.share_range_words(0.01690, 0.01735) == "1.69 to 1.74 %"
    assert numbers.share_range_words(1.9e-12, 2e-12) == "1.9 to 2.0×10⁻¹⁰ %"
    assert numbers.share_range_words(0.2812, 0.2838) == "28.1 to 28.4 %"
    # What is almost certain is not said to be certain.
    assert numbers.share_words(0.99999) == "over 99.9 %"
    assert numbers.share_words(1e-9) == "1.0×10⁻⁷ %"
    assert (numbers.share_words(0), numbers.share_words(1)) == ("0 %", "100 %")
    assert numbers.share_words(0.9996) == "over 99.9 %"


def test_a_logarithmic_axis_spaces_decades_evenly() -> None:
    axis = PlotAxis(1e-9, 1e-5, log=True)
    assert [round(400 * axis.share(10.0**n)) for n in range(-9, -4)] == [0, 100, 200, 300, 400]
    assert axis.share(0) == 0
    assert axis.range() == pytest.approx([-9, -5])
    assert [tick.text for tick in axis.ticks(5)] == ["10⁻⁹", "10⁻⁸", "10⁻⁷", "10⁻⁶", "10⁻⁵"]
    assert axis.value_at(0.5) == pytest.approx(1e-7)


def test_every_axis_has_at_least_two_ticks() -> None:
    for low, high in ((0.9, 1.1), (3, 80), (1e-15, 1e-3), (0.95, 1.05), (1e-8, 4e-8)):
        assert len(PlotAxis(low, high, log=True).ticks()) >= 2
        assert len(PlotAxis(low, high).ticks()) >= 2


def test_the_range_of_an_axis_holds_every_value_above_zero() -> None:
    low, high = log_range([0.0, 1e-15, 1e-9])
    assert low < 1e-15 < 1e-9 < high
    assert log_range([]) == (0.1, 10.0)
    low, high = log_range([5.0], decades=2)
    assert log10(high / low) == pytest.approx(2)


def test_labels_are_pushed_apart_and_stay_inside() -> None:
    assert pushed_apart([50, 50, 52], 10, 0, 100) == [50, 60, 70]
    assert pushed_apart([99, 98, 97], 10, 0, 100) == [100, 90, 80]
    assert pushed_apart([5, 5, 5], 80, 0, 100) == [0, 50, 100]
    assert pushed_apart([], 10, 0, 100) == []


def test_sets_with_the_same_numbers_are_one_line_with_all_their_names() -> None:
    lines = rates.rate_lines(samples.rate_points(), "stale_join")
    sets = [line.sets for line in lines]
    assert sets == [("none", "704"), ("841",), ("903",), ("841+903", "841+903+704")]
    assert sets_words(["none", "704"]) == "no KIP (also with 704)"
    assert sets_words(["841", "903"]) == "KIP-841 (also KIP-903)"


def test_a_line_does_not_lead_through_what_was_not_seen() -> None:
    found = [about(1e-9), unseen(1e-9), about(2e-9), about(3e-9)]
    points = [
        rates.RatePoint(metric="race_loss", features="841", label="", reboots=n, estimate=rate)
        for n, rate in enumerate(found, 1)
    ]
    assert [len(stretch) for stretch in rates.seen_stretches(points)] == [1, 2]


def test_what_cannot_happen_stands_on_a_strip_below_the_scale() -> None:
    said = texts(rates.rates_chart(samples.rate_points()).drawing())
    assert said.count("cannot happen") == 2
    assert said.count("KIP-841+903<br>(also with 704)") == 2
    without = [point for point in samples.rate_points() if point.estimate is not REFUSED]
    assert "cannot happen" not in texts(rates.rates_chart(without).drawing())


def test_only_what_no_sample_hit_is_hollow_on_the_strip() -> None:
    points = [
        replace(samples.rate_points()[n], features="841", estimate=NOT_REACHED) for n in (0, 1)
    ]
    for found, hollow in ((NOT_REACHED, True), (REFUSED, False)):
        drawing = rates.rates_chart([replace(p, estimate=found) for p in points]).drawing()
        (fills,) = (
            t["marker"]["color"] for t in drawing["data"] if "symbol" in t.get("marker", {})
        )
        assert ({*fills} == {drawing["layout"]["paper_bgcolor"]}) is hollow


def test_what_was_never_seen_is_an_arrow_down_from_its_bound() -> None:
    def arrows(points: list[rates.RatePoint]) -> int:
        traces = rates.rates_chart(points).drawing()["data"]
        return sum(t.get("marker", {}).get("symbol") == "triangle-down" for t in traces)

    points = samples.rate_points()
    assert arrows(points) == 1
    assert arrows([point for point in points if point.estimate.is_seen]) == 0


def test_the_table_of_rates_has_every_point_with_its_interval() -> None:
    table = rates.rates_chart(samples.rate_points()).words
    assert len(table.lines) == len(samples.rate_points())
    assert plot_table_html(table).count("<tr>") == len(table.lines) + 1


def test_the_strongest_parameter_is_on_top_and_the_unknown_last() -> None:
    ordered = by_strength(list(reversed(samples.levers())))
    assert [lever.parameter for lever in ordered[:2]] == [
        "mean of slow AlterPartition requests",
        "hard crashes per broker and year",
    ]
    assert ordered[-1].power is None


def test_only_the_strongest_are_drawn_and_all_are_in_the_table() -> None:
    many = [
        replace(lever, parameter=f"{n} {lever.parameter}")
        for n in (1, 2)
        for lever in samples.levers()
    ]
    drawn = texts(tornado_chart(many, "The rate").drawing())
    assert "Not drawn: 2 that matter less." in drawn
    assert len(tornado_chart(many, "The rate").words.lines) == 14


def test_the_power_is_read_off_the_two_rates() -> None:
    lever = replace(samples.levers()[0], lower=about(1.0), higher=about(16.0), factor=4.0)
    assert lever.power == pytest.approx(2)
    assert replace(lever, lower=about(4.0), higher=about(1.0)).power == pytest.approx(-1)


def test_a_falling_rate_puts_the_higher_value_on_the_left() -> None:
    restart = next(lever for lever in samples.levers() if "restart" in lever.parameter)
    assert [end.value for end in lever_ends(restart)] == ["600 s", "150 s"]
    tail = next(lever for lever in samples.levers() if "tail" in lever.parameter)
    assert [end.value for end in lever_ends(tail)] == ["0", "0.2"]


def test_the_probability_of_a_loss_is_one_minus_what_is_left() -> None:
    assert loss_words(rate_of(0.1, 0.1, 0.1), 10) == "63 %"
    assert loss_words(rate_of(1e-18, 1e-18, 1e-18), 10) == "1.0×10⁻¹⁵ %"


def test_survival_never_tells_a_mean_time() -> None:
    table = survival_chart(samples.fleets(), "Something is lost").words
    assert table.heads[3:6] == ("in 1 year", "in 5 years", "in 10 years")
    told_too = (
        f"{survival_chart(samples.fleets(), 'Something is lost').sentence} {plot_table_html(table)}"
    )
    assert "mean" not in told_too


def test_a_fleet_that_was_not_reached_has_no_curve() -> None:
    alone = survival_chart([samples.fleets()[-1]], "Something is lost").drawing()
    assert not any("fill" in trace for trace in alone["data"])
    assert not any(trace["mode"] == "markers" for trace in alone["data"])


def test_more_fleets_than_can_be_told_apart_are_refused() -> None:
    with pytest.raises(ValueError, match="6 fleets are too many; 5 can be told apart"):
        survival_chart([samples.fleets()[0]] * 6, "Something is lost").drawing()
    with pytest.raises(ValueError, match="7 kinds are too many"):
        incidents.incident_chart([samples.kinds_of_incidents()[0]] * 7).drawing()


def test_the_line_runs_where_the_fleet_loses_once_a_year() -> None:
    cells = [
        replace(samples.map_cells()[0], reboots=x, delay=y, estimate=about(rate))
        for x, y, rate in ((1.0, 1.0, 0.1), (10.0, 1.0, 10.0), (1.0, 9.0, 0.1), (10.0, 9.0, 10.0))
    ]
    pieces = once_a_year(cells)
    assert {round(i, 9) for piece in pieces for i, _ in piece} == {0.5}
    assert {j for piece in pieces for _, j in piece} == {-0.5, 0, 1, 1.5}
    assert once_a_year([replace(cell, estimate=about(0.1)) for cell in cells]) == []


def test_no_line_runs_between_cells_without_a_rate() -> None:
    blank = [replace(cell, estimate=unseen(3.0), ratio=None) for cell in samples.map_cells()]
    assert once_a_year(blank) == []
    assert "nothing was seen anywhere" in map_chart(blank, "Losses", DELAY).sentence


def test_cells_on_both_sides_of_once_a_year_differ_in_colour() -> None:
    for theme in THEMES.values():
        rarely, often = (color_at(color_scale(theme), share) for share in (0.25, 0.75))
        assert len({rarely, often, theme.isr_fill, theme.paper}) == 4


def test_a_cell_has_the_colour_of_its_distance_from_1() -> None:
    (heat,) = (
        t for t in map_chart(samples.map_cells(), "Losses", DELAY).drawing()["data"] if "z" in t
    )
    rates = {(c.delay, c.reboots): c.shown for c in samples.map_cells()}
    shown = [value for row in heat["z"] for value in row]
    wanted = [log10(found.rate) if found.is_seen else None for _, found in sorted(rates.items())]
    assert shown == wanted
    assert heat["zmin"] == -heat["zmax"]


def test_the_map_says_its_corners_with_units() -> None:
    rates = [replace(cell, ratio=None) for cell in samples.map_cells()]
    said = map_chart(rates, "Losses", DELAY).sentence
    assert "to 12 (104 reboots, 30 s); once a fleet-year or more in 8 of 25 cells." in said
    assert "One estimate is not to be relied on (marked !)" in said
    assert len(map_chart(rates, "Losses", DELAY).words.lines) == 25


def test_a_map_of_ratios_keeps_its_line_at_once_a_year() -> None:
    cells = samples.map_cells()
    said = map_chart(cells, "Losses", DELAY, "Lost with the last replica").sentence
    assert said.startswith("Losses, against “lost with the last replica”: from ")
    assert (
        "to 0.003 times as often (4 reboots, 30 s); once a fleet-year or more in 8 of 25 cells."
        in said
    )
    assert once_a_year(cells) == once_a_year([replace(cell, ratio=None) for cell in cells])
    table = map_chart(cells, "Losses", DELAY, "Lost with the last replica").words
    assert table.heads[2] == "times as often as: Lost with the last replica"
    assert table.lines[-1][2:5:2] == ("0.003", "12")
    assert table.lines[-1][-1] == "forced"


def test_the_share_falls_from_all_to_the_largest_incidents() -> None:
    (*_, last) = incidents.incident_chart(samples.kinds_of_incidents()).words.lines
    assert last == ("A shock", "none seen", "0", "")
    kind = incidents.KindOfIncident(name="", sizes=((1, 6), (4, 3), (8, 1)))
    assert kind.steps == [(1, 1.0), (4, 0.4), (8, 0.1)]
    assert kind.middle == 1


def test_marks_of_many_steps_keep_apart() -> None:
    places = [(float(x), 0.0) for x in range(0, 100, 10)]
    assert incidents.apart_from_each_other(places, 30) == [(0, 0), (30, 0), (60, 0), (90, 0)]
    assert incidents.apart_from_each_other([], 30) == []


def test_the_largest_cause_comes_first_and_what_cannot_happen_last() -> None:
    ordered = ["last_replica_loss", "shock_loss", "race_loss", "unclean_loss"]
    assert causes_in_order(samples.causes()) == ordered


def test_the_stairs_add_up_to_the_total() -> None:
    stairs, total, *_ = (
        t for t in causes_chart(samples.causes()).drawing()["data"] if t["type"] == "bar"
    )
    assert stairs["base"][1] == pytest.approx(stairs["base"][0] + stairs["x"][0])
    assert total["x"] == [pytest.approx(stairs["base"][1] + stairs["x"][1])]
    assert total["x"] == [pytest.approx(cause_total(samples.causes(), "none"))]


def test_a_picture_has_at_most_three_sets_and_the_table_all_causes() -> None:
    assert len(causes_chart(samples.causes()).words.lines) == len(samples.causes())
    with pytest.raises(ValueError, match="4 sets are too many; 3 fit"):
        causes_chart([replace(samples.causes()[0], features=name) for name in "abcd"]).drawing()


def test_a_difference_is_decided_where_its_interval_leaves_zero_out() -> None:
    row = samples.differences()[0]
    ends = ((-2, -1), (-1, 1), (1, 2))
    assert [replace(row, low=low, high=high).sign for low, high in ends] == [-1, 0, 1]


def test_within_a_standing_the_strongest_comes_first() -> None:
    groups = forest_groups(samples.differences())
    assert groups["as Kafka"][0].features == "841+903"


def test_pairs_that_never_differ_are_no_proof_and_no_zero() -> None:
    alike = next(row for row in samples.differences() if row.alike)
    assert gap_words(alike) == "the same on every schedule"
    line = ("KIP-704", "as Kafka", "no KIP", gap_words(alike), "", "", "")
    assert line in forest_chart(samples.differences(), "Losses").words.lines


def test_differences_of_ten_to_the_minus_17_have_ticks_of_their_own() -> None:
    rows = [
        replace(row, gap=0.0, low=-3e-17, high=-1e-17, alike=False) for row in samples.differences()
    ]
    said = texts(forest_chart(rows, "Losses").drawing())
    assert said.count("0") == 1
    assert "−2.0×10⁻¹⁷" in said
