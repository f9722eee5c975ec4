"""Two replicas as a Markov chain of 18 states: the exact answer where every delay is exponential.

For checking simulations, not for quoting: exponential restarts put mass near zero that real ones
do not have. The names of states say what the follower is about, and whether an AlterPartition that
takes it back is on its way (`fast`, `slow`).
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ..parameters.parameter_table import Parameters
from ..parameters.years import SECONDS_PER_YEAR
from .markov_chain import ChainArc, MarkovChain, rates_by_shares

STALE_JOIN_AFTER_CRASH = "stale_join_after_crash"
"""A leader of the chain that stops is gone at once: its stale joins all begin with a crash."""
RACE_LOSS, LAST_REPLICA_LOSS = "race_loss", "last_replica_loss"
_BRANCHES = ("fast", "slow")
STATES = (
    "in sync",
    "follower dead, unnoticed",
    "leader dead, unnoticed",
    "follower down",
    "catching up",
    *(
        f"{what}, {branch}"
        for branch in _BRANCHES
        for what in ("asked", "asked and dead", "asked and fenced", "asked and back")
    ),
    "stale in the ISR, down",
    "stale in the ISR, up",
    "offline, records gone",
    "offline, records there",
    "only the stale one, down",
)


class ChainRates(msgspec.Struct, frozen=True, kw_only=True):
    """What the chain is made of, per second; `lost` and `slow` are probabilities.

    `crash_asked` is the rate of a follower's crashes while its AlterPartition is under way.
    """

    crash: Any
    crash_asked: Any
    bounce: Any
    notice: Any
    restart_crashed: Any
    restart_any: Any
    catch_up: Any
    evict: Any
    fast: Any
    slow: Any
    slow_share: Any
    lost: Any


def chain_rates(parameters: Parameters) -> ChainRates:
    """The rates of the exponential counterpart of these parameters.

    A session ends after `session_s` on average, a follower is evicted after `lag_s`, and a broker
    is back after the mean of crashes and bounces: the chain does not tell apart who is down why.
    Planned restarts wait until all is in sync. Raises ValueError where nothing ever crashes.
    """
    crash, bounce = parameters.crashes_per_year, parameters.bounces_per_year
    if not crash:
        raise ValueError("without crashes there is nothing to ask the chain")
    down = crash * parameters.crash_restart_s + bounce * parameters.clean_restart_s
    return ChainRates(
        crash=crash / SECONDS_PER_YEAR,
        crash_asked=crash * parameters.early_crash_factor / SECONDS_PER_YEAR,
        bounce=bounce / SECONDS_PER_YEAR,
        notice=1 / parameters.session_s,
        restart_crashed=1 / parameters.crash_restart_s,
        restart_any=(crash + bounce) / down,
        catch_up=1 / parameters.catch_up_s,
        evict=1 / parameters.lag_s,
        fast=1000 / parameters.alter_partition_ms,
        slow=1 / parameters.slow_alter_partition_s,
        slow_share=parameters.slow_alter_partition_share,
        lost=lost_share(parameters),
    )


def lost_share(parameters: Parameters) -> float:
    """The share of crashes after which committed records are gone: with the page cache or disk."""
    return replaced_share(parameters) + tail_lost_share(parameters)


def tail_lost_share(parameters: Parameters) -> float:
    """The share of crashes that take the page cache and leave the disk."""
    return (1 - replaced_share(parameters)) * parameters.tail_lost


def replaced_share(parameters: Parameters) -> float:
    """The share of crashes after which the disk is empty."""
    crashes = parameters.crashes_per_year
    return parameters.disk_failures_per_year / crashes if crashes else 0.0


def two_replica_chain(r: ChainRates, kips: frozenset[str]) -> MarkovChain:
    """The chain under the KIPs that are on; of 841 and 903, the others have no role in it."""
    arcs = [*_in_isr(r), *_out_of_isr(r), *_stale(r)]
    for branch, applied in zip(_BRANCHES, (r.fast, r.slow), strict=True):
        arcs += _asked(r, branch, applied, kips)
    return MarkovChain(STATES, tuple(arc for arc in arcs if arc.rate))


def yearly_rates(parameters: Parameters, kips: frozenset[str]) -> dict[str, float]:
    """Events per partition and year. Raises ValueError where nothing ever crashes."""
    rates = rates_by_shares(two_replica_chain(chain_rates(parameters), kips))
    every = dict.fromkeys((STALE_JOIN_AFTER_CRASH, RACE_LOSS, LAST_REPLICA_LOSS), 0.0)
    return every | {event: rate * SECONDS_PER_YEAR for event, rate in rates.items()}


def _in_isr(r: ChainRates) -> Iterator[ChainArc]:
    yield ChainArc("in sync", "follower down", 2 * r.bounce)
    yield ChainArc("in sync", "follower dead, unnoticed", r.crash)
    yield ChainArc("in sync", "leader dead, unnoticed", r.crash)
    for dead in ("follower dead, unnoticed", "leader dead, unnoticed"):
        yield ChainArc(dead, "follower down", r.notice)
        yield from _goes_offline(r, dead)


def _out_of_isr(r: ChainRates) -> Iterator[ChainArc]:
    yield ChainArc("follower down", "catching up", r.restart_any)
    yield ChainArc("catching up", "asked, fast", r.catch_up * (1 - r.slow_share))
    yield ChainArc("catching up", "asked, slow", r.catch_up * r.slow_share)
    yield ChainArc("catching up", "follower down", r.crash)
    for alone in ("follower down", "catching up"):
        yield from _goes_offline(r, alone)
    for offline in ("offline, records gone", "offline, records there"):
        yield ChainArc(offline, "catching up", r.restart_crashed)


def _goes_offline(r: ChainRates, alone: str) -> Iterator[ChainArc]:
    """The last replica of the ISR crashes, with its records or without."""
    counted = frozenset({LAST_REPLICA_LOSS})
    yield ChainArc(alone, "offline, records gone", r.crash * r.lost, counted)
    yield ChainArc(alone, "offline, records there", r.crash * (1 - r.lost))


def _asked(r: ChainRates, branch: str, applied: Any, kips: frozenset[str]) -> Iterator[ChainArc]:
    """An AlterPartition that takes the follower back is under way, and not read yet."""
    proposed, dead, fenced, back = (
        f"asked{what}, {branch}" for what in ("", " and dead", " and fenced", " and back")
    )
    yield ChainArc(proposed, "in sync", applied)
    yield ChainArc(proposed, dead, r.crash_asked)
    # The epoch in the request is still the registered one: the join is no stale one.
    yield ChainArc(dead, "follower dead, unnoticed", applied)
    yield ChainArc(dead, fenced, r.notice)
    yield _read(fenced, "stale in the ISR, down", "follower down", applied, "841" in kips)
    yield ChainArc(fenced, back, r.restart_crashed)
    yield _read(back, "stale in the ISR, up", "catching up", applied, "903" in kips)
    yield ChainArc(back, proposed, r.catch_up)
    for alone in (proposed, dead, fenced, back):
        yield from _goes_offline(r, alone)


def _read(origin: str, joined: str, refused: str, applied: Any, guarded: bool) -> ChainArc:
    """The controller reads the request: KIP-841 refuses the fenced, KIP-903 another epoch."""
    if guarded:
        return ChainArc(origin, refused, applied)
    return ChainArc(origin, joined, applied, frozenset({STALE_JOIN_AFTER_CRASH}))


def _stale(r: ChainRates) -> Iterator[ChainArc]:
    """The stale one is in the ISR, until it is evicted, has caught up, or has to lead."""
    down, up, alone = STATES[13], STATES[14], STATES[17]
    yield ChainArc(down, "follower down", r.evict)
    yield ChainArc(down, up, r.restart_crashed)
    yield from _must_lead(r, down, alone, r.crash)
    yield ChainArc(up, "catching up", r.evict)
    yield ChainArc(up, "in sync", r.catch_up)
    yield ChainArc(up, down, r.crash)
    # All replicas are in the ISR, so a planned restart of the good leader need not wait.
    yield from _must_lead(r, up, "follower down", r.crash + r.bounce)
    yield ChainArc(alone, "follower down", r.restart_crashed)


def _must_lead(r: ChainRates, origin: str, target: str, leader_goes: Any) -> Iterator[ChainArc]:
    """What is lost depends on what the stale one lost in its crash."""
    yield ChainArc(origin, target, leader_goes * r.lost, frozenset({RACE_LOSS}))
    yield ChainArc(origin, target, leader_goes * (1 - r.lost))
