"""The plays that come with kiplab, and how a name, a file or a token becomes a play."""

from functools import cache
from importlib.resources import files
from itertools import chain
from os.path import exists
from pathlib import Path

from ..protocol.features import Features
from .grammar import parse
from .play import LINE_LENGTH_MAX, LINES_MAX, Play
from .play_errors import PlayError, nearest
from .tokens import decode, is_token

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
