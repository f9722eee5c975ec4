"""Markov chains of a replica set: how often each event happens, exactly.

Shares of time come from the elimination of Grassmann, Taksar and Heyman, which never subtracts: one
of 1e-15 is as precise as one of 1/2. With fractions in, fractions come out.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
from numpy import exp, inf

from kiplab.fleet.estimators import window_draws
from kiplab.fleet.estimators.window_draws import WindowDraws, exponential, lost_share
from kiplab.fleet.parameters import Parameters
from kiplab.fleet.parameters.scenario import MICROSECONDS_PER_YEAR, SECONDS_PER_YEAR

Arc = tuple[str, str, Any, str]
"""From one state to another, at a rate; the events that it is, with spaces between them."""


class Chain(NamedTuple):
    """States in the order of elimination, the one it comes back to first; arcs between them."""

    states: tuple[str, ...]
    arcs: tuple[Arc, ...]


def shares(chain: Chain) -> dict[str, Any]:
    """The share of time in each state, in the long run."""
    at = {name: n for n, name in enumerate(chain.states)}
    rates: list[list[Any]] = [[0] * len(at) for _ in at]
    for origin, target, rate, _ in chain.arcs:
        rates[at[origin]][at[target]] += rate
    leaving, weights = _eliminated(rates), [1]
    for n in range(1, len(rates)):
        into = sum(weight * rates[k][n] for k, weight in enumerate(weights))
        weights.append(into / leaving[n])
    return {name: weight / sum(weights) for name, weight in zip(at, weights, strict=True)}


def _eliminated(rates: list[list[Any]]) -> list[Any]:
    """Cut out one state after another, from the last: who came to it goes where it would go on.

    Changes `rates`, and gives the rate at which each is left for one that is still there.
    """
    leaving: list[Any] = [0] * len(rates)
    for n in range(len(rates) - 1, 0, -1):
        leaving[n] = sum(rates[n][:n])
        for i in range(n):
            for j in range(n):
                if j != i:
                    rates[i][j] += rates[i][n] * rates[n][j] / leaving[n]
    return leaving


def rates_of(chain: Chain) -> dict[str, Any]:
    """How often each event happens per unit of time."""
    share = shares(chain)
    rates: dict[str, Any] = {}
    for origin, _, rate, events in chain.arcs:
        for event in events.split():
            rates[event] = rates.get(event, 0) + share[origin] * rate
    return rates


def _chain(states: Sequence[str], arcs: Sequence[Arc]) -> Chain:
    return Chain(tuple(states), tuple(arc for arc in arcs if arc[2]))


# --- who goes last comes back first ---------------------------------------------------------------


class StandingRates(msgspec.Struct, frozen=True):
    """Crashes and planned restarts of each broker, and how fast it is back after either, of any
    one unit of time; `lost` is the share of crashes after which records are gone.
    """

    replicas: int
    crash: Any
    bounce: Any
    restart: Any
    lost: Any


def standing_chain(r: StandingRates) -> Chain:
    """A crash is noticed at once, and who is back is in the ISR at once. When the last one goes the
    ISR keeps its name, and until it is back nobody leads, whoever else is up.
    """
    up, offline = [f"{n} up" for n in range(r.replicas + 1)], [f"+{n}" for n in range(r.replicas)]
    arcs: list[Arc] = []
    for n in range(2, r.replicas + 1):
        # Whoever leaves the ISR comes back to it: as many expansions, in the long run.
        arcs.append((up[n], up[n - 1], n * r.crash, "incidents expansions"))
        arcs.append((up[n - 1], up[n], (r.replicas - n + 1) * r.restart, ""))
    fatal = r.crash * r.lost
    arcs.append((up[1], offline[0], fatal, "incidents offline last_replica_loss"))
    arcs.append((up[1], offline[0], r.crash - fatal, "incidents offline"))
    # Planned restarts wait until all are well.
    if r.replicas == 1:
        arcs.append((up[1], offline[0], r.bounce, "incidents offline"))
    else:
        arcs.append((up[-1], up[-2], r.replicas * r.bounce, "incidents expansions"))
    for n in range(r.replicas):
        arcs.append((offline[n], up[n + 1], r.restart, ""))
        if n:
            arcs.append((offline[n - 1], offline[n], (r.replicas - n) * r.restart, ""))
            arcs.append((offline[n], offline[n - 1], n * r.crash, "incidents"))
    return _chain([*up[:0:-1], *offline], arcs)


def standing_rates(r: StandingRates, min_insync_replicas: int = 1) -> dict[str, Any]:
    """Everything that such a replica set can tell, per unit of time; times in us a year."""
    chain = standing_chain(r)
    share = shares(chain)
    offline = sum(share[f"+{n}"] for n in range(r.replicas))
    under = sum(share[f"{n} up"] for n in range(1, min_insync_replicas))
    under += offline if min_insync_replicas > 1 else 0
    times = {"offline_us": offline, "under_min_us": under}
    return rates_of(chain) | {name: MICROSECONDS_PER_YEAR * one for name, one in times.items()}


# --- eligible leader replicas ---------------------------------------------------------------------


def elr_chain(r: StandingRates) -> Chain:
    """Two replicas, min.insync.replicas=2; who is back is in the ISR at once. A state says of both
    what they are, who went last stands last: "u" is down and eligible after a crash, "c" after a
    planned restart, "n" is down and struck off, "x" is up, struck off, and waits. "!" if who went
    last has no records. `lost` are disks.

    Left out: a leader without records that loses them once more before it has new ones.
    """
    arcs: list[Arc] = [
        ("both", "u", 2 * r.crash, "incidents"),
        ("both", "c", 2 * r.bounce, "incidents"),
        *((alone, "both", r.restart, "") for alone in ("u", "c", "n", "cx")),
        # Who stopped in order is back, and leads with everything.
        ("c", "cu", r.crash, "incidents offline"),
        ("cu", "u", r.restart, ""),
        ("cu", "cx", r.restart, ""),
        ("cx", "cn", r.crash, "incidents"),
        ("cn", "n", r.restart, ""),
        ("cn", "cx", r.restart, ""),
    ]
    for flag, share in (("", 1 - r.lost), ("!", r.lost)):
        loss, uu, xu, ux, nu = "unclean_loss" * bool(flag), *(f"{s}{flag}" for s in _UNCLEAN)
        arcs += [
            ("u", uu, r.crash * share, "incidents offline"),
            ("n", nu, r.crash * share, "incidents offline"),
            (uu, xu, r.restart, ""),
            (uu, ux, r.restart, ""),
            # Once the other one is struck off, who went last leads, uncleanly.
            (xu, "both", r.restart, loss),
            (ux, "both", r.restart, loss),
            (nu, "n", r.restart, loss),
            (nu, xu, r.restart, ""),
            (xu, nu, r.crash, "incidents"),
            (ux, "uu!", r.crash * (1 if flag else r.lost), "incidents"),
            (ux, "uu", 0 if flag else r.crash * (1 - r.lost), "incidents"),
        ]
    return _chain(list(dict.fromkeys(state for arc in arcs for state in arc[:2])), arcs)


_UNCLEAN = ("uu", "xu", "ux", "nu")


def elr_rates(r: StandingRates) -> dict[str, Any]:
    """Events per unit of time; microseconds a year without a leader."""
    chain = elr_chain(r)
    led = sum(share for state, share in shares(chain).items() if state in ("both", "u", "c", "n"))
    return rates_of(chain) | {"offline_us": MICROSECONDS_PER_YEAR * (1 - led)}


# --- unclean elections ----------------------------------------------------------------------------


class UncleanRates(msgspec.Struct, frozen=True, kw_only=True):
    """Crashes of each broker, how fast it is back, and then level. `recovered`: how fast a leader
    recovers as KIP-704 wants it; 0 as Kafka is built: it does so until the ISR grows.
    """

    crash: Any
    restart: Any
    level: Any
    recovered: Any = 0


def unclean_chain(r: UncleanRates) -> Chain:
    """Two replicas; a follower that is up and not caught up may lead all the same."""
    arcs: list[Arc] = [("in sync", "down", 2 * r.crash, "incidents")]
    for flag in ("", "!"):
        down, behind, both = (f"{state}{flag}" for state in ("down", "behind", "both"))
        arcs += [
            (down, behind, r.restart, ""),
            (down, both, r.crash, "incidents offline"),
            # A leader that recovers, as KIP-704 wants it, adds no replica to the ISR.
            (behind, "in sync", 0 if flag and r.recovered else r.level, ""),
            (behind, down, r.crash, "incidents"),
            (behind, "down!", r.crash, "incidents unclean_loss"),
            # Whoever is back first leads: the one with the records, or the one without.
            (both, down, r.restart, ""),
            (both, "down!", r.restart, "unclean_loss"),
        ]
    arcs += [(f"{state}!", state, r.recovered, "") for state in ("down", "behind")]
    return _chain(["in sync", "down", "behind", "both", "down!", "behind!", "both!"], arcs)


def unclean_rates(r: UncleanRates) -> dict[str, Any]:
    """Events per unit of time, and microseconds a year for what is a time."""
    chain = unclean_chain(r)
    share = shares(chain)
    times = {
        "offline_us": share["both"] + share["both!"],
        "recovery_us": share["down!"] + share["behind!"] + share["both!"],
    }
    return rates_of(chain) | {name: MICROSECONDS_PER_YEAR * one for name, one in times.items()}


# --- the race -------------------------------------------------------------------------------------


class RaceRates(msgspec.Struct, frozen=True, kw_only=True):
    """Per second; `lost` and `slow_share` are probabilities. `crash_asked` is the rate of a
    follower's crashes while its AlterPartition is under way.
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


