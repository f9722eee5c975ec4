"""From rate to story: a loss that the kernel has found opens as a play of the engine."""

from __future__ import annotations

import pytest

from kiplab.engine.events import CommittedLost
from kiplab.fleet.agreement.engine_run import engine_trace
from kiplab.fleet.agreement.kernel_run import kernel_trace
from kiplab.fleet.agreement.story import NoStoryError, play_of, schedule_of_loss
from kiplab.fleet.kernel.feature_sets import features_of
from kiplab.fleet.kernel.simulation import simulate
from kiplab.fleet.kernel.world import DAY, SECOND, Exponential, LogNormal, World
from kiplab.plays.runner import run_play

SEED, REPLICATION = 3, 0
UNTIL = 400 * DAY
ACCELERATED = World(
    crash_mean_us=2 * DAY,
    bounce_mean_us=0,
    tail_lost=0.8,
    crash_restart=LogNormal(900 * SECOND, 0.5),
    catch_up=Exponential(600 * SECOND),
)
CALM = World(crash_mean_us=0, bounce_mean_us=20 * DAY)


def test_a_loss_of_the_kernel_opens_as_a_play_in_which_the_engine_loses_the_same() -> None:
    features = features_of("841+903")
    counts = simulate(
        ACCELERATED,
        seed=SEED,
        first=REPLICATION,
        last=REPLICATION + 1,
        horizon_us=UNTIL,
        feature_sets=["841+903"],
        compiled=False,
    )
    assert counts.total("841+903", "committed_loss") > 0
    schedule = schedule_of_loss(ACCELERATED, SEED, REPLICATION, UNTIL, features)
    lost = [
        told for told in kernel_trace(schedule, features, compiled=False) if told.what == "lost"
    ]
    assert lost
    assert lost == [told for told in engine_trace(schedule, features) if told.what == "lost"]
    steps = run_play(play_of(schedule, features, "a loss")).history.steps
    events = [e for step in steps for e in step.events if isinstance(e, CommittedLost)]
    assert [e.leader for e in events] == [told.broker for told in lost]


def test_without_a_loss_there_is_no_story_and_a_sentence_says_so() -> None:
    with pytest.raises(NoStoryError, match="replication 0 of seed 3 loses nothing"):
        schedule_of_loss(CALM, SEED, REPLICATION, 60 * DAY, features_of("none"))
