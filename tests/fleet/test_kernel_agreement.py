"""The kernel does what the engine does: the same schedules, the same traces, line by line."""

from functools import partial
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from kiplab.fleet.agreement.compared_sets import COMPARED
from kiplab.fleet.agreement.outside_events import Outside, OutsideSchedule
from kiplab.fleet.agreement.random_outside import random_schedule
from kiplab.fleet.kernel.mirrored_guards import MIRRORED
from kiplab.protocol.guards import GUARDS, GuardKind
from kiplab.protocol.releases import Mode
from tests.fleet import traced_pairs
from tests.fleet.agreement import compare_command
from tests.fleet.agreement.compare_command import ComparisonProgress, compare_on, random_pairs
from tests.fleet.agreement.small_schedules import small_schedules
from tests.fleet.agreement.trace_comparison import parting, shrunk, to_json
from tests.fleet.agreement.trace_coverage import TRANSITIONS, covered

QUICK = (
    "tests/fleet/test_kernel_agreement.py"
    "::test_random_schedules_have_the_same_traces_in_engine_and_kernel"
)

PENDING_COUNTS = OutsideSchedule(
    end=150_000,
    events=(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, delays=(48_998,)),
        Outside(at=28_000, kind="beat", broker=2),
        Outside(at=28_000, kind="crash", broker=2, restart=34_000, level=30_000),
        Outside(at=63_000, kind="beat", broker=1),
        Outside(at=63_000, kind="crash", broker=1, restart=60_000),
    ),
)
"""Broker 2 dies long before it is let in: who counts it meanwhile commits nothing that it lacks."""
SHORT_OF_REPLICAS = OutsideSchedule(
    min_insync=2,
    end=60_000,
    events=(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=100_000),
        Outside(at=4_000, kind="flush", broker=1),
        Outside(at=12_000, kind="beat", broker=1),
        Outside(at=12_000, kind="crash", broker=1, fate="tail-lost", restart=1_000),
    ),
)
"""Broker 1 loses what it wrote alone; short of min.insync.replicas nothing of it is committed."""
ELECTED_WHILE_CUT_OFF = OutsideSchedule(
    replicas=3,
    unclean=True,
    leader=2,
    end=103_500,
    events=(
        Outside(at=8_500, kind="beat"),
        Outside(at=9_000, kind="crash", delays=(10,)),
        Outside(at=9_999, kind="beat", broker=2),
        Outside(at=9_999, kind="cut", broker=2, lasts=20_000, delays=(9_001,)),
        Outside(at=17_000, kind="beat"),
        Outside(at=17_501, kind="beat", broker=3),
        Outside(at=19_000, kind="cut", level=500, delays=(2_000,)),
        Outside(at=19_500, kind="crash", broker=3, delays=(2_000,)),
        Outside(at=34_500, kind="beat"),
        Outside(at=34_500, kind="crash", delays=(2,)),
    ),
)
"""Broker 2 is elected while nobody reaches it, and no leader any more when it hears of that."""
NEVER_HEARD = OutsideSchedule(
    end=81_002, events=(Outside(at=3_000, kind="crash", delays=(10_000,)),)
)
"""Without a heartbeat the session is over at the moment of a registration: it comes first."""
PARTED_ONCE = ((ELECTED_WHILE_CUT_OFF, "841+903+704"), (NEVER_HEARD, "704"))
"""What the long comparison found."""
ACCEPTED_WITHOUT_THE_LEADER = OutsideSchedule(
    leader=2,
    end=135_000,
    events=(
        Outside(at=57_000, kind="bounce", broker=2, restart=9_000, ready=20_000, shutdown=500),
        Outside(at=74_000, kind="outage", lasts=1_000),
        Outside(at=74_001, kind="beat"),
        Outside(at=74_001, kind="crash", ready=8_000, delays=(35_000,)),
    ),
)
"""Broker 1 asks for broker 2 and restarts; what it asked for comes when it is fenced."""
MADE = (
    (PENDING_COUNTS, "none"),
    (SHORT_OF_REPLICAS, "later"),
    (ACCEPTED_WITHOUT_THE_LEADER, "903"),
)
"""Schedules for guards and transitions that chance seldom tells."""
NOT_TOLD = {
    "497.sender-is-leader": "Another leader has another leader epoch, which is judged before.",
    "841.shutting-down": "Who leaves has led: the request is of an earlier leader epoch.",
}
"""Guards of which no schedule can tell, and why: test_kernel_rules.py tells them."""
REFUSE_NEVER = {
    "497.sender-is-leader": NOT_TOLD["497.sender-is-leader"],
    "841.shutting-down": NOT_TOLD["841.shutting-down"],
    "704.leader-refuses": "It refuses fetches and clients, which are no lines of a trace.",
}
"""Guards with an error that no line of a trace can name, and why."""