def race_rates(p: Parameters) -> RaceRates:
    """The exponential counterpart of these parameters. A broker is back after the mean of crashes
    and bounces: the chain does not tell apart who is down why.
    """
    down = p.crashes_per_year * p.crash_restart_s + p.bounces_per_year * p.clean_restart_s
    return RaceRates(
        crash=p.crashes_per_year / SECONDS_PER_YEAR,
        crash_asked=p.crashes_per_year * p.early_crash_factor / SECONDS_PER_YEAR,
        bounce=p.bounces_per_year / SECONDS_PER_YEAR,
        notice=1 / p.session_s,
        restart_crashed=1 / p.crash_restart_s,
        restart_any=(p.crashes_per_year + p.bounces_per_year) / down,
        catch_up=1 / p.catch_up_s,
        evict=1 / p.lag_s,
        fast=1000 / p.alter_partition_ms,
        slow=1 / p.slow_alter_partition_s,
        slow_share=p.slow_alter_partition_share,
        lost=lost_share(p),
    )


def race_chain(r: RaceRates, kips: frozenset[str]) -> Chain:
    """Two replicas under KIPs, of which 841 and 903 have a role: what the follower is about."""
    arcs: list[Arc] = [
        ("in sync", "down", 2 * r.bounce, ""),
        ("in sync", "dead", r.crash, ""),
        ("in sync", "leader dead", r.crash, ""),
        ("dead", "down", r.notice, ""),
        ("leader dead", "down", r.notice, ""),
        ("down", "behind", r.restart_any, ""),
        ("behind", "asked, fast", r.catch_up * (1 - r.slow_share), ""),
        ("behind", "asked, slow", r.catch_up * r.slow_share, ""),
        ("behind", "down", r.crash, ""),
        ("offline", "behind", r.restart_crashed, ""),
        # Stale in the ISR, until it is evicted, has caught up, or has to lead.
        ("stale, down", "down", r.evict, ""),
        ("stale, down", "stale", r.restart_crashed, ""),
        ("stale, down", "leads, down", r.crash * r.lost, "race_loss"),
        ("stale, down", "leads, down", r.crash * (1 - r.lost), ""),
        ("stale", "behind", r.evict, ""),
        ("stale", "in sync", r.catch_up, ""),
        ("stale", "stale, down", r.crash, ""),
        # All replicas are in the ISR, so a planned restart of the good leader need not wait.
        ("stale", "down", (r.crash + r.bounce) * r.lost, "race_loss"),
        ("stale", "down", (r.crash + r.bounce) * (1 - r.lost), ""),
        ("leads, down", "down", r.restart_crashed, ""),
    ]
    arcs += [*_asked(r, "fast", r.fast, kips), *_asked(r, "slow", r.slow, kips)]
    alone = ["dead", "leader dead", "down", "behind"]
    alone += [arc[0] for arc in arcs if arc[0].startswith("asked")]
    for state in dict.fromkeys(alone):
        arcs.append((state, "offline", r.crash * r.lost, "last_replica_loss"))
        arcs.append((state, "offline", r.crash * (1 - r.lost), ""))
    return _chain(list(dict.fromkeys(state for arc in arcs for state in arc[:2])), arcs)


