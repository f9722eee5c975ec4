"""Errors in a play, said so that a person can mend them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple


class Part(NamedTuple):
    """Which part of a line is wrong: its word or its ``key=value`` of this number, from 0.

    `value` says that it is what stands behind the ``=``.
    """

    pair: bool
    number: int
    value: bool = False


class PlayError(ValueError):
    """File, line and column (both from 1), what was found, what was expected or possible there."""

    def __init__(
        self, problem: str, *, expected: str = "", line: int = 0, token: str = "", file: str = ""
    ) -> None:
        super().__init__(problem)
        self.problem, self.expected = problem, expected
        self.file, self.line, self.column = file, line, 1
        self.token = token
        self.part: Part | None = None

    def at(self, *, file: str = "", line: int = 0, source: str = "") -> PlayError:
        """The same error, with the place it belongs to filled in where it was still open."""
        self.file = self.file or file
        self.line = self.line or line
        start = _start(source, self.part) if self.part else 0
        place = source.find(self.token, start) if self.token or self.part else -1
        self.column = place + 1 if place >= 0 else self.column
        return self

    def __str__(self) -> str:
        words = [self.file, *([str(self.line), str(self.column)] if self.line else [])]
        place = ":".join(word for word in words if word)
        text = f"{place}: {self.problem}" if place else self.problem
        return f"{text}; {self.expected}" if self.expected else text


def _start(source: str, part: Part) -> int:
    _, *rest = re.finditer(r"\S+", source)
    fit = [candidate for candidate in rest if ("=" in candidate[0]) == part.pair]
    if part.number >= len(fit):
        return 0
    match = fit[part.number]
    return match.start() + (match[0].index("=") + 1 if part.value else 0)


def nearest(word: str, candidates: Iterable[str]) -> str:
    """``did you mean 'deliver'?`` for an error's `expected`; a few where nothing is like `word`."""
    names = list(candidates)
    close = get_close_matches(word, names, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    some = get_close_matches(word, names, n=6, cutoff=0)
    more = f" and {len(names) - len(some)} more" if len(names) > len(some) else ""
    return f"expected one of {', '.join(some)}{more}"


def no_key(whose: str, key: str, expected: str, position: int) -> PlayError:
    """Of something that has no such key; the line's pairs are counted from 0."""
    part = Part(pair=True, number=position)
    return in_part(part, PlayError(f"{whose} has no {key!r}", expected=expected, token=f"{key}="))


def in_part(part: Part | None, problem: PlayError) -> PlayError:
    """The same error, of a part of its line."""
    problem.part = part
    return problem
