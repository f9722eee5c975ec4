"""Finding a cluster's epochs, offsets and incarnations by the annotations of its structs.

`renumbered` walks over a value and replaces them. The fields to visit are worked out once for every
class: a field's annotation says what its number counts, and so which numbers it is compared with. A
struct that is new to a cluster needs no entry anywhere.
"""

from collections.abc import Callable
from enum import Enum, StrEnum
from operator import attrgetter, itemgetter
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec

from ..protocol import ids


class Numbering(StrEnum):
    """Numbers that are compared with each other."""

    METADATA = "metadata"
    LEADER = "leader"
    PARTITION = "partition"
    OFFSET = "offset"
    LIFE = "life"
    SESSION = "session"


EVERYONES = (Numbering.METADATA, Numbering.SESSION)
"""Numberings that the whole cluster shares."""


_NUMBERINGS: dict[Any, Numbering] = {
    # A broker epoch is the metadata offset of a registration.
    ids.BrokerEpoch: Numbering.METADATA,
    ids.MetadataOffset: Numbering.METADATA,
    # In ZooKeeper mode it is the zxid of one.
    ids.Zxid: Numbering.METADATA,
    ids.SessionId: Numbering.SESSION,
    ids.LeaderEpoch: Numbering.LEADER,
    ids.PartitionEpoch: Numbering.PARTITION,
    ids.Offset: Numbering.OFFSET,
    ids.Incarnation: Numbering.LIFE,
}
_STAY = (ids.BrokerId, ids.ControllerEpoch)
"""Names rather than positions: nothing is gained by calling the only controller's epoch 0."""

Renumber = Callable[[Numbering, str, int], int]
"""(numbering, whose, number) to the number that takes its place."""
Known = dict[tuple[int, str], Any]
"""Results by value: every broker holds the same image of the metadata."""
_Walk = Callable[[Any, str, Renumber, Known], Any]


class _Part(NamedTuple):
    """One field, or one place in a tuple, that holds numbers or holds what holds them."""

    key: Any
    get: Callable[[Any], Any]
    walk: _Walk
    owner: Callable[[Any], Any] | None
    """Whose it is, for an incarnation."""
    default: Any


class _Plan(NamedTuple):
    """The parts with numbers in values of one class."""

    parts: tuple[_Part, ...]
    partition: Callable[[Any], str] | None
    """The owner of the offsets and epochs inside; None: the owner of the enclosing value."""
    error: Callable[[Any], Any] | None
    rebuilt: Callable[[Any, dict[Any, Any]], Any]


def renumbered(value: msgspec.Struct, number: Renumber) -> Any:
    """`value` with `number` applied to every number that counts by its order; itself if none
    changes.

    Raises TypeError, naming struct and field, for a field whose annotation doesn't say what it
    counts.
    """
    return _walk_instance(value, "", number, {})


def _walk_instance(value: Any, whose: str, number: Renumber, walked_before: Known) -> Any:
    if value is None:
        return None
    plan = _PLANS.get(type(value)) or plan_of(type(value))
    if not plan.parts:
        return value
    here = (id(value), whose)
    walked = walked_before.get(here)
    if walked is None:
        walked = walked_before[here] = _walk_parts(plan, value, whose, number, walked_before)
    return walked


def _walk_parts(plan: _Plan, value: Any, whose: str, number: Renumber, walked_before: Known) -> Any:
    partition = plan.partition(value) if plan.partition is not None else whose
    parts = plan.parts
    if plan.error is not None and plan.error(value):
        # The zeros of an error entry are a schema's defaults and no epochs.
        parts = tuple(p for p in parts if p.get(value) != p.default)
    changed = {}
    for key, get, walk, owner, _ in parts:
        old = get(value)
        of = partition if owner is None else str(ids.host_of(owner(value)))
        new = walk(old, of, number, walked_before)
        if new is not old:
            changed[key] = new
    return plan.rebuilt(value, changed) if changed else value


# --- plans --------------------------------------------------------------------------------------


def plan_of(kind: type) -> _Plan:
    """The parts with numbers in a struct or named tuple.

    Raises TypeError, naming struct and field, for a field whose annotation doesn't say what it
    counts.
    """
    if kind in _PLANS:
        return _PLANS[kind]
    _PLANS[kind] = _UNFINISHED
    try:
        _PLANS[kind] = _made(kind)
    except TypeError:
        del _PLANS[kind]
        raise
    return _PLANS[kind]


def _made(kind: type) -> _Plan:
    hints = get_type_hints(kind, include_extras=True)
    is_struct = issubclass(kind, msgspec.Struct)
    names = kind.__struct_fields__ if is_struct else kind._fields  # type: ignore[attr-defined]
    fields = {name: hints[name] for name in names}
    if not is_struct:
        return _plan(kind.__name__, fields, lambda value, new: value._replace(**new))
    plan = _plan(kind.__name__, fields, _replaced)
    defaults = {f.name: f.default for f in msgspec.structs.fields(kind)}
    return plan._replace(parts=tuple(p._replace(default=defaults[p.key]) for p in plan.parts))


