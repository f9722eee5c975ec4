"""A mark of the generator: equal marks ask the same questions of equal controllers.

Whether a recording fits is decided by the questions themselves. The mark only tells why one does
not: the generator is another one, or the engine has come to hold something else for true.
"""

from __future__ import annotations

import io
import tokenize
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random

from .. import conversation

_DICE = "dice"
_NOT_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def generator_mark() -> str:
    """Eight hexadecimal digits of the files that roll dice, and of the dice of this Python.

    Comments, docstrings and the layout of lines are no part of it.
    """
    folder = Path(conversation.__file__).parent
    sources = [file.read_text(encoding="utf-8") for file in sorted(folder.glob("*.py"))]
    return mark_of([source for source in sources if _rolls_dice(source)])


def mark_of(sources: list[str]) -> str:
    """The mark of these sources."""
    code = "\n".join("".join(_tokens(source)) for source in sources)
    return f"{zlib.crc32(f'{code}{_first_throws()}'.encode()):08x}"


def _rolls_dice(source: str) -> bool:
    return _DICE in set(_tokens(source))


def _tokens(source: str) -> Iterator[str]:
    """What is executed, in order. A text that stands alone on its line is a docstring."""
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        alone = token.type == tokenize.STRING and before in _NOT_CODE
        if token.type not in _NOT_CODE and not alone:
            yield token.string
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type


def _first_throws() -> list[object]:
    """Other Pythons may throw otherwise: only `random()` is promised to stay."""
    dice = Random(0)
    hundred = range(100)
    return [dice.sample(hundred, 5), dice.choices(hundred, hundred), dice.randrange(100)]
