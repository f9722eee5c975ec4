"""One to five replicas as a Markov chain in which the last one standing has to come back first.

A crash is noticed at once, and who is back is in the ISR at once: for checking simulations that are
set up like that. While somebody leads, everybody who is up is in the ISR. When the last one goes
the ISR keeps its name, and until it is back nobody leads, whoever else is up.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from ..parameters.years import MICROSECONDS_PER_YEAR
from .markov_chain import ChainArc, MarkovChain, rates_by_shares, shares


class StandingRates(msgspec.Struct, frozen=True, kw_only=True):
    """Crashes and planned restarts of each broker, and how fast it is back after either.

    Of any one unit of time; `lost` is the share of crashes after which records are gone.
    """

    replicas: int
    crash: Any
    bounce: Any
    restart: Any
    lost: Any


def last_standing_chain(r: StandingRates) -> MarkovChain:
    """The chain; its events are incidents, expansions, offline and last_replica_loss."""
    leads = [_up(count) for count in range(r.replicas, 0, -1)]
    offline = [_offline(others) for others in range(r.replicas)]
    arcs = [*_while_somebody_leads(r), *_while_nobody_leads(r)]
    return MarkovChain((*leads, *offline), tuple(arc for arc in arcs if arc.rate))


def standing_rates(r: StandingRates, min_insync_replicas: int = 1) -> dict[str, Any]:
    """Everything that such a replica set can tell, per unit of time: events, and microseconds a
    year for what is a time. Raises ValueError where nothing comes back.
    """
    chain = last_standing_chain(r)
    share = shares(chain)
    offline = sum(share[_offline(others)] for others in range(r.replicas))
    under = sum(share[_up(count)] for count in range(1, min(min_insync_replicas, r.replicas + 1)))
    under += offline if min_insync_replicas > 1 else 0
    times = {"offline_us": offline, "under_min_us": under}
    return rates_by_shares(chain) | {
        name: value * MICROSECONDS_PER_YEAR for name, value in times.items()
    }


def _up(count: int) -> str:
    return f"{count} up"


def _offline(others: int) -> str:
    return f"offline, {others} others up"


def _while_somebody_leads(r: StandingRates) -> Iterator[ChainArc]:
    # Whoever leaves the ISR comes back to it: as many expansions as this, in the long run.
    leaves = frozenset({"incidents", "expansions"})
    last = frozenset({"incidents", "offline"})
    for count in range(2, r.replicas + 1):
        yield ChainArc(_up(count), _up(count - 1), count * r.crash, leaves)
        yield ChainArc(_up(count - 1), _up(count), (r.replicas - count + 1) * r.restart)
    yield ChainArc(_up(1), _offline(0), r.crash * r.lost, last | {"last_replica_loss"})
    yield ChainArc(_up(1), _offline(0), r.crash * (1 - r.lost), last)
    # Planned restarts wait until all are well.
    if r.replicas > 1:
        yield ChainArc(_up(r.replicas), _up(r.replicas - 1), r.replicas * r.bounce, leaves)
    else:
        yield ChainArc(_up(1), _offline(0), r.bounce, last)


def _while_nobody_leads(r: StandingRates) -> Iterator[ChainArc]:
    for others in range(r.replicas):
        yield ChainArc(_offline(others), _up(others + 1), r.restart)
        if others + 1 < r.replicas:
            more = (r.replicas - 1 - others) * r.restart
            yield ChainArc(_offline(others), _offline(others + 1), more)
            fewer = (others + 1) * r.crash
            yield ChainArc(_offline(others + 1), _offline(others), fewer, frozenset({"incidents"}))
