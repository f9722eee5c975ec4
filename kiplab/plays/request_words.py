"""What a line of `send` says of a request: read off the annotations of the request's struct.

Every field is a word: ``leader-epoch=5`` of `leader_epoch`. Its type says how its value is written,
and what it is where a line doesn't say it: the struct's default, or else what fits the situation.
Who sends it is said by ``from``. A field that has a struct for each of several partitions has no
word of its own: the words of these structs follow one another, and each ``partition=`` begins the
next. So each test vector is a play.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from types import NoneType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec
from msgspec.structs import replace

from ..engine.cluster import Cluster
from ..engine.nodes import kind_of
from ..engine.renumbering import plan_of
from ..engine.routes import ROUTES
from ..engine.truth import controller_of, partition_of, registration_of, truth
from ..engine.zookeeper_routes import JOINT_ROUTES
from ..protocol import ids, messages
from ..protocol.registrations import LeaderRecoveryState
from ..protocol.replica.broker_state import Broker
from . import values
from .play import Statement
from .values import Keys, Names, ValueForm


class Sending(NamedTuple):
    """Who sends what in which situation, and of which partition the words around speak."""

    cluster: Cluster
    sender: ids.BrokerId
    request: type[messages.ApiRequest]
    partition: ids.PartitionName = ""


class RequestWord(NamedTuple):
    """A ``key=value``, and the field that it says."""

    key: str
    field: str
    form: ValueForm
    default: Any
    """What the struct says; NODEFAULT where it leaves that to the situation."""


class RequestForm(NamedTuple):
    """The words for a request, or for one of its partitions."""

    struct: type[Any]
    words: tuple[RequestWord, ...]
    sender: str | None = None
    """The field that ``from`` says."""
    partition: RequestWord | None = None
    """The word that says which partition the others speak of."""
    several: Several | None = None

    @property
    def own(self) -> tuple[RequestWord, ...]:
        """Its words, and those that may be said of each partition."""
        return self.words if self.several is None else (*self.words, *self.several.each.own)


class Several(NamedTuple):
    """A field that has a struct for each of several partitions, or for one (`alone`)."""

    field: str
    each: RequestForm
    begins: str
    """The word that begins the next one."""
    alone: bool = False

    def parts(self, statement: Statement) -> tuple[Statement, ...]:
        """One statement per partition; what stands before the first counts for the first."""
        starts = [n for n, (key, _) in enumerate(statement.args) if key == self.begins][1:]
        bounds = zip([0, *starts], [*starts, len(statement.args)], strict=True)
        return tuple(replace(statement, args=statement.args[a:b]) for a, b in bounds)


# --- types ----------------------------------------------------------------------------------------


def _first_partition(sending: Sending) -> ids.PartitionName:
    partitions = truth(sending.cluster).partitions
    return partitions[0].name if partitions else "orders-0"


def _of_partition(epoch: str) -> Callable[[Sending], int]:
    """An epoch of the partition of which the words around speak; 0 of one that is not known."""
    return lambda sending: getattr(partition_of(sending.cluster, sending.partition), epoch, 0)


def _broker_epoch(sending: Sending) -> ids.BrokerEpoch:
    registration = registration_of(sending.cluster, sending.sender)
    return registration.epoch if registration else ids.NO_BROKER_EPOCH


def _next_incarnation(sending: Sending) -> ids.Incarnation:
    registration = registration_of(sending.cluster, sending.sender)
    return ids.Incarnation(registration.incarnation + 1 if registration else 1)


def _members(text: str, names: Names) -> tuple[messages.IsrMember, ...]:
    """An ISR as people write it: ``1@101,2``."""
    pairs = values.members(text, names)
    return tuple(messages.IsrMember(ids.BrokerId(b), ids.BrokerEpoch(e)) for b, e in pairs)


def _number(fitting: Callable[[Sending], int]) -> ValueForm:
    return ValueForm(values.number, fitting=fitting)


FORMS: dict[Any, ValueForm] = {
    ids.PartitionName: ValueForm(values.any_partition, fitting=_first_partition),
    ids.ApiVersion: _number(lambda s: s.request.version_sent(s.cluster.features, s.sender)),
    ids.BrokerId: ValueForm(values.leader, values.leader_word, fitting=lambda _: ids.NO_LEADER),
    ids.ControllerEpoch: _number(lambda s: truth(s.cluster).controller_epoch),
    ids.BrokerEpoch: _number(_broker_epoch),
    ids.LeaderEpoch: _number(_of_partition("leader_epoch")),
    ids.PartitionEpoch: _number(_of_partition("partition_epoch")),
    ids.Incarnation: _number(_next_incarnation),
    ids.MetadataOffset: _number(lambda s: truth(s.cluster).next_offset - 1),
    **dict.fromkeys((ids.Offset, ids.Count), _number(lambda _: 0)),
    bool: values.BOOLEAN,
    messages.RecoveryOnWire: ValueForm(values.recovery_state, fitting=lambda _: 0),
    messages.StateOnWire: ValueForm(
        values.broker_state,
        messages.state_word,
        fitting=lambda _: int(messages.MembershipState.ACTIVE),
    ),
    LeaderRecoveryState: values.RECOVERY,
    tuple[messages.IsrMember, ...]: ValueForm(
        _members,
        lambda isr: ",".join(f"{m.broker}@{m.epoch}" for m in isr) or "none",
        fitting=lambda _: (),
    ),
}
"""How each type of a request's fields is said. Lists of them, and None, need no entry."""


