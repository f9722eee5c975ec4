"""The kernel does what the engine does: the same schedules, the same traces, line by line."""

from functools import partial
from itertools import product
from pathlib import Path

import msgspec
import pytest

from kiplab.fleet.agreement.outside_events import KINDS, OutsideSchedule
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, mirrored_in
from kiplab.protocol.guards import GUARDS, GuardKind
from kiplab.protocol.releases import Mode
from tests.fleet import traced_pairs
from tests.fleet.agreement import compare_command
from tests.fleet.agreement.compare_command import ComparisonProgress, compare_on
from tests.fleet.agreement.compared_sets import COMPARED_IN
from tests.fleet.agreement.made_schedules import REFUSE_NEVER, UNDETECTED
from tests.fleet.agreement.random_outside import random_schedule
from tests.fleet.agreement.small_schedules import small_schedules
from tests.fleet.agreement.trace_comparison import parting, shrunk, to_json
from tests.fleet.agreement.trace_coverage import TRANSITIONS, covered
from tests.repeated import in_long

QUICK = (
    "tests/fleet/test_kernel_agreement.py"
    "::test_random_schedules_have_the_same_traces_in_engine_and_kernel"
)
SETS = [(mode, name) for mode, sets in COMPARED_IN.items() for name in sets]
DETECTED_GUARDS = [(m, g) for m in Mode for g in mirrored_in(m) if g not in UNDETECTED[m]]
UNDETECTED_GUARDS = [(mode, guard) for mode, guards in UNDETECTED.items() for guard in guards]


@pytest.mark.parametrize(("mode", "name"), SETS)
def test_random_schedules_have_the_same_traces_in_engine_and_kernel(mode: Mode, name: str) -> None:
    traced_pairs.check_the_engine(traced_pairs.quick_traces(mode), mode, name)


@pytest.mark.long(quick=QUICK)
@pytest.mark.parametrize(("mode", "name"), SETS)
def test_thousands_of_random_schedules_have_the_same_traces(mode: Mode, name: str) -> None:
    traced_pairs.check_the_engine(traced_pairs.all_traces(mode), mode, name)


@pytest.mark.long(quick=QUICK)
@pytest.mark.parametrize(("mode", "share"), [(Mode.KRAFT, 0.999), (Mode.ZOOKEEPER, 1)])
def test_hardly_a_schedule_is_left_out(mode: Mode, share: float) -> None:
    assert len(traced_pairs.all_traces(mode)) >= traced_pairs.PAIRS[mode] * share


@pytest.mark.parametrize(
    ("mode", "part"),
    [
        *product(Mode, (0,)),
        *in_long(product(Mode, range(1, traced_pairs.PARTS)), rows=True),
    ],
)
def test_every_small_schedule_agrees_under_every_feature_set(mode: Mode, part: int) -> None:
    traced_pairs.check_small_schedules(mode, part)


def test_every_small_schedule_comes_once_and_in_order() -> None:
    found = list(small_schedules(3))
    assert len(set(found)) == len(found)
    sizes = [len(schedule.events) for schedule in found]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3


# What the comparison meets