def kernel_traces() -> tuple[traced_pairs.Compared, ...]:
    """The pairs of the quick comparison, and what the kernel makes of them."""
    return traced_pairs.quick_traces(Mode.KRAFT)


@pytest.mark.parametrize("name", list(COMPARED))
def test_random_schedules_have_the_same_traces_in_engine_and_kernel(name: str) -> None:
    traced_pairs.check_the_engine(kernel_traces(), name)


@pytest.mark.long(quick=QUICK)
@pytest.mark.parametrize("name", list(COMPARED))
def test_thousands_of_random_schedules_have_the_same_traces(name: str) -> None:
    traced_pairs.check_the_engine(traced_pairs.all_traces(Mode.KRAFT), name)


@pytest.mark.long(quick=QUICK)
def test_hardly_a_schedule_is_left_out() -> None:
    assert len(traced_pairs.all_traces(Mode.KRAFT)) > traced_pairs.PAIRS[Mode.KRAFT] * 0.999


def test_every_small_schedule_agrees_under_every_feature_set() -> None:
    traced_pairs.check_small_schedules(Mode.KRAFT)


def test_every_small_schedule_comes_once_and_in_order() -> None:
    found = list(small_schedules(3))
    assert len(set(found)) == len(found)
    sizes = [len(schedule.events) for schedule in found]
    assert sizes == sorted(sizes)
    assert sizes[-1] == 3


# What the comparison meets


def test_the_schedules_meet_every_kind_of_transition_and_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = traced_pairs.traced(iter(MADE))
    met = covered((schedule, trace) for schedule, _, trace in (*kernel_traces(), *made))
    with capsys.disabled():
        print(f"\n{met.sentence}")
    traced_pairs.check_transitions(met, TRANSITIONS)


def test_every_guard_that_can_refuse_a_line_refuses_one() -> None:
    met = covered((schedule, trace) for schedule, _, trace in kernel_traces())
    can = {guard for guard in MIRRORED if GUARDS[guard].kind is GuardKind.REFUSAL} - set(
        REFUSE_NEVER
    )
    never = can - set(met.guards)
    assert not never, f"draw schedules in random_outside.py in which these refuse: {never}"


# Without a guard


@pytest.mark.parametrize("guard", [guard for guard in MIRRORED if guard not in NOT_TOLD])
def test_a_kernel_that_forgets_a_guard_is_found_out(guard: str) -> None:
    pairs = [*kernel_traces(), *traced_pairs.traced(iter(MADE))]
    told = any(traced_pairs.is_told(guard, pair) for pair in reversed(pairs))
    assert told, f"no schedule comes out otherwise without {guard}: add one to MADE"


def test_the_made_schedules_agree() -> None:
    for schedule, name in MADE + PARTED_ONCE:
        assert parting(schedule, name, traced_pairs.plainly) is None


@pytest.mark.parametrize("guard", list(NOT_TOLD))
def test_a_guard_that_no_schedule_tells_is_told_by_none(guard: str) -> None:
    told = next((pair for pair in kernel_traces() if traced_pairs.is_told(guard, pair)), None)
    assert told is None, f"it is told by {told}: take {guard} out of NOT_TOLD"


# What is told of a difference, and how one goes on


def test_a_schedule_is_the_same_after_a_round_through_json() -> None:
    for number in range(50):
        schedule = random_schedule(traced_pairs.SEED[Mode.KRAFT], number)
        assert msgspec.json.decode(to_json(schedule), type=OutsideSchedule) == schedule


def test_a_difference_is_made_short_and_told_with_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forgets = partial(traced_pairs.plainly, without=1 << MIRRORED.index("631.one-live-incarnation"))
    pairs = islice(random_pairs(traced_pairs.SEED[Mode.KRAFT]), 50)
    found = next(f for schedule, name in pairs if (f := parting(schedule, name, forgets)))
    short = shrunk(found, forgets)
    assert len(short.schedule.events) <= 2
    traced_pairs.check_repeated(short, forgets, [], capsys, monkeypatch)


def test_a_long_comparison_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compare_command, "kernel_trace", traced_pairs.plainly)
    whole = ComparisonProgress(seed=traced_pairs.SEED[Mode.KRAFT])
    assert compare_on(whole, 12) is None
    halves = ComparisonProgress(seed=traced_pairs.SEED[Mode.KRAFT])
    assert compare_on(halves, 5) is None
    assert compare_on(halves, 12) is None
    assert halves == whole
    file = tmp_path / "agreement.json"
    for count in (5, 12):
        assert compare_command.main(["--count", str(count), "--file", str(file)]) == 0
    for others in (["--small", "1"], ["--races"], ["--mode", "zookeeper", "--races"]):
        assert compare_command.main([*others, "--count", "9", "--file", str(file)]) == 0
        assert msgspec.json.decode(file.read_bytes(), type=ComparisonProgress).next == 9


def test_what_is_no_schedule_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare_command.main(["--schedule", "{}"]) == 2
    assert capsys.readouterr().err.count("\n") == 1
