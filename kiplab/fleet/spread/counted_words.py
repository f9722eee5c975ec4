"""Words of 32 bits by counting, many at once: the kernel's Philox over arrays."""

from typing import Any

from ...extras import needed_by
from ..kernel.machine_code import plain
from ..kernel.philox import philox

REPLICA_SETS, PARTITIONS, LEADERS, SHOCKS, INCIDENTS = range(1 << 16, (1 << 16) + 5)
"""What a word is for. The kernel's own streams have smaller numbers."""


def counted_words(seed: int, purpose: int, count: int) -> Any:
    """The first `count` words for one purpose, as an array; a function of seed and purpose.

    Raises MissingExtraError without numpy.
    """
    with needed_by("a placement of partitions"):
        import numpy as np

    ordinals = np.arange(-(-count // 4), dtype=np.int64)
    return np.stack(words_at(seed, 0, ordinals, 0, purpose), axis=1).reshape(-1)[:count]


def words_at(seed: int, replication: Any, ordinal: Any, subject: Any, purpose: int) -> Any:
    """Four words for each of some replications or ordinals (arrays of whole numbers)."""
    return plain(philox)(seed, replication, ordinal, 0, subject, purpose)
