"""How the rates of an answer were found, in a sentence."""

from ..pipeline.work_orders import BIASED, FORCED
from .fleet_answer import FleetAnswer
from .forced_scenarios import forced_words


def sampling_words(answer: FleetAnswer) -> str:
    """What was forced because it is rare, and that the rest was counted."""
    methods = {row.method for row in answer.rows}
    if BIASED in methods:
        return "Failures are biased: what is rare is made to happen, and weighed."
    if FORCED in methods:
        return forced_words(answer.study.scenarios)
    return "Nothing is forced: every rate is what was counted."
