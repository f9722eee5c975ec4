"""Studies of fleets as text for a terminal: by point and metric a line for all equal results, and
the table of parameters.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import groupby
from textwrap import wrap

from ..figures.how_often.fleet_words import alike
from ..fleet.fleet_answers.first_screen import first_screen
from ..fleet.fleet_answers.fleet_answer import FleetAnswer
from ..fleet.fleet_answers.fleet_row import FleetRow, best_rows, found_words
from ..fleet.fleet_answers.yearly_incidents import ALL_CAUSES, ElrPrice, elr_prices
from ..fleet.fleet_answers.zookeeper_rates import zookeeper_rates
from ..fleet.parameters.fleet_study import range_words, toml_value
from ..fleet.parameters.parameter_table import PARAMETERS
from ..fleet.pipeline.study_plan import NAIVE
from ..fleet.statistics.event_rates import YEARS, at_least_one

WIDTH = 100


def answer_text(answer: FleetAnswer) -> str:
    """The five answers, then every rate with its interval; never a bare zero."""
    return "\n".join([*_screen(answer), *_head(answer), *_points(answer)]) + "\n"


def _screen(answer: FleetAnswer) -> Iterator[str]:
    for part in first_screen(answer):
        yield part.question
        for sentence in part.sentences:
            yield from wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")
        yield ""


def _head(answer: FleetAnswer) -> Iterator[str]:
    if answer.study.about:
        yield answer.study.about
    scenarios = len({row.scenario_id for row in answer.rows})
    where = "1 scenario" if scenarios == 1 else f"{scenarios:,} scenarios"
    took = "" if answer.seconds is None else f", in {answer.seconds:.1f} s"
    yield f"{answer.partition_years:,.0f} partition-years over {where}{took}."
    labels = dict.fromkeys((row.features, row.label) for row in answer.rows)
    yield answer.sampling_words
    yield f"Feature sets: {', '.join(f'{name} ({label})' for name, label in labels)}."


def _points(answer: FleetAnswer) -> Iterator[str]:
    prices = {price.scenario_id: price for price in elr_prices(answer)}
    for swept, several in groupby(answer.rows, lambda row: row.swept):
        point = list(several)
        if swept:
            yield ""
            yield ", ".join(f"{name} = {value}" for name, value in swept)
        yield from _metrics(answer, point)
        yield from _chances(answer, point)
        yield from _price(prices.get(point[0].scenario_id))
        yield from _with_zookeeper(answer, point)


def _metrics(answer: FleetAnswer, point: Sequence[FleetRow]) -> Iterator[str]:
    for metric in dict.fromkeys(row.metric for row in point):
        rows = [row for row in point if row.metric == metric]
        yield ""
        units = f"{rows[0].shown_unit}; in the fleet: {rows[0].fleet_unit}"
        yield f"{metric}: {rows[0].counts} ({units})"
        yield from _lines(rows, partial(_words, answer))


def _chances(answer: FleetAnswer, point: Sequence[FleetRow]) -> Iterator[str]:
    """Never a mean time; of each set by what says most."""
    rows = best_rows(point, ALL_CAUSES)
    if not rows:
        return
    spans = ", ".join(f"{years:g}" for years in YEARS)
    yield ""
    yield f"at least one {ALL_CAUSES} in all clusters of the study, within {spans} years"
    yield from _lines(rows, lambda row: _chance(answer, row))


def _chance(answer: FleetAnswer, row: FleetRow) -> str:
    yearly = answer.incidents.of(row)
    chances = [chance.words_with_interval for chance in at_least_one(yearly)]
    rests = answer.assumed_words(row, answer.incidents.by_cause(row))
    return "; ".join(filter(None, [*chances, *yearly.alarms, answer.incidents.remark(row), rests]))


def _price(price: ElrPrice | None) -> Iterator[str]:
    """What eligible leader replicas save and cost, where both sets are there."""
    if price is not None:
        yield ""
        yield "with and without eligible leader replicas, in all clusters of the study"
        for sentence in price.sentences:
            yield from wrap(sentence, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _with_zookeeper(answer: FleetAnswer, point: Sequence[FleetRow]) -> Iterator[str]:
    """What no row is about: it is not sampled."""
    ids = {scenario.scenario_id: scenario for scenario in answer.study.scenarios}
    yield ""
    yield "with ZooKeeper instead of KRaft, by formula"
    rates = zookeeper_rates(ids[point[0].scenario_id].parameters)
    yield from (f"  {sentence}" for sentence in rates.sentences)


def _lines(rows: Iterable[FleetRow], said: Callable[[FleetRow], str]) -> Iterator[str]:
    """Feature sets that came to the same stand together."""
    same = alike((said(row), row.features) for row in rows)
    names = {words: ", ".join(dict.fromkeys(sets)) for words, sets in same.items()}
    width = max(map(len, names.values()))
    margin = " " * (width + 6)
    for words, sets in names.items():
        first = f"  {sets:<{width}}  "
        yield from wrap(words, WIDTH, initial_indent=first, subsequent_indent=margin)


def _words(answer: FleetAnswer, row: FleetRow) -> str:
    """What both numbers rest on is said once, where it is the same."""
    if row.why_never is not None:
        return row.words
    worth = row.found.effective_samples
    effective = "" if worth is None else f", {worth:,.0f} effective samples"
    how = "" if row.method == NAIVE else f", {row.method}{effective}"
    incidents = answer.incidents
    here, there = answer.assumed_words(row), answer.assumed_words(row, incidents.by_cause(row))
    fleet = f"in the fleet {found_words(incidents.of(row))}"
    own = here if here != there else ""
    parts = (f"{row.words}{how}", *row.found.alarms, own, fleet, incidents.remark(row), there)
    return "; ".join(filter(None, parts))


def parameter_lines() -> Iterator[str]:
    """Of each parameter its name, default, unit, range, meaning and source."""
    for name, about in PARAMETERS.items():
        yield f"{name} = {toml_value(about.default)}"
        text = f"{about.does} [{range_words(about)}] {about.basis.capitalize()}: {about.source}"
        called = about.called[0].upper() + about.called[1:]
        yield from (f"    {line}" for line in wrap(f"{called}. {text}", WIDTH - 8))
