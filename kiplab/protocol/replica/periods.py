"""How often a broker process does its rounds, whoever controls the cluster."""

from __future__ import annotations

from .broker_state import Timers

LAG_CHECK_MS = 15_000
"""Half of replica.lag.time.max.ms."""
CHECKPOINT_MS = 5_000
"""replica.high.watermark.checkpoint.interval.ms"""
FLUSH_MS = 30_000
"""What a Linux page cache keeps dirty pages for by default; Kafka itself does not force it."""


def first_timers(now_ms: int | None) -> Timers:
    """When a process that starts now has its first rounds; all 0 without a clock."""
    if now_ms is None:
        return Timers()
    return Timers(
        fetch=now_ms,
        lag_check=now_ms + LAG_CHECK_MS,
        retry=now_ms,
        checkpoint=now_ms + CHECKPOINT_MS,
        flush=now_ms + FLUSH_MS,
    )
