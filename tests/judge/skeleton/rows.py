"""Structs as short JSON rows, and back: the names of fields are not kept.

A struct of a union stands behind its place in the union; every other struct is the plain list of
its values. A trailing value that is the default of its field is left out.
"""

from collections.abc import Callable
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

Write = Callable[[Any], Any]
Read = Callable[[Any], Any]


def write_row(value: Any, kind: Any) -> Any:
    """The row of a value of type `kind`."""
    return _writer(kind)(value)


def read_row(row: Any, kind: Any) -> Any:
    """The value of type `kind` that `row` was made of.

    Raises msgspec.ValidationError for a row of something else.
    """
    return _reader(kind)(row)


@cache
def _writer(kind: Any) -> Write:
    if _is_struct(kind):
        return _struct_writer(kind)
    if structs := _structs_of(kind):
        places = {struct: place for place, struct in enumerate(structs)}
        return lambda value: None if value is None else [places[type(value)], *_writers(value)]
    if inner := _item_of(kind):
        write = _writer(inner)
        return lambda values: [write(value) for value in values]
    return msgspec.to_builtins


def _writers(value: Any) -> Any:
    kind: Any = type(value)
    return _writer(kind)(value)


def _struct_writer(struct: type[msgspec.Struct]) -> Write:
    fields = msgspec.structs.fields(struct)
    hints = get_type_hints(struct, include_extras=True)
    writers = [(f.name, _writer(hints[f.name]), f.default) for f in fields]

    def write(value: Any) -> list[Any]:
        values = [getattr(value, name) for name, _, _ in writers]
        end = len(writers)
        while end and values[end - 1] == writers[end - 1][2]:
            end -= 1
        return [writers[n][1](values[n]) for n in range(end)]

    return write


@cache
def _reader(kind: Any) -> Read:
    if _is_struct(kind):
        return _struct_reader(kind)
    if structs := _structs_of(kind):
        return lambda row: None if row is None else _chosen(structs, row)
    if inner := _item_of(kind):
        read = _reader(inner)
        return lambda rows: tuple(read(row) for row in rows)
    return lambda value: msgspec.convert(value, kind)


def _chosen(structs: tuple[type, ...], row: Any) -> Any:
    if not isinstance(row, list) or not row or not isinstance(row[0], int):
        raise msgspec.ValidationError(f"{row} has no place in a union")
    return _reader(structs[row[0]])(row[1:])


def _struct_reader(struct: type[msgspec.Struct]) -> Read:
    hints = get_type_hints(struct, include_extras=True)
    fields = [(f.name, _reader(hints[f.name])) for f in msgspec.structs.fields(struct)]

    def read(row: Any) -> Any:
        if not isinstance(row, list) or len(row) > len(fields):
            raise msgspec.ValidationError(f"{row} is no {struct.__name__}")
        named = {name: read(value) for (name, read), value in zip(fields, row, strict=False)}
        try:
            return struct(**named)
        except TypeError as missing:
            raise msgspec.ValidationError(str(missing)) from None

    return read


def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _structs_of(kind: Any) -> tuple[type, ...]:
    """The structs of a union of structs, with or without None; nothing for any other type."""
    if get_origin(kind) not in (Union, UnionType):
        return ()
    inside = tuple(each for each in get_args(kind) if each is not type(None))
    return inside if all(map(_is_struct, inside)) else ()


def _item_of(kind: Any) -> Any:
    """What a tuple of any length consists of, if that is a struct or a union of structs."""
    inside = get_args(kind)
    if get_origin(kind) is not tuple or inside[1:] != (Ellipsis,):
        return None
    return inside[0] if _is_struct(inside[0]) or _structs_of(inside[0]) else None
