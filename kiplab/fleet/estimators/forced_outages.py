"""Forced outages: every replica goes while those before it are still away, weighted by the
probability of that. For any number of replicas whose common outage is too rare for naive years.

A sample begins with one replica that leaves the ISR of all, planned or by a crash. Each of the
others crashes somewhere in the time that all before it are away together. When the last one goes
the partition is offline, and its records are gone if that one lost them.

With eligible leader replicas (KIP-966) those are waited for that left an ISR which was smaller than
min.insync.replicas by then. Who stopped in order leads, and has everything. Otherwise all of them
have crashed: once they have registered, and so are struck off, the last one leads, uncleanly.

Dropped: paths that need one more crash, of the order of crash rate times outage (1e-4 of the
estimate at base rates); cuts, shocks and failovers of controllers.
"""

from functools import partial
from typing import Any

import msgspec

from ...extras import Deferred
from ..parameters.parameter_table import Parameters
from ..parameters.scenario import ELR, SECONDS_PER_YEAR, STRICT
from ..statistics.block_means import Weights
from . import forced_windows, window_draws

np = Deferred("numpy", "an estimate")
ALL_GONE = "all_replicas_gone"
"""The partition is offline then; it also is for other reasons, which a metric of its own counts."""
OUTAGE_METRICS = (ALL_GONE, forced_windows.LAST_REPLICA_LOSS)
UNCLEAN_LOSS, ALL_GONE_US = forced_windows.UNCLEAN_LOSS, "all_gone_us"
ELR_METRICS = (UNCLEAN_LOSS, ALL_GONE_US)
"""What else there is to say of an outage where replicas are waited for."""
_REPLICA_BITS = 48
"""Blocks have smaller numbers: each replica has uniform numbers of its own."""


class _Replica(msgspec.Struct, frozen=True):
    """What is drawn of one: its delays, and the uniform numbers they are of."""

    draws: window_draws.WindowDraws
    u: Any


def outage_block(
    parameters: Parameters,
    kips: frozenset[str] = frozenset(),
    *,
    seed: int,
    block: int,
    samples: int,
    draw: forced_windows.DrawWindows = window_draws.real_draws,
) -> dict[str, Weights]:
    """The weights of one block, by metric; a function of its arguments alone.

    Of the KIPs only those of KIP-966 have a say: the high watermark that waits for
    min.insync.replicas, and eligible leader replicas. Raises ValueError for a single replica and
    for planned restarts that don't wait, MissingExtraError without numpy and scipy.
    """
    if parameters.replication_factor < 2 or not parameters.bounces_wait:
        waits = str(parameters.bounces_wait).lower()
        raise ValueError(
            f"replication_factor={parameters.replication_factor}, bounces_wait={waits}: outages are"
            " forced for two replicas or more, of which planned restarts wait for one another"
        )
    replicas = []
    for replica in range(parameters.replication_factor):
        own = block + (replica << _REPLICA_BITS)
        u = window_draws.uniforms(seed, own, samples)
        replicas.append(_Replica(draw(parameters, u, 0.0), u))
    lost = UNCLEAN_LOSS if ELR in kips else forced_windows.LAST_REPLICA_LOSS
    weights = dict.fromkeys((ALL_GONE, lost, ALL_GONE_US), 0 * replicas[0].u[:, 0])
    each = parameters.bounces_per_year, parameters.crashes_per_year
    # Of what comes while all are in sync a planned restart has its share, and a crash.
    for share, planned in zip((often / sum(each) for often in each), (True, False), strict=True):
        weight, began = _one_after_another(parameters, replicas, planned)
        fatal = _fatal_share(parameters, replicas, began, planned, strict=STRICT in kips)
        alone_s = _leaderless_s(replicas[-1].draws)
        if ELR in kips:
            whole, alone_s = _waited_for(parameters, replicas, began, planned)
            fatal = 0.0 if whole else fatal
        weights[ALL_GONE] = weights[ALL_GONE] + share * weight
        weights[lost] = weights[lost] + share * weight * fatal
        weights[ALL_GONE_US] = weights[ALL_GONE_US] + share * weight * alone_s * 1e6
    return {metric: forced_windows.weights_of(each) for metric, each in weights.items()}


outage_rates = partial(forced_windows.forced_rates, block_of=outage_block)
"""How often all replicas of a partition are gone, and its records by that, per year.

The KIPs are as for `outage_block`. Raises ValueError for a single replica, for planned restarts
that don't wait, for fewer than 30 blocks, MissingExtraError without numpy and scipy.
"""


