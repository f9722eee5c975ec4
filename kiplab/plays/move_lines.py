"""A move as one line of a play, and back: read off the annotations of the move's struct.

The tag is the verb, the fields are its words in order, and what has a default or a `LineKey` is a
``key=value``; their types say how values are checked, read and written. Verbs that do more than one
move, or find out of which message a line speaks, are in `verbs`. `written` makes a play of a
history: one line per move, in `manual`, that replays to the same states.
"""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from ..engine import moves
from ..engine.cluster import Cluster, MessageName
from ..engine.history import History
from ..engine.truth import partition_of
from ..protocol.clients.consumer import Reset
from ..protocol.ids import CONTROLLER, NO_LEADER, BrokerId, Count, Offset, PartitionName
from ..protocol.replica.broker_state import Loss
from . import values
from .play import Play, Statement
from .request_words import raw_statement
from .values import ValueForm, node_word, of_words

_BROKER = ValueForm(values.broker, shown="BROKER")
_NUMBER = ValueForm(values.natural, shown="N")
FORMS: dict[Any, ValueForm] = {
    **dict.fromkeys((BrokerId, BrokerId | None), _BROKER),
    **dict.fromkeys((Count, Offset | None), _NUMBER),
    Count | None: ValueForm(values.count, shown="N"),
    PartitionName: ValueForm(values.partition, shown="PARTITION"),
    moves.LinkEnd: ValueForm(values.node, node_word, "NODE"),
    moves.TopicName: ValueForm(values.known_topic, shown="TOPIC"),
    moves.ProducerName: ValueForm(values.producer, shown="PRODUCER"),
    moves.ConsumerName: ValueForm(values.consumer, shown="NAME"),
    moves.Commits: of_words({"commit": True, "abort": False}),
    Loss: of_words(values.LOSSES),
    Reset: of_words({to.value: to for to in (Reset.EARLIEST, Reset.LATEST)}),
    **dict.fromkeys((bool, bool | None), values.BOOLEAN),
}
"""How each type of a move's fields is said."""


class MoveWord(NamedTuple):
    """A field of a move, and how a line says it; `key` is None for a word without one."""

    field: str
    form: ValueForm
    key: moves.LineKey | None
    default: Any

    @property
    def is_leader(self) -> bool:
        """Whether a line that does not say it means the leader of its partition."""
        return self.key is not None and not self.key.needed and self.default is msgspec.NODEFAULT

    @property
    def usage(self) -> str:
        """``NODE``, ``to=earliest|latest`` or ``[by=BROKER]``."""
        if self.key is None:
            return self.form.shown
        shown = "yes" if self.default is False else self.form.shown
        return f"{self.key.word}={shown}" if self.key.needed else f"[{self.key.word}={shown}]"


class MoveForm(NamedTuple):
    """The words of a line for a move."""

    move: type[Any]
    words: tuple[MoveWord, ...]
    keys: tuple[MoveWord, ...]

    @property
    def verb(self) -> str:
        """Its name in a play."""
        return verb_of(self.move)

    @property
    def is_conditional(self) -> bool:
        """Whether its line may be meant for certain rules: ``where=GUARD``."""
        return getattr(self.move, "conditional", False)

    @property
    def usage(self) -> str:
        """``elect PARTITION [unclean=yes] [where=GUARD]``."""
        parts = (self.verb, *(word.usage for word in (*self.words, *self.keys)))
        return " ".join((*parts, "[where=GUARD]") if self.is_conditional else parts)

    def move_of(self, statement: Statement, cluster: Cluster) -> moves.Move:
        """The move that a line says, which the grammar has found right."""
        pairs = zip(self.words, statement.words, strict=True)
        fields = {word.field: word.form.read(text, values.ANY) for word, text in pairs}
        for word in self.keys:
            text = statement.arg(word.key.word) if word.key else None
            if text is not None:
                fields[word.field] = word.form.read(text, values.ANY)
            elif word.is_leader:
                fields[word.field] = leader_of(cluster, statement.words[0])
        move: moves.Move = self.move(**fields)
        return move

    def written(self, move: Any) -> Statement:
        """The line that says exactly this move: what is as it is by default is left out."""
        words = tuple(word.form.written(getattr(move, word.field)) for word in self.words)
        return Statement(self.verb, words, tuple(self._args(move)))

    def _args(self, move: Any) -> Iterator[tuple[str, str]]:
        for word in self.keys:
            value = getattr(move, word.field)
            if word.key is not None and (word.key.needed or value != word.default):
                yield word.key.word, word.form.written(value)


def verb_of(move: type[Any]) -> str:
    """What plays call a move: its tag, if it says no other word."""
    return getattr(move, "verb", None) or str(move.__struct_config__.tag)


