"""The cells of a guard matrix, and the conclusion from all of them."""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ...engine.properties import NO_COMMITTED_RECORD_LOST
from ...plays.play import Play, format_play
from ...protocol.guards import named
from ..levels.all_levels import level_named
from ..levels.level_table import ExploreError
from ..search_terms import PROVED, REFUTED, UNFINISHED

FOUND = ("verdict", "violated", "steps", "states", "play", "features")
"""What a cell of a matrix, or a row of alternatives, says as its search does (Explored)."""
_HIDES_A_NEED = ((PROVED, REFUTED), (PROVED, UNFINISHED), (UNFINISHED, REFUTED))
"""Verdicts with a guard and without it that show, or could turn out to show, that it is needed."""


class Cell(msgspec.Struct, frozen=True):
    """One subset: the guards that are `off`, those that are `on`, and what the search came to.

    `steps` and `play` are of a shortest counterexample, None unless refuted (and `play` where the
    situation is broken as it begins); `violated` is the property that breaks. `stopped` says why an
    unfinished search was.
    """

    off: tuple[str, ...]
    on: tuple[str, ...]
    verdict: str
    violated: str | None
    steps: int | None
    states: int
    seconds: float
    play: Play | None
    features: str
    stopped: str = ""

    @property
    def word(self) -> str:
        """``proved``, ``loss`` (records are gone), ``harm`` (they could be next), ``unfinished``"""
        if self.verdict != REFUTED:
            return self.verdict
        return "loss" if self.violated == NO_COMMITTED_RECORD_LOST.id else "harm"

    @property
    def sentence(self) -> str:
        """The cell in words."""
        rules = f"without {listed(self.off)}" if self.off else "with every guard"
        if self.verdict == PROVED:
            return f"{rules}: proved, all {self.states:,} states"
        if self.verdict == REFUTED:
            count = f"{self.steps} step{'s' * (self.steps != 1)}"
            return f"{rules}: {self.violated} breaks in {count}, and in no fewer"
        return f"{rules}: not finished, {self.stopped}"


