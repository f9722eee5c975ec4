"""The chance of at least one, in words that tell what was seen from what was only bounded."""

from ...figures.how_often.number_words import share_range_words, share_words
from ..statistics.years_ahead import AtLeastOne


def chance_words(chance: AtLeastOne) -> str:
    """``0.29 % (0.24 to 0.35 %)``; of what was never seen no more than a bound."""
    if chance.probability is None:
        return f"unknown, at most {share_words(chance.high)}"
    if chance.high == 0:
        return "cannot happen"
    within = share_range_words(chance.low, chance.high)
    return f"{share_words(chance.probability)}{f' ({within})' if within else ''}"
