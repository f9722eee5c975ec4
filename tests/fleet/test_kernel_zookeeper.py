"""ZooKeeper's replica set: sessions, registration, controlled shutdown, and what has no role."""

from itertools import chain, combinations

import pytest
from msgspec.structs import replace

from kiplab.fleet.agreement.kernel_run import FIRST_LEADER_EPOCH, LINES_MAX, world_of
from kiplab.fleet.agreement.outside_events import Outside, OutsideSchedule, delays_of, row_of
from kiplab.fleet.kernel import set_words
from kiplab.fleet.kernel.feature_sets import IN_MODE, SWITCHED, mask_of
from kiplab.fleet.kernel.isr_digits import members_of
from kiplab.fleet.kernel.machine_code import plain
from kiplab.fleet.kernel.mirrored_guards import PURGE, WRITES
from kiplab.fleet.kernel.scheduled import DELAYS, play_out
from kiplab.fleet.kernel.simulation import METRIC_NAMES, Counts, simulate
from kiplab.fleet.kernel.world import DAY, SECOND, YEAR, Constant, Exponential, World

BUSY = World(
    zookeeper=True,
    session_us=18 * SECOND,
    crash_mean_us=YEAR // 100,
    bounce_mean_us=YEAR // 100,
    cut_mean_us=YEAR // 50,
    failover_mean_us=YEAR // 200,
    unclean_elections=True,
    alter_partition_slow_share=0.3,
    tail_lost=0.3,
)
WILD = World(
    zookeeper=True,
    session_us=6 * SECOND,
    replication_factor=3,
    crash_mean_us=YEAR // 200,
    bounce_mean_us=YEAR // 100,
    cut_mean_us=YEAR // 50,
    failover_mean_us=YEAR // 100,
    alter_partition_slow_share=0.3,
    early_factor=100.0,
)
KIPS = tuple(kip for kip in SWITCHED if kip not in (PURGE, WRITES))
ALL = tuple(
    "+".join(on) or "none"
    for on in chain(*(combinations(KIPS, size) for size in range(len(KIPS) + 1)))
)
SESSION_MS = 18_000
Told = tuple[int, str, int, int, tuple[int, ...]]
"""When (ms), what, the leader (0: nobody) or the broker, the leader epoch, the ISR."""


def _counted(world: World, names: tuple[str, ...], skips: bool = True) -> Counts:
    return simulate(
        world,
        seed=7,
        first=0,
        last=2,
        horizon_us=10 * DAY,
        feature_sets=names,
        compiled=False,
        skips=skips,
    )


@pytest.mark.parametrize("mode", ["kraft", "zookeeper"])
def test_of_the_32_sets_those_that_differ_in_what_has_no_role_count_the_same(mode: str) -> None:
    world = BUSY if mode == "zookeeper" else replace(BUSY, zookeeper=False)
    counts = _counted(world, ALL)
    assert counts.total("none", "incidents") > 10
    assert counts.checks == 0
    rows: dict[tuple[str, ...], set[tuple[int, ...]]] = {}
    for name in ALL:
        has_role = tuple(kip for kip in name.split("+") if kip in IN_MODE[mode])
        row = tuple(counts.count(n, name, metric) for n in range(2) for metric in METRIC_NAMES)
        rows.setdefault(has_role, set()).add(row)
    assert len(rows) == 8
    assert all(len(found) == 1 for found in rows.values())


@pytest.mark.parametrize("world", [BUSY, WILD], ids=["busy", "wild"])
def test_skipping_quiet_time_changes_no_number_with_zookeeper(world: World) -> None:
    names = ("none", "704", WRITES)
    skipped, stepped = _counted(world, names), _counted(world, names, skips=False)
    assert skipped.table == stepped.table
    assert skipped.steps < stepped.steps
    assert skipped.checks == stepped.checks == 0


