"""What the kernel counts of KIP-380 and KIP-343 is what the engine does, event by event."""

from functools import cache

import pytest
from msgspec.structs import replace

from kiplab.fleet.agreement.effective_events import EffectiveEvent, effective_events
from kiplab.fleet.agreement.late_controller import LateBounce, late_bounce
from kiplab.fleet.agreement.silent_controller import FEATURES_OF_343, served_while_cut_ms
from kiplab.fleet.kernel.simulation import Counts, simulate
from kiplab.fleet.kernel.world import SECOND, Exponential, World
from kiplab.protocol.features import switched
from tests.fleet.agreement.compared_sets import COMPARED_WITH_ZOOKEEPER

COUNTED_ALONE = {"stale_control_request", "stale_metadata_us"}
"""What only ZooKeeper mode counts, and the engine here."""
HORIZON_US = 300 * SECOND
BOUNCING = World(
    zookeeper=True,
    replication_factor=3,
    crash_mean_us=0,
    failover_mean_us=0,
    bounce_mean_us=120 * SECOND,
    shutdown=Exponential(SECOND),
    clean_restart=Exponential(2 * SECOND),
    ready=Exponential(SECOND // 2),
    catch_up=Exponential(2 * SECOND),
)
"""Restarts so quick that some requests outlive them."""
CUT_OFF = replace(
    BOUNCING,
    bounce_mean_us=0,
    cut_mean_us=120 * SECOND,
    cut_lasts=Exponential(15 * SECOND),
    heartbeat_timeout_us=9 * SECOND,
)
TIMEOUT_MS = CUT_OFF.heartbeat_timeout_us // 1_000
SEED, REPLICATIONS = 7, 16
OBEYED = LateBounce(applied=True, refused=False, missed=True)
REFUSED = LateBounce(applied=False, refused=True, missed=False)
IN_TIME = LateBounce(applied=False, refused=False, missed=False)


@cache
def effects(world: World, replication: int) -> tuple[EffectiveEvent, ...]:
    return effective_events(world, seed=SEED, replication=replication, until_us=HORIZON_US)


@cache
def counted(world: World, *sets: str) -> Counts:
    return simulate(
        world,
        seed=SEED,
        first=0,
        last=REPLICATIONS,
        horizon_us=HORIZON_US,
        feature_sets=sets,
    )


def bounced(effect: EffectiveEvent, features: str) -> LateBounce:
    cluster = replace(effect.cluster, features=COMPARED_WITH_ZOOKEEPER[features])
    return late_bounce(cluster, effect.event)


@pytest.mark.parametrize(("features", "late"), [("none", OBEYED), ("380", REFUSED)])
def test_every_bounce_that_a_request_outlives_goes_wrong_without_kip_380_alone(
    features: str, late: LateBounce
) -> None:
    counts, seen = counted(BOUNCING, "none", "380"), 0
    for replication in range(REPLICATIONS):
        made = [bounced(effect, features) for effect in effects(BOUNCING, replication)]
        assert {*made} <= {late, IN_TIME}
        assert len(made) == counts.count(replication, "none", "incidents")
        assert made.count(late) == counts.count(replication, "none", "stale_control_request")
        applied = sum(one.applied for one in made)
        assert applied == counts.count(replication, features, "stale_control_request")
        seen += made.count(late)
    assert 20 < seen < counts.total("none", "incidents") - 20


@pytest.mark.parametrize(
    ("guard", "late"),
    [
        ("380.control-request-epoch", replace(IN_TIME, applied=True)),
        ("380.bounce-detection", replace(REFUSED, missed=True)),
    ],
)
def test_without_one_guard_of_kip_380_half_of_the_harm_is_back(
    guard: str, late: LateBounce
) -> None:
    without = switched(COMPARED_WITH_ZOOKEEPER["380"], guard, on=False)
    made = [
        late_bounce(replace(effect.cluster, features=without), effect.event)
        for replication in range(4)
        for effect in effects(BOUNCING, replication)
    ]
    assert {*made} == {late, IN_TIME}


def test_a_request_that_leaves_the_queue_as_the_next_life_registers_is_not_stale() -> None:
    effect = effects(BOUNCING, 0)[0]
    back = effect.event.shutdown + effect.event.restart + effect.event.ready
    for queued, outcome in ((0, IN_TIME), (back, IN_TIME), (back + 1, OBEYED)):
        event = replace(effect.event, queued=queued)
        assert bounced(replace(effect, event=event), "none") == outcome


@pytest.mark.parametrize("features", FEATURES_OF_343)
def test_every_cut_leaves_old_metadata_for_as_long_as_the_engine_s_leader_gives_them(
    features: str,
) -> None:
    counts, seen = counted(CUT_OFF, *FEATURES_OF_343), 0
    for replication in range(REPLICATIONS):
        cuts = effects(CUT_OFF, replication)
        assert len(cuts) == counts.count(replication, "none", "incidents")
        lengths = [(cut.event.silent // 1_000, cut.event.lasts // 1_000) for cut in cuts]
        rules = FEATURES_OF_343[features]
        served = 1_000 * sum(served_while_cut_ms(rules, *each, TIMEOUT_MS) for each in lengths)
        kernel = counts.count(replication, features, "stale_metadata_us")
        # The engine has whole milliseconds of what lasts, and of the last heartbeat.
        assert abs(served - kernel) <= 2_000 * len(cuts)
        seen += len(cuts)
    assert seen > 50


@pytest.mark.parametrize(
    ("silent", "lasts", "served"),
    [(0, 8_999, 8_999), (0, 60_000, 9_000), (1_500, 60_000, 7_500), (1_500, 7_500, 7_500)],
)
def test_a_leader_of_kip_343_fences_itself_a_timeout_after_its_last_answered_heartbeat(
    silent: int, lasts: int, served: int
) -> None:
    assert served_while_cut_ms(FEATURES_OF_343["343"], silent, lasts, TIMEOUT_MS) == served
    assert served_while_cut_ms(FEATURES_OF_343["none"], silent, lasts, TIMEOUT_MS) == lasts


def test_events_that_wait_or_find_nobody_are_no_effects() -> None:
    few = 5
    events = [effect.event for n in range(few) for effect in effects(BOUNCING, n)]
    assert all(event.kind == "bounce" for event in events)
    hurried = replace(BOUNCING, bounces_wait=False)
    every = [effect for n in range(few) for effect in effects(hurried, n)]
    assert len(every) > len(events)
