"""Recordings of situations, written: one request a line."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

from kiplab.judge.zookeeper_era.real_control_requests import SEQUENCES, Heard, recorded_sequences

_LINES_DOWN_TO = 4
"""How deep what has a line of its own may be: situations, passages, requests."""


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