def test_with_zookeeper_nobody_purges_an_isr_on_registration() -> None:
    counts = _counted(BUSY, ("none", PURGE))
    for metric in METRIC_NAMES:
        assert counts.total("none", metric) == counts.total(PURGE, metric), metric


def test_kip_380_and_kip_343_take_away_what_each_is_about() -> None:
    sharp = replace(BUSY, clean_restart=BUSY.alter_partition_fast)
    counts = _counted(sharp, ("none", "380", "343"))
    assert counts.total("none", "stale_control_request") > 0
    assert counts.total("380", "stale_control_request") == 0
    none, with_343 = (counts.total(name, "stale_metadata_us") for name in ("none", "343"))
    assert 0 < with_343 < none


def test_only_a_planned_stop_that_happens_can_leave_a_control_request_behind() -> None:
    stops = World(
        zookeeper=True,
        replication_factor=1,
        crash_mean_us=0,
        bounce_mean_us=DAY // 20,
        failover_mean_us=0,
        clean_restart=Exponential(DAY // 20),
        queue_age=Constant(DAY),
    )
    counts = _counted(stops, ("none",))
    happened = counts.total("none", "incidents")
    assert counts.events > happened > 10, "some come while the broker is down"
    assert counts.total("none", "stale_control_request") == happened


def test_a_planned_stop_that_waits_leaves_no_control_request_behind() -> None:
    down = replace(BUSY, crash_mean_us=DAY, crash_restart=Constant(DAY), queue_age=Constant(DAY))
    waits, insists = (
        _counted(replace(down, bounces_wait=waits, clean_restart=Constant(SECOND)), ("none",))
        for waits in (True, False)
    )
    metric = "stale_control_request"
    assert 0 < waits.total("none", metric) < insists.total("none", metric)


def test_only_a_cut_that_happens_leaves_metadata_behind() -> None:
    cuts = World(
        zookeeper=True,
        replication_factor=1,
        crash_mean_us=0,
        bounce_mean_us=0,
        failover_mean_us=0,
        cut_mean_us=DAY // 20,
        cut_lasts=Constant(DAY // 10),
    )
    counts = _counted(cuts, ("none",))
    happened = counts.total("none", "incidents")
    assert counts.events > happened > 10, "some come while the broker is cut off"
    assert counts.total("none", "stale_metadata_us") // (DAY // 10) == happened


def _played(*events: Outside, replicas: int = 2, features: str = "none") -> list[Told]:
    schedule = OutsideSchedule(replicas=replicas, end=events[-1].at + 120_000, events=events)
    s, told, w = (
        [0] * set_words.STATE_WORDS,
        [0] * (1 + LINES_MAX * set_words.TOLD_WORDS),
        world_of(schedule),
    )
    w[set_words.MODE], w[set_words.SESSION_OVER_US] = 1, SESSION_MS * 1_000
    s[set_words.GUARDS], s[set_words.TRACE] = mask_of(features, zookeeper=True), 1
    s[set_words.LEADER_EPOCH] = FIRST_LEADER_EPOCH
    rows = [n for event in events for n in row_of(event)]
    delays = [n for event in events for n in delays_of(event)]
    known = [0] * (set_words.BROKERS * DELAYS)
    plain(play_out)(s, w, told, rows, delays, known, 0, schedule.end * 1_000)
    return [_line(told[1 + n * set_words.TOLD_WORDS :]) for n in range(told[0])]


def _line(words: list[int]) -> Told:
    at, what, a, b, _, d = words[: set_words.TOLD_WORDS]
    names = {
        set_words.TOLD_STATE: "state",
        set_words.TOLD_REFUSED: "refused",
        set_words.TOLD_LOST: "lost",
        set_words.TOLD_STALE: "stale",
    }
    isr = tuple(m + 1 for m in members_of(d >> 1)) if what == set_words.TOLD_STATE else ()
    return at // 1_000, names[what], a + 1, b, isr


def test_a_dead_leader_leads_until_its_session_is_over() -> None:
    told = _played(
        Outside(at=4_000, kind="beat", broker=1),
        Outside(at=5_000, kind="crash", broker=1, restart=60_000, ready=5_000, level=2_000),
    )
    left, joined = told
    assert left == (4_000 + SESSION_MS, "state", 2, FIRST_LEADER_EPOCH + 1, (2,))
    # Its log is recovered before it registers; then it fetches, and the leader asks for it.
    assert joined == (5_000 + 60_000 + 5_000 + 2_000 + 1, "state", 2, left[3], (2, 1))


def test_a_follower_that_dies_leaves_under_another_leader_epoch_and_comes_back_under_none() -> None:
    told = _played(
        Outside(at=5_000, kind="beat", broker=2),
        Outside(at=5_000, kind="crash", broker=2, restart=60_000),
    )
    assert [(state[2], state[3], state[4]) for state in told] == [
        (1, FIRST_LEADER_EPOCH + 1, (1,)),
        (1, FIRST_LEADER_EPOCH + 1, (1, 2)),
    ]


def test_a_start_finds_the_session_of_an_earlier_life_and_is_tried_again() -> None:
    told = _played(
        Outside(at=5_000, kind="beat", broker=2),
        Outside(at=5_000, kind="crash", broker=2, restart=1_000, ready=1_000, level=1),
    )
    left, joined = told
    assert left[0] == 5_000 + SESSION_MS
    assert 0 < joined[0] - left[0] <= 2_000 + 2


def test_while_there_is_no_controller_sessions_end_and_nobody_acts_on_it() -> None:
    told = _played(
        Outside(at=5_000, kind="beat", broker=1),
        Outside(at=5_000, kind="crash", broker=1, restart=100_000),
        Outside(at=20_000, kind="outage", lasts=25_000),
    )
    assert told[0][:3] == (45_000, "state", 2)


def test_who_dies_and_is_back_while_there_is_no_controller_has_never_been_away() -> None:
    told = _played(
        Outside(at=5_000, kind="outage", lasts=60_000),
        Outside(at=6_000, kind="beat"),
        Outside(at=6_000, kind="crash", fate="replaced", restart=30_000, ready=1_000),
    )
    assert told == [(65_000, "lost", 1, set_words.LAST_REPLICA_LOSS, ())], (
        "it leads on, under the same epoch"
    )


def test_without_a_controller_who_comes_back_follows_the_leader_that_he_knows() -> None:
    told = _played(
        Outside(at=5_000, kind="beat", broker=2),
        Outside(at=5_000, kind="cut", broker=2, lasts=40_000, level=500, delays=(1_000,)),
        Outside(at=30_000, kind="outage", lasts=60_000),
    )
    left, joined = told
    assert left[4] == (1,)
    # Nobody has told it of epoch 6 before there is a controller that hears of its new session.
    assert joined[0] == 90_000 + 500 + 1_000
    told = _played(
        Outside(at=5_000, kind="outage", lasts=100_000),
        Outside(at=6_000, kind="cut", broker=2, lasts=40_000, level=500),
        Outside(at=50_000, kind="crash", restart=200_000),
    )
    assert told[0][:3] == (105_000, "state", 2), "who was level again lacks nothing"
    assert not [line for line in told if line[1] == "lost"]


def test_a_leader_that_shuts_down_is_not_answered_while_there_is_no_controller() -> None:
    told = _played(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=200_000),
        Outside(at=40_000, kind="bounce", broker=1, shutdown=3_000, restart=90_000),
        Outside(at=41_000, kind="outage", lasts=30_000),
    )
    assert [(at, leader) for at, _, leader, _, _ in told[1:]] == [(71_000, 0), (143_001, 1)]


def test_leaders_that_write_the_isr_themselves_wait_neither_for_requests_nor_for_a_controller() -> (
    None
):
    events = (
        Outside(at=5_000, kind="beat", broker=2),
        Outside(at=5_000, kind="crash", broker=2, restart=40_000, level=500, delays=(9_000,)),
        Outside(at=40_000, kind="outage", lasts=1_000),
        Outside(at=45_400, kind="outage", lasts=30_000),
    )
    asks, writes = (_played(*events, features=name)[-1] for name in ("none", WRITES))
    assert asks[0] == 75_400 > 45_001 + 500 + 9_000
    assert writes[0] == 45_001 + 500
    assert asks[4] == writes[4] == (1, 2)


def test_where_leaders_write_the_isr_no_stale_replica_joins() -> None:
    slow = replace(WILD, crash_mean_us=DAY // 12, alter_partition_slow_share=1.0)
    counts = _counted(slow, ("none", WRITES))
    assert counts.total("none", "stale_join") > 0 == counts.total(WRITES, "stale_join")
    assert counts.total(WRITES, "refused") == 0 < counts.total(WRITES, "expansions")
    with pytest.raises(ValueError, match="no Kafka has both"):
        mask_of(f"704+{WRITES}", zookeeper=True)


def test_a_broker_that_is_cut_off_beyond_its_session_registers_anew() -> None:
    told = _played(
        Outside(at=5_000, kind="beat", broker=2),
        Outside(at=5_000, kind="cut", broker=2, lasts=30_000, level=500),
    )
    assert [(at, isr) for at, _, _, _, isr in told] == [
        (5_000 + SESSION_MS, (1,)),
        (5_000 + 30_000 + 500 + 1, (1, 2)),
    ]


def test_a_leader_that_nobody_can_follow_leads_on_for_three_tries_of_its_shutdown() -> None:
    told = _played(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=100_000),
        Outside(at=40_000, kind="bounce", broker=1, shutdown=3_000, restart=20_000),
    )
    offline = [state for state in told if state[2] == 0]
    assert [state[0] for state in offline] == [40_000 + 2 * 5_000 + 3_000]
    assert offline[0][4] == (1,)


def test_a_leader_that_stops_fetches_no_more_whatever_kip_841_says() -> None:
    stop = Outside(at=5_000, kind="bounce", broker=1, shutdown=3_000, restart=20_000)
    told = _played(stop)
    assert [isr for _, _, _, _, isr in told] == [(2,), (2, 1)]
    assert told[1][0] > 5_000 + 3_000 + 20_000
    assert _played(stop, features="841+903") == told


def test_a_new_controller_writes_a_dead_last_replica_down_once_more() -> None:
    told = _played(
        Outside(at=1_000, kind="beat"),
        Outside(at=1_000, kind="crash", restart=100_000),
        Outside(at=40_000, kind="outage", lasts=5_000),
        replicas=1,
    )
    left, again, back = told
    assert left[2:] == (0, FIRST_LEADER_EPOCH + 1, (1,))
    assert again == (45_000, "state", 0, FIRST_LEADER_EPOCH + 2, (1,))
    assert back[2:] == (1, FIRST_LEADER_EPOCH + 3, (1,))


def test_a_new_controller_takes_the_dead_out_before_it_elects() -> None:
    told = _played(
        Outside(at=5_000, kind="outage", lasts=30_000),
        Outside(at=6_000, kind="beat"),
        Outside(at=6_000, kind="crash", restart=100_000),
    )
    assert told[0] == (35_000, "state", 2, FIRST_LEADER_EPOCH + 2, (2,))


def test_a_leader_that_shuts_down_alone_gives_way_to_whoever_comes() -> None:
    told = _played(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=60_000, level=1_000),
        Outside(at=60_000, kind="bounce", broker=1, shutdown=3_000, restart=20_000),
    )
    assert [(leader, isr) for _, _, leader, _, isr in told[1:3]] == [(1, (1, 2)), (2, (2,))]
    joined, led = told[1], told[2]
    assert joined[3] == FIRST_LEADER_EPOCH + 1, "a leader that shuts down asks, and leads on"
    assert led[:3] == (65_000, "state", 2)
