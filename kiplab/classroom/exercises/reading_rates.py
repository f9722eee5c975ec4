"""Exercise: what do a rate, its interval, and the lack of both say?

Where a statement has a number in it, the number is worked out by the package's own statistics.
"""

from __future__ import annotations

from .answers import Slip, chosen_letters, summed
from .check_result import Checked

RATE_STATEMENTS = {
    "A": "`none seen` and `cannot happen` say the same: it is safe",
    "B": "with none seen in a million partition-years, three in a million may still be the rate",
    "C": "600 partitions lost in one power cut are 600 independent observations",
    "D": "more partition-years narrow the interval, and make no assumption any surer",
    "E": "at one loss in 10^14 years nobody alive will see one: the model vouches for it",
    "F": "what is worked out for brokers that fail one by one is a lower bound",
}
_TRUE = frozenset("BDF")


def check_rates(answer: object) -> Checked:
    """Judge which RATE_STATEMENTS hold: ``"AC"`` names two.

    Each statement chosen or left out rightly is a point.
    """
    given = chosen_letters(answer, tuple(RATE_STATEMENTS))
    if isinstance(given, Checked):
        return given
    slips = [_misread(letter) for letter in sorted(given ^ _TRUE)]
    praise = "A rate is worth what its interval, its unit and its assumptions are worth."
    return summed(len(RATE_STATEMENTS), slips, praise)


_SAID = {
    "A": (
        "zero is zero",
        "One of the two is about what was looked at, the other about a rule. Which has a bound?",
    ),
    "B": ("", "What is the upper bound after zero events? Look at a row that says: at most."),
    "C": (
        "more partitions are more evidence",
        "How many power cuts were there? They decide how much is known.",
    ),
    "D": ("", "Run longer, and look at both: the interval, and the default marked as assumed."),
    "E": (
        "a long mean time is a guarantee",
        "The number is right within the model. Which ways to lose data does the model not have?",
    ),
    "F": ("", "What do brokers have in common that no rate of single failures knows?"),
}
_ABOUT = {
    **dict.fromkeys("AB", "what zero says"),
    **dict.fromkeys("CD", "what there is more of"),
    **dict.fromkeys("EF", "what the model leaves out"),
}


def _misread(letter: str) -> Slip:
    idea, hint = _SAID[letter]
    return Slip(f"statement {letter}", hint, idea, _ABOUT[letter])
