"""With ZooKeeper, too, the kernel does what the engine does, line by line."""

from functools import lru_cache, partial

import pytest

from kiplab.fleet.agreement.compared_sets import COMPARED_WITH_ZOOKEEPER
from kiplab.fleet.agreement.driven_zookeeper import HOST
from kiplab.fleet.agreement.outside_events import KINDS, Outside, OutsideSchedule
from kiplab.fleet.agreement.zookeeper_run import ZooKeeperRun, zookeeper_trace
from kiplab.fleet.kernel.mirrored_guards import (
    ALWAYS_IN_THE_KERNEL,
    MIRRORED,
    mirrored_in,
    without_effect_in,
)
from kiplab.protocol.features import switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.releases import RELEASES, Mode
from kiplab.protocol.zookeeper_facts import ControllerElected
from tests.fleet import traced_pairs
from tests.fleet.agreement import compare_command
from tests.fleet.agreement.hosted_outside import is_whole
from tests.fleet.agreement.trace_comparison import parting, shrunk, to_json
from tests.fleet.agreement.trace_coverage import TRANSITIONS_WITH_ZOOKEEPER, covered
from tests.fleet.test_kernel_agreement import PENDING_COUNTS

QUICK = (
    "tests/fleet/test_zookeeper_agreement.py"
    "::test_random_schedules_have_the_same_traces_with_zookeeper"
)
WITHOUT = 100
"""With so many the engine goes without what is said to be without effect."""

BOTH_SHUT_DOWN = OutsideSchedule(
    min_insync=2,
    unclean=True,
    end=101_003,
    events=(
        Outside(at=32_002, kind="bounce", delays=(500,)),
        Outside(at=32_002, kind="bounce", broker=2, delays=(9_000,)),
    ),
)
"""Broker 2 is to lead as broker 1 goes, and goes itself in the same moment."""
RECOVERS_WHILE_CUT_OFF = OutsideSchedule(
    unclean=True,
    leader=2,
    end=126_001,
    events=(
        Outside(at=9_000, kind="bounce", broker=2, restart=31_000, delays=(35_000,)),
        Outside(at=49_000, kind="bounce", ready=7_001, delays=(2,)),
        Outside(at=64_001, kind="beat", broker=2),
        Outside(at=64_001, kind="cut", broker=2, lasts=20_000, delays=(14_000,)),
    ),
)
"""Broker 2 recovers as it is cut off: while it answers nobody, broker 1 does not follow it."""
LOST_WHILE_RECOVERING = OutsideSchedule(
    unclean=True,
    end=134_004,
    events=(
        Outside(at=9_002, kind="bounce", restart=9_000, delays=(10,)),
        Outside(at=9_002, kind="bounce", broker=2, ready=31_000, delays=(10,)),
        Outside(at=18_004, kind="beat"),
        Outside(at=18_004, kind="crash", recover=20_000),
        Outside(at=25_003, kind="beat"),
        Outside(at=27_003, kind="crash", delays=(5_000,)),
        Outside(at=34_004, kind="outage", delays=(1_000,)),
    ),
)
"""A new controller writes down a leader that died as it recovered, and is alone in the ISR."""
UNCLEAN_TWICE = OutsideSchedule(
    min_insync=2,
    unclean=True,
    leader=2,
    end=61_505,
    events=(
        Outside(at=1, kind="beat"),
        Outside(at=500, kind="bounce", restart=500, level=9_000),
        Outside(at=503, kind="beat", broker=2),
        Outside(at=1_003, kind="crash", broker=2, delays=(1_000,)),
        Outside(at=1_005, kind="crash"),
    ),
)
"""Broker 1 is elected with nothing, dies, and broker 2 comes before it: unclean once more."""
MISSED_NEWS = OutsideSchedule(
    replicas=3,
    end=200_000,
    events=(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=100_000),
        Outside(at=5_000, kind="beat"),
        Outside(at=5_000, kind="cut", lasts=8_000, level=500, lag_phase=7_000),
        Outside(at=11_000, kind="outage", lasts=40_000),
        Outside(at=14_000, kind="beat", broker=3),
        Outside(at=14_000, kind="crash", broker=3, restart=20_000, level=1_000),
        Outside(at=70_000, kind="beat"),
        Outside(at=70_000, kind="crash", fate="replaced", restart=60_000),
    ),
)
"""Broker 1 is reached again when there is no controller, and does not know that broker 2 is out."""
LAST_WORDS = OutsideSchedule(
    replicas=3,
    min_insync=2,
    leader=3,
    end=129_000,
    events=(
        Outside(at=30_000, kind="beat"),
        Outside(at=31_000, kind="crash"),
        Outside(at=36_999, kind="beat", broker=3),
        Outside(at=37_001, kind="crash", broker=3, fate="tail-lost"),
        Outside(at=39_000, kind="beat", broker=2),
        Outside(at=39_001, kind="crash", broker=2, restart=7_001, ready=9_000),
        Outside(at=44_001, kind="outage", lasts=8_000),
    ),
)
"""As the controller is lost it is telling broker 3, which is down, who leads. Broker 3 is back
before the next controller, and hears from that one, not from the one before it."""
DEAD_MEMBER = OutsideSchedule(
    replicas=3,
    end=118_000,
    events=(
        Outside(at=9_002, kind="beat", broker=3),
        Outside(at=9_002, kind="crash", broker=3, delays=(14_000,)),
        Outside(at=29_002, kind="bounce", broker=3, restart=9_001),
        Outside(at=38_003, kind="bounce", delays=(35_000,)),
    ),
)
"""Broker 3 is let in when it is gone already. Broker 1 shuts down, and hands broker 3 on, too: what
chooses among those who stay does not look who of them is live."""
MADE = (
    (PENDING_COUNTS, "none"),
    (BOTH_SHUT_DOWN, "380"),
    (RECOVERS_WHILE_CUT_OFF, "380+704"),
    (LOST_WHILE_RECOVERING, "380+704"),
    (UNCLEAN_TWICE, "none"),
    (MISSED_NEWS, "none"),
    (LAST_WORDS, "none"),
    (DEAD_MEMBER, "380"),
)
"""Schedules for guards and transitions that chance seldom tells."""
NOT_TOLD = {
    "497.partition-epoch": (
        "A controller writes nothing under the leader epoch that it finds, and a leader has one"
        " request under way: an earlier partition epoch is one of an earlier leader epoch."
    ),
}
"""Guards of which no schedule can tell, and why: test_kernel_rules.py tells them."""
REFUSE_NEVER = {
    **NOT_TOLD,
    "631.one-live-incarnation": "NODEEXISTS comes of a registration, and is no line of a trace.",
    "704.leader-refuses": "It refuses fetches and clients, which are no lines of a trace.",
}
"""Guards with an error that no line of a trace can name, and why."""


