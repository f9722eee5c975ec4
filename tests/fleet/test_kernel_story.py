"""From rate to story: what the kernel has counted opens as a play of the engine."""

import pytest
from msgspec.structs import replace

import kiplab
from kiplab import fleet
from kiplab.fleet.agreement.engine_run import EngineRun
from kiplab.fleet.agreement.kernel_run import kernel_run
from kiplab.fleet.agreement.story_schedule import STORY_METRICS, NoStoryError, schedule_of
from kiplab.fleet.kernel.mirrored_guards import features_of
from kiplab.fleet.kernel.world import DAY, SECOND, YEAR, Exponential, LogNormal, World
from kiplab.plays.grammar import parse
from kiplab.plays.library import decode
from kiplab.plays.play import Play, format_play
from kiplab.widgets.lab import Lab
from tests.fleet.met_stories import SLOW, first_met, met_story

SEED, REPLICATIONS = 5, 4
CRASHES = World(
    crash_mean_us=2 * DAY,
    bounce_mean_us=0,
    tail_lost=0.8,
    crash_restart=LogNormal(900 * SECOND, 0.5),
    catch_up=Exponential(600 * SECOND),
)
UNCLEAN = replace(SLOW, unclean_elections=True)
SHOCKS = World(
    replication_factor=3,
    crash_mean_us=20 * DAY,
    cluster_shock_mean_us=20 * DAY,
    shock_tail_lost=0.7,
)
CALM = World(crash_mean_us=0, bounce_mean_us=20 * DAY)
WHERE = {
    "committed_loss": (CRASHES, "841+903", 1.0),
    "last_replica_loss": (CRASHES, "841+903", 1.0),
    "race_loss": (SLOW, "none", 0.17),
    "unclean_loss": (UNCLEAN, "841+903", 0.1),
    "shock_loss": (SHOCKS, "841+903", 0.5),
    "stale_join": (SLOW, "none", 0.17),
    "offline": (CRASHES, "841+903+704", 1.0),
}
"""A world in which it happens, the feature set, and for how many years."""


def _replication(metric: str) -> int:
    """The first one that has counted some."""
    world, features, years = WHERE[metric]
    return first_met(world, features, metric, seed=SEED, replications=REPLICATIONS, years=years)


def _story(metric: str) -> Play:
    world, features, years = WHERE[metric]
    return met_story(world, features, metric, seed=SEED, replications=REPLICATIONS, years=years)


@pytest.mark.parametrize("metric", list(WHERE))
def test_what_the_kernel_counts_opens_as_a_play_in_which_the_engine_does_the_same(
    metric: str,
) -> None:
    world, features, years = WHERE[metric]
    rules = features_of(features)
    found = schedule_of(
        world,
        seed=SEED,
        replication=_replication(metric),
        until_us=round(years * YEAR),
        features=rules,
        metric=metric,
    )
    ran = kernel_run(found.schedule, rules, compiled=False)
    assert ran.counts[metric] > 0
    assert ran.trace == EngineRun(found.schedule, rules).run()
    run = kiplab.run(_story(metric))
    losses = [line for line in ran.trace if line.what == "lost"]
    assert len(run.lost) == len(losses) == ran.counts["committed_loss"]
    if losses:
        assert run.verdict == "loss"
    states = [line.partition for line in ran.trace if line.partition is not None]
    assert run.partitions[0]["leader_epoch"] == states[-1].leader_epoch
    assert tuple(run.partitions[0]["isr"]) == states[-1].isr


def test_every_metric_that_a_play_can_show_has_a_story() -> None:
    assert set(STORY_METRICS) == set(WHERE), "add to WHERE a world in which it happens"


@pytest.mark.parametrize("metric", ["race_loss", "shock_loss"])
def test_a_story_is_a_play_like_any_other(metric: str) -> None:
    play = _story(metric)
    assert parse(format_play(play), play.name) == play
    run = kiplab.run(play)
    again, _ = decode(run.token)
    assert kiplab.run(again).lost == run.lost
    assert run.timeline().data
    lab = Lab(play)
    assert lab.run.lost == run.lost


def test_times_stand_beside_the_lines_and_never_go_back() -> None:
    beside = [s.comment for s in _story("race_loss").statements if s.comment]
    last = [float(comment.removesuffix(" s").split()[-1]) for comment in beside]
    assert last
    assert last == sorted(last)
    assert last[0] <= 10, "a story begins with what matters"
    assert "crashes" not in _story("race_loss").question, "what came is for the reader to find"


def test_without_a_loss_there_is_no_story_and_a_sentence_says_so() -> None:
    with pytest.raises(NoStoryError, match="replication 0 of seed 5 has no committed_loss in"):
        fleet.story(CALM, seed=SEED, replication=0, years=0.1)


def test_what_no_play_shows_is_told() -> None:
    with pytest.raises(ValueError, match="no play shows 'offline_us'; expected one of"):
        fleet.story(CRASHES, seed=SEED, replication=0, years=1, metric="offline_us")
    with pytest.raises(ValueError, match="say with years="):
        fleet.story(CRASHES, seed=SEED, replication=0)
    slow = World(session_us=18 * SECOND)
    with pytest.raises(ValueError, match="session_s = 9"):
        fleet.story(slow, seed=SEED, replication=0, years=1)
