"""The kernel does what the engine does: the same schedules, the same traces, line by line."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import permutations, product

import pytest
from msgspec.structs import replace

from kiplab.fleet.agreement import compare_command
from kiplab.fleet.agreement.compared_sets import COMPARED, compared_set
from kiplab.fleet.agreement.kernel_run import EndlessTraceError, TraceLine, kernel_trace
from kiplab.fleet.agreement.outside_events import (
    Outside,
    OutsideSchedule,
    from_json,
    ordered,
    to_json,
)
from kiplab.fleet.agreement.random_outside import random_schedule
from kiplab.fleet.agreement.trace_comparison import covered, parting, shrunk
from kiplab.fleet.kernel.mirrored_guards import MIRRORED, WITHOUT_EFFECT, guard_bits
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.releases import Mode

SEED = 0
PAIRS = 160
plainly = partial(kernel_trace, compiled=False)
TELLING = {
    "841.leader-skips-fenced": 1,
    "631.one-live-incarnation": 1,
    "kafka-15021.shrink-keeps-epoch": 6,
    "kafka-12670.unclean-by-config": 9,
    "497.leader-epoch": 11,
    "841.leader-skips-shutting-down": 15,
    "704.leader-recovers": 20,
    "903.leader-epoch": 34,
    "841.active-leader": 35,
    "841.fenced": 49,
    "497.partition-epoch": 262,
    "497.request-broker-epoch": 287,
    "903.controller-epoch": 338,
    "903.fetch-epoch": 338,
    "kafka-15021.committed-without-ineligible": 782,
    "704.leader-refuses": 2557,
}
"""Guards, and a random pair of SEED that comes out otherwise without."""
NOT_TOLD = {
    "497.sender-is-leader": "Another leader has another leader epoch, which is judged before.",
    "841.shutting-down": "Who leaves has led: the request is of an earlier leader epoch.",
    "704.unclean-again": "A recovering leader is alone in the ISR, and elected again either way.",
}
"""Guards of which no schedule can tell, and why."""
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
MADE = {
    "497.maximal-isr": (PENDING_COUNTS, "none"),
    "966.committed-with-min-isr": (SHORT_OF_REPLICAS, "later"),
}
"""Guards that chance seldom tells, and a schedule that does."""


def _pair(number: int) -> tuple[OutsideSchedule, str]:
    return random_schedule(SEED, number), compared_set(number)[0]


def test_random_schedules_have_the_same_traces_in_engine_and_kernel() -> None:
    met: Counter[str] = Counter()
    for number in range(PAIRS):
        schedule, name = _pair(number)
        found = parting(schedule, COMPARED[name], plainly)
        assert found is None, f"pair {number}: {shrunk(found, plainly).sentence}"
        met.update(covered([plainly(schedule, COMPARED[name])]))
    wanted = {"led", "offline", "led, recovering", "lost", "stale join", "497.leader-epoch"}
    wanted |= {"631.one-live-incarnation", "841.fenced"}
    assert wanted <= set(met), f"the schedules meet too little: {dict(met)}"


SMALL = (
    Outside(at=3_000, kind="crash", broker=1, restart=1_000, level=2, delays=(10_000,)),
    Outside(at=3_000, kind="crash", broker=2, fate="replaced", restart=9_002, delays=(9_000,)),
    Outside(at=3_000, kind="bounce", broker=1, restart=2_000, shutdown=2_000, delays=(3_000,)),
    Outside(at=3_000, kind="cut", broker=2, lasts=12_000, level=1_000),
    Outside(at=3_000, kind="outage", lasts=10_000),
)
GAPS = (0, 9_001)


@pytest.mark.parametrize("name", ["none", "841+903+704"])
def test_small_schedules_agree_in_every_order(name: str) -> None:
    for events in permutations(SMALL, 2):
        for gap, unclean in product(GAPS, (False, True)):
            schedule = _after_one_another(events, gap, unclean)
            found = parting(schedule, COMPARED[name], plainly)
            assert found is None, found.sentence


def _after_one_another(events: tuple[Outside, ...], gap: int, unclean: bool) -> OutsideSchedule:
    later = tuple(replace(event, at=event.at + n * gap) for n, event in enumerate(events))
    end = later[-1].at + 60_000
    return ordered(OutsideSchedule(end=end, events=later, unclean=unclean, patience=9_000))


@pytest.mark.parametrize("guard", [*TELLING, *MADE])
def test_a_kernel_that_forgets_a_guard_is_found_out(guard: str) -> None:
    schedule, name = MADE[guard] if guard in MADE else _pair(TELLING[guard])
    assert parting(schedule, COMPARED[name], plainly) is None
    forgets = partial(plainly, without=1 << MIRRORED.index(guard))
    try:
        found = parting(schedule, COMPARED[name], forgets)
    except EndlessTraceError:
        return
    assert found is not None


def test_every_guard_of_the_kernel_has_a_schedule_that_tells_it() -> None:
    untold = set(MIRRORED) - set(TELLING) - set(MADE) - set(NOT_TOLD)
    assert not untold, f"add to TELLING a schedule that comes out otherwise without {untold}"


def test_every_guard_of_kraft_is_in_the_kernel_or_without_effect_there() -> None:
    kraft = {id for id, guard in GUARDS.items() if Mode.KRAFT in guard.modes}
    unknown = kraft - set(MIRRORED) - set(WITHOUT_EFFECT)
    assert not unknown, f"mirror them in kernel/mirrored_guards.py, or say why not: {unknown}"
    assert not set(MIRRORED) & set(WITHOUT_EFFECT)
    assert set(MIRRORED) | set(WITHOUT_EFFECT) <= kraft


def test_a_feature_set_is_the_bits_of_its_guards() -> None:
    bits = guard_bits(COMPARED["841+903"]) & ~guard_bits(COMPARED["903"])
    assert {MIRRORED[n] for n in range(len(MIRRORED)) if bits >> n & 1} == {
        guard for guard in MIRRORED if guard.startswith("841.")
    }


def test_a_schedule_is_the_same_after_a_round_through_json() -> None:
    for number in range(50):
        schedule = random_schedule(SEED, number)
        assert from_json(to_json(schedule)) == schedule


def test_a_difference_is_told_in_a_sentence_and_made_short() -> None:
    schedule, name = _pair(TELLING["631.one-live-incarnation"])
    forgets = partial(plainly, without=1 << MIRRORED.index("631.one-live-incarnation"))
    found = parting(schedule, COMPARED[name], forgets)
    assert found is not None
    short = shrunk(found, forgets)
    assert len(short.schedule.events) <= 2
    assert short.sentence.startswith(f"under {COMPARED[name].label()} line ")
    assert to_json(short.schedule) in short.sentence


def test_a_long_comparison_goes_on_where_it_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compare_command, "parting", partial(parting, kernel=plainly))
    monkeypatch.setattr(compare_command, "kernel_trace", plainly)
    whole = compare_command.ComparisonProgress(seed=SEED)
    assert compare_command.compare_on(whole, 12) is None
    halves = compare_command.ComparisonProgress(seed=SEED)
    assert compare_command.compare_on(halves, 5) is None
    assert compare_command.compare_on(halves, 12) is None
    assert halves == whole


def test_traces_compare_by_what_they_say() -> None:
    assert TraceLine(1, "lost", "a") < TraceLine(2, "lost", "a")
