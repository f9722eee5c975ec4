"""How often a broker process does its rounds, whoever controls the cluster.

A process has a few timers: the look for followers that lag, the checkpoint of high watermarks, the
operating system's flush, the fetchers, the pause before a request is sent again. In a timed run
each says when it is due next; without a clock all of them are 0, so that equal situations are equal
states, and a round is made when somebody asks for it.
"""

from __future__ import annotations

from .broker_state import Timers

LAG_CHECK_MS = 15_000
"""Half of replica.lag.time.max.ms."""
CHECKPOINT_MS = 5_000
"""replica.high.watermark.checkpoint.interval.ms"""
FLUSH_MS = 30_000
"""What a Linux page cache keeps dirty pages for by default; Kafka itself does not force it."""


def first_timers(now_ms: int | None) -> Timers:
    """When a process that starts now has its first rounds; all 0 without a clock.

    Source: ReplicaManager.startup and startHighWatermarkCheckPointThread (3.5.0).
    """
    if now_ms is None:
        return Timers()
    return Timers(
        fetch=now_ms,
        lag_check=now_ms + LAG_CHECK_MS,
        retry=now_ms,
        checkpoint=now_ms + CHECKPOINT_MS,
        flush=now_ms + FLUSH_MS,
    )