def _one_after_another(
    p: Parameters, replicas: list[_Replica], planned: bool
) -> tuple[Any, list[Any]]:
    """The probability that all go, and when each of them does."""
    now = 0 * replicas[0].u[:, 0]
    weight, began, until = now + 1.0, [now], _lasts(p, replicas[0], planned)
    for gone, replica in enumerate(replicas[1:], 1):
        others = (len(replicas) - gone) * p.crashes_per_year / SECONDS_PER_YEAR
        window = until - now
        weight = weight * -np.expm1(-others * window)
        now = now + replica.u[:, window_draws.CRASHED_DOWN] * window
        until = np.minimum(until, now + _lasts(p, replica, False))
        began.append(now)
    return weight, began


def _lasts(p: Parameters, replica: _Replica, planned: bool) -> Any:
    """From the moment it goes until it is in the ISR again."""
    draws, u = replica.draws, replica.u
    slow = u[:, window_draws.ASKED_DOWN] < p.slow_alter_partition_share
    answer_s = np.where(slow, p.slow_alter_partition_s, p.alter_partition_ms / 1000)
    gone = draws.clean if planned else draws.registered
    quiet = np.log1p(-u[:, window_draws.ASKED_QUIETLY])
    return gone + np.maximum(draws.ready, draws.level) - answer_s * quiet


def _leaderless_s(last: window_draws.WindowDraws) -> Any:
    """From the fence of the last one until it may lead again."""
    return last.registered + last.ready - last.notice


def _waited_for(
    p: Parameters, replicas: list[_Replica], began: list[Any], planned: bool
) -> tuple[bool, Any]:
    """Whether one of the eligible leader replicas stopped in order and so leads with everything;
    and how long nobody leads.
    """
    eligible = [*zip(replicas, began, strict=True)][-min(p.min_insync_replicas, len(replicas)) :]
    fenced = began[-1] + replicas[-1].draws.notice
    first, stopped = eligible[0][0].draws, began[0]
    if planned and len(eligible) == len(replicas):
        # The session of who stopped lasts on, and no new process is registered meanwhile.
        until = stopped + np.maximum(first.clean, p.session_s) + first.ready
        return True, np.maximum(until - fenced, 0)
    until = fenced + _leaderless_s(replicas[-1].draws)
    for replica, gone in eligible[:-1]:
        until = np.maximum(until, gone + replica.draws.registered)
    return False, until - fenced


def _fatal_share(
    p: Parameters, replicas: list[_Replica], began: list[Any], planned: bool, *, strict: bool
) -> Any:
    """That the last one's crash takes committed records: its disk, or a long enough tail."""
    least = p.min_insync_replicas
    # The one whose absence ends it: too few are left, or the leader waits for it a little.
    at = len(replicas) - max(least, 2)
    draws, since = replicas[at].draws, began[-1] - began[at]
    noticed = 0.0 if planned and at == 0 else draws.commit_pause
    tail = max(p.unflushed_s, 1e-6)
    before = np.clip(1 - since / tail, 0, 1)
    # What was appended until then is committed when the follower is out of the ISR. Where it was
    # the leader that went nobody appended, and who comes after it may not commit.
    leader = 1 / (len(replicas) - at)
    later = np.clip(1 - (since - noticed) / tail, 0, 1)
    after = 1.0 if least == 1 else leader * before + (1 - leader) * later
    if strict and least > 1:
        # KIP-966: an ISR that is too small commits nothing.
        after = before
    fresh = np.where(since < noticed, before, after)
    return window_draws.replaced_share(p) + window_draws.tail_lost_share(p) * fresh


def left_out(p: Parameters, metric: str) -> float:
    """How much a forced estimate of a metric may be off by, beside chance: the share that lacks the
    paths with one more crash than the shortest. It is computed, never tuned.
    """
    if metric == forced_windows.STALE_JOIN:
        # No leader is stopped while a replica is out.
        return window_draws.alone_share(p) + window_draws.met_by_another(p, window_draws.race_s(p))
    if metric in (*OUTAGE_METRICS, *ELR_METRICS) and p.replication_factor > 2:
        # Each of them is away for so long, and every time another may go once more.
        return p.replication_factor * window_draws.met_by_another(p, window_draws.away_s(p))
    return window_draws.met_by_another(p, window_draws.race_s(p))
