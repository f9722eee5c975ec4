"""Exercise: what became of KIP-343's ideas? By which KIP each came to Kafka, if it did.

The table is `heartbeat_fates`, which the ledger's clauses are held to.
"""

from __future__ import annotations

from ...rows.heartbeat_fates import FATES
from .answers import BLANK, Slip, half, in_order, is_none, still_open, summed, unfit
from .check_result import Checked

NEVER = "N"
LETTERS_OF_KIPS = {380: "B", 497: "A", 631: "K", None: NEVER}
"""**B**roker epochs, **A**lterIsr, **K**Raft's brokers, and never."""


def check_fates(answer: object) -> Checked:
    """Judge a letter for each of FATES, in order: B, A, K or N."""
    given = in_order(answer, len(FATES), "letters, each B, A, K or N")
    if isinstance(given, Checked):
        return given
    said = [NEVER if is_none(part) else part.upper() for part in given]
    strange = sorted({part for part in said if part not in (*LETTERS_OF_KIPS.values(), BLANK)})
    if strange:
        named = ", ".join(part[:20] for part in strange[:5])
        return unfit(len(FATES), f"There is no {named}. Use B, A, K or N.")
    slips = [
        _wrong(number, mine)
        for number, (mine, true) in enumerate(zip(said, letters(), strict=True), 1)
        if mine != true
    ]
    return summed(len(FATES), slips, "Seven came, under other names. Three never did.")


def letters() -> list[str]:
    """The letter of each idea, in the order of FATES."""
    return [LETTERS_OF_KIPS[fate.by] for fate in FATES]


_BUILT = "You have met it in a lab of this course, under another name. In which request?"
_UNBUILT = "Have you seen Kafka do it, in any release and in either mode? Think of who decides."
_IDEAS = {
    "343.12": (
        "what KRaft has, KRaft began",
        "The czxid of a registration, as a number for a life: since which lab do you know it?",
    ),
    "343.30": (
        "a number that is higher is newer, and so it is right",
        "Lab 03: a request with another broker epoch than the one known. What is the answer?",
    ),
    "343.19": (
        "a broker that is cut off stops",
        "Two of these ideas are about silence: one about that of a broker, one about that of the"
        " controller. Did both come?",
    ),
    "343.66": (
        "what was rejected stayed rejected",
        "KRaft has no ZooKeeper. Where does a broker register then?",
    ),
    "343.64": (
        "old and new brokers are told apart one by one",
        "What does a cluster ask before it uses something new: each broker, or one number?",
    ),
}
"""By the clause, where a wrong answer shows an idea."""


def _wrong(number: int, said: str) -> Slip:
    part, group = f"idea {number}", half(number, len(FATES), "ideas")
    if said == BLANK:
        return still_open(part, group)
    fate = FATES[number - 1]
    idea, hint = _IDEAS.get(fate.clause, ("", _UNBUILT if fate.by is None else _BUILT))
    return Slip(part, hint, idea, group)
