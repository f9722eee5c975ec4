"""A play as a value, its text form, and back: parse(format(p)) == p."""

import re

import msgspec

from .play_errors import PlayError

LINES_MAX, LINE_LENGTH_MAX = 2_000, 2_000
FREE_TEXT = ("title", "question")
_COMMENT = re.compile(r"(?:^|\s)#\s?(.*)$")


class Statement(msgspec.Struct, frozen=True, cache_hash=True):
    """One line: ``verb word word key=value # comment``. An empty verb is a blank or a comment."""

    verb: str = ""
    words: tuple[str, ...] = ()
    args: tuple[tuple[str, str], ...] = ()
    comment: str | None = None

    def arg(self, key: str, default: str | None = None) -> str | None:
        """The value of `key`, or `default`."""
        return next((v for k, v in self.args if k == key), default)

    @property
    def text(self) -> str:
        """The line without its comment and without alignment."""
        return " ".join([self.verb, *self.words, *(f"{k}={v}" for k, v in self.args)])


class Play(msgspec.Struct, frozen=True, cache_hash=True):
    """All lines in order; a statement's line number is its place here, counted from 1."""

    statements: tuple[Statement, ...]
    name: str = ""

    def first(self, verb: str) -> Statement | None:
        """The first statement with this verb, or None."""
        return next((s for s in self.statements if s.verb == verb), None)

    @property
    def title(self) -> str:
        """The title, or the name."""
        statement = self.first("title")
        return " ".join(statement.words) if statement else self.name

    @property
    def question(self) -> str:
        """The question the play asks; empty if it asks none."""
        statement = self.first("question")
        return " ".join(statement.words) if statement else ""


def lines_of(text: str) -> list[str]:
    """The lines as every editor counts them."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def split(text: str, name: str = "") -> Play:
    """The play in `text`, its lines taken apart but not judged: `parse` does that.

    Raises PlayError for text that is no play at all: too long, or not printable.
    """
    lines = lines_of(text)
    if len(lines) > LINES_MAX:
        raise PlayError(
            f"{len(lines)} lines", expected=f"a play has at most {LINES_MAX}", file=name
        )
    return Play(tuple(_statement(line, n, name) for n, line in enumerate(lines, 1)), name)


def _statement(line: str, number: int, name: str) -> Statement:
    if len(line) > LINE_LENGTH_MAX:
        problem = f"a line of {len(line)} characters"
        raise PlayError(problem, expected=f"at most {LINE_LENGTH_MAX}", line=number, file=name)
    if not line.replace("\t", " ").isprintable():
        raise PlayError("a control character", expected="plain text", line=number, file=name)
    match = _COMMENT.search(line)
    comment = match.group(1).rstrip() if match else None
    tokens = (line[: match.start()] if match else line).split()
    if not tokens:
        return Statement(comment=comment)
    verb, *rest = tokens
    if verb in FREE_TEXT:
        return Statement(verb, tuple(rest), comment=comment)
    words = tuple(t for t in rest if "=" not in t)
    pairs = (t.partition("=") for t in rest if "=" in t)
    return Statement(verb, words, tuple((k, v) for k, _, v in pairs), comment)


def format_play(play: Play) -> str:
    """The play as text, comments kept, verbs and comments aligned."""
    verbs = [len(s.verb) for s in play.statements if s.verb]
    width = max(verbs, default=0) + 2
    bodies = [(s, _body(s, width)) for s in play.statements]
    column = max((len(b) for s, b in bodies if s.verb and s.comment is not None), default=0)
    return "".join(_line(s, b, column) + "\n" for s, b in bodies)


def _body(statement: Statement, width: int) -> str:
    rest = statement.text[len(statement.verb) + 1 :]
    return f"{statement.verb:<{width}}{rest}".rstrip() if statement.verb else ""


def _line(statement: Statement, body: str, column: int) -> str:
    if statement.comment is None:
        return body
    comment = f"# {statement.comment}".rstrip()
    return f"{body:<{column + 2}}{comment}" if body else comment
