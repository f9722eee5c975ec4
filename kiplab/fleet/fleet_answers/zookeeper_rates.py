"""What KIP-380 and KIP-343 are about, by formula: with ZooKeeper, which the kernel does not play.

A test holds both formulas to sampled runs of the engine.
"""

from collections.abc import Callable
from itertools import product
from math import erfc, exp, log, sqrt

import msgspec

from ..parameters.parameter_table import Parameters

_PING_AT_LEAST_S = 10.0
"""A client of ZooKeeper pings thrice in a session, but so often at least: ClientCnxn.SendThread."""
_Z = [n / 4 for n in range(-28, 29)]
"""Points of the standard normal: a sum over them with `_WEIGHTS` is a mean over all of it, to far
more digits than any parameter has."""
_WEIGHTS = [exp(-z * z / 2) / sum(exp(-x * x / 2) for x in _Z) for z in _Z]
_SHARES = [(n + 0.5) / 8 for n in range(8)]
"""Points of a uniform distribution."""
TimeAt = Callable[[float], float]
"""A time (s) by the point of the standard normal that has the same share below it."""


class ZooKeeperRates(msgspec.Struct, frozen=True, kw_only=True):
    """`missed_bounces` are per broker and year, without KIP-380; with it there are none.
    `by_shape` has them by the shape of planned restarts of the same mean. `exposed_s` are seconds
    per partition and year without KIP-343, `exposed_343_s` with it.
    """

    missed_bounces: float
    by_shape: dict[str, float]
    exposed_s: float
    exposed_343_s: float

    @property
    def sentences(self) -> tuple[str, str]:
        """One for each KIP, with what the number depends on."""
        shapes = ", ".join(f"{rate:.2g} if {shape}" for shape, rate in self.by_shape.items())
        if not self.exposed_s:
            kip_343 = "KIP-343 has nothing to prevent: no network is cut (network_cuts_per_year)."
        else:
            kip_343 = (
                f"KIP-343 leaves {self.exposed_343_s:.3g} of {self.exposed_s:.3g} s per partition"
                " and year in which a leader that the controller does not reach answers clients."
            )
        return (
            f"KIP-380 prevents {self.missed_bounces:.2g} restarts per broker and year that the"
            f" controller does not notice. The shape of planned restarts decides: {shapes}.",
            kip_343,
        )


def zookeeper_rates(p: Parameters) -> ZooKeeperRates:
    """Both metrics of a fleet whose controller uses ZooKeeper: a formula, without sampling."""
    by_shape = {shape: _missed_bounces(p, draw) for shape, draw in _restarts(p).items()}
    return ZooKeeperRates(
        missed_bounces=by_shape["log-normal"],
        by_shape=by_shape,
        exposed_s=p.network_cuts_per_year * p.network_cut_s,
        exposed_343_s=_exposed_343_s(p),
    )


def _missed_bounces(p: Parameters, restart: TimeAt) -> float:
    """The controller learns of a bounce from the list of registered brokers, which it reads when it
    comes to ZooKeeper's event. If the broker is registered again by then, the list is the same.

    With Q how late the controller is (log-normal), it misses a bounce of length B with the
    probability P(Q > B).

    - A planned restart: B = stop + restart + ready, from the request to stop on. The process
      registers when it is ready.
    - A crash: the list changes only when the session ends, E = session - A after the crash, where A
      is how old the last ping is (uniform over a period of pings). A process that is ready before E
      tries again every `heartbeat_s`. B is the time from E to the first try after it.

    The rates of both are added: a bounce that waits, or meets another, is left out.
    """
    ready = _exponential(p.ready_s)
    planned = _mean(lambda away_s: _later(p, p.shutdown_s + away_s), restart, ready)
    ping_s = min(p.zookeeper_session_s / 3, _PING_AT_LEAST_S)
    ends = [p.zookeeper_session_s - share * ping_s for share in _SHARES]

    def crashed(away_s: float) -> float:
        after = (away_s - end for end in ends)
        return sum(_later(p, s if s > 0 else s % p.heartbeat_s) for s in after) / len(ends)

    crash_restart = _log_normal(p.crash_restart_s, p.crash_restart_sigma)
    return p.bounces_per_year * planned + p.crashes_per_year * _mean(crashed, crash_restart, ready)


def _exposed_343_s(p: Parameters) -> float:
    """A leader that is cut off from the controller names itself to clients until the cut ends. With
    KIP-343 it fences itself, a timeout T after its last heartbeat that was answered, if that is
    sooner. The cut takes L (exponential, mean m), the heartbeat is A old (uniform up to b):

    E min(L, (T - A)+) = m E(1 - exp(-(T - A)+ / m)), and with a = min(b, T) this is
    m/b (a - m (exp((a - T)/m) - exp(-T/m))).

    A partition has one leader: its rate is the rate of cuts of one broker.
    """
    mean, timeout, beat = p.network_cut_s, p.heartbeat_timeout_s, p.heartbeat_s
    oldest = min(beat, timeout)
    unserved = mean * (exp((oldest - timeout) / mean) - exp(-timeout / mean))
    return p.network_cuts_per_year * mean * (oldest - unserved) / beat


# --- distributions --------------------------------------------------------------------------------


def _restarts(p: Parameters) -> dict[str, TimeAt]:
    """A planned restart, by its shape; of each the mean is the parameter's."""
    mean, sigma = p.clean_restart_s, p.clean_restart_sigma
    return {
        "log-normal": _log_normal(mean * exp(-sigma * sigma / 2), sigma),
        "exponential": _exponential(mean),
        "constant": lambda _: mean,
    }


def _log_normal(median: float, sigma: float) -> TimeAt:
    return lambda z: median * exp(sigma * z)


def _exponential(mean: float) -> TimeAt:
    return lambda z: -mean * log(_above(z))


def _above(z: float) -> float:
    """The share of the standard normal above that point."""
    return erfc(z / sqrt(2)) / 2


def _later(p: Parameters, bounce_s: float) -> float:
    """P(Q > bounce_s)"""
    late = log(bounce_s / p.queue_age_s) if bounce_s > 0 else -float("inf")
    return _above(late / p.queue_age_sigma) if p.queue_age_sigma else float(late < 0)


def _mean(of: Callable[[float], float], one: TimeAt, other: TimeAt) -> float:
    """Over the sum of two independent times."""
    ones = [(weight, one(z)) for weight, z in zip(_WEIGHTS, _Z, strict=True)]
    others = [(weight, other(z)) for weight, z in zip(_WEIGHTS, _Z, strict=True)]
    return sum(w * v * of(x + y) for (w, x), (v, y) in product(ones, others))