def leader_of(cluster: Cluster, partition: PartitionName) -> BrokerId:
    """The broker that a client or an operator asks about a partition, if a line names none."""
    state = partition_of(cluster, partition)
    return state.leader if state is not None else NO_LEADER


def form_of(move: type[Any]) -> MoveForm:
    """What a line says of such a move; who leads is said last.

    Raises TypeError, naming struct and field, for a field whose type has no form.
    """
    hints = get_type_hints(move, include_extras=True)
    move_words = [_word(move, f, hints[f.name]) for f in msgspec.structs.fields(move)]
    keys = sorted((word for word in move_words if word.key), key=lambda word: word.is_leader)
    return MoveForm(move, tuple(word for word in move_words if not word.key), tuple(keys))


def _word(move: type, field: msgspec.structs.FieldInfo, hint: Any) -> MoveWord:
    key: moves.LineKey | None = None
    if get_origin(hint) is Annotated:
        base, *extras = get_args(hint)
        key = next((extra for extra in extras if isinstance(extra, moves.LineKey)), None)
        rest = tuple(extra for extra in extras if extra is not key)
        hint = Annotated[(base, *rest)] if rest else base
    if hint not in FORMS:
        raise TypeError(
            f"{move.__name__}.{field.name} is annotated {hint!r}, and no play says such a value:"
            " add it to FORMS in kiplab/plays/move_lines.py"
        )
    if key is None and field.default is not msgspec.NODEFAULT:
        key = moves.LineKey(field.name.replace("_", "-"))
    return MoveWord(field.name, FORMS[hint], key, field.default)


def written(play: Play, history: History, header: tuple[Statement, ...]) -> Play:
    """The play whose header is `header` and whose lines are the moves of `history`."""
    lines = tuple(statement_of(step.move) for step in history.steps[: history.at])
    manual = () if any(s.verb == "manual" for s in header) else (Statement("manual"),)
    return Play((*header, *manual, *lines), play.name)


def statement_of(move: moves.Move) -> Statement:
    """The line that does exactly this move, in a manual play."""
    return _WRITERS[type(move)](move)


def _race(move: moves.Race) -> Statement:
    other = _message(move.other, "with", "with-")
    return Statement("race", (move.message.kind,), (*_message(move.message), *other))


def _message(name: MessageName, who: str = "from", prefix: str = "") -> tuple[tuple[str, str], ...]:
    pairs = (who, node_word(name.sender)), (f"{prefix}n", str(name.ordinal))
    return (*pairs, (f"{prefix}life", str(name.incarnation))) if name.incarnation else pairs


def _fire(move: moves.Fire) -> Statement:
    """The controller is only one, and is not named."""
    return Statement(move.timer.verb, () if move.node == CONTROLLER else (str(move.node),))


def _produce(move: moves.Produce | moves.ProduceAs) -> Statement:
    args = [("count", str(move.count))]
    if isinstance(move, moves.ProduceAs):
        args.append(("producer", move.producer))
    else:
        args.append(("to", str(move.broker)))
    if not move.acks_all:
        args.append(("acks", "1"))
    if isinstance(move, moves.Produce) and move.transaction:
        args.append(("transaction", "open"))
    return Statement("produce", (move.partition,), tuple(args))


def _upgrade(move: moves.Upgrade) -> Statement:
    who = "all" if move.node is None else node_word(move.node)
    return Statement("upgrade", (who,), (("kafka", move.release),))


_BY_HAND: dict[type, Callable[[Any], Statement]] = {
    **dict.fromkeys(
        get_args(moves.AboutMessage),
        lambda m: Statement(verb_of(type(m)), (m.message.kind,), _message(m.message)),
    ),
    moves.Race: _race,
    moves.Advance: lambda m: Statement("advance", (f"{m.ms}ms",)),
    moves.Fire: _fire,
    moves.HeartbeatTimeout: lambda m: Statement(
        "declare-inactive" if m.at_controller else "fence-itself", (str(m.broker),)
    ),
    moves.Produce: _produce,
    moves.ProduceAs: _produce,
    moves.Upgrade: _upgrade,
    moves.UpgradeMetadata: lambda m: Statement("upgrade", (), (("metadata", m.metadata_version),)),
    moves.UpgradeElr: lambda m: Statement("upgrade", (), (("elr", str(m.level)),)),
    moves.RawRequest: lambda m: raw_statement(m.sender, m.receiver, m.body),
}
MOVE_FORMS = {move: form_of(move) for move in get_args(moves.Move) if move not in _BY_HAND}
"""Moves that are one line in every situation; `verbs` does the others."""
MOVE_VERBS = {form.verb: form for form in MOVE_FORMS.values()}
"""The same, by what plays call them."""
_WRITERS = {**_BY_HAND, **{move: form.written for move, form in MOVE_FORMS.items()}}
