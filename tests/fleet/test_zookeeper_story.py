"""With ZooKeeper, too, what the kernel has counted opens as a play of the engine."""

from functools import lru_cache
from itertools import pairwise

import pytest
from msgspec.structs import replace

import kiplab
from kiplab import fleet
from kiplab.engine.truth import controller_of, registration_of
from kiplab.fleet.agreement.driven_zookeeper import HOST
from kiplab.fleet.agreement.engine_lines import partition_in
from kiplab.fleet.agreement.kernel_run import KernelRun, kernel_run
from kiplab.fleet.agreement.outside_events import Outside, OutsideSchedule
from kiplab.fleet.agreement.story_play import UnplayableError, play_of, tale_of
from kiplab.fleet.agreement.story_schedule import STORY_METRICS
from kiplab.fleet.agreement.trace_lines import TraceLine
from kiplab.fleet.kernel.feature_sets import feature_sets, features_of
from kiplab.fleet.kernel.mirrored_guards import WRITES
from kiplab.fleet.kernel.world import DAY, SECOND, LogNormal, Uniform, World
from kiplab.plays import header
from kiplab.plays.grammar import parse
from kiplab.plays.play import Play, format_play
from kiplab.plays.runner import do_line, open_stage, run_play
from kiplab.protocol.features import Features
from kiplab.protocol.releases import Mode
from tests.fleet import met_stories
from tests.fleet.agreement.random_outside import random_schedule
from tests.fleet.met_stories import met_story

SEED, SCHEDULES = 9, 200
SETS = feature_sets("zookeeper")
COUNTED = ("committed_loss", "stale_join", "offline")
Lived = tuple[OutsideSchedule, str, KernelRun]


@lru_cache(maxsize=1)
def lived() -> tuple[Lived, ...]:
    """Random schedules in which something is counted, the sets and the sessions taking turns; of
    every third the replicas are four or five.
    """
    found = []
    for n in range(SCHEDULES):
        schedule = replace(random_schedule(SEED, n), session=(9_000, 18_000)[n % 2])
        if n % 3 == 0:
            schedule = replace(schedule, replicas=4 + n % 2)
        name = SETS[n % len(SETS)]
        ran = kernel_run(schedule, _rules(name), compiled=False)
        if any(ran.counts[metric] for metric in COUNTED):
            found.append((schedule, name, ran))
    return tuple(found)


@lru_cache(maxsize=1)
def told() -> tuple[tuple[Play, str, KernelRun], ...]:
    """A play of each."""
    return tuple((_play(schedule, name), name, ran) for schedule, name, ran in lived())


def _play(schedule: OutsideSchedule, name: str = "none") -> Play:
    return play_of(schedule, _rules(name), title="one", question="what?")


def _rules(name: str) -> Features:
    return features_of(name, zookeeper=True)


def test_the_schedules_are_of_every_kind() -> None:
    assert len(lived()) > 30
    assert {name for _, name, _ in lived()} == set(SETS)
    assert {schedule.replicas for schedule, _, _ in lived()} == {1, 2, 3, 4, 5}
    for metric in COUNTED:
        assert sum(ran.counts[metric] > 0 for _, _, ran in lived()) > 1, metric


def test_the_play_of_a_random_schedule_shows_what_the_kernel_counted() -> None:
    for play, name, ran in told():
        assert parse(format_play(play), play.name) == play
        run = kiplab.run(play)
        assert len(run.lost) == ran.counts["committed_loss"]
        assert (run.verdict == "loss") == bool(run.lost), name
        wanted = tuple(line.partition or line.broker for line in ran.trace if _is_told(line))
        assert tale_of(run.stage) == wanted


def test_leaders_that_write_the_isr_themselves_have_stories_too() -> None:
    away = [schedule for schedule, _, _ in lived() if "outage" in map(_kind, schedule.events)]
    for schedule in away[::5]:
        ran = kernel_run(schedule, _rules(WRITES), compiled=False)
        wanted = tuple(line.partition or line.broker for line in ran.trace if _is_told(line))
        assert wanted
        assert tale_of(kiplab.run(_play(schedule, WRITES)).stage) == wanted


def _kind(event: Outside) -> str:
    return event.kind


def _is_told(line: TraceLine) -> bool:
    return line.what in ("partition", "lost")


def test_a_play_has_zookeeper_and_the_kips_of_its_set() -> None:
    for play, name, _ in told():
        features = header.features_of(play)
        assert features == _rules(name)
        assert features.mode is Mode.ZOOKEEPER
        active = features.active(HOST)
        assert ("380.control-request-epoch" in active) == ("380" in name)
        assert ("704.leader-recovers" in active) == ("704" in name)


# --- worlds ---------------------------------------------------------------------------------------

SLOW = replace(met_stories.SLOW, zookeeper=True, session_us=18 * SECOND)
BUSY = World(
    zookeeper=True,
    session_us=18 * SECOND,
    replication_factor=5,
    min_insync_replicas=2,
    unclean_elections=True,
    crash_mean_us=DAY,
    bounce_mean_us=DAY,
    cut_mean_us=2 * DAY,
    failover_mean_us=DAY,
    failover_lasts=Uniform(SECOND, 120 * SECOND),
    cluster_shock_mean_us=5 * DAY,
    shock_tail_lost=0.7,
    tail_lost=0.5,
    disk_replaced=0.2,
    crash_restart=LogNormal(600 * SECOND, 0.8),
)
WHERE = {
    "committed_loss": (BUSY, "380+343"),
    "last_replica_loss": (SLOW, "none"),
    "race_loss": (SLOW, "380"),
    "unclean_loss": (BUSY, "704"),
    "shock_loss": (BUSY, "343"),
    "stale_join": (SLOW, "none"),
    "offline": (SLOW, "380+343+704"),
}
"""A world in which it happens, and the feature set."""
YEARS, REPLICATIONS = 0.1, 12


