"""A per-user folder for files that must be on disk: Spark's small files, Kafka's jars; and zips of
files, of this package too.
"""

import io
import os
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def package_files() -> dict[str, bytes]:
    """All files of kiplab by their paths in a wheel."""
    files = (f for f in PACKAGE.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
    return {f.relative_to(PACKAGE.parent).as_posix(): f.read_bytes() for f in files}


def zipped(files: Mapping[str, bytes], level: int | None = None) -> bytes:
    """A zip whose bytes depend on nothing but these: sorted, and without the files' dates."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(files):
            entry = zipfile.ZipInfo(name)
            archive.writestr(entry, files[name], zipfile.ZIP_DEFLATED, compresslevel=level)
    return buffer.getvalue()


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/kiplab``, else ``~/.cache/kiplab``; it need not exist yet."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "kiplab"


@cache
def sources_digest(*packages: str) -> int:
    """A number for the sources of packages, and of all that is in them: another one for any change.

    Read through the import system: executors are given kiplab as a zip.
    """
    digest = sha256()
    for package in packages:
        for name, source in _sources(files(package), package):
            digest.update(f"{name} {len(source)}\n".encode() + source)
    return int.from_bytes(digest.digest()[:7], "big")


def _sources(place: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in sorted(place.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith((".py", ".txt", ".toml")):
            yield f"{name}/{entry.name}", entry.read_bytes()


def keep(path: Path, content: bytes, *, mode: int = 0o644) -> Path:
    """Writes ``content`` to ``path`` unless it is there already, and returns ``path``.

    Written beside and renamed: another process never meets half a file.
    Raises OSError if the folder cannot be written.
    """
    if path.exists() and path.read_bytes() == content:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, unfinished = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        os.chmod(unfinished, mode)
        os.replace(unfinished, path)
    except BaseException:
        os.unlink(unfinished)
        raise
    return path
