"""Short human labels for the x axis: the effect of a line of the play, in three or four words."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, get_args

from ..engine import moves
from ..engine.events import Event
from ..plays.move_lines import MOVE_FORMS, verb_of
from ..plays.play import Statement
from ..protocol import facts, messages
from .columns import MomentRow, plural
from .snapshots import Snapshot

_ENDS = {
    **{verb_of(move): moves.ENDS[move] for move in get_args(moves.AboutMessage)},
    "release": "is released",
}
_CRASHES = {"replaced": "dies, disk replaced", "tail-lost": "dies, tail lost", "kept": "crashes"}


def moments(shots: Sequence[Snapshot]) -> Iterator[MomentRow]:
    """One per snapshot; the first has no line and the label "start"."""
    for shot in shots:
        if shot.statement is None:
            yield MomentRow(shot.x, 0, "", "start")
            continue
        label = expected(shot.statement, shot.events)
        if shot.not_applicable is not None:
            label = f"({shot.statement.verb}: not applicable)"
        yield MomentRow(shot.x, shot.line, shot.statement.text, label)


def expected(statement: Statement, events: Sequence[Event] = ()) -> str:
    """The label of a line before it is done, as far as that can be known."""
    label_of = _LABELS.get(statement.verb)
    return label_of(statement, events) if label_of is not None else statement.text


def _message(statement: Statement, _events: Sequence[Event]) -> str:
    kind = statement.words[0]
    what = "reply" if kind in messages.ANSWERED else messages.BODIES[kind].api.noun
    return f"{what} {_ENDS[statement.verb]}"


def _has(events: Sequence[Event], kind: type[Event]) -> bool:
    return any(isinstance(event, kind) for event in events)


def _is_unfenced(events: Sequence[Event]) -> bool:
    changes = (e.change for e in events if isinstance(e, facts.BrokerChanged))
    return facts.BrokerChange.UNFENCED in changes


def _fetch(statement: Statement, events: Sequence[Event]) -> str:
    follower = statement.words[0]
    who = f"broker {follower}"
    proposed = next((e for e in events if isinstance(e, facts.IsrProposed)), None)
    caught_up = any(isinstance(e, facts.Fetched) and e.caught_up for e in events)
    if caught_up and proposed is not None and int(follower) in proposed.isr:
        return f"{who} catches up, broker {proposed.node} proposes it"
    return f"{who} catches up" if caught_up else f"{who} fetches"


def _produce(statement: Statement, events: Sequence[Event]) -> str:
    records = plural(int(statement.arg("count") or 1), "record")
    name = statement.arg("producer")
    if name is not None:
        acks = " (acks=1)" if statement.arg("acks") == "1" else ""
        return f"{name} {_fate(events) or f'writes {records}{acks}'}"
    return f"{records} {'written' if _has(events, facts.Appended) else 'refused'}"


def _fate(events: Sequence[Event]) -> str:
    return next((_FATES[type(e)] for e in reversed(events) if type(e) in _FATES), "")


_FATES: dict[type, str] = {
    facts.BatchAcknowledged: "has its records acknowledged",
    facts.BatchRequeued: "requeues its batch",
    facts.BatchFailed: "gives its batch up",
    facts.BatchWaits: "waits for the followers",
    facts.BatchQueued: "keeps a batch",
}


def _delete_records(statement: Statement, events: Sequence[Event]) -> str:
    before = statement.arg("before")
    which = "all committed records" if before is None else f"records below {before}"
    return f"{which} {'not ' if _has(events, facts.Refused) else ''}deleted"


def _upgrade(statement: Statement, _events: Sequence[Event]) -> str:
    metadata = statement.arg("metadata")
    if metadata is not None:
        return f"metadata version {metadata}"
    if (level := statement.arg("elr")) is not None:
        return f"ELR switched {'on' if level == '1' else 'off'}"
    who = statement.words[0] if statement.words else "all"
    return f"{'broker ' * who.isdigit()}{who} runs {statement.arg('kafka')}"


def _request(_statement: Statement, events: Sequence[Event]) -> str:
    """The answer to a raw request, in one word: the box at its arrow says the rest."""
    if not events:
        return moves.LABELS[moves.RawRequest]
    return "refused" if _has(events, facts.Refused) else "accepted"


def _refresh(statement: Statement, _events: Sequence[Event]) -> str:
    broker = statement.arg("from")
    whom = f" broker {broker}" if broker is not None else ""
    return f"{_consumer(statement)} asks{whom} who leads"


def _consumer(statement: Statement) -> str:
    name = statement.arg("consumer")
    return "consumer" if name in (None, "consumer") else f"consumer {name}"


def _called(move: type[Any]) -> Callable[[Statement, Sequence[Event]], str]:
    """A move's own label, with the fields of which the line says them as words."""
    form = MOVE_FORMS.get(move)
    fields = [word.field for word in form.words] if form else []
    return lambda statement, _: moves.LABELS[move].format(
        *statement.words, **dict(zip(fields, statement.words, strict=False))
    )


def _saying(text: str) -> Callable[[Statement, Sequence[Event]], str]:
    """`text` with {0} and {1} for the line's words."""
    return lambda statement, _: text.format(*statement.words)


def _setting(statement: Statement) -> str:
    least, unclean = (statement.arg(key) for key in _SETTINGS)
    if least is not None:
        return f"min.insync.replicas {least}"
    return f"unclean election {'on' if unclean == 'yes' else 'off'}"


_SETTINGS = ("min-insync-replicas", "unclean-leader-election")
_LABELS: dict[str, Callable[[Statement, Sequence[Event]], str]] = {
    **dict.fromkeys(_ENDS, _message),
    **{verb_of(move): _called(move) for move in moves.LABELS},
    **{timer.verb: _saying(timer.label) for timer in moves.Timer},
    "fetch": _fetch,
    "catch-up": _fetch,
    "crash": lambda s, _: f"broker {s.words[0]} {_CRASHES[s.arg('disk') or 'kept']}",
    "start": lambda s, events: (
        f"broker {s.words[0]} {'registers' if _has(events, facts.Registered) else 'starts'}"
    ),
    "unfence": lambda s, events: (
        f"broker {s.words[0]} {'unfenced' if _is_unfenced(events) else 'asks to be unfenced'}"
    ),
    "produce": _produce,
    "resend": lambda s, events: f"{s.words[0]} {_fate(events) or 'sends again'}",
    "delete-records": _delete_records,
    "upgrade": _upgrade,
    "send": _request,
    "poll": lambda s, _: f"{_consumer(s)} polls",
    "refresh": _refresh,
    "reset": lambda s, _: f"{_consumer(s)} goes to the {s.arg('to')} offset",
    "declare-inactive": _saying("the controller misses broker {0}'s heartbeats"),
    "fence-itself": _saying("broker {0} cannot reach the controller"),
    "end-transaction": lambda s, _: (
        f"transaction {'committed' if s.words[1] == 'commit' else 'aborted'}"
    ),
    "elect": lambda s, _: "unclean election" if s.arg("unclean") == "yes" else "election requested",
    "configure": lambda s, _: f"{_setting(s)} for {s.words[0]}",
    "configure-brokers": lambda s, _: f"{_setting(s)} for all brokers",
}