def _story(metric: str) -> Play:
    world, features = WHERE[metric]
    return met_story(world, features, metric, seed=SEED, replications=REPLICATIONS, years=YEARS)


@pytest.mark.parametrize("metric", list(WHERE))
def test_what_is_counted_in_a_world_with_zookeeper_opens_as_a_play(metric: str) -> None:
    run = kiplab.run(_story(metric))
    assert run.verdict == ("loss" if metric.endswith("_loss") else "safe")
    assert "of the fleet: with ZooKeeper, replication " in _story(metric).title
    assert run.timeline().data


def test_every_metric_that_a_play_can_show_has_a_story_with_zookeeper() -> None:
    assert set(STORY_METRICS) == set(WHERE), "add to WHERE a world in which it happens"


def test_a_stale_join_ends_with_a_member_that_is_not_registered_any_more() -> None:
    clusters = [step.cluster for step in run_play(_story("stale_join")).history.steps]
    joins = [
        (after, member)
        for before, after in pairwise(clusters)
        for member in set(partition_in(after).isr) - set(partition_in(before).isr)
    ]
    when, joined = joins[-1]
    assert registration_of(when, joined) is None


def test_kip_343_is_counted_and_the_question_says_so() -> None:
    assert _story("shock_loss").question.endswith("? KIP-343 is counted, not played.")
    assert "KIP-343" not in _story("unclean_loss").question


# --- words ----------------------------------------------------------------------------------------

AWAY = Outside(at=1_000, kind="outage", lasts=30_000)


def test_while_there_is_no_controller_its_broker_is_cut_off_and_nobody_acts_on_anything() -> None:
    play = _play(_schedule(AWAY, Outside(at=2_000, kind="crash", broker=1, restart=60_000)))
    text = [line.text for line in play.statements]
    silent, hold, gone = map(text.index, ("cut 0 zookeeper", "hold watcher-event", "expire 0"))
    back, found = map(text.index, ("heal 0 zookeeper", "release watcher-event to=controller-0"))
    assert silent < text.index("expire 1") < hold < gone < back < found
    stage = open_stage(play)
    for number, line in enumerate(play.statements, 1):
        stage = do_line(stage, line, number)
        assert (controller_of(stage.cluster) is None) == (gone < number <= back), line.text
        assert partition_in(stage.cluster).leader == (1 if number <= back else 2), line.text


def test_who_shuts_down_or_is_cut_off_while_there_is_no_controller_does_so_in_the_play() -> None:
    play = _play(
        _schedule(
            Outside(at=900, kind="bounce", broker=1, shutdown=2_000, restart=5_000),
            AWAY,
            Outside(at=3_000, kind="cut", broker=2, lasts=12_000),
        )
    )
    text = [line.text for line in play.statements]
    silent, found = text.index("cut 0 zookeeper"), text.index("expire 0")
    meanwhile = text[silent:found]
    assert any(line.startswith("drop controlled-shutdown from=1 ") for line in meanwhile)
    assert {"start 1", "heal 2 zookeeper"} <= set(meanwhile)
    assert "heal 2 0" not in meanwhile, "the controller is silent still"
    assert text.index("heal 0 2") > found


def test_a_controller_on_the_broker_of_a_replica_is_what_no_play_says() -> None:
    hosted = replace(_schedule(AWAY), host=1)
    with pytest.raises(UnplayableError, match="a controller that lives on a replica's broker"):
        _play(hosted)


def test_a_leader_that_is_let_go_stops_in_the_time_that_a_stop_takes() -> None:
    play = _play(_schedule(Outside(at=1_000, kind="bounce", broker=1, shutdown=2_000)))
    text = format_play(play).split("shut-down   1\n")
    assert "hold        controlled-shutdown-reply\n" in text[0]
    meanwhile, stopped = text[1].split("deliver     controlled-shutdown-reply ")
    assert meanwhile.endswith("# 3.000 s\n")
    assert "to=1" not in stopped


def test_a_disk_that_is_lost_before_a_process_registers_was_lost_with_the_one_before() -> None:
    first = Outside(at=1_000, kind="crash", broker=1, ready=10_000)
    second = Outside(at=5_000, kind="crash", broker=1, fate="replaced")
    alone = replace(_schedule(first, second), replicas=1)
    play = _play(alone)
    assert [s.text for s in play.statements if s.verb == "crash"] == ["crash 1 disk=replaced"]
    assert kiplab.run(play).verdict == "loss"


def test_a_disk_that_is_lost_after_a_clean_stop_is_what_no_play_says() -> None:
    first = Outside(at=1_000, kind="bounce", broker=1, ready=10_000)
    second = Outside(at=5_000, kind="crash", broker=1, fate="replaced")
    alone = replace(_schedule(first, second), replicas=1)
    assert kernel_run(alone, _rules("none"), compiled=False).counts["committed_loss"] == 1
    with pytest.raises(UnplayableError, match="replaced after a clean stop, while the next"):
        _play(alone)


def _schedule(*events: Outside) -> OutsideSchedule:
    return OutsideSchedule(end=120_000, events=events)


def test_other_periods_than_the_engines_have_no_story_and_zookeepers_session_may_be_any() -> None:
    with pytest.raises(ValueError, match="defaults: lag_s = 30, heartbeat_s = 2; the engine has"):
        fleet.story(replace(SLOW, lag_us=10 * SECOND), seed=SEED, replication=0, years=YEARS)
    quick = replace(SLOW, session_us=6 * SECOND)
    play = fleet.story(quick, seed=SEED, replication=0, metric="offline", years=YEARS)
    assert kiplab.run(play).verdict == "safe"
