"""Exercises and explanations of a class: sealed in its wheel, and opened with the class's code.

A wheel that everybody installs has them as plain files. `kiplab handout` writes a wheel that has
one sealed file in their place. The seal is a hurdle and no more than that: whoever has the code can
open it, and students have the code. It keeps an answer from being found by a search or by chance.

The texts are packed together. The first bytes of the file are the SHA-256 of code and pack. Code
and these bytes make a stream of bytes (SHAKE-256), and the pack is combined with it (XOR). Equal
texts and an equal code give equal bytes. Python for a browser has both functions.
"""

import hashlib
import zlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from ..machine import LackingError
from . import class_file

_HERE = Path(__file__).parent
_SEALED = "sealed"
_ROOM = f"{_HERE.parent.name}/{_HERE.name}/"
_KEPT_BACK = tuple(f"{_ROOM}{name}" for name in ("exercises.toml", "explanations/"))
_DIGEST = hashlib.sha256().digest_size


class SealedError(LackingError):
    """Texts of a class whose code is not known here, or another one."""

    def __init__(self, problem: str) -> None:
        super().__init__(
            f"{problem}:",
            f"put the {class_file.FILE} that your instructor gave you beside the notebooks, or set"
            f" {class_file.VARIABLE} to the code of your class before JupyterLab starts.",
        )

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback."""
        return [str(self)]


def is_sealed() -> bool:
    """Whether this is the kiplab of a class."""
    return (_HERE / _SEALED).is_file()


def read_text(file: Path) -> str:
    """A text of this room, plain or out of the sealed file.

    Raises FileNotFoundError where it is in neither, SealedError without the code of the class.
    """
    if file.is_file() or not is_sealed():
        return file.read_text(encoding="utf-8")
    texts = _opened(_HERE / _SEALED, class_file.code_here())
    name = file.relative_to(_HERE).as_posix()
    if name not in texts:
        raise FileNotFoundError(name)
    return texts[name]


def sealed_for(code: str, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files of a wheel, by their paths, with one sealed file in place of the kept back texts.

    Raises ValueError where they are sealed already.
    """
    kept_back = [path for path in files if path.startswith(_KEPT_BACK)]
    if not kept_back:
        raise ValueError("this kiplab is sealed for a class itself: take the one it was made with")
    texts = {path.removeprefix(_ROOM): files[path].decode() for path in kept_back}
    pack = zlib.compress(msgspec.json.encode(texts, order="sorted"), 9)
    digest = _digest(pack, code)
    open_files = {path: data for path, data in files.items() if path not in kept_back}
    return open_files | {f"{_ROOM}{_SEALED}": digest + _combined(pack, code, digest)}


@cache
def _opened(file: Path, code: str) -> dict[str, str]:
    """The texts by their paths in this room. Raises SealedError for another code."""
    if not code:
        raise SealedError("the exercises of this class open with its code, and none is given")
    content = file.read_bytes()
    digest, sealed = content[:_DIGEST], content[_DIGEST:]
    pack = _combined(sealed, code, digest)
    if _digest(pack, code) != digest:
        raise SealedError(f"the exercises of this class do not open with the code {code!r}")
    return msgspec.json.decode(zlib.decompress(pack), type=dict[str, str])


def _digest(pack: bytes, code: str) -> bytes:
    return hashlib.sha256(code.encode() + pack).digest()


def _combined(content: bytes, code: str, digest: bytes) -> bytes:
    """The same twice over gives the content back."""
    stream = hashlib.shake_256(code.encode() + digest).digest(len(content))
    mixed = int.from_bytes(content) ^ int.from_bytes(stream)
    return mixed.to_bytes(len(content))
