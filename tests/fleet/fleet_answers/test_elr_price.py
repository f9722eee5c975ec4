"""What eligible leader replicas save and what they cost: both numbers, of both sets."""

from functools import cache

import pytest
from msgspec.structs import replace

from kiplab.figures.how_often.fleet_words import set_words
from kiplab.fleet import FleetAnswer, estimate, read_study
from kiplab.fleet.agreement.kernel_run import kernel_run
from kiplab.fleet.fleet_answers.first_screen import first_screen
from kiplab.fleet.fleet_answers.yearly_incidents import LEFT_OUT, ElrSide, elr_prices
from kiplab.fleet.kernel.mirrored_guards import OF_TODAY, TODAY
from tests.fleet.agreement.random_outside import random_schedule
from tests.fleet.agreement.trace_comparison import COMPARED
from tests.protocol.building import present


@cache
def answer() -> FleetAnswer:
    return estimate("elr")


def sides(least: int) -> dict[str, ElrSide]:
    (price,) = (p for p in elr_prices(answer()) if p.min_insync_replicas == least)
    return {side.features: side for side in price.sides}


@pytest.mark.parametrize("least", [1, 2, 3])
def test_a_loss_of_the_last_replica_is_marked_with_them_and_unmarked_without(least: int) -> None:
    without, having = (sides(least)[name] for name in ("no-elr", "elr"))
    assert without.unmarked.rate
    assert without.marked.because
    assert having.unmarked.because
    assert having.marked.rate
    # Who waits for planned restarts saves only where one of the replicas that stop is eligible.
    saves = least == 3
    assert (present(having.marked.high) < present(without.unmarked.low)) is saves
    assert (having.marked == without.unmarked) is not saves


@pytest.mark.parametrize(("least", "longer"), [(1, False), (2, True), (3, False)])
def test_who_is_waited_for_makes_an_outage_longer_and_who_is_whole_shorter(
    least: int, longer: bool
) -> None:
    without, having = (sides(least)[name].outage_hours for name in ("no-elr", "elr"))
    assert without
    assert having
    assert (present(having.low) > present(without.high)) is longer
    assert (present(having.high) < present(without.low)) is (least == 3)


def test_both_numbers_are_said_with_their_intervals_and_what_they_leave_out() -> None:
    price = elr_prices(answer())[1]
    said = [*price.sentences]
    for name, side in zip(OF_TODAY, price.sides, strict=True):
        assert TODAY in set_words(name)
        losses, hours = side.sentences
        assert {losses, hours} <= {*said}
        assert "cannot happen" in losses
        assert " to " in losses
        assert f"{present(side.outage_hours).rate:.1e}"[:3] in hours
    asked = [part for part in first_screen(answer()) if "eligible" in part.question]
    assert [part.sentences[-len(LEFT_OUT) :] for part in asked] == [LEFT_OUT]
    (told, *_) = answer().report()["eligible_leader_replicas"]
    assert told["elr"]["unmarked"]["because"]
    assert told["no-elr"]["hours"]["high"]


def test_where_nothing_is_forced_hours_are_those_that_were_counted() -> None:
    study = read_study("elr")
    cut = estimate(study, network_cuts_per_year=12.0, min_insync_replicas=2)
    (price,) = elr_prices(cut)
    assert [side.outage_hours for side in price.sides] == [None, None]
    assert all(side.hours.high for side in price.sides)
    alone = replace(answer(), study=replace(study, feature_sets=("elr",)))
    assert not elr_prices(alone)


def test_with_them_every_loss_is_marked() -> None:
    lost = []
    for number in range(200):
        schedule = random_schedule(11, number)
        events = tuple(replace(event, shock=event.kind == "crash") for event in schedule.events)
        shocks = replace(schedule, events=events)
        recovering = False
        for line in kernel_run(shocks, COMPARED["elr"], compiled=False).trace:
            recovering = recovering if line.partition is None else line.partition.recovering
            if line.what == "lost":
                lost.append((recovering, line.cause))
    assert {*lost} == {(True, "shock_loss"), (True, "unclean_loss")}
