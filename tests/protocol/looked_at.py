"""Which releases the vectors look at: read from what their tests are parametrized with."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from kiplab.protocol.features import Features

HERE = Path(__file__).parent


def tables_of_vectors() -> dict[str, frozenset[str]]:
    """Every file of vectors beside this one, with the releases that it looks at."""
    files = sorted(HERE.glob("test_vectors_*.py"))
    return {f"tests/protocol/{file.name}": frozenset(_releases_in(file.stem)) for file in files}


def without_vectors(
    looked_at: Mapping[str, Collection[str]], releases: Iterable[str]
) -> Iterator[str]:
    """For each release that a file does not look at, what to add and where."""
    names = list(releases)
    for file, seen in looked_at.items():
        for name in (name for name in names if name not in seen):
            yield (
                f"no vector of {file} looks at Kafka {name}: read its source, let the rows that"
                f' still hold reach to it ("3.2-{name}"), and add rows for what it does otherwise'
            )


def _releases_in(module: str) -> Iterator[str]:
    for test in vars(importlib.import_module(f"tests.protocol.{module}")).values():
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                for row in mark.args[1]:
                    yield from (v.release for v in _given(row) if isinstance(v, Features))


def _given(row: Any) -> tuple[Any, ...]:
    """The values of one row, which is a pytest.param, a tuple or one bare value."""
    values = getattr(row, "values", row)
    return values if isinstance(values, tuple) else (values,)
