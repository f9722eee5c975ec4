"""From rate to story: an event counted in a replication opens as a play of the engine."""

from ...plays.play import Play
from ..kernel.feature_sets import features_of
from ..kernel.world import DAY, HOUR, SECOND, World
from ..parameters.as_world import as_world, horizon_us
from ..parameters.scenario import Scenario
from ..parameters.years import MICROSECONDS_PER_YEAR
from .story_play import UnplayableError, play_of
from .story_schedule import NoStoryError, StorySchedule, called, schedule_of


def story(
    scenario: Scenario | World,
    *,
    seed: int,
    replication: int,
    features: str = "none",
    metric: str = "committed_loss",
    years: float | None = None,
) -> Play:
    """The first `metric` of a replication under a feature set, as a play: `kiplab.Lab(play)`.

    The play begins with all replicas in sync, shortly before the first event that matters, and ends
    with what was counted; what lay quiet before is left out. Beside its lines stands when they
    were, in seconds since its beginning; its question says when that was, and not what came.
    `metric` is a loss (``"committed_loss"``, ``"race_loss"``, ``"last_replica_loss"``,
    ``"unclean_loss"``, ``"shock_loss"``), ``"stale_join"`` or ``"offline"``; `years` is how far to
    look, by default a scenario's horizon. `kernel.simulation.simulate` says which replications
    have counted some. A weighed estimate has no replications: what it counts is too rare for any,
    and a world in which the same happens more often shows it.

    Raises NoStoryError where there is none, ValueError for a feature set or a metric that no play
    shows, for other periods than the engine's, and for a world without `years`.
    """
    world, until = _world_of(scenario, years)
    rules = features_of(features)
    chosen = schedule_of(
        world, seed=seed, replication=replication, until_us=until, features=rules, metric=metric
    )
    which = f"replication {replication} of seed {seed}, KIPs: {features}"
    what = f"{metric.replace('_', ' ')} {_when(chosen)}"
    try:
        return play_of(
            chosen.schedule,
            rules,
            title=f"{called(metric).capitalize()} of the fleet: {which}",
            question=f"What led to the {what}?",
        )
    except UnplayableError as reason:
        raise NoStoryError(
            f"the {metric} of replication {replication} of seed {seed} {reason}: take another one"
        ) from None


def _world_of(scenario: Scenario | World, years: float | None) -> tuple[World, int]:
    until = None if years is None else round(years * MICROSECONDS_PER_YEAR)
    if isinstance(scenario, Scenario):
        return as_world(scenario), until or horizon_us(scenario.parameters)
    if until is None:
        raise ValueError("a world has no horizon: say with years= how far to look")
    return scenario, until


def _when(story: StorySchedule) -> str:
    days, rest = divmod(story.begins_us, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, 60 * SECOND)
    return f"on day {days} at {hours:02d}:{minutes:02d}:{rest // SECOND:02d}"