class Matrix(msgspec.Struct, frozen=True):
    """The result of `matrix`: `base` rules, wall `seconds`, `cells` with the fewest off first."""

    title: str
    guards: tuple[str, ...]
    base: str
    as_specified: bool
    level: str
    bounds: dict[str, int]
    properties: tuple[str, ...]
    cells: tuple[Cell, ...]
    seconds: float

    def cell(self, *off: str) -> Cell:
        """The cell in which these of the chosen guards are off. Raises ExploreError for others."""
        wanted = {self._chosen(name) for name in off}
        return next(cell for cell in self.cells if set(cell.off) == wanted)

    def _chosen(self, name: str) -> str:
        for guard in self.guards:
            if guard == name or named(guard) == named(name):
                return guard
        raise ExploreError(f"{name!r} was not chosen; the matrix is about {listed(self.guards)}")

    @property
    def verdicts(self) -> dict[frozenset[str], str]:
        """The verdict by what is off."""
        return {frozenset(cell.off): cell.verdict for cell in self.cells}

    # What cells say together. Nothing is inferred from one cell about another. That more guards
    # never do harm is looked at, not assumed: `surprises` lists where it is not so.

    @property
    def minimal(self) -> list[list[str]]:
        """The minimal sufficient sets: they are proved, and every part of them is refuted.

        Sets of guards that are on, the smallest first, each in the order of `guards`.
        """
        return [on for on, parts in self._least() if parts <= {REFUTED}]

    @property
    def perhaps_minimal(self) -> list[list[str]]:
        """Sets that are proved, while of some part of them the search was not finished."""
        return [on for on, parts in self._least() if UNFINISHED in parts]

    @property
    def redundant(self) -> list[str]:
        """The guards that are never needed within these bounds: whatever else is on, what is proved
        is so without them.

        Empty where nothing is proved: what fails in any case says nothing about a guard.
        """
        verdicts = self.verdicts
        if PROVED not in verdicts.values():
            return []
        needed = {
            guard
            for off, verdict in verdicts.items()
            for guard in self.guards
            if guard not in off and (verdict, verdicts[off | {guard}]) in _HIDES_A_NEED
        }
        return [guard for guard in self.guards if guard not in needed]

    @property
    def surprises(self) -> list[tuple[list[str], str]]:
        """(what is off, a guard) where switching that off, too, makes a proof of a refutation."""
        verdicts = self.verdicts
        return [
            ([g for g in self.guards if g in off], guard)
            for guard in self.guards
            for off, verdict in verdicts.items()
            if guard not in off and (verdict, verdicts[off | {guard}]) == (REFUTED, PROVED)
        ]

    def _least(self) -> list[tuple[list[str], set[str]]]:
        """(guards that are on and proved, the verdicts of its parts), where no part is proved."""
        by_on = {frozenset(self.guards) - off: verdict for off, verdict in self.verdicts.items()}
        least = []
        for on, verdict in by_on.items():
            parts = {v for other, v in by_on.items() if other < on}
            if verdict == PROVED and PROVED not in parts:
                least.append(([g for g in self.guards if g in on], parts))
        return sorted(least, key=lambda one: (len(one[0]), [*map(self.guards.index, one[0])]))

    @property
    def within(self) -> str:
        """The bounds, in words."""
        level = level_named(self.level)
        return f"level {self.level}, within {level.in_words(self.bounds)}"

    @property
    def base_sentence(self) -> str:
        """Which Kafka this is about, and what it was given that it lacks."""
        if self.as_specified:
            base = (
                f"The base is Kafka {self.base}: as specified. A proposed ISR counts until it is"
                " decided (our reading of KIP-497), which Kafka as built forgets when metadata"
                " arrives late."
            )
        else:
            base = (
                f"The base is Kafka {self.base}: as built. Metadata that arrives late can undo a"
                " proposed ISR there, a hole that none of these guards closes."
            )
        whole = self.cells[0].features
        if whole == self.base:
            return base
        return (
            f"{base} It lacks these guards or parts of them; where they are on, they are on as a"
            f" whole, with what they need on the wire: Kafka {whole}."
        )

    @property
    def sentence(self) -> str:
        """The conclusion of the matrix, never without its bounds."""
        counts = {v: sum(c.verdict == v for c in self.cells) for v in (PROVED, REFUTED, UNFINISHED)}
        said = f"{counts[PROVED]} of {len(self.cells)} sets of guards are proved to suffice"
        said += f", {counts[REFUTED]} are refuted"
        if counts[UNFINISHED]:
            said += f", {counts[UNFINISHED]} were not finished"
        return f"{said} (Kafka {self.base}, {self.within}). {' '.join(self._findings())}"

    def _findings(self) -> Iterator[str]:
        if not self.minimal and not self.perhaps_minimal:
            yield "No set of these guards was proved to suffice."
        for on in self.minimal:
            yield f"{_enough(on)}; every proper subset of them fails." if on else f"{_enough(on)}."
        for on in self.perhaps_minimal:
            yield f"{_enough(on)}; whether fewer guards suffice is not known."
        if self.redundant:
            are = "is" if len(self.redundant) == 1 else "are"
            yield f"Within these bounds {listed(self.redundant)} {are} never needed."
        for off, guard in self.surprises:
            yield f"Surprise: without {listed(off)}, switching {guard} off helps."

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab matrix --json` prints."""
        return {
            "cells": [_plain(cell) for cell in self.cells],
            "minimal": self.minimal,
            "redundant": self.redundant,
            "guards": list(self.guards),
            "base": self.base,
            "as_specified": self.as_specified,
            "level": self.level,
            "bounds": self.bounds,
            "properties": list(self.properties),
            "seconds": round(self.seconds, 3),
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return f"<Matrix: {self.sentence}>"


def _enough(on: list[str]) -> str:
    if not on:
        return "None of these guards is needed"
    return f"{listed(on)} {'suffice' if len(on) > 1 else 'suffices'}"


def _plain(cell: Cell) -> dict[str, Any]:
    return {
        "off": list(cell.off),
        "verdict": cell.verdict,
        "steps": cell.steps,
        "states": cell.states,
        "play": None if cell.play is None else format_play(cell.play),
        "property": cell.violated,
        "word": cell.word,
        "features": cell.features,
        "seconds": round(cell.seconds, 3),
        "stopped": cell.stopped or None,
    }


def listed(names: Sequence[str]) -> str:
    """``"841, 903 and 497.maximal-isr"``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