def _plan(where: str, fields: dict[Any, Any], rebuilt: Callable[[Any, Any], Any]) -> _Plan:
    if fields.get("partition") is str:
        raise TypeError(
            f"{where}.partition is a str: annotate it PartitionName, so that the offsets"
            f" and epochs of {where} are known to be that partition's"
        )
    walks = {key: _walker(hint, f"{where}.{key}") for key, hint in fields.items()}
    named = [key for key, hint in fields.items() if hint == ids.PartitionName]
    return _Plan(
        parts=tuple(
            _Part(key, _getter(key), walk, _owner(where, key, fields), msgspec.NODEFAULT)
            for key, walk in walks.items()
            if walk is not None
        ),
        partition=_getter(named[0]) if named else None,
        error=_getter("error") if "error" in fields else None,
        rebuilt=rebuilt,
    )


def _owner(where: str, key: Any, fields: dict[Any, Any]) -> Callable[[Any], Any] | None:
    """``receiver_incarnation`` is the receiver's; any other belongs to the first broker named."""
    if ids.Incarnation not in (fields[key], *get_args(fields[key])):
        return None
    named = str(key).removesuffix("_incarnation")
    brokers = [k for k, hint in fields.items() if hint in (ids.BrokerId, ids.Sender)]
    if not brokers:
        raise TypeError(
            f"{where}.{key} is an incarnation, but {where} doesn't say whose: give it a field of"
            " type BrokerId"
        )
    return _getter(named if named in brokers else brokers[0])


def _getter(key: Any) -> Callable[[Any], Any]:
    return itemgetter(key) if isinstance(key, int) else attrgetter(key)


def _replaced(value: Any, new: dict[str, Any]) -> Any:
    return msgspec.structs.replace(value, **new)


# --- what an annotation asks for ----------------------------------------------------------------


def _walker(hint: Any, where: str) -> _Walk | None:
    """How to walk over a field of this annotation; None where it holds no number that counts."""
    if hint in _NUMBERINGS:
        return _numbered(_NUMBERINGS[hint])
    origin = get_origin(hint)
    if origin is Annotated:
        return None if ids.PLAIN in hint.__metadata__ else _walker(get_args(hint)[0], where)
    plain = (*_STAY, bool, str, NoneType, msgspec.UnsetType)
    if hint in plain or (isinstance(hint, type) and issubclass(hint, Enum)):
        return None
    if hint is msgspec.Struct:
        # Of a field for any struct only a value shows the class.
        return _walk_instance
    if origin is tuple:
        return _tuple_walker(get_args(hint), where)
    if origin in (Union, UnionType):
        return _union_walker(get_args(hint), where)
    if isinstance(hint, type) and (issubclass(hint, msgspec.Struct) or hasattr(hint, "_fields")):
        return _walk_instance if plan_of(hint).parts else None
    raise TypeError(_unknown(hint, where))


def _unknown(hint: Any, where: str) -> str:
    if hint is int:
        return (
            f"{where} is a bare int, so `canonical` can't tell whether it may be renumbered:"
            " annotate it with what it counts (LeaderEpoch, Offset, ... of kiplab/protocol/ids.py),"
            " or with Count, Milliseconds or ApiVersion if its value means something by itself"
        )
    return (
        f"{where} is annotated {hint!r}, which kiplab/engine/renumbering.py cannot walk over: it"
        " takes structs, named tuples, tuples, unions of these, enums, strings and the numbers of"
        " kiplab/protocol/ids.py"
    )


def _numbered(numbering: Numbering) -> _Walk:
    everyones = numbering in EVERYONES

    def walk(value: Any, whose: str, number: Renumber, _: Known) -> Any:
        return None if value is None else number(numbering, "" if everyones else whose, value)

    return walk


def _tuple_walker(items: tuple[Any, ...], where: str) -> _Walk | None:
    if len(items) == 2 and items[1] is Ellipsis:
        inner = _walker(items[0], where)
        return None if inner is None else _each(inner)
    plan = _plan(where, dict(enumerate(items)), _with_places)
    return (lambda *args: _walk_parts(plan, *args)) if plan.parts else None


def _each(inner: _Walk) -> _Walk:
    def walk(value: Any, whose: str, number: Renumber, walked_before: Known) -> Any:
        if not value:
            return value
        walked = [inner(v, whose, number, walked_before) for v in value]
        same = all(new is old for new, old in zip(walked, value, strict=True))
        return value if same else tuple(walked)

    return walk


def _with_places(value: tuple[Any, ...], new: dict[int, Any]) -> tuple[Any, ...]:
    return tuple(new.get(place, old) for place, old in enumerate(value))


def _union_walker(members: tuple[Any, ...], where: str) -> _Walk | None:
    """One number or tuple, or several classes, which their values show."""
    walks = [w for w in (_walker(m, where) for m in members) if w is not None]
    if not walks:
        return None
    if all(walk is _walk_instance for walk in walks):
        return _walk_instance
    others = [m for m in members if m is not NoneType]
    if len(others) > 1:
        raise TypeError(_unknown(Union[members], where))  # noqa: UP007
    (walk,) = walks
    return lambda value, *args: None if value is None else walk(value, *args)


_PLANS: dict[type, _Plan] = {}
_UNFINISHED = _Plan(
    parts=(_Part("", itemgetter(0), _walk_instance, None, None),),
    partition=None,
    error=None,
    rebuilt=_replaced,
)
"""Stands for a class that holds itself, while it is looked at."""
