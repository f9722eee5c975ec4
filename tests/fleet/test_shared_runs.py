"""Feature sets that share a run get what each would have got by itself."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict, replace

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.step import Step, step
from kiplab.engine.truth import registration_of
from kiplab.fleet.race_schedules import shared_run, varied_numbers
from kiplab.fleet.race_schedules.asked_features import AskedFeatures, AskedGuards
from kiplab.fleet.race_schedules.asked_sets import AskedSets
from kiplab.fleet.race_schedules.merged_clusters import merged
from kiplab.fleet.race_schedules.random_schedule import Window, header, schedule
from kiplab.fleet.race_schedules.shared_outcomes import outcomes
from kiplab.fleet.race_schedules.study import usual
from kiplab.plays.play import Play
from kiplab.plays.runner import open_stage
from kiplab.protocol import ids
from kiplab.protocol.features import Features, parse_features
from tests.fleet.by_the_runner import outcome

USUAL = tuple(usual().values())
RECORDED = Path(__file__).with_name("race_outcomes.json")
"""Schedules 0 to 59 of seed 0 under the usual sets, by the code before runs were shared."""
OTHERS = (
    parse_features("3.2"),
    parse_features("3.4"),
    parse_features("3.5"),
    parse_features("3.5/3.4-IV0"),
    parse_features("3.7"),
    parse_features("3.7", off=("903.leader-epoch",)),
    parse_features("3.7", off=("841.leader-skips-fenced",)),
    parse_features("3.7", off=("903.fetch-epoch",), on=("704",)),
    parse_features("3.9", off=("497",)),
    parse_features("3.9", on=("966",)),
    parse_features("4.0", off=("841",)),
    parse_features("4.0"),
)


def test_the_outcomes_are_those_recorded_before_runs_were_shared() -> None:
    recorded = json.loads(RECORDED.read_text())
    for index, rows in enumerate(recorded):
        found = [
            list(asdict(one).values()) for one in outcomes(schedule(Window(), 0, index), USUAL)
        ]
        assert found == rows, f"schedule 0/{index}"


@pytest.mark.parametrize("index", range(20))
def test_every_set_gets_what_the_runner_of_plays_says(index: int) -> None:
    play = schedule(Window(), 5, index)
    assert outcomes(play, USUAL) == [outcome(play, features) for features in USUAL]


@pytest.mark.parametrize("index", range(6))
def test_so_do_sets_of_many_releases_with_single_guards_off_and_on(index: int) -> None:
    play = schedule(Window(crash_within=0.5), 9, index)
    assert outcomes(play, OTHERS) == [outcome(play, features) for features in OTHERS]


def test_the_order_of_the_sets_changes_nothing() -> None:
    play = schedule(Window(), 0, 4)
    assert outcomes(play, USUAL[::-1]) == outcomes(play, USUAL)[::-1]


def test_what_schedules_begin_with_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[Cluster] = []

    def counted(cluster: Cluster, move: moves.Move, *, checked: bool) -> Step:
        done.append(cluster)
        return step(cluster, move, checked=checked)

    monkeypatch.setattr(shared_run, "step", counted)
    window = Window(records=101)
    play = schedule(window, 2, 0)
    first = outcomes(play, USUAL)
    at_first = len(done)
    assert outcomes(play, USUAL) == first
    assert 0 < len(done) - at_first < at_first


def test_another_window_begins_otherwise() -> None:
    """Its header is another one, and nothing that is known of the first counts for it."""
    outcomes(schedule(Window(), 2, 0), USUAL)
    play = schedule(Window(records=50, flushed=0), 2, 0)
    assert outcomes(play, USUAL) == [outcome(play, features) for features in USUAL]


def asked(*sets: Features) -> AskedFeatures:
    return AskedSets(sets).group(tuple(range(len(sets))))


def test_guards_are_asked_for_one_by_one_and_nothing_else() -> None:
    """Whatever looked through all of them would make one set's answer count for another."""
    guards: Any = asked(*USUAL).active(ids.CONTROLLER)
    kind: type = type(guards)
    assert kind is AskedGuards
    with pytest.raises(TypeError):
        iter(guards)
    with pytest.raises(TypeError):
        len(guards)


@pytest.mark.parametrize(
    ("question", "noted"),
    [
        (lambda f: "841.fenced" in f.active(ids.CONTROLLER), True),
        (lambda f: {"841.fenced"} <= f.active(ids.CONTROLLER), True),
        (lambda f: bool(f.active(ids.CONTROLLER) & frozenset({"841.fenced"})), True),
        (lambda f: "497.request-broker-epoch" in f.active(ids.CONTROLLER), False),
        (lambda f: f.alter_partition_version(ids.CONTROLLER), False),
        (lambda f: f.metadata_version, False),
    ],
)
def test_a_question_is_noted_where_the_answers_differ(question: object, noted: bool) -> None:
    sets = (parse_features("3.5"), parse_features("3.5", off=("841.fenced",)))
    features = asked(*sets)
    assert callable(question)
    assert question(features) == question(sets[0])
    assert bool(features.asking.parted) is noted


