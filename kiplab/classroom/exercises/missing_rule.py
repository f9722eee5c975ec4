"""Exercise: clusters that lack one rule. Search them, read their shortest way to harm, name it."""

from __future__ import annotations

from functools import cache

import msgspec

from ...explore.levels.level_table import ExploreError
from ...explore.matrix.guard_matrix import DEFAULT_GUARDS, PENDING
from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...plays.library import load
from ...plays.runner import run_play
from ...protocol.features import parse_features
from ...protocol.guards import named
from ...runs import Run
from .answers import Slip, in_order, summed, unfit
from .check_result import Checked, broken

PLAY, KAFKA = "kafka-14139", "3.5"
SUSPECTS = DEFAULT_GUARDS
"""One of these is off in each of the clusters."""
MISSING = {"A": "497.maximal-isr", "B": "903", "C": "631.one-live-incarnation"}
"""What is off in which cluster."""
_HIDDEN = f"{KAFKA}, one rule missing"


class Clue(msgspec.Struct, frozen=True):
    """What a search of one cluster shows: everything but the name of the rule that is missing.

    `steps` is the length of the shortest way to harm, None if there is none within the bounds.
    """

    cluster: str
    sentence: str
    steps: int | None
    story: str

    def __repr__(self) -> str:
        said = f"{self.cluster}: {self.sentence}"
        return broken(f"{said}\n\n{self.story}" if self.story else said)


class Mystery(msgspec.Struct, frozen=True):
    """The two brokers of ``kafka-14139``, as specified in Kafka 3.5 but for one rule."""

    cluster: str

    def explore(self, **bounds: int) -> Clue:
        """Search it; bounds as of `kiplab.explore`. Raises ExploreError for an unknown bound."""
        found = _explored(MISSING[self.cluster], tuple(sorted(bounds.items())))
        sentence = found.sentence.replace(found.features, _HIDDEN)
        return Clue(self.cluster, sentence, found.steps, _story(found))

    def __repr__(self) -> str:
        return repr(self.explore())


def mystery(cluster: str) -> Mystery:
    """One of the clusters A, B and C. Raises ExploreError for another."""
    letter = str(cluster).strip().upper()
    if letter not in MISSING:
        raise ExploreError(f"there is no cluster {cluster!r}; the clusters are {_listed()}")
    return Mystery(letter)


def check_missing_guard(answer: object) -> Checked:
    """Judge which of SUSPECTS is off in each of the clusters, in order: three names.

    A name is a guard or a KIP; where a KIP has but one suspect, its number will do.
    """
    given = in_order(answer, len(MISSING), f"names, one for each of the clusters {_listed()}")
    if isinstance(given, Checked):
        return given
    read = [_suspect(said) for said in given]
    strange = [said for said, found in zip(given, read, strict=True) if found is None]
    if strange:
        odd = ", ".join(said[:30] for said in strange)
        return unfit(len(MISSING), f"Choose among {', '.join(SUSPECTS)}. None of them is {odd}.")
    slips = [
        _wrong(cluster, said)
        for (cluster, off), said in zip(MISSING.items(), read, strict=True)
        if said is not None and said != off
    ]
    praise = "Three rules, three holes: each known by the shortest way through it."
    return summed(len(MISSING), slips, praise)


# --- what the explorer says ---------------------------------------------------------------------


@cache
def _explored(off: str, bounds: tuple[tuple[str, int], ...]) -> Explored:
    rules = parse_features(KAFKA, off=(off,), on=(PENDING,))
    return explore_play(question_about(load(PLAY), rules, bounds=dict(bounds)))


def _story(found: Explored) -> str:
    """The shortest way in words, without the line that names the rules."""
    if found.play is None:
        return ""
    _, _, story = Run(run_play(found.play)).text().partition("\n")
    return story.strip("\n")


# --- reading and wrong answers ------------------------------------------------------------------


def _listed() -> str:
    return ", ".join(MISSING)


def _suspect(said: str) -> str | None:
    """The suspect that is meant; None for none of them, or for several."""
    wanted = said.strip().lower().removeprefix("kip-")
    exact = [s for s in SUSPECTS if wanted in (s, s.partition(".")[2])]
    meant = exact or [s for s in SUSPECTS if wanted and set(named(wanted)) & set(named(s))]
    return meant[0] if len(meant) == 1 else None


_KIP_841, _KIP_903, _VERSION = "841", "903", "497.partition-epoch"
_NO_CRASH = (
    "data is lost only where a disk is lost",
    "Nobody crashes here at all. Which rule is about records, not about brokers?",
)
_IDEAS = {
    ("A", _VERSION): (
        "a proposal is harmless until it is accepted",
        "The version was right when the request came. What was committed while it was on its way,"
        " and who had it?",
    ),
    ("A", _KIP_841): _NO_CRASH,
    ("A", _KIP_903): _NO_CRASH,
    ("B", _KIP_841): (
        "KIP-841 keeps a broker out once it has been fenced",
        "Is broker 2 fenced at the moment when the request is accepted? Look at the line before.",
    ),
    ("B", _VERSION): (
        "fencing always bumps the partition epoch",
        "Broker 2 was outside the ISR when it was fenced. Was there anything to compare?",
    ),
    ("C", _KIP_903): (
        "a broker that comes back empty has to ask for its place in the ISR",
        "Broker 1 never left the ISR, so nobody asked. What takes a dead broker out, and when?",
    ),
    ("C", _KIP_841): (
        "a broker that comes back empty has to ask for its place in the ISR",
        "No fenced broker joins here. Which line is missing between the crash and the start?",
    ),
}
_TRY = "Switch your suspect off with kiplab.explore. Is the shortest way the same, step by step?"


def _wrong(cluster: str, said: str) -> Slip:
    idea, hint = _IDEAS.get((cluster, said), ("", _TRY))
    group = "the cluster where nobody crashes" if cluster == "A" else "those where a broker crashes"
    return Slip(f"cluster {cluster}", hint, idea, group)
