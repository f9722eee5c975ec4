"""Answers and records as rows of plain values, and back: names of fields are not kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec
from msgspec.structs import astuple

from ...protocol.facts import RecordWritten
from ...protocol.messages import ANSWERED, BODIES, Request, Response

AnswerRow = list[Any]
_ANSWERS: dict[type, Any] = {BODIES[asked]: BODIES[kind] for kind, asked in ANSWERED.items()}


class _Field(NamedTuple):
    name: str
    read: Callable[[Any], Any]


_FIELDS: dict[type, tuple[_Field, ...]] = {}
"""Found out once: a corpus has many answers of few kinds."""


def row_of(struct: msgspec.Struct) -> AnswerRow:
    """The values of its fields in their order; structs inside are rows too."""
    return [_value_of(value) for value in astuple(struct)]


def _value_of(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return row_of(value)
    return [_value_of(one) for one in value] if isinstance(value, tuple) else value


def answer_of_row(request: Request, row: AnswerRow) -> Response:
    """The answer to `request` that the row was made of.

    Raises msgspec.ValidationError for a row of something else.
    """
    answer: Response = _read(_ANSWERS[type(request)], row)
    return answer


def _read(struct: type[Any], row: AnswerRow) -> Any:
    fields = _FIELDS.get(struct)
    if fields is None:
        fields = _FIELDS[struct] = _fields_of(struct)
    if len(fields) != len(row):
        raise msgspec.ValidationError(f"{len(row)} values for {struct.__name__}")
    return struct(**{f.name: f.read(value) for f, value in zip(fields, row, strict=True)})


def _fields_of(struct: type[Any]) -> tuple[_Field, ...]:
    hints = get_type_hints(struct, include_extras=True)
    return tuple(_Field(f.name, _reader(hints[f.name])) for f in msgspec.structs.fields(struct))


def _reader(hint: Any) -> Callable[[Any], Any]:
    """How a value of that type is read."""
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return lambda row: _read(hint, row)
    inside = get_args(hint)
    if inside[1:] == (Ellipsis,) and _is_struct(inside[0]):
        return lambda rows: tuple(_read(inside[0], row) for row in rows)
    return lambda value: msgspec.convert(value, hint)


def _is_struct(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, msgspec.Struct)


def record_rows(records: tuple[RecordWritten, ...]) -> list[AnswerRow]:
    """Offset, version and text of each; its name is the first word of its text."""
    return [[record.offset, record.version, record.text] for record in records]


def records_of_rows(rows: list[AnswerRow]) -> tuple[RecordWritten, ...]:
    """The records that the rows were made of."""
    return tuple(
        RecordWritten(offset=offset, version=version, text=text, record=text.partition(" ")[0])
        for offset, version, text in rows
    )