def _asked(r: RaceRates, branch: str, applied: Any, kips: frozenset[str]) -> Iterator[Arc]:
    """An AlterPartition that takes the follower back is under way, and not read yet. KIP-841
    refuses the fenced, KIP-903 another epoch.
    """
    asked, dead, fenced, back = (f"asked{what}, {branch}" for what in ("", "-", "--", "---"))
    join = "stale_join_after_crash"
    yield asked, "in sync", applied, ""
    yield asked, dead, r.crash_asked, ""
    # The epoch in the request is still the registered one: the join is no stale one.
    yield dead, "dead", applied, ""
    yield dead, fenced, r.notice, ""
    yield (fenced, "down", applied, "") if "841" in kips else (fenced, "stale, down", applied, join)
    yield fenced, back, r.restart_crashed, ""
    yield (back, "behind", applied, "") if "903" in kips else (back, "stale", applied, join)
    yield back, asked, r.catch_up, ""


def yearly_rates(p: Parameters, kips: frozenset[str]) -> dict[str, float]:
    """Events of the race per partition and year."""
    every = dict.fromkeys(("stale_join_after_crash", "race_loss", "last_replica_loss"), 0.0)
    rates = rates_of(race_chain(race_rates(p), kips))
    return every | {event: rate * SECONDS_PER_YEAR for event, rate in rates.items()}


