"""A history as a play: one line per move, in `manual`, that replays to the same states."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..engine import moves
from ..engine.history import History
from ..protocol.ids import CONTROLLER
from ..protocol.replica.broker_state import Loss
from .play import Play, Statement
from .raw_requests import raw_statement
from .values import DEFAULT_CONSUMER, LOSSES, node_word

_TIMER_VERBS = {timer: timer.value for timer in moves.Timer} | {moves.Timer.LAG_CHECK: "check-lag"}


def written(play: Play, history: History, header: tuple[Statement, ...]) -> Play:
    """The play whose header is `header` and whose lines are the moves of `history`."""
    lines = tuple(statement_of(step.move) for step in history.steps[: history.at])
    manual = () if any(s.verb == "manual" for s in header) else (Statement("manual"),)
    return Play((*header, *manual, *lines), play.name)


def statement_of(move: moves.Move) -> Statement:
    """The line that does exactly this move, in a manual play."""
    return _WRITERS[type(move)](move)


def _about_message(verb: str) -> Callable[[Any], Statement]:
    def write(move: moves.AboutMessage) -> Statement:
        name = move.message
        args = [("from", node_word(name.sender)), ("n", str(name.ordinal))]
        if name.incarnation:
            args.append(("life", str(name.incarnation)))
        return Statement(verb, (name.kind,), tuple(args))

    return write


def _race(move: moves.Race) -> Statement:
    one, other = _about_message("race")(moves.Deliver(move.message)), move.other
    args = [("with", node_word(other.sender)), ("with-n", str(other.ordinal))]
    if other.incarnation:
        args.append(("with-life", str(other.incarnation)))
    return Statement("race", one.words, (*one.args, *args))


def _about_broker(verb: str) -> Callable[[Any], Statement]:
    return lambda move: Statement(verb, (str(move.broker),))


def _fire(move: moves.Fire) -> Statement:
    """The controller is only one, and is not named."""
    return Statement(_TIMER_VERBS[move.timer], () if move.node == CONTROLLER else (str(move.node),))


def _start(move: moves.Start) -> Statement:
    server = (("server", str(move.server)),) if move.server else ()
    return Statement("start", (str(move.broker),), server)


def _crash(move: moves.Crash) -> Statement:
    disk = {loss: word for word, loss in LOSSES.items()}[move.loss.value]
    kept = move.loss is Loss.NOTHING
    return Statement("crash", (str(move.broker),), () if kept else (("disk", disk),))


def _produce(move: moves.Produce) -> Statement:
    args = [("count", str(move.count)), ("to", str(move.broker))]
    acks = () if move.acks_all else (("acks", "1"),)
    open_ = (("transaction", "open"),) if move.transaction else ()
    return Statement("produce", (move.partition,), (*args, *acks, *open_))


def _end_transaction(move: moves.EndTransaction) -> Statement:
    how = "commit" if move.commits else "abort"
    return Statement("end-transaction", (move.partition, how), (("to", str(move.broker)),))


def _produce_as(move: moves.ProduceAs) -> Statement:
    args = (("count", str(move.count)), ("producer", move.producer))
    acks = () if move.acks_all else (("acks", "1"),)
    return Statement("produce", (move.partition,), (*args, *acks))


def _delete_records(move: moves.DeleteRecords) -> Statement:
    before = () if move.before is None else (("before", str(move.before)),)
    return Statement("delete-records", (move.partition,), (*before, ("to", str(move.broker))))


def _by(consumer: str) -> tuple[tuple[str, str], ...]:
    return () if consumer == DEFAULT_CONSUMER else (("consumer", consumer),)


def _poll(move: moves.Poll) -> Statement:
    return Statement("poll", (move.partition,), _by(move.consumer))


def _refresh(move: moves.RefreshMetadata) -> Statement:
    asked = () if move.broker is None else (("from", str(move.broker)),)
    return Statement("refresh", (), (*_by(move.consumer), *asked))


def _reset(move: moves.ResetOffset) -> Statement:
    return Statement("reset", (move.partition,), (("to", move.to.value), *_by(move.consumer)))


def _upgrade(move: moves.Upgrade) -> Statement:
    who = "all" if move.node is None else node_word(move.node)
    return Statement("upgrade", (who,), (("kafka", move.release),))


def _link(verb: str) -> Callable[[Any], Statement]:
    return lambda move: Statement(verb, (node_word(move.one), node_word(move.other)))


_WRITERS: dict[type, Callable[[Any], Statement]] = {
    moves.Deliver: _about_message("deliver"),
    moves.Drop: _about_message("drop"),
    moves.TimeOut: _about_message("time-out"),
    moves.Duplicate: _about_message("duplicate"),
    moves.LoseReply: _about_message("lose-reply"),
    moves.Race: _race,
    moves.Advance: lambda m: Statement("advance", (f"{m.ms}ms",)),
    moves.Fire: _fire,
    moves.ExpireSession: _about_broker("expire"),
    moves.HeartbeatTimeout: lambda m: Statement(
        "declare-inactive" if m.at_controller else "fence-itself", (str(m.broker),)
    ),
    moves.Produce: _produce,
    moves.EndTransaction: _end_transaction,
    moves.ProduceAs: _produce_as,
    moves.Resend: lambda m: Statement("resend", (m.producer,)),
    moves.DeleteRecords: _delete_records,
    moves.Poll: _poll,
    moves.RefreshMetadata: _refresh,
    moves.ResetOffset: _reset,
    moves.Crash: _crash,
    moves.Start: _start,
    moves.ShutDown: _about_broker("shut-down"),
    moves.FinishRecovery: _about_broker("recover"),
    moves.FinishLeaderRecovery: lambda m: Statement(
        "finish-recovery", (m.partition,), (("by", str(m.broker)),)
    ),
    moves.Cut: _link("cut"),
    moves.Heal: _link("heal"),
    moves.FailOver: lambda _m: Statement("fail-over"),
    moves.Elect: lambda m: Statement(
        "elect", (m.partition,), (("unclean", "yes"),) if m.unclean else ()
    ),
    moves.Configure: lambda m: Statement(
        "configure",
        (m.topic,),
        (("unclean-leader-election", "yes" if m.unclean_leader_election else "no"),),
    ),
    moves.Upgrade: _upgrade,
    moves.UpgradeMetadata: lambda m: Statement("upgrade", (), (("metadata", m.metadata_version),)),
    moves.RawRequest: lambda m: raw_statement(m.sender, m.receiver, m.body),
}