def test_a_version_is_sent_without_parting_the_sets_and_read_with() -> None:
    sets = (parse_features("3.5"), parse_features("3.5", off=("903",)))
    features = asked(*sets)
    version: Any = features.fetch_version()
    assert not features.asking.parted
    assert [varied_numbers.number_of(version, member) for member in (0, 1)] == [15, 14]
    assert version >= 15
    assert features.asking.parted == [(True, False)]


# --- numbers that differ ------------------------------------------------------------------------


def varied(*values: int) -> Any:
    asking = varied_numbers.Asking()
    asking.members = tuple(range(len(values)))
    return varied_numbers.VariedNumber(asking, dict(enumerate(values)))


@pytest.mark.parametrize("name", varied_numbers.QUESTIONS)
def test_whatever_an_int_is_asked_is_noted_where_the_answers_differ(name: str) -> None:
    """Read off `int`: another release of Python may know of more."""
    number = varied(41, 7)
    others = _arguments_of(name)
    answers = tuple(getattr(int, name)(value, *others) for value in (41, 7))
    assert getattr(number, name)(*others) == answers[0]
    assert number.asking.parted == ([answers] if answers[0] != answers[1] else [])


def _arguments_of(name: str) -> tuple[Any, ...]:
    """As many whole numbers as the question takes; a text to be formatted with."""
    if name == "__format__":
        return ("d",)
    for others in ((), (3,)):
        with contextlib.suppress(TypeError):
            getattr(int, name)(41, *others)
            return others
    raise AssertionError(f"int.{name} takes something else")


def test_only_those_are_asked_that_still_go_together() -> None:
    number: Any = varied(41, 7, 41)
    number.asking.members = (0, 2)
    assert number == 41
    assert not number.asking.parted


def test_a_number_that_differs_is_not_hashed() -> None:
    """A struct keeps its hash, which would answer for another set later."""
    with pytest.raises(TypeError):
        hash(varied(41, 7))


def test_it_says_as_much_beside_another_one_that_differs() -> None:
    asking = varied_numbers.Asking()
    asking.members = (0, 1)
    one, other = (
        varied_numbers.VariedNumber(asking, {0: 1, 1: 2}),
        varied_numbers.VariedNumber(asking, {0: 1, 1: 3}),
    )
    assert one == other
    assert asking.parted == [(True, False)]


@pytest.mark.parametrize("epochs", [(40, 40), (40, 41), (-1, 40), (42, 40)])
@pytest.mark.parametrize("versions", [(14, 14), (14, 15), (15, 15)])
def test_a_request_tells_each_set_the_epoch_that_its_version_has(
    versions: tuple[int, int], epochs: tuple[int, int]
) -> None:
    version, epoch = varied(*versions), varied(*epochs)
    told = ids.epoch_in_version(version, 15, epoch)
    assert [varied_numbers.number_of(told, m) for m in range(2)] == [
        ids.epoch_in_version(v, 15, ids.BrokerEpoch(e))
        for v, e in zip(versions, epochs, strict=True)
    ]
    assert version.asking.parted == []


@pytest.mark.parametrize("epochs", [(40, -1), (40, 40), (-1, 41), (41, 42), (-1, -1)])
def test_sets_part_by_whether_an_epoch_is_another_life_s_and_not_by_which(
    epochs: tuple[int, int],
) -> None:
    epoch, registered = varied(*epochs), ids.BrokerEpoch(40)
    expected = tuple(ids.is_of_another_incarnation(ids.BrokerEpoch(e), registered) for e in epochs)
    assert ids.is_of_another_incarnation(epoch, registered) == expected[0]
    assert epoch.asking.parted == ([expected] if len(set(expected)) > 1 else [])


def test_clusters_are_one_where_only_epochs_of_brokers_differ() -> None:
    one = open_stage(Play(header(Window())), USUAL[0]).cluster
    named = registration_of(one, ids.BrokerId(2))
    assert named is not None

    def told(epoch: int, **more: Any) -> Cluster:
        state: Any = one.controller
        others = [r for r in state.registrations if r is not named]
        changed = replace(named, epoch=ids.BrokerEpoch(epoch), **more)
        return replace(one, controller=replace(state, registrations=(*others, changed)))

    asking = varied_numbers.Asking()
    both = merged(asking, told(41), (0, 2), told(50), (1,))
    assert both is not None
    found = registration_of(both, ids.BrokerId(2))
    assert found is not None
    assert [varied_numbers.number_of(found.epoch, member) for member in range(3)] == [41, 50, 41]
    assert merged(asking, told(41), (0,), told(50, fenced=True), (1,)) is None