def _listed(one: ValueForm) -> ValueForm:
    """``orders-0,clicks-0``, or ``none``."""

    def read(text: str, names: Names) -> tuple[object, ...]:
        return () if text == "none" else tuple(one.read(part, names) for part in text.split(","))

    return ValueForm(
        read, lambda all: ",".join(map(one.written, all)) or "none", fitting=lambda _: ()
    )


def _nullable(some: ValueForm) -> ValueForm:
    """``null`` for None, as Kafka's schemas call it."""
    return ValueForm(
        lambda text, names: None if text == "null" else some.read(text, names),
        lambda value: "null" if value is None else some.written(value),
        fitting=some.fitting,
    )


def _form_of(hint: Any, where: str) -> ValueForm:
    if hint in FORMS:
        return FORMS[hint]
    inside = [part for part in get_args(hint) if part is not NoneType]
    if get_origin(hint) is tuple and inside[1:] == [Ellipsis]:
        return _listed(_form_of(inside[0], where))
    if NoneType in get_args(hint) and len(inside) == 1:
        return _nullable(_form_of(inside[0], where))
    raise TypeError(
        f"{where} is annotated {hint!r}, and `send` doesn't know how that is written: add it to"
        " FORMS in kiplab/plays/request_words.py"
    )


# --- structs --------------------------------------------------------------------------------------


def form_of(struct: type[msgspec.Struct]) -> RequestForm:
    """The words of a line for a request.

    Raises TypeError, naming struct and field, for a number that doesn't say what it counts, for a
    field whose type has no form, and for a word that would say two fields.
    """
    plan_of(struct)
    hints = get_type_hints(struct, include_extras=True)
    fields = {f.name: hints[f.name] for f in msgspec.structs.fields(struct)}
    sender = next((name for name, hint in fields.items() if hint == ids.Sender), None)
    parts = [name for name, hint in fields.items() if _is_several(hint) or _is_part(hint)]
    several = next(iter(parts), None)
    words = tuple(
        _word(struct, f, fields[f.name])
        for f in msgspec.structs.fields(struct)
        if f.name not in (sender, several)
    )
    form = RequestForm(
        struct,
        words,
        sender,
        partition=next((w for w in words if fields[w.field] == ids.PartitionName), None),
        several=_several(several, fields[several]) if several else None,
    )
    keys = ["from", "to", *(word.key for word in form.own)]
    for key in keys:
        if keys.count(key) > 1:
            raise TypeError(
                f"`{key}=` would say two things of {struct.__name__}: call one of its fields"
                " otherwise"
            )
    return form


def _word(struct: type, field: msgspec.structs.FieldInfo, hint: Any) -> RequestWord:
    form = _form_of(hint, f"{struct.__name__}.{field.name}")
    return RequestWord(field.name.replace("_", "-"), field.name, form, field.default)


def _is_several(hint: Any) -> bool:
    listed = get_origin(hint) is tuple and get_args(hint)[1:] == (Ellipsis,)
    return listed and hint not in FORMS and _is_part(get_args(hint)[0])


