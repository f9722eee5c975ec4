"""What the cells of a matrix say together: which guards suffice, which are never needed.

Nothing is inferred from one cell about another. That more guards never do harm is looked at, not
assumed: `surprises` lists where it is not so.
"""

from collections.abc import Mapping

from ..search_terms import PROVED, REFUTED, UNFINISHED

GuardNames = frozenset[str]
Verdicts = Mapping[GuardNames, str]
"""The verdict by the set of guards that are switched off."""
_HIDES_A_NEED = ((PROVED, REFUTED), (PROVED, UNFINISHED), (UNFINISHED, REFUTED))
"""Verdicts with a guard and without it that show, or could turn out to show, that it is needed."""


def minimal(guards: tuple[str, ...], verdicts: Verdicts) -> list[list[str]]:
    """The minimal sufficient sets: they are proved, and every part of them is refuted.

    Sets of guards that are on, the smallest first, each in the order of `guards`.
    """
    return [on for on, parts in _least(guards, verdicts) if parts <= {REFUTED}]


def perhaps_minimal(guards: tuple[str, ...], verdicts: Verdicts) -> list[list[str]]:
    """Sets that are proved, while of some part of them the search was not finished."""
    return [on for on, parts in _least(guards, verdicts) if UNFINISHED in parts]


def _least(guards: tuple[str, ...], verdicts: Verdicts) -> list[tuple[list[str], set[str]]]:
    """(guards that are on and proved, the verdicts of its parts), where no part is proved."""
    by_on = {frozenset(guards) - off: verdict for off, verdict in verdicts.items()}
    found = []
    for on, verdict in by_on.items():
        parts = {v for other, v in by_on.items() if other < on}
        if verdict == PROVED and PROVED not in parts:
            found.append(([g for g in guards if g in on], parts))
    return sorted(found, key=lambda one: (len(one[0]), [guards.index(g) for g in one[0]]))


def redundant(guards: tuple[str, ...], verdicts: Verdicts) -> list[str]:
    """The guards that are never needed: whatever else is on, what is proved is so without them.

    Empty where nothing is proved: what fails in any case says nothing about a guard.
    """
    if PROVED not in verdicts.values():
        return []
    return [g for g in guards if not any(pair in _HIDES_A_NEED for pair in _pairs(g, verdicts))]


def surprises(guards: tuple[str, ...], verdicts: Verdicts) -> list[tuple[list[str], str]]:
    """(what is off, a guard) where switching that guard off as well turns a refutation into a
    proof: where more guards do harm.
    """
    return [
        ([g for g in guards if g in off], guard)
        for guard in guards
        for off, verdict in verdicts.items()
        if guard not in off and (verdict, verdicts[off | {guard}]) == (REFUTED, PROVED)
    ]


def _pairs(guard: str, verdicts: Verdicts) -> list[tuple[str, str]]:
    """The verdicts (with `guard`, without it), all else equal."""
    return [(v, verdicts[off | {guard}]) for off, v in verdicts.items() if guard not in off]
