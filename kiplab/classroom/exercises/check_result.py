"""What an exercise's check answers."""

from __future__ import annotations

from textwrap import fill

import msgspec

LINE = 96
"""Characters: what a notebook shows of a printed line without breaking it."""


class Checked(msgspec.Struct, frozen=True, kw_only=True):
    """`points` of `of`. `misconception` names the idea behind a wrong answer, where one is known.

    `token` is the run that the answer made, to be opened as a timeline; empty if it made none.
    `attempted` is False for no answer yet, which is no attempt. `kept` says where it was noted.
    """

    points: int
    of: int
    message: str
    hint: str = ""
    misconception: str = ""
    token: str = ""
    attempted: bool = True
    kept: str = ""

    @property
    def right(self) -> bool:
        """Whether all points were earned."""
        return self.points == self.of

    def __str__(self) -> str:
        said = [f"{self.points}/{self.of}", self.message]
        said += [f"You may be thinking: {self.misconception}"] if self.misconception else []
        said += [f"Hint: {self.hint}"] if self.hint else []
        said += [self.kept] if self.kept else []
        lines = (line for text in said for line in text.splitlines())
        return "\n".join(fill(line, LINE, break_long_words=False) for line in lines)
