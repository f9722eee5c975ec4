"""A student's numbers in an exercise: drawn from a seed, and put in place of those of the text.

An exercise that varies has `numbers` in exercises.toml: names, and the values that they can have,
those of the text first. Its `varies` are pieces of its texts and of its play with the names in
them: ``"count=<count>"``. A piece with the numbers of the text is replaced, wherever it stands, by
the same piece with the student's. So every text stands in the table as the notebooks have it.
"""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

from msgspec.structs import replace

from ..plays import library
from ..plays.play import Play, Statement, format_play

NamedValues = dict[str, Any]
"""The number, or the words, of each name."""
Candidates = dict[str, tuple[Any, ...]]
"""The values that a name can have. Several names, with a space between, have as many of the values,
numbers in ascending order; of lists they have one.
"""
_FIELD = re.compile(r"<(\w+(?: [+-] \w+)*)>")
_TERM = re.compile(r"([+-]?) ?(\w+)")
_TOLD = ("fields", "ideas", "outcomes", "situation", "plays", "asks")
"""What of an exercise has numbers in it."""
_UNTOLD = ("expect", "title", "question", "")
"""Lines of a play that speak of the numbers of the text, or of nothing."""


def varied(exercise: dict[str, Any], seed: str) -> dict[str, Any]:
    """An exercise as plain values, with the numbers that are drawn from `seed`."""
    text, mine = values_of(exercise["numbers"]), values_of(exercise["numbers"], seed)
    put = put_in_place({filled(p, text): filled(p, mine) for p in exercise["varies"]})
    told = {name: exercise[name] for name in _TOLD}
    if exercise["about"]:
        told["situation"] = bare_play(exercise["about"], f"{exercise['title']} (your numbers)")
    told = put(told)
    # A class counts by the words of a misconception: they are the same for everybody.
    ideas = zip(told["ideas"].items(), exercise["ideas"].values(), strict=True)
    told["ideas"] = {key: [idea[0], new[1]] for (key, new), idea in ideas}
    return {**exercise, **told, "drawn": mine}


def values_of(numbers: Candidates, seed: str = "") -> NamedValues:
    """A student's values, the same ones for the same seed; without one those of the text."""
    named: NamedValues = {}
    dice = Random(seed)
    for key, values in numbers.items():
        names = key.split()
        among = dice.sample(values, len(values)) if seed else [*values]
        chosen = among[: len(names)]
        if isinstance(chosen[0], list | tuple):
            chosen = [*chosen[0]]
        elif isinstance(chosen[0], int):
            chosen.sort()
        named |= zip(names, chosen, strict=True)
    return named


def filled(piece: str, values: Mapping[str, Any]) -> str:
    """A piece with the values in it: ``<end>``, or a sum such as ``<end + count - 1>``."""

    def value(field: re.Match[str]) -> str:
        if isinstance(values.get(field[1]), str):
            return filled(values[field[1]], values)
        terms = _TERM.findall(field[1])
        return str(sum(int(f"{sign}1") * int(values.get(name, name)) for sign, name in terms))

    return _FIELD.sub(value, piece)


def put_in_place(instead: Mapping[str, str]) -> Callable[[Any], Any]:
    """Replaces pieces of a text, and of every text of a list or a table, keys as well."""
    longest_first = sorted(map(re.escape, instead), key=len, reverse=True)
    found = re.compile(rf"(?<!\d)(?:{'|'.join(longest_first)})(?!\d)")

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return found.sub(lambda piece: instead[piece[0]], value)
        if isinstance(value, Mapping):
            return {put(key): put(inside) for key, inside in value.items()}
        return [*map(put, value)] if isinstance(value, list | tuple) else value

    return put


def bare_play(name: str, title: str) -> str:
    """The text of a play of the library without what it says of its numbers."""
    lines = (s for s in library.load(name).statements if s.verb not in _UNTOLD)
    told = (Statement("title", tuple(title.split())), *(replace(s, comment=None) for s in lines))
    return re.sub(" +", " ", format_play(Play(told)))
