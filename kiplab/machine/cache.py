"""A per-user folder for files that must be on disk: Spark's small files, Kafka's jars."""

import os
import tempfile
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/kiplab``, else ``~/.cache/kiplab``; it need not exist yet."""
    root = os.environ.get("XDG_CACHE_HOME")
    return (Path(root) if root else Path.home() / ".cache") / "kiplab"


@cache
def sources_digest(package: str) -> int:
    """A number for the sources of a package: another one for any change.

    Read through the import system: executors are given kiplab as a zip.
    """
    sources = {entry.name: entry for entry in files(package).iterdir()}
    names = sorted(name for name in sources if name.endswith(".py"))
    text = b"".join(sources[name].read_bytes() for name in names)
    return int.from_bytes(sha256(text).digest()[:7], "big")


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