def exponential_draws(p: Parameters, u: Any, tilt: float) -> WindowDraws:
    """The delays of the race as its chain has them. With a tilt the rate of restarts is raised by
    that of slow requests.
    """
    more, rate = 1 / p.slow_alter_partition_s if tilt else 0.0, 1 / p.crash_restart_s
    restart = exponential(1 / (rate + more), u[:, window_draws.RESTART])
    notice = exponential(p.session_s, u[:, window_draws.NOTICE])
    level = exponential(p.catch_up_s, u[:, window_draws.LEVEL])
    return WindowDraws(
        notice=notice,
        registered=notice + restart,
        ready=0 * level,
        level=level,
        earlier=exponential(p.catch_up_s, u[:, window_draws.EARLIER]),
        evict_least=0.0,
        evict_more=exponential(p.lag_s, u[:, window_draws.EVICT]),
        # In the chain a leader that crashes is gone, and who is to leave is out, at once.
        evict_asked=((1.0, 0.0),),
        leader_notice=0.0,
        clean=exponential(p.clean_restart_s, u[:, window_draws.CLEAN]),
        # In the chain no leader stops.
        stopping=inf,
        commit_pause=0.0,
        stale_until=notice + restart + level,
        tilt=rate / (rate + more) * exp(more * restart),
    )
