"""Tokens: a whole run in one line that can be pasted anywhere.

``kiplab1:`` + URL-safe base64 of (check sum, compressed JSON of the play's text and features).
"""

import base64
import binascii
import re
import zlib

import msgspec
from msgspec.structs import replace

from ..protocol.features import Features, check_features
from .grammar import parse
from .play import Play, format_play
from .play_errors import PlayError

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
