"""Two replicas with unclean elections as a Markov chain: what is lost, and how long a leader counts
as recovering.

A crash is noticed at once, and a follower that has caught up is in the ISR at once. A follower that
is up and not caught up lacks what was committed without it, and may lead all the same. There are no
planned restarts, and a crash leaves the log as it is.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ..parameters.years import MICROSECONDS_PER_YEAR
from .markov_chain import ChainArc, MarkovChain, rates_by_shares, shares

_STATES = ("follower down", "follower behind", "both down")
_RECOVERING = ", recovering"


class UncleanRates(msgspec.Struct, frozen=True, kw_only=True):
    """Crashes of each broker, how fast it is back, and then level, of any one unit of time.

    `recovered`: how fast a leader recovers as KIP-704 wants it, which has to be fast against the
    rest; 0 as Kafka is built: a leader counts as recovering until the ISR grows.
    """

    crash: Any
    restart: Any
    level: Any
    recovered: Any = 0


def unclean_election_chain(r: UncleanRates) -> MarkovChain:
    """The chain; its events are incidents, offline and unclean_loss."""
    states = ("in sync", *(state + flag for flag in ("", _RECOVERING) for state in _STATES))
    crash = frozenset({"incidents"})
    arcs = [ChainArc("in sync", "follower down", 2 * r.crash, crash)]
    for flag in ("", _RECOVERING):
        arcs += _without_a_follower(r, flag)
    if r.recovered:
        for state in _STATES[:2]:
            arcs.append(ChainArc(state + _RECOVERING, state, r.recovered))
    return MarkovChain(states, tuple(arc for arc in arcs if arc.rate))


def unclean_rates(r: UncleanRates) -> dict[str, Any]:
    """Events per unit of time, and microseconds a year for what is a time.

    Raises ValueError where nothing comes back.
    """
    chain = unclean_election_chain(r)
    share = shares(chain)
    offline = share["both down"] + share["both down" + _RECOVERING]
    recovering = sum(share[state + _RECOVERING] for state in _STATES)
    return rates_by_shares(chain) | {
        "offline_us": offline * MICROSECONDS_PER_YEAR,
        "recovery_us": recovering * MICROSECONDS_PER_YEAR,
    }


def _without_a_follower(r: UncleanRates, flag: str) -> Iterator[ChainArc]:
    down, behind, both = (state + flag for state in _STATES)
    crash, lost = frozenset({"incidents"}), frozenset({"unclean_loss"})
    unclean = "follower down" + _RECOVERING
    yield ChainArc(down, behind, r.restart)
    yield ChainArc(down, both, r.crash, crash | {"offline"})
    # A leader that recovers, as KIP-704 wants it, adds no replica to the ISR.
    if not (flag and r.recovered):
        yield ChainArc(behind, "in sync", r.level)
    yield ChainArc(behind, down, r.crash, crash)
    yield ChainArc(behind, unclean, r.crash, crash | lost)
    # Whoever is back first leads: the one with the records, or the one without.
    yield ChainArc(both, down, r.restart)
    yield ChainArc(both, unclean, r.restart, lost)
