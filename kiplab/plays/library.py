"""The plays that come with kiplab, and how a name, a file or a token becomes a play.

A token is a whole run in one line that can be pasted anywhere: ``kiplab1:`` + URL-safe base64 of
(check sum, compressed JSON of the play's text and features).
"""

import base64
import binascii
import re
import zlib
from functools import cache
from importlib.resources import files
from itertools import chain
from os.path import exists
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ..protocol.features import Features, check_features
from .grammar import parse
from .play import LINE_LENGTH_MAX, LINES_MAX, Play, format_play
from .play_errors import PlayError, nearest

FILE_MAX = LINES_MAX * (LINE_LENGTH_MAX + 1)
_FOLDER = files(__package__) / "scenarios"


@cache
def names() -> tuple[str, ...]:
    """The names of all plays, sorted."""
    found = (entry.name for entry in _FOLDER.iterdir() if entry.name.endswith(".play"))
    return tuple(sorted(name.removesuffix(".play") for name in found))


@cache
def load(name: str) -> Play:
    """The play of this name. Raises PlayError that lists what there is."""
    if name not in names():
        raise PlayError(f"there is no play {name!r}", expected=nearest(name, names()))
    return parse((_FOLDER / f"{name}.play").read_text(encoding="utf-8"), name)


def find(source: str | Path) -> tuple[Play, Features | None]:
    """(play, the features shared with it or None) from a name, file, token or text."""
    text = str(source)
    if is_token(text):
        return decode(text)
    if "\n" in text or ";" in text:
        return parse("\n".join(chain.from_iterable(map(_lines, text.splitlines()))), "play"), None
    path = Path(text)
    # Path.exists raises an error for a name that is too long for a file.
    if text in names() or not (path.suffix or exists(path)):
        return load(text), None
    return read(path), None


def _lines(part: str) -> list[str]:
    """A title, a question or a comment may have a ; of its own."""
    if part.lstrip().startswith(("title", "question")):
        return [part]
    code, *comment = part.partition("#")
    *lines, last = code.split(";")
    return [*lines, "".join([last, *comment])]


def read(path: Path) -> Play:
    """The play in a file. Raises PlayError when it cannot be read."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            content = file.read(FILE_MAX + 1)
    except (OSError, ValueError) as problem:
        if isinstance(problem, UnicodeDecodeError):
            raise PlayError(f"{path} is no text", expected="a play in UTF-8") from None
        reason = getattr(problem, "strerror", None) or "it cannot be read"
        raise PlayError(f"{path}: {reason}", expected="a play's name or file") from None
    if len(content) > FILE_MAX:
        raise PlayError(f"{path} is too long", expected=f"at most {FILE_MAX} characters")
    return parse(content, str(path))


# --- tokens ---------------------------------------------------------------------------------------

PREFIX, VERSION = "kiplab", 1
UNPACKED_MAX = 400_000
"""Bytes; a token that unpacks to more is refused before it costs memory."""
NAME_MAX = 300


class _Content(msgspec.Struct, frozen=True):
    play: str
    name: str = ""
    features: Features | None = None


def encode(play: Play, features: Features | None = None) -> str:
    """The token of `play`, under `features` if they are not the play's own.

    Comments are left out: a token is a run, not a manuscript.
    """
    bare = tuple(replace(s, comment=None) for s in play.statements if s.verb)
    text = format_play(Play(bare, play.name))
    packed = zlib.compress(msgspec.json.encode(_Content(text, play.name, features)), 9)
    check = zlib.crc32(packed).to_bytes(4, "big")
    return f"{PREFIX}{VERSION}:{base64.urlsafe_b64encode(check + packed).decode().rstrip('=')}"


def decode(token: str) -> tuple[Play, Features | None]:
    """(play, features or None). Raises PlayError, one sentence, for anything that is no token."""
    content = _content(_payload(token.strip()))
    name = content.name or "token"
    if len(name) > NAME_MAX or not name.isprintable():
        raise _damaged()
    if content.features is not None:
        check_features(content.features)
    return parse(content.play, name), content.features


def is_token(text: str) -> bool:
    """Whether `text` means to be a token."""
    return text.strip().startswith(PREFIX) and ":" in text


def _payload(token: str) -> bytes:
    head, colon, body = token.partition(":")
    version = head.removeprefix(PREFIX)
    if not colon or not re.fullmatch(f"{PREFIX}[1-9][0-9]{{0,3}}", head):
        raise PlayError("this is no kiplab token", expected=f"one begins with {PREFIX}{VERSION}:")
    if int(version) > VERSION:
        raise PlayError(f"this token is of version {version}", expected="update kiplab to read it")
    try:
        return base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        raise _damaged() from None


def _content(payload: bytes) -> _Content:
    check, packed = payload[:4], payload[4:]
    if zlib.crc32(packed).to_bytes(4, "big") != check:
        raise _damaged()
    try:
        unpacker = zlib.decompressobj()
        data = unpacker.decompress(packed, UNPACKED_MAX)
        if unpacker.unconsumed_tail:
            raise PlayError("this token is too large", expected=f"at most {UNPACKED_MAX} bytes")
        return msgspec.json.decode(data, type=_Content)
    except (zlib.error, msgspec.DecodeError, RecursionError):
        raise _damaged() from None


def _damaged() -> PlayError:
    return PlayError("this token is damaged", expected="copy it again, whole")