def _is_part(hint: Any) -> bool:
    is_struct = isinstance(hint, type) and issubclass(hint, msgspec.Struct)
    return is_struct and ids.PartitionName in get_type_hints(hint, include_extras=True).values()


def _several(field: str, hint: Any) -> Several:
    alone = _is_part(hint)
    each = form_of(hint if alone else get_args(hint)[0])
    assert each.partition is not None
    return Several(field, each, each.partition.key, alone)


REQUEST_FORMS = {messages.KINDS[request]: form_of(request) for request in messages.REQUESTS}
"""The words that `send` takes for each kind of request, without sender and receiver."""


# --- reading and writing --------------------------------------------------------------------------


def request_of(form: RequestForm, statement: Statement, sending: Sending) -> Any:
    """The request that a line says."""
    if form.partition is not None:
        sending = sending._replace(partition=_value(form.partition, statement, sending))
    fields = {word.field: _value(word, statement, sending) for word in form.words}
    if form.sender is not None:
        fields[form.sender] = sending.sender
    if form.several is not None:
        parts = form.several.parts(statement)
        several = tuple(request_of(form.several.each, p, sending) for p in parts)
        fields[form.several.field] = several[0] if form.several.alone else several
    return form.struct(**fields)


def _value(word: RequestWord, statement: Statement, sending: Sending) -> Any:
    text = statement.arg(word.key)
    if text is not None:
        return word.form.read(text, values.ANY)
    return word.form.fitting(sending) if word.default is msgspec.NODEFAULT else word.default


def keys_of(form: RequestForm, value: Any) -> Iterator[tuple[str, str]]:
    """Every field by its word; the words of several partitions follow one another."""
    for word in form.words:
        yield word.key, word.form.written(getattr(value, word.field))
    if form.several is not None:
        parts = getattr(value, form.several.field)
        for one in (parts,) if form.several.alone else parts:
            yield from keys_of(form.several.each, one)


ITEMS_MAX = 12
"""The number of partitions that one request may name."""


def raw_request(
    statement: Statement, cluster: Cluster
) -> tuple[ids.BrokerId, ids.BrokerId, messages.Request]:
    """(sender, receiver, body). A field that is not given has the value that fits the situation."""
    sender = ids.BrokerId(int(statement.arg("from", "1") or ""))
    form = REQUEST_FORMS[statement.words[0]]
    body = request_of(form, statement, Sending(cluster, sender, form.struct))
    return sender, _receiver(statement, cluster, body), body


def _receiver(statement: Statement, cluster: Cluster, body: messages.Request) -> ids.BrokerId:
    """Who is named, or the controller if it answers such a request, or the partition's leader."""
    to = statement.arg("to")
    if to:
        return ids.BrokerId(int(to))
    controller = controller_of(cluster)
    if controller is not None:
        key = kind_of(cluster, controller), type(body)
        if key in ROUTES or key in JOINT_ROUTES:
            return controller
    state = partition_of(cluster, body.about())
    return state.leader if state else ids.NO_LEADER


def raw_statement(
    sender: ids.BrokerId, receiver: ids.BrokerId, body: messages.Request
) -> Statement:
    """The line that says exactly this request."""
    kind = messages.KINDS[type(body)]
    to = (("to", str(receiver)),) if receiver >= 0 else ()
    return Statement(
        "send", (kind,), (("from", str(sender)), *to, *keys_of(REQUEST_FORMS[kind], body))
    )


# --- its words ----------------------------------------------------------------------------------


WORDS: dict[str, Keys] = {
    kind: {
        "from": values.any_broker,
        **({"to": values.broker} if (Broker, form.struct) in ROUTES else {}),
        **{word.key: word.form.read for word in form.own},
    }
    for kind, form in REQUEST_FORMS.items()
}
"""What `send` takes for each kind of request. A broker that answers such a one may be named."""


def words_of(statement: Statement) -> Keys:
    """What the request of this line takes; of every other line, nothing."""
    return WORDS[statement.words[0]] if statement.verb == "send" else {}


def repeatable_words(statement: Statement, key: str, earlier: Collection[str]) -> set[str]:
    """The keys that may come again if `key`, after those `earlier`, begins another partition."""
    several = REQUEST_FORMS[statement.words[0]].several if statement.verb == "send" else None
    if several is None or key != several.begins or key not in earlier:
        return set()
    return {word.key for word in several.each.own}
