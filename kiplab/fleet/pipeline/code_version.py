"""Which code worked a study out: results of different code are not added up."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable

_DIGITS = 12


@cache
def code_version(*packages: str) -> str:
    """12 hexadecimal digits of all Python sources of `packages`, such as ``"kiplab.fleet.kernel"``.

    Read through the import system, so that it is the same for a folder and for a zip of it.
    """
    digest = sha256()
    for package in sorted(packages):
        for name, source in sorted(_sources(files(package), package)):
            digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()[:_DIGITS]


def _sources(folder: Traversable, name: str) -> list[tuple[str, bytes]]:
    found = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _sources(entry, f"{name}.{entry.name}")
        elif entry.name.endswith(".py"):
            found.append((f"{name}.{entry.name}", entry.read_bytes()))
    return found
