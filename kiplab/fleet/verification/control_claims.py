"""The kernel's counts that only ZooKeeper mode has, beside the engine's own runs of each event.

Of KIP-380 and KIP-343 the kernel knows a sentence each: a request is older than a bounce lasts; a
broker that is cut off fences itself. The engine has their rules. It runs the same replications, and
every planned stop and every cut in them once more, with a controller that is late, or silent.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from operator import attrgetter

from msgspec.structs import replace

from ...protocol.releases import Mode
from ..agreement.compared_sets import COMPARED_WITH_ZOOKEEPER
from ..agreement.effective_events import EffectiveEvent, effective_events
from ..agreement.late_controller import LateBounce, late_bounce
from ..agreement.silent_controller import FEATURES_OF_343, served_while_cut_ms
from ..kernel.simulation import simulate
from ..kernel.world import SECOND, Exponential, World
from .refereed import Certain, Claim, Referee

_MINUTE = 60 * SECOND
HORIZON_US = 5 * _MINUTE
BOUNCING = World(
    zookeeper=True,
    replication_factor=3,
    crash_mean_us=0,
    failover_mean_us=0,
    bounce_mean_us=2 * _MINUTE,
    shutdown=Exponential(SECOND),
    clean_restart=Exponential(2 * SECOND),
    ready=Exponential(SECOND // 2),
    catch_up=Exponential(2 * SECOND),
)
"""Restarts so quick that some requests outlive them."""
CUT_OFF = replace(
    BOUNCING,
    bounce_mean_us=0,
    cut_mean_us=2 * _MINUTE,
    cut_lasts=Exponential(15 * SECOND),
    heartbeat_timeout_us=9 * SECOND,
)
_FEWEST, _USUAL = 6, 12
"""Replications: so many however small the effort, and at effort 1."""
_MS = 1_000
_ROOM = 0.001
"""The engine's clock is in whole milliseconds, of which a cut has thousands."""


def control_claims(effort: float, seed: int) -> Iterator[Claim]:
    """Replications in proportion to `effort`; the same number in both, or it is a disagreement."""
    many = max(_FEWEST, round(_USUAL * effort))
    yield from _bounces(many, seed)
    yield from _cuts(many, seed)


def _bounces(many: int, seed: int) -> Iterator[Claim]:
    outcomes = cache(partial(_every, BOUNCING, many, seed))
    obeyed = "requests that the next incarnation obeys"
    unknown = "incarnations that nobody notices"
    metric = "stale_control_request"
    for what, counts in ((obeyed, attrgetter("applied")), (unknown, attrgetter("missed"))):
        regime = f"every bounce, its controller late: {what}"
        for features in ("none", "380"):
            ours = _counted(BOUNCING, features, metric, many, seed)
            theirs = partial(_bounced, outcomes, features, counts)
            yield Claim(metric, features, Referee.ENGINE, regime, ours, theirs, mode=Mode.ZOOKEEPER)


def _cuts(many: int, seed: int) -> Iterator[Claim]:
    outcomes = cache(partial(_every, CUT_OFF, many, seed))
    metric, regime = "stale_metadata_us", "every cut, KIP-343 as it is written"
    for features in FEATURES_OF_343:
        ours = _counted(CUT_OFF, features, metric, many, seed)
        theirs = partial(_served, outcomes, features)
        yield Claim(metric, features, Referee.ENGINE, regime, ours, theirs, _ROOM, Mode.ZOOKEEPER)


def _counted(
    world: World, features: str, metric: str, many: int, seed: int
) -> Callable[[], Certain]:
    run = partial(simulate, world, seed=seed, first=0, last=many, horizon_us=HORIZON_US)
    return lambda: Certain(run(feature_sets=(features,)).total(features, metric))


def _every(world: World, many: int, seed: int) -> list[EffectiveEvent]:
    events = partial(effective_events, world, seed=seed, until_us=HORIZON_US)
    return [event for number in range(many) for event in events(replication=number)]


Effects = Callable[[], list[EffectiveEvent]]


def _bounced(effects: Effects, features: str, counts: Callable[[LateBounce], bool]) -> Certain:
    return Certain(sum(counts(bounced(effect, features)) for effect in effects()))


def bounced(effect: EffectiveEvent, features: str) -> LateBounce:
    """The engine's bounce, under a feature set of COMPARED_WITH_ZOOKEEPER."""
    cluster = replace(effect.cluster, features=COMPARED_WITH_ZOOKEEPER[features])
    return late_bounce(cluster, effect.event)


def _served(effects: Effects, features: str) -> Certain:
    return Certain(sum(served_us(effect, features) for effect in effects()))


def served_us(effect: EffectiveEvent, features: str) -> int:
    """How long the engine's leader tells what it knew, under a set of FEATURES_OF_343."""
    timeout_ms = CUT_OFF.heartbeat_timeout_us // _MS
    silent_ms, lasts_ms = effect.event.silent // _MS, effect.event.lasts // _MS
    rules = FEATURES_OF_343[features]
    return _MS * served_while_cut_ms(rules, silent_ms, lasts_ms, timeout_ms)
