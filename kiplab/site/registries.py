"""What the site is made of, from the registries of pip and npm, by their pinned hashes.

Both are asked by their own commands, so that their own settings name the place. What has come once
is kept in the user's cache folder and checked again whenever it is read.
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..extras import install
from ..machine import LackingError
from ..machine.cache import cache_folder, keep

PYODIDE = "314.0.7"
"""CPython 3.14 for a browser; the package of npm that is called pyodide."""
REVEAL = "5.2.1"
"""The slides of a deck; the package of npm that is called reveal.js."""
_SHA512 = {
    f"pyodide@{PYODIDE}": "0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7"
    "y2q+SNvi/6V5JEsOlD2R1A==",
    f"reveal.js@{REVEAL}": "r7//6mIM5p34hFiDMvYfXgyjXqGRta+/psd9YtytsgRlrpRzFv4RbH76TXd2qD+7"
    "ZPZEbpBDhdRhJaFgfQ7zNQ==",
}
"""By a package of npm and its version, the SHA-512 of its archive."""
CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip")
"""The files of Pyodide that a page loads, whatever it imports."""
LOCK = "pyodide-lock.json"
"""Pyodide's list of packages; its entry ``info`` says for which Python they are."""
SLIDES = ("dist/reveal.js", "dist/reveal.css", "LICENSE")
_PINS = Path(__file__).with_name("wheels.txt")
_TARGET = (
    *("--implementation", "cp", "--python-version", "3.14", "--abi", "cp314", "--abi", "none"),
    *("--platform", "pyemscripten_2026_0_wasm32", "--platform", "any"),
)
PATIENCE_S = 600
_LINE = 300
"""At most so many characters of a complaint are shown."""


class MissingPieceError(LackingError):
    """A piece of the site, or a tool that makes it, cannot be had on this machine."""


def pinned_core() -> dict[str, bytes]:
    """The files CORE of Pyodide, and LOCK. Raises MissingPieceError."""
    return _files_of(f"pyodide@{PYODIDE}", (*CORE, LOCK))


def pinned_reveal() -> dict[str, bytes]:
    """The files SLIDES of reveal.js. Raises MissingPieceError."""
    return _files_of(f"reveal.js@{REVEAL}", SLIDES)


def _files_of(package: str, names: Sequence[str]) -> dict[str, bytes]:
    """Files of a pinned package of npm, by their names in it."""
    archive = cache_folder() / "site" / f"{package.replace('@', '-')}.tgz"
    if not archive.is_file() or _sha512(archive) != _SHA512[package]:
        _pack(package, archive)
    with tarfile.open(archive) as tar:
        members = {name: tar.extractfile(f"package/{name}") for name in names}
        return {name: member.read() for name, member in members.items() if member is not None}


def pinned_wheels() -> dict[str, Path]:
    """Every wheel of wheels.txt by the name of its package, as the registry has it.

    Raises MissingPieceError where one is not in the cache and cannot be fetched.
    """
    text = _PINS.read_text(encoding="utf-8")
    pins = dict(re.findall(r"^(\S+)==\S+ --hash=sha256:(\w+)", text, re.MULTILINE))
    folder = cache_folder() / "site" / "wheels"
    if not {*pins.values()} <= _by_sha256(folder).keys():
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check"]
        command += ["--no-deps", "--only-binary=:all:", "--require-hashes", *_TARGET]
        ask(*command, "-r", str(_PINS), "-d", str(folder))
    kept = _by_sha256(folder)
    return {name: kept[digest] for name, digest in pins.items()}


def _by_sha256(folder: Path) -> dict[str, Path]:
    wheels = sorted(folder.glob("*.whl"))
    return {hashlib.sha256(wheel.read_bytes()).hexdigest(): wheel for wheel in wheels}


def _pack(package: str, archive: Path) -> None:
    """Put a pinned package of npm there."""
    with tempfile.TemporaryDirectory() as scratch:
        ask(tool("npm"), "pack", package, "--silent", "--pack-destination", scratch)
        came = Path(scratch, archive.name)
        if (digest := _sha512(came)) != _SHA512[package]:
            raise MissingPieceError(
                f"npm's {package} has the SHA-512 {digest}, not the pinned {_SHA512[package]}.",
                "Ask a registry that has it as it was published.",
            )
        keep(archive, came.read_bytes())


def _sha512(file: Path) -> str:
    return base64.b64encode(hashlib.sha512(file.read_bytes()).digest()).decode()


def tool(name: str) -> str:
    """The path of ``node`` or ``npm``: this Python's own, else the one on PATH.

    Raises MissingPieceError.
    """
    own = Path(sys.executable).parent
    found = shutil.which(name, path=f"{own}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        raise MissingPieceError(f"There is no {name} here.", f"{install('site')} brings one.")
    return found


def ask(*command: str, cwd: Path | None = None) -> str:
    """Run a command and return what it printed. Raises MissingPieceError with what it complained
    of where it fails or takes longer than PATIENCE_S.
    """
    words = command[2:] if command[1:2] == ("-m",) else (Path(command[0]).name, *command[1:])
    name = " ".join(words[:2])
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE_S, check=True, cwd=cwd
        )
    except subprocess.TimeoutExpired:
        why = f"{name} was not done after {PATIENCE_S} s."
        raise MissingPieceError(why, "Try again on a better network.") from None
    except subprocess.CalledProcessError as failed:
        lines = (failed.stderr or failed.stdout).strip().splitlines() or ["it said nothing"]
        why = f"{name} failed: {lines[-1].strip()[:_LINE]}."
        raise MissingPieceError(why, "Is the registry reachable, and is there space?") from None
    return done.stdout
