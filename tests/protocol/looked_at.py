"""Which releases the vectors look at: read from what their tests are parametrized with."""

import importlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from kiplab.protocol.features import Features, switched
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import CONTROLLER
from kiplab.protocol.releases import RELEASES

HERE = Path(__file__).parent


def tables_of_vectors() -> dict[str, frozenset[str]]:
    """Every file of vectors beside this one or below, with the releases that it looks at."""
    return {
        f"tests/protocol/{file.relative_to(HERE)}": frozenset(_releases_in(_module(file)))
        for file in _files()
    }


def _files() -> list[Path]:
    return sorted(HERE.rglob("test_vectors_*.py"))


def _module(file: Path) -> ModuleType:
    return importlib.import_module(".".join(("tests", "protocol", *_parts(file))))


def _parts(file: Path) -> tuple[str, ...]:
    return file.relative_to(HERE).with_suffix("").parts


def without_vectors(
    looked_at: Mapping[str, Collection[str]], releases: Iterable[str]
) -> Iterator[str]:
    """For each release that a file does not look at, what to add and where.

    A file is about the modes of which it looks at any release.
    """
    names = list(releases)
    for file, seen in looked_at.items():
        for name in (name for name in names if name not in seen and _of_a_mode(name, seen)):
            yield (
                f"no vector of {file} looks at Kafka {name}: read its source, let the rows that"
                f' still hold reach to it ("3.2-{name}"), and add rows for what it does otherwise'
            )


def _of_a_mode(name: str, seen: Iterable[str]) -> bool:
    return name not in RELEASES or RELEASES[name].mode in {RELEASES[s].mode for s in seen}


def _releases_in(module: ModuleType) -> Iterator[str]:
    for test in vars(module).values():
        for mark in getattr(test, "pytestmark", ()):
            if mark.name == "parametrize":
                for row in mark.args[1]:
                    yield from (v.release for v in _given(row) if isinstance(v, Features))


def _given(row: Any) -> tuple[Any, ...]:
    """The values of one row, which is a pytest.param, a tuple or one bare value."""
    values = getattr(row, "values", row)
    return values if isinstance(values, tuple) else (values,)


class Vector(NamedTuple):
    """One vector: a test, everything that it is called with, and the name of the row."""

    test: Callable[..., None]
    given: Mapping[str, Any]
    row: str

    def has(self, id: str) -> bool:
        """Whether a guard acts on the controller of it, or on a node that it names."""
        features = (value for value in self.given.values() if isinstance(value, Features))
        return any(
            id in each.active(node)
            for each in features
            for node in (CONTROLLER, *(node for node, _ in each.nodes))
        )

    def passes(self, switch: Callable[[Features], Features]) -> bool:
        """Whether the test passes when its features are switched so."""
        given = {k: switch(v) if isinstance(v, Features) else v for k, v in self.given.items()}
        try:
            self.test(**given)
        except Exception:
            return False
        return True


def without(id: str) -> Callable[[Features], Features]:
    """Switches a guard off; features of a mode that does not have it stay as they are."""

    def switch(features: Features) -> Features:
        there = features.mode in GUARDS[id].modes
        return switched(features, id, False) if there else features

    return switch


def all_vectors() -> list[Vector]:
    """The vectors of every file that need nothing but their rows: no fixture."""
    return [vector for file in _files() for vector in _vectors_in(_module(file))]


def _vectors_in(module: ModuleType) -> Iterator[Vector]:
    for test in vars(module).values():
        marks = getattr(test, "pytestmark", ())
        if marks and all(mark.name == "parametrize" for mark in marks):
            for rows in product(*(_rows(*mark.args) for mark in marks)):
                given = {name: value for _, row in rows for name, value in row.items()}
                if any(isinstance(value, Features) for value in given.values()):
                    yield Vector(test, given, " ".join(id for id, _ in rows))


def _rows(names: str | Sequence[str], rows: Iterable[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Each row's id, and its values by name."""
    return [(str(getattr(row, "id", "") or ""), _by_name(names, row)) for row in rows]


def _by_name(names: str | Sequence[str], row: Any) -> dict[str, Any]:
    if isinstance(names, str):
        return {names: _given(row)[0] if hasattr(row, "values") else row}
    return dict(zip(names, _given(row), strict=True))
