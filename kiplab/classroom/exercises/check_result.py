"""The result of an exercise's check, and the line breaks of its sentences."""

from __future__ import annotations

import sys
from html import escape
from textwrap import TextWrapper, fill
from typing import Any

import msgspec
from msgspec.structs import replace

LINE = 96
"""Characters: what a notebook shows of a printed line without breaking it."""
SAYS_WHERE, SAYS_WHICH = 2, 3
"""From these attempts on it is said where to look, and at which parts."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """`points` of `of`, and what there is to say about the rest.

    `hint` is where to think on. `where` is the group of parts to look at, `misconception` the idea
    behind a wrong answer, where one is known; `which` are the parts that are wrong, `wrong` the
    letters of their places.

    `yours` says which numbers the exercise has for this student, if not those of the text.

    `token` is the run that the answer made, to be opened as a timeline; empty if it made none.
    `attempted` is False for no answer yet, which is no attempt. `kept` says where it was noted.
    """

    points: int
    of: int
    message: str
    hint: str = ""
    where: str = ""
    which: str = ""
    misconception: str = ""
    token: str = ""
    attempted: bool = True
    kept: str = ""
    wrong: str = ""
    yours: str = ""

    @property
    def right(self) -> bool:
        return self.points == self.of

    def at_attempt(self, number: int, *, is_shut: bool = False) -> Checked:
        """What is said at this attempt: first how many are right, and a hint; then more.

        "Look again at B, C and D" has said A, and so it comes last. A form marks its rows at once.
        While answers are shut, neither is told.
        """
        number = min(number, SAYS_WHERE) if is_shut else number
        return replace(
            self,
            where=self.where if number == SAYS_WHERE else "",
            which=self.which if number >= SAYS_WHICH else "",
            misconception=self.misconception if number >= SAYS_WHERE else "",
            wrong="" if is_shut else self.wrong,
        )

    def __repr__(self) -> str:
        return str(self)

    @property
    def texts(self) -> list[str]:
        """The sentences about the answer, in the order in which they are read."""
        idea = f"You may be thinking: {self.misconception}" if self.misconception else ""
        hint = f"Hint: {self.hint}" if self.hint else ""
        texts = (self.message, self.where, self.which, idea, hint, self.kept)
        return [text for text in texts if text]

    def __str__(self) -> str:
        lines = [line for text in self.texts for line in text.splitlines()]
        whole = (fill(line, LINE, break_long_words=False) for line in lines)
        yours = [f"{broken(self.yours)}\n"] if self.yours else []
        return "\n".join([*yours, f"{self.points}/{self.of}", *whole])


class PlainTexts(msgspec.Struct, frozen=True):
    """Texts, a blank line between them, each line broken between words. A notebook shows sentences
    as its own, and of a long text the first line, the rest folded.
    """

    texts: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n\n".join(broken(text) for text in self.texts)

    def _repr_html_(self) -> str:
        folded = ""
        for text in self.texts:
            first, _, rest = text.strip("\n").partition("\n")
            more = f"<pre>{escape(broken(rest))}</pre>"
            fold = f"<details><summary>{escape(first)}</summary>{more}</details>"
            folded += fold if rest else f"<p>{escape(first)}</p>"
        return folded


def say(*texts: str) -> None:
    """Show texts, as `PlainTexts` does; print them where IPython does not run."""
    ipython = sys.modules.get("IPython")
    show: Any = ipython.display.display if ipython else print
    show(PlainTexts(tuple(text for text in texts if text)))


def broken(text: str) -> str:
    """`text` in lines that a notebook shows whole; what is indented goes on a little further in."""
    whole = TextWrapper(LINE, break_on_hyphens=False, break_long_words=False)
    lines = []
    for line in text.splitlines():
        indent = len(line) - len(line.lstrip()) + 2 if line.startswith(" ") else 0
        whole.subsequent_indent = " " * indent
        lines.append(whole.fill(line))
    return "\n".join(lines)