def traces() -> tuple[traced_pairs.Compared, ...]:
    """The pairs of the quick comparison, and what the kernel makes of them."""
    return traced_pairs.quick_traces(Mode.ZOOKEEPER)


@lru_cache(maxsize=1)
def made() -> tuple[traced_pairs.Compared, ...]:
    """What the kernel makes of the made ones."""
    return tuple(traced_pairs.traced(MADE, Mode.ZOOKEEPER))


@pytest.mark.parametrize("name", list(COMPARED_WITH_ZOOKEEPER))
def test_random_schedules_have_the_same_traces_with_zookeeper(name: str) -> None:
    traced_pairs.check_the_engine((*traces(), *made()), name, Mode.ZOOKEEPER)


@pytest.mark.long(quick=QUICK)
@pytest.mark.parametrize("name", list(COMPARED_WITH_ZOOKEEPER))
def test_hundreds_of_random_schedules_have_the_same_traces_with_zookeeper(name: str) -> None:
    pairs = traced_pairs.all_traces(Mode.ZOOKEEPER)
    traced_pairs.check_the_engine(pairs, name, Mode.ZOOKEEPER)


@pytest.mark.long(quick=QUICK)
def test_no_schedule_is_left_out() -> None:
    assert len(traced_pairs.all_traces(Mode.ZOOKEEPER)) == traced_pairs.PAIRS[Mode.ZOOKEEPER]


def test_every_small_schedule_agrees_under_every_feature_set_with_zookeeper() -> None:
    traced_pairs.check_small_schedules(Mode.ZOOKEEPER)


# What the comparison meets


def test_the_pairs_meet_every_kind_of_event_and_of_transition_and_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pairs = (*traces(), *made())
    assert {event.kind for schedule, _, _ in pairs for event in schedule.events} == set(KINDS)
    met = covered((schedule, trace) for schedule, _, trace in pairs)
    with capsys.disabled():
        print(f"\nwith ZooKeeper {met.sentence}")
    traced_pairs.check_transitions(met, TRANSITIONS_WITH_ZOOKEEPER)


