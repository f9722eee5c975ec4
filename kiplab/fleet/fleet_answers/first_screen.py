"""The first screen of an answer: the chance of a loss, its causes, what would change it most, how
sure that is, and the assumptions. Of a sweep it is about the first point.
"""

from collections.abc import Iterable, Iterator

import msgspec

from ...figures.how_often import fleet_words
from ...figures.how_often.fleet_words import counted, listed, metric_words, set_words
from ..kernel.mirrored_guards import most_of
from ..parameters.parameter_table import PARAMETERS, Parameters
from ..parameters.scenario import Scenario
from ..spread.partition_placement import sets_in_use
from ..statistics.event_rates import FoundRate, NeverHappens, at_least_one
from .assumed_share import MOSTLY_ASSUMED, LossLever, loss_levers
from .counted_metrics import TEXTS
from .fleet_answer import FleetAnswer
from .fleet_row import FleetRow, best_rows
from .yearly_incidents import ALL_CAUSES, LEFT_OUT, elr_prices

SHOCKS = "shock_loss"
_LEVERS, _HARDLY = 3, 1.05
_OF_ELR = "What do eligible leader replicas save, and what do they cost?"


class ScreenPart(msgspec.Struct, frozen=True):
    """One of the five answers: its question, and sentences."""

    question: str
    sentences: tuple[str, ...]


def first_screen(answer: FleetAnswer) -> tuple[ScreenPart, ...]:
    """The five answers in their order, and a sixth where a study has sets with and without eligible
    leader replicas; none where the study has no row of losses yet.

    Raises MissingExtraError without numpy and scipy.
    """
    scenario = answer.study.scenarios[0]
    here = [row for row in answer.rows if row.scenario_id == scenario.scenario_id]
    rows = best_rows(here, ALL_CAUSES)
    if not rows:
        return ()
    named = most_of(row.features for row in rows)
    most = next(row for row in rows if row.features == named)
    causes = answer.incidents.by_cause(most)
    levers = loss_levers(scenario, most.features, _rate(causes.get(SHOCKS)))
    strong = [lever for lever in levers if lever.strength > _HARDLY]
    assumed = answer.assumed(most, causes)
    told = dict.fromkeys([*assumed, *(lever.parameter for lever in levers[: 2 * _LEVERS])])
    return (
        ScreenPart(_asked(scenario), tuple(_chances(answer, rows))),
        ScreenPart("Of which cause?", tuple(_causes(answer, causes, most))),
        ScreenPart("What would change it most?", tuple(_changes(strong))),
        ScreenPart("How sure is that?", tuple(_sure(answer, most, assumed))),
        ScreenPart("Under which assumptions?", tuple(_assumptions(scenario.parameters, told))),
        *(ScreenPart(_OF_ELR, (*price.sentences, *LEFT_OUT)) for price in elr_prices(answer)[:1]),
    )


def _asked(scenario: Scenario) -> str:
    p = scenario.parameters
    fleet = f"{counted(p.clusters, 'cluster')} of {p.brokers:,} brokers"
    holds = f"{p.partitions:,} partitions on {sets_in_use(p):,} replica sets"
    copies = f"{counted(p.replication_factor, 'replica')} each, min.insync.replicas"
    return (
        f"What is the chance of losing acknowledged records? ({fleet}, {holds}, {copies}"
        f" {min(p.min_insync_replicas, p.replication_factor)})"
    )


def _chances(answer: FleetAnswer, rows: tuple[FleetRow, ...]) -> Iterator[str]:
    """Sets that came to the same stand together."""
    words = (
        f"without shocks {_within(answer, row, SHOCKS)}; with shocks {_within(answer, row)}"
        for row in rows
    )
    same = fleet_words.alike(zip(words, (set_words(row.features) for row in rows), strict=True))
    yield from (f"{fleet_words.capital(listed(sets))}: {words}." for words, sets in same.items())


def _within(answer: FleetAnswer, row: FleetRow, without: str = "") -> str:
    rate = answer.incidents.of(row, without=without)
    if isinstance(rate, NeverHappens):
        return "it cannot happen"
    each = {c: found for c, found in answer.incidents.by_cause(row).items() if c != without}
    chances = (f"{c.words} within {counted(round(c.years), 'year')}" for c in at_least_one(rate))
    return ", ".join(chances) + _rests(answer, row, each)


def _rests(answer: FleetAnswer, row: FleetRow, rates: dict[str, FoundRate]) -> str:
    words = answer.assumed_words(row, rates)
    return f" ({words})" if words else ""


def _causes(answer: FleetAnswer, causes: dict[str, FoundRate], most: FleetRow) -> Iterator[str]:
    """Of the set with the most KIPs."""
    if most.features != fleet_words.NO_KIPS:
        yield f"This and what follows is for {set_words(most.features)}."
    total = sum(map(_rate, causes.values()))
    for cause, found in sorted(causes.items(), key=lambda item: -_rate(item[1])):
        name = metric_words(cause)
        if isinstance(found, NeverHappens):
            yield f"{name}: cannot happen, because {found.because}."
        elif _rate(found):
            share = fleet_words.share_words(_rate(found) / total)
            a_year = fleet_words.number_words(_rate(found))
            rests = _rests(answer, most, {cause: found})
            yield f"{name}: {share} of the losses, {a_year} a year in the fleet{rests}."
        else:
            yield f"{name}: none seen."


def _changes(levers: list[LossLever]) -> Iterator[str]:
    for lever in levers[:_LEVERS]:
        ends = sorted(lever.losses.items(), reverse=True)
        said = (
            f"{_as_much(n)} makes {fleet_words.number_words(m)} times the losses"
            for n, m in ends
            if n != 1
        )
        yield f"{_named(lever.parameter)}: {', '.join(said)}."
    if not levers:
        yield "Nothing: no parameter that is halved or doubled changes it."


def _as_much(times: float) -> str:
    usual = {2.0: "twice as much", 0.5: "half as much"}
    return usual.get(times, f"{fleet_words.value_words(times)} times as much")


def _named(name: str) -> str:
    called = PARAMETERS[name].called
    return f"{called[0].upper()}{called[1:]} ({name})"


def _sure(answer: FleetAnswer, most: FleetRow, assumed: list[str]) -> Iterator[str]:
    rate = answer.incidents.of(most)
    if isinstance(rate, NeverHappens):
        yield "It is certain in the model; what the model leaves out is not in it."
        return
    *_, ten = at_least_one(rate)
    within = fleet_words.share_range_words(ten.low, ten.high)
    yield (
        f"The chance within 10 years is {within or ten.words} with 95 % confidence. That is the"
        " error of sampling alone: it does not hold what the assumptions leave open."
    )
    if assumed:
        called = listed([PARAMETERS[name].called for name in assumed])
        yield f"More than half of it rests on what nobody has published: {called}."


def _assumptions(p: Parameters, names: Iterable[str]) -> Iterator[str]:
    """The values that the loss depends on most."""
    for name in names:
        about, value = PARAMETERS[name], float(getattr(p, name))
        basis = about.basis if value == about.default else "set by the study"
        said = f"{fleet_words.value_words(value)} {about.unit}, {basis}: {about.does}"
        yield f"{_named(name)} = {said}"
    yield MOSTLY_ASSUMED
    yield "Every parameter with its source: `kiplab fleet parameters`."
    yield TEXTS["producers"]


def _rate(found: FoundRate | None) -> float:
    return (found.rate or 0.0) if found else 0.0
