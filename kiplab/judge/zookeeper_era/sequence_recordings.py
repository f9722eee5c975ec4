"""What real controllers did in each situation, kept as JSON: one request a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from .sequences import Passage

SEQUENCES = Path(__file__).parent / "controller_sequences"
"""One file for each patch release."""
CONTROLLER_RELEASES = ("2.1.1", "2.2.2", "2.6.3", "2.8.2", "3.4.1")
"""Releases whose controllers are judged."""
_LINES_DOWN_TO = 4
"""How deep what has a line of its own may be: situations, passages, requests."""

Heard = dict[str, tuple[Passage, ...]]
"""Passages by the name of the situation."""


@cache
def recorded_sequences(patch: str) -> Heard:
    """What was recorded of a patch release; empty where nothing was."""
    file = SEQUENCES / f"{patch}.json"
    return msgspec.json.decode(file.read_bytes(), type=Heard) if file.exists() else {}


def keep_sequences(patch: str, heard: Heard) -> None:
    """Write what was heard beside what is recorded of other situations."""
    kept = msgspec.to_builtins(recorded_sequences(patch) | heard)
    SEQUENCES.mkdir(exist_ok=True)
    text = "".join(_text(kept, 0))
    (SEQUENCES / f"{patch}.json").write_text(f"{text}\n")
    recorded_sequences.cache_clear()


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