@pytest.mark.parametrize("mode", Mode)
def test_the_schedules_meet_every_kind_of_event_and_of_transition_and_no_other(
    mode: Mode, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = traced_pairs.quick_traces(mode)
    assert {event.kind for schedule, _, _ in pairs for event in schedule.events} == set(KINDS)
    met = covered((schedule, trace) for schedule, _, trace in pairs)
    with capsys.disabled():
        print(f"\n{mode}: {met.sentence}")
    never, new = TRANSITIONS[mode] - set(met.transitions), set(met.transitions) - TRANSITIONS[mode]
    assert not never, f"add schedules to MADE, or draw some, that come to {sorted(never)}"
    assert not new, f"say in trace_coverage.py that there is {sorted(new)}"
    assert {"lost", "stale join"} == set(met.lines)


def test_every_guard_that_can_refuse_a_line_refuses_one() -> None:
    pairs = traced_pairs.quick_traces(Mode.KRAFT)
    met = covered((schedule, trace) for schedule, _, trace in pairs)
    can = {guard for guard in MIRRORED if GUARDS[guard].kind is GuardKind.REFUSAL}
    never = can - set(REFUSE_NEVER[Mode.KRAFT]) - set(met.guards)
    assert not never, f"draw schedules in random_outside.py in which these refuse: {never}"


# Without a guard


@pytest.mark.parametrize(("mode", "guard"), DETECTED_GUARDS)
def test_a_kernel_that_forgets_a_guard_is_found_out(mode: Mode, guard: str) -> None:
    pairs = reversed(traced_pairs.quick_traces(mode))
    told = any(traced_pairs.is_told(guard, pair, mode) for pair in pairs)
    assert told, f"no schedule comes out otherwise without {guard}: add one to MADE"


@pytest.mark.parametrize(("mode", "guard"), UNDETECTED_GUARDS)
def test_a_guard_that_no_schedule_tells_is_told_by_none(mode: Mode, guard: str) -> None:
    pairs = traced_pairs.quick_traces(mode)
    told = next((pair for pair in pairs if traced_pairs.is_told(guard, pair, mode)), None)
    assert told is None, f"it is told by {told}: take {guard} out of UNDETECTED"


# What is told of a difference, and how one goes on


def test_a_schedule_is_the_same_after_a_round_through_json() -> None:
    for number in range(50):
        schedule = random_schedule(traced_pairs.SEED[Mode.KRAFT], number)
        assert msgspec.json.decode(to_json(schedule), type=OutsideSchedule) == schedule


@pytest.mark.parametrize(
    ("mode", "guard"),
    [(Mode.KRAFT, "631.one-live-incarnation"), (Mode.ZOOKEEPER, "497.request-broker-epoch")],
)
def test_a_difference_is_made_short_and_told_with_the_command_that_repeats_it(
    mode: Mode, guard: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forgets = partial(traced_pairs.plainly, without=1 << MIRRORED.index(guard))
    pairs = traced_pairs.quick_traces(mode)
    found = next(f for schedule, name, _ in pairs if (f := parting(schedule, name, forgets, mode)))
    short = shrunk(found, forgets)
    assert len(short.schedule.events) <= (2 if mode is Mode.KRAFT else len(found.schedule.events))
    assert short.sentence.startswith(f"under {short.name} line ")
    assert short.again in short.sentence
    assert f"--mode {mode}" in short.again
    monkeypatch.setattr(compare_command, "kernel_trace", forgets)
    asked = ["--mode", mode.value, "--set", short.name, "--schedule", to_json(short.schedule)]
    assert compare_command.main(asked) == 1
    assert short.again in capsys.readouterr().err


@pytest.mark.parametrize("mode", Mode)
def test_a_long_comparison_goes_on_where_it_stopped(
    mode: Mode, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compare_command, "kernel_trace", traced_pairs.plainly)
    whole, halves = (ComparisonProgress(seed=traced_pairs.SEED[mode], mode=mode) for _ in range(2))
    assert compare_on(whole, 12) is None
    assert compare_on(halves, 5) is None
    assert compare_on(halves, 12) is None
    assert halves == whole
    assert mode.value in whole.sentence
    file = tmp_path / "agreement.json"
    of_mode = ["--mode", mode.value, "--file", str(file)]
    for count in (5, 12):
        assert compare_command.main([*of_mode, "--count", str(count)]) == 0
    for others in (["--small", "1"], ["--races"]):
        assert compare_command.main([*of_mode, *others, "--count", "9"]) == 0
        assert msgspec.json.decode(file.read_bytes(), type=ComparisonProgress).next == 9


def test_what_is_no_schedule_or_no_set_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert compare_command.main(["--schedule", "{}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert compare_command.main(["--mode", "zookeeper", "--set", "841"]) == 2
    assert "--set 841: with --mode zookeeper the sets are none, 380" in capsys.readouterr().err
