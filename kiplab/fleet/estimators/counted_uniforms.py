"""Uniform numbers that are a function of seed and block (numpy's Philox, its raw words), and sums
that do not depend on the machine.
"""

from typing import Any

from ...extras import needed_by
from ..statistics.block_means import Weights


def uniforms(seed: int, block: int, rows: int, columns: int) -> Any:
    """An array (rows, columns) of numbers in the open interval from 0 to 1.

    Raises MissingExtraError without numpy.
    """
    with needed_by("an estimate"):
        from numpy.random import Philox

    words = Philox(key=(seed << 64) + block).random_raw(rows * columns)
    # The middle of each of 2^52 cells: never 0, never 1.
    return (((words >> 12) + 0.5) * 2.0**-52).reshape(rows, columns)


def weights_of(each: Any) -> Weights:
    """Of an array with one weight per sample: added one after another, as numpy's own sum depends
    on how it is cut.
    """
    from numpy import cumsum

    return Weights(
        samples=len(each),
        total=float(cumsum(each)[-1]),
        squares=float(cumsum(each**2)[-1]),
        largest=float(each.max()),
    )
