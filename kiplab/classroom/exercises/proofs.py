"""Exercises of lab 09: a proof within bounds, a matrix of guards, clusters that lack a rule."""

from functools import cache

import msgspec

from ...explore.levels.level_table import ExploreError
from ...explore.matrix import cells, guard_matrix
from ...explore.search.explore_play import explore_play
from ...explore.search.explored import Explored
from ...explore.search.question import question_about
from ...explore.search_terms import PROVED
from ...plays import library, runner
from ...protocol import features, guards
from ...runs import Run
from ..exercise_table import UnfitError
from .answers import PartsInOrder, TrueStatements, is_none
from .check_result import broken

KAFKA = "3.5"
PROVEN, RACE = "isr-two-of-three", "kafka-14139"
"""The plays whose situations the proof and the matrix are about."""


@cache
def proof(writes: int = 1) -> Explored:
    """Kafka 3.5 as specified, one crash at most."""
    rules = features.parse_features(KAFKA, on=(guard_matrix.PENDING,))
    bounds = {"writes": writes, "crashes": 1}
    return explore_play(question_about(library.load(PROVEN), rules, bounds=bounds))


@TrueStatements
@cache
def check_proof() -> list[str]:
    """Which statements the proof for PROVEN supports: ``"AC"`` names two.

    The proof is about Kafka 3.5 as specified, within 1 write, 1 crash and 0 fences. Nothing follows
    about other bounds, about a rule that was never needed, or about what is no model.
    """
    whole, empty = proof(), proof(writes=0)
    fired = any(guard.startswith("903.") for guard in whole.vacuity.fired)
    nothing = empty.verdict == PROVED and not empty.vacuity.committed
    facts = {"A": whole.verdict == PROVED, "D": fired, "G": nothing}
    return [letter for letter, fact in facts.items() if fact]


GUARDS = ("841", "903", "497.maximal-isr", "497.partition-epoch")
HOLES = ("F", "R", "M")
"""Three ways to harm: the request is accepted while broker 2 is **f**enced, or when it has
**r**eturned as another incarnation; a record is committed that a proposed **m**ember lacks.
"""
_OPENED = {"841": "F", "903": "R", "497.maximal-isr": "M"}
"""The way that is open without each of them: the last steps of its shortest counterexample."""


@cache
def charted() -> cells.Matrix:
    rules = features.parse_features(KAFKA)
    question = question_about(library.load(RACE), rules, bounds={"writes": 1, "crashes": 1})
    return guard_matrix.matrix_of(question, GUARDS, processes=1)


@cache
def truth() -> tuple[str, str, str, str]:
    """(hole of 841, hole of 903, guards never needed, sets that suffice)."""
    chart = charted()
    enough = sum(cell.verdict == PROVED for cell in chart.cells)
    return _OPENED["841"], _OPENED["903"], " ".join(chart.redundant) or "-", str(enough)


def _holes(parts: list[str]) -> list[str]:
    if strange := [part[:20] for part in parts[:2] if part.upper() not in HOLES]:
        raise UnfitError(f"There is no hole {', '.join(strange)}. Use {' '.join(HOLES)}.")
    return [_plain(part) for part in parts]


def _plain(part: str) -> str:
    """One spelling of a part: ``f`` is F, ``partition-epoch`` its guard, ``none`` is ``-``."""
    if part.upper() in HOLES:
        return part.upper()
    wanted = part.lower().removeprefix("kip-")
    if is_none(wanted):
        return "-"
    return next((g for g in GUARDS if wanted in (g, g.partition(".")[2])), wanted)


check_holes = PartsInOrder(read=_holes, true=truth)
"""Four parts on the matrix of GUARDS for RACE.

The one of HOLES that 841 closes, the one that 903 closes, the guards that are never needed (``"-"``
for none), and how many of the sixteen sets are proved to suffice.
"""


SUSPECTS = guard_matrix.DEFAULT_GUARDS
"""One of these is off in each of the clusters."""
MISSING = {"A": "497.maximal-isr", "B": "903", "C": "631.one-live-incarnation"}


class Clue(msgspec.Struct, frozen=True):
    """What a search of one cluster shows: everything but the name of the rule that is missing.

    `steps` is the length of the shortest way to harm, None if there is none within the bounds.
    """

    cluster: str
    sentence: str
    steps: int | None
    story: str

    def __repr__(self) -> str:
        sentence = f"{self.cluster}: {self.sentence}"
        return broken(f"{sentence}\n\n{self.story}" if self.story else sentence)


class Mystery(msgspec.Struct, frozen=True):
    """The two brokers of ``kafka-14139``, as specified in Kafka 3.5 but for one rule."""

    cluster: str

    def explore(self, **bounds: int) -> Clue:
        """Search it; bounds as of `kiplab.explore`. Raises ExploreError for an unknown bound."""
        explored = _explored(MISSING[self.cluster], tuple(sorted(bounds.items())))
        sentence = explored.sentence.replace(explored.features, f"{KAFKA}, one rule missing")
        return Clue(self.cluster, sentence, explored.steps, _story(explored))

    def __repr__(self) -> str:
        return repr(self.explore())


def mystery(cluster: str) -> Mystery:
    """One of the clusters A, B and C. Raises ExploreError for another."""
    if (letter := str(cluster).strip().upper()) in MISSING:
        return Mystery(letter)
    raise ExploreError(f"there is no cluster {cluster!r}; the clusters are {', '.join(MISSING)}")


@cache
def _explored(off: str, bounds: tuple[tuple[str, int], ...]) -> Explored:
    rules = features.parse_features(KAFKA, off=(off,), on=(guard_matrix.PENDING,))
    return explore_play(question_about(library.load(RACE), rules, bounds=dict(bounds)))


def _story(explored: Explored) -> str:
    """The shortest way in words, without the line that names the rules."""
    told = "" if explored.play is None else Run(runner.run_play(explored.play)).text()
    return told.partition("\n")[2].strip("\n")


def _suspects(parts: list[str]) -> list[str]:
    read = [_suspect(part) for part in parts]
    if strange := [part[:30] for part, suspect in zip(parts, read, strict=True) if not suspect]:
        suspects = ", ".join(SUSPECTS)
        raise UnfitError(f"Choose among {suspects}. None of them is {', '.join(strange)}.")
    return read


def _suspect(part: str) -> str:
    """The suspect that is meant; empty for none of them, or for several."""
    wanted = part.strip().lower().removeprefix("kip-")
    exact = [s for s in SUSPECTS if wanted in (s, s.partition(".")[2])]
    known = {*guards.named(wanted)} if wanted else set[str]()
    meant = exact or [s for s in SUSPECTS if known & {*guards.named(s)}]
    return meant[0] if len(meant) == 1 else ""


check_missing_guard = PartsInOrder(read=_suspects, true=lambda: list(MISSING.values()))
"""Which of SUSPECTS is off in each of the clusters, in order: three names.

A name is a guard or a KIP; where a KIP has but one suspect, its number will do.
"""
