"""Every verb of a play: its arguments, and the refusal of a wrong line."""

from typing import Any

import msgspec
from msgspec.structs import replace

from . import values
from .expect import check_form
from .header import LINES, names_of, value_kind
from .move_lines import MOVE_VERBS, MoveForm
from .play import FREE_TEXT, Play, Statement, lines_of, split
from .play_errors import Part, PlayError, in_part, nearest, no_key
from .request_words import ITEMS_MAX, WORDS, repeatable_words, words_of
from .situation import judge
from .values import Keys, Names, WordCheck, check_part


class Verb(msgspec.Struct, frozen=True):
    """A verb: usage, words in order, keys, those it needs. `header` verbs come first."""

    usage: str
    words: tuple[WordCheck, ...] = ()
    keys: Keys = {}
    needs: tuple[str, ...] = ()
    optional_words: int = 0
    header: bool = False
    repeat: WordCheck | None = None


def _of_move(form: MoveForm) -> Verb:
    keys = {word.key.word: word.form.read for word in form.keys if word.key}
    return Verb(
        form.usage,
        tuple(word.form.read for word in form.words),
        {**keys, "where": values.guard} if form.is_conditional else keys,
        needs=tuple(word.key.word for word in form.keys if word.key and word.key.needed),
    )


def _of_line(said: dict[str, Any]) -> Verb:
    words, needs = tuple(map(value_kind, said.get("words", ()))), tuple(said.get("needs", ()))
    keys = {key: value_kind(kind) for key, kind in said.get("keys", {}).items()}
    repeat = value_kind(said["repeat"]) if "repeat" in said else None
    return Verb(**{**said, "words": words, "keys": keys, "needs": needs, "repeat": repeat})


VERBS: dict[str, Verb] = {
    name: _of_line(said) if said else _of_move(MOVE_VERBS[name]) for name, said in LINES.items()
}
_SEND: Keys = {key: check for words in WORDS.values() for key, check in words.items()}
VERBS["send"] = replace(VERBS["send"], words=(values.one_of(*WORDS),), keys=_SEND)


def parse(text: str, name: str = "") -> Play:
    """The play in `text`, every line checked against the grammar and the play's own names.

    Raises PlayError with file, line, column, what was found and what was expected there.
    """
    play = split(text, name)
    names = names_of(play)
    sources = lines_of(text)
    started = False
    for line, (statement, source) in enumerate(zip(play.statements, sources, strict=True), 1):
        try:
            started = check(statement, names, started)
        except PlayError as problem:
            raise problem.at(file=name, line=line, source=source) from None
    if not names.brokers:
        raise PlayError("there is no broker", expected="begin with `broker 1`", file=name, line=1)
    try:
        judge(play)
    except PlayError as problem:
        raise problem.at(file=name, source=sources[problem.line - 1]) from None
    return play


def check(statement: Statement, names: Names, started: bool) -> bool:
    """Judge one line; `started` says whether the header is over, and so does the answer.

    Raises PlayError when the verb is unknown or out of place, or a word or a key does not fit it.
    """
    if not statement.verb:
        return started
    verb = VERBS.get(statement.verb)
    if verb is None:
        expected = nearest(statement.verb, VERBS)
        raise PlayError(f"unknown verb {statement.verb!r}", expected=expected, token=statement.verb)
    if verb.header and started:
        problem = f"{statement.verb!r} belongs to the header"
        raise PlayError(problem, expected="move it before the first action", token=statement.verb)
    if statement.verb not in FREE_TEXT:
        _check_words(statement, verb, names)
        _check_keys(statement, verb, names)
        _check_whole(statement, verb, names)
    return started or not verb.header


def _check_words(statement: Statement, verb: Verb, names: Names) -> None:
    given = statement.words
    fewest, most = len(verb.words) - verb.optional_words, len(verb.words)
    if len(given) < fewest or (len(given) > most and verb.repeat is None):
        many = len(given) > most
        problem = PlayError(
            f"{statement.verb!r} has {len(given)} of its words",
            expected=f"it reads: {verb.usage}",
            token=given[most] if many else statement.verb,
        )
        raise in_part(Part(pair=False, number=most) if many else None, problem)
    for position, word in enumerate(given):
        expected = verb.words[position] if position < most else verb.repeat
        if expected is not None:
            check_part(expected, word, names, Part(pair=False, number=position))


def _check_keys(statement: Statement, verb: Verb, names: Names) -> None:
    seen: set[str] = set()
    for position, (key, value) in enumerate(statement.args):
        seen -= repeatable_words(statement, key, seen)
        part = Part(pair=True, number=position)
        if key in seen:
            twice = f"{key!r} is given twice"
            raise in_part(part, PlayError(twice, expected="once is enough", token=f"{key}="))
        if key not in verb.keys:
            expected = nearest(key, verb.keys) if verb.keys else f"it reads: {verb.usage}"
            raise no_key(repr(statement.verb), key, expected, position)
        seen.add(key)
        check_value = words_of(statement).get(key, verb.keys[key])
        check_part(check_value, value, names, part._replace(value=True))


def _check_whole(statement: Statement, verb: Verb, names: Names) -> None:
    """What concerns more than one part of a line."""
    given = [key for key, _ in statement.args]
    missing = [key for key in verb.needs if key not in given]
    problem, expected, token = "", f"it reads: {verb.usage}", statement.verb
    if missing:
        problem = f"{statement.verb!r} needs {missing[0]}="
    elif statement.verb in ("given", "controller") and not given:
        of = " of the controller" if statement.verb == "controller" else ""
        problem = f"{statement.verb!r} says nothing{of}"
    elif statement.verb == "configure" and len(given) != 1:
        problem = f"{statement.text!r} does not say which setting is changed"
    elif statement.verb == "upgrade" and (
        len(given) != 1 or (statement.words and given != ["kafka"])
    ):
        problem = f"{statement.text!r} does not say what is upgraded to what"
    elif statement.verb == "produce" and {"producer", "to"} <= set(given):
        problem, token = "a producer finds the leader by itself", "to="
        expected = "it writes to whom its metadata names; leave to= away"
    elif statement.verb == "produce" and {"producer", "transaction"} <= set(given):
        problem, token = "no transaction of a producer by name", "producer="
        expected = "leave producer= away: what is written in a transaction is not sent again"
    if problem:
        raise PlayError(problem, expected=expected, token=token)
    if statement.verb == "send":
        _check_fields(statement)
    if statement.verb == "expect":
        check_form(statement, names)


def _check_fields(statement: Statement) -> None:
    kind = statement.words[0]
    for position, (key, _) in enumerate(statement.args):
        if key not in WORDS[kind]:
            raise no_key(kind, key, nearest(key, WORDS[kind]), position)
    named = [n for n, (key, _) in enumerate(statement.args) if key == "partition"]
    if len(named) > ITEMS_MAX:
        problem = PlayError(
            "too many partitions",
            expected=f"at most {ITEMS_MAX} in one request",
            token="partition=",
        )
        raise in_part(Part(pair=True, number=named[ITEMS_MAX]), problem)