def test_every_guard_that_can_refuse_a_line_with_zookeeper_refuses_one() -> None:
    met = covered((schedule, trace) for schedule, _, trace in traces())
    with_error = {g for g in mirrored_in(Mode.ZOOKEEPER) if GUARDS[g].error is not None}
    assert set(met.guards) == with_error - set(REFUSE_NEVER)
    assert {"STALE_BROKER_EPOCH", "FENCED_LEADER_EPOCH"} == set(met.errors)


def test_in_some_pairs_a_controller_is_hit_with_its_broker_and_another_is_elected() -> None:
    hosted = [(schedule, name) for schedule, name, _ in traces() if schedule.host]
    assert len(hosted) >= traced_pairs.FIRST // compare_command.HOSTED
    assert all(is_whole(schedule) for schedule, _ in hosted)
    hit = {e.kind for s, _ in hosted for e in s.events if e.broker == s.host}
    assert {"crash", "cut"} <= hit
    schedule, name = hosted[0]
    run = ZooKeeperRun(schedule, COMPARED_WITH_ZOOKEEPER[name])
    assert run.engine.host == schedule.host
    run.run()
    facts = [fact for made in run.engine.done for fact in made.events]
    elected = [fact.broker for fact in facts if isinstance(fact, ControllerElected)]
    assert elected[0] == run.engine.host == HOST


# Without a guard


@pytest.mark.parametrize("guard", [g for g in mirrored_in(Mode.ZOOKEEPER) if g not in NOT_TOLD])
def test_a_kernel_with_zookeeper_that_forgets_a_guard_is_found_out(guard: str) -> None:
    told = any(traced_pairs.is_told(guard, pair, Mode.ZOOKEEPER) for pair in (*made(), *traces()))
    assert told, f"no schedule comes out otherwise without {guard}: add one to MADE"


@pytest.mark.parametrize("guard", list(NOT_TOLD))
def test_a_guard_that_no_schedule_tells_with_zookeeper_is_told_by_none(guard: str) -> None:
    pairs = (*made(), *traces())
    told = next((pair for pair in pairs if traced_pairs.is_told(guard, pair, Mode.ZOOKEEPER)), None)
    assert told is None, f"it is told by {told}: take {guard} out of NOT_TOLD"


def test_what_is_without_effect_changes_no_trace_of_the_engine_when_it_is_switched_off() -> None:
    for schedule, name, trace in traces()[:WITHOUT]:
        features = COMPARED_WITH_ZOOKEEPER[name]
        for guard in without_effect_in(Mode.ZOOKEEPER):
            if guard in features.active(BrokerId(1)):
                features = switched(features, guard, False)
        assert zookeeper_trace(schedule, features) == trace, to_json(schedule)


@pytest.mark.parametrize("guard", list(ALWAYS_IN_THE_KERNEL))
def test_what_the_kernel_cannot_do_without_is_in_every_release(guard: str) -> None:
    zookeeper = (release for release in RELEASES.values() if release.mode is Mode.ZOOKEEPER)
    assert all(GUARDS[guard].built_in(release) for release in zookeeper)


# What is told of a difference


def test_a_difference_with_zookeeper_is_made_short_and_told_with_the_command_that_repeats_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forgets = partial(traced_pairs.plainly, without=1 << MIRRORED.index("497.request-broker-epoch"))
    told = next(
        p for p in traces() if traced_pairs.is_told("497.request-broker-epoch", p, Mode.ZOOKEEPER)
    )
    found = parting(told[0], told[1], forgets, Mode.ZOOKEEPER)
    assert found is not None
    short = shrunk(found, forgets)
    assert len(short.schedule.events) <= len(told[0].events)
    traced_pairs.check_repeated(short, forgets, ["--mode", "zookeeper"], capsys, monkeypatch)


def test_a_long_comparison_with_zookeeper_is_one_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_command, "kernel_trace", traced_pairs.plainly)
    progress = compare_command.ComparisonProgress(
        seed=traced_pairs.SEED[Mode.ZOOKEEPER], mode=Mode.ZOOKEEPER
    )
    assert compare_command.compare_on(progress, 4) is None
    assert "zookeeper" in progress.sentence
    assert set(progress.met["guards"]) <= set(mirrored_in(Mode.ZOOKEEPER))


def test_a_set_of_the_other_mode_is_told_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare_command.main(["--mode", "zookeeper", "--set", "841"]) == 2
    assert "--set 841: with --mode zookeeper the sets are none, 380" in capsys.readouterr().err
