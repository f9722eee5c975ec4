"""The kernel does what the engine does: the same schedules, the same traces, line by line."""

from functools import partial
from pathlib import Path

import msgspec
import pytest

from kiplab.fleet.agreement.kernel_run import KINDS, OutsideSchedule
from kiplab.fleet.kernel.mirrored_guards import MIRRORED
from kiplab.protocol.guards import GUARDS, GuardKind
from tests.fleet import traced_pairs
from tests.fleet.agreement import compare_command
from tests.fleet.agreement.compare_command import ComparisonProgress, compare_on
from tests.fleet.agreement.made_schedules import REFUSE_NEVER, UNDETECTED
from tests.fleet.agreement.random_outside import random_schedule
from tests.fleet.agreement.small_schedules import small_schedules
from tests.fleet.agreement.trace_comparison import COMPARED, parting, shrunk, to_json
from tests.fleet.agreement.trace_coverage import TRANSITIONS, covered
from tests.repeated import in_long

QUICK = (
    "tests/fleet/test_kernel_agreement.py"
    "::test_random_schedules_have_the_same_traces_in_engine_and_kernel"
)


@pytest.mark.parametrize("name", COMPARED)
def test_random_schedules_have_the_same_traces_in_engine_and_kernel(name: str) -> None:
    traced_pairs.check_the_engine(traced_pairs.quick_traces(), name)


@pytest.mark.long(quick=QUICK)
@pytest.mark.parametrize("name", COMPARED)
def test_thousands_of_random_schedules_have_the_same_traces(name: str) -> None:
    traced_pairs.check_the_engine(traced_pairs.all_traces(), name)


@pytest.mark.long(quick=QUICK)
def test_hardly_a_schedule_is_left_out() -> None:
    assert len(traced_pairs.all_traces()) >= traced_pairs.LONG * 0.997


@pytest.mark.parametrize("part", [0, *in_long(range(1, traced_pairs.PARTS))])
def test_every_small_schedule_agrees_under_every_feature_set(part: int) -> None:
    traced_pairs.check_small_schedules(part)


def test_every_small_schedule_comes_once_and_in_order() -> None:
    found = list(small_schedules(3))
    assert len(set(found)) == len(found)
    sizes = [len(schedule.events) for schedule in found]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3


# What the comparison meets


def test_the_schedules_meet_every_kind_of_event_and_of_transition_and_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs = traced_pairs.quick_traces()
    assert {event.kind for schedule, _, _ in pairs for event in schedule.events} == set(KINDS)
    met = covered((schedule, trace) for schedule, _, trace in pairs)
    with capsys.disabled():
        print(f"\n{met.sentence}")
    never, new = TRANSITIONS - set(met.transitions), set(met.transitions) - TRANSITIONS
    assert not never, f"add schedules to MADE, or draw some, that come to {sorted(never)}"
    assert not new, f"say in trace_coverage.py that there is {sorted(new)}"
    assert {"lost", "stale join"} == set(met.lines)


def test_every_guard_that_can_refuse_a_line_refuses_one() -> None:
    pairs = traced_pairs.quick_traces()
    met = covered((schedule, trace) for schedule, _, trace in pairs)
    can = {guard for guard in MIRRORED if GUARDS[guard].kind is GuardKind.REFUSAL}
    never = can - set(REFUSE_NEVER) - set(met.guards)
    assert not never, f"draw schedules in random_outside.py in which these refuse: {never}"


# Without a guard


@pytest.mark.parametrize("guard", [guard for guard in MIRRORED if guard not in UNDETECTED])
def test_a_kernel_that_forgets_a_guard_is_found_out(guard: str) -> None:
    told = any(traced_pairs.is_told(guard, pair) for pair in reversed(traced_pairs.quick_traces()))
    assert told, f"no schedule comes out otherwise without {guard}: add one to MADE"


@pytest.mark.parametrize("guard", UNDETECTED)
def test_a_guard_that_no_schedule_tells_is_told_by_none(guard: str) -> None:
    pairs = traced_pairs.quick_traces()
    told = next((pair for pair in pairs if traced_pairs.is_told(guard, pair)), None)
    assert told is None, f"it is told by {told}: take {guard} out of UNDETECTED"


# What is told of a difference, and how one goes on


def test_a_schedule_is_the_same_after_a_round_through_json() -> None:
    for number in range(50):
        schedule = random_schedule(traced_pairs.SEED, number)
        assert msgspec.json.decode(to_json(schedule), type=OutsideSchedule) == schedule


def test_a_difference_is_made_short_and_told_with_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bit = 1 << MIRRORED.index("631.one-live-incarnation")
    forgets = partial(traced_pairs.plainly, without=bit)
    pairs = traced_pairs.quick_traces()
    found = next(f for schedule, name, _ in pairs if (f := parting(schedule, name, forgets)))
    short = shrunk(found, forgets)
    assert len(short.schedule.events) <= 2
    assert short.sentence.startswith(f"under {short.name} line ")
    assert short.again in short.sentence
    monkeypatch.setattr(compare_command, "kernel_trace", forgets)
    asked = ["--set", short.name, "--schedule", to_json(short.schedule)]
    assert compare_command.main(asked) == 1
    assert short.again in capsys.readouterr().err


def test_a_long_comparison_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compare_command, "kernel_trace", traced_pairs.plainly)
    whole, halves = (ComparisonProgress(seed=traced_pairs.SEED) for _ in range(2))
    assert compare_on(whole, 12) is None
    assert compare_on(halves, 5) is None
    assert compare_on(halves, 12) is None
    assert halves == whole
    file = tmp_path / "agreement.json"
    for count in (5, 12):
        assert compare_command.main(["--file", str(file), "--count", str(count)]) == 0
    for others in (["--small", "1"], ["--races"]):
        assert compare_command.main(["--file", str(file), *others, "--count", "9"]) == 0
        assert msgspec.json.decode(file.read_bytes(), type=ComparisonProgress).next == 9


def test_what_is_no_schedule_or_no_set_is_told_in_a_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert compare_command.main(["--schedule", "{}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert compare_command.main(["--set", "842"]) == 2
    assert "--set 842: the sets are none, 841" in capsys.readouterr().err
