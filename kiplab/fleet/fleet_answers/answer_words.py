"""Words of an answer: the chance of at least one, and how the rates were sampled."""

from ...figures.how_often.number_words import share_range_words, share_words
from ..pipeline.work_orders import FORCED
from ..statistics.years_ahead import AtLeastOne
from .fleet_answer import FleetAnswer
from .forced_scenarios import forced_words


def chance_words(chance: AtLeastOne) -> str:
    """``0.29 % (0.24 to 0.35 %)``; of what was never seen no more than a bound."""
    if chance.probability is None:
        return f"unknown, at most {share_words(chance.high)}"
    if chance.high == 0:
        return "cannot happen"
    within = share_range_words(chance.low, chance.high)
    return f"{share_words(chance.probability)}{f' ({within})' if within else ''}"


def sampling_words(answer: FleetAnswer) -> str:
    """What was forced because it is rare, and that the rest was counted."""
    if any(row.method == FORCED for row in answer.rows):
        return forced_words(answer.study.scenarios)
    return "Nothing is forced: every rate is what was counted."
