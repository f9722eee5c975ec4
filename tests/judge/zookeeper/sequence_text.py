"""Passages as they are kept, one request a line, and where two of a situation differ."""

import json
from collections.abc import Iterator, Sequence
from difflib import ndiff
from itertools import zip_longest
from typing import Any

import msgspec

from kiplab.judge.zookeeper_era import real_control_requests
from kiplab.judge.zookeeper_era.sequences import Passage

_NOTHING = Passage("(nothing)", 0)
_PASSAGE, _LINES_DOWN_TO = 2, 4
"""How deep a passage is in what is kept, and how deep what has a line of its own may be:
situations, passages, requests.
"""


def difference_lines(
    expected: Sequence[Passage], heard: Sequence[Passage], *, names: tuple[str, str]
) -> Iterator[str]:
    """Passages that differ, ``-`` before what only the first has and ``+`` before what only the
    second has; `names` are who they are. Nothing where both are alike.
    """
    for both in zip_longest(expected, heard, fillvalue=_NOTHING):
        if both[0] != both[1]:
            yield f"- only {names[0]}, + only {names[1]}:"
            one, other = (_text(msgspec.to_builtins(passage), _PASSAGE) for passage in both)
            lines = ndiff("".join(one).splitlines(), "".join(other).splitlines())
            yield from (line for line in lines if not line.startswith("?"))


def keep_sequences(patch: str, heard: real_control_requests.Heard) -> None:
    """Write what was heard beside what is recorded of other situations."""
    kept = msgspec.to_builtins(real_control_requests.recorded_sequences(patch) | heard)
    real_control_requests.SEQUENCES.mkdir(exist_ok=True)
    text = "".join(_text(kept, 0))
    (real_control_requests.SEQUENCES / f"{patch}.json").write_text(f"{text}\n")
    real_control_requests.recorded_sequences.cache_clear()


def _text(value: Any, depth: int) -> Iterator[str]:
    if not value or depth == _LINES_DOWN_TO or not isinstance(value, (dict, tuple, list)):
        yield json.dumps(value, separators=(",", ":"))
        return
    named = value.items() if isinstance(value, dict) else (("", inner) for inner in value)
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    yield opening
    for place, (name, inner) in enumerate(named):
        key = f"{json.dumps(name)}: " if isinstance(value, dict) else ""
        yield f"{',' if place else ''}\n{' ' * (depth + 1)}{key}"
        yield from _text(inner, depth + 1)
    yield f"\n{' ' * depth}{closing}"
