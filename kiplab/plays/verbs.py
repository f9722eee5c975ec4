"""The effect of each verb: the moves that a line expands to."""

from collections.abc import Callable
from functools import lru_cache
from typing import get_args

from msgspec.structs import replace

from ..engine import moves
from ..engine.clock import due_moves
from ..engine.cluster import Message, broker
from ..engine.impossible_moves import ImpossibleMoveError, why_not
from ..protocol.guards import named
from ..protocol.ids import CONTROLLER, BrokerId
from ..protocol.replica.broker_state import Lifecycle
from . import values
from .move_lines import MOVE_VERBS, MoveForm, leader_of, verb_of
from .play import Statement
from .request_words import raw_request
from .stage import Pattern, Stage, act, flow, matching

Perform = Callable[[Stage, Statement, int], Stage]
MoveOf = Callable[[Stage, Statement], moves.Move]
CATCH_UP_ROUNDS_MAX = 20


class NothingThereError(ValueError):
    """A line speaks of a message that is not in flight."""


class NotMeantError(ValueError):
    """A line that is meant for certain rules (`where=GUARD`), and these are not on here."""


Impossible = (ImpossibleMoveError, NothingThereError)


def perform(stage: Stage, statement: Statement, line: int) -> Stage:
    """Do one line on a copy. Raises one of `Impossible`, or NotMeantError for other rules."""
    where = statement.arg("where")
    active = stage.cluster.features.active(CONTROLLER)
    if where is not None and not active.issuperset(named(where)):
        raise NotMeantError(f"it is for {where}, which is not on here")
    return flow(_VERBS[statement.verb](stage, statement, line), line)


@lru_cache(maxsize=4096)
def pattern_of(statement: Statement) -> Pattern:
    """The messages that a line speaks of."""
    return Pattern(
        kind=statement.words[0],
        sender=_node(statement.arg("from")),
        receiver=_node(statement.arg("to")),
        ordinal=_number(statement.arg("n")),
        life=_number(statement.arg("life")),
    )


def _node(text: str | None) -> BrokerId | None:
    return None if text is None else values.node(text, values.ANY)


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _broker(statement: Statement) -> BrokerId:
    return BrokerId(int(statement.words[0]))


# --- messages -----------------------------------------------------------------------------------


def _release(stage: Stage, statement: Statement, _line: int) -> Stage:
    pattern = pattern_of(statement)
    flying = {m.name: m.receiver for m in stage.cluster.messages}
    held = stage.held_messages.intersection(flying)
    left = frozenset(name for name in held if not pattern.fits(name, flying[name]))
    return replace(stage, holds=(*stage.holds, (pattern, False)), held_messages=left)


def _about(move: type[moves.AboutMessage]) -> MoveOf:
    return lambda stage, statement: move(_meant(stage, pattern_of(statement)).name)


def _race(stage: Stage, statement: Statement) -> moves.Race:
    one = _meant(stage, pattern_of(statement))
    others = Pattern(
        kind=one.name.kind,
        sender=_node(statement.arg("with")),
        receiver=one.receiver,
        ordinal=_number(statement.arg("with-n")),
        life=_number(statement.arg("with-life")),
    )
    return moves.Race(one.name, _meant(stage, others, besides=one).name)


def _meant(stage: Stage, pattern: Pattern, besides: Message | None = None) -> Message:
    message = matching(stage, pattern, besides)
    if message is None:
        flying = ", ".join(str(m.name) for m in stage.cluster.messages) or "nothing"
        another = "" if besides is None else " that could meet it"
        raise NothingThereError(f"no such message{another} is in flight (in flight: {flying})")
    return message


# --- brokers ------------------------------------------------------------------------------------


def _move_of(form: MoveForm) -> MoveOf:
    return lambda stage, statement: form.move_of(statement, stage.cluster)


def _timer(timer: moves.Timer) -> MoveOf:
    """The controller is only one, and is not named."""
    return lambda _stage, statement: moves.Fire(
        _broker(statement) if statement.words else CONTROLLER, timer
    )


def _catch_up(stage: Stage, statement: Statement, line: int) -> Stage:
    """Fetch until a round brings nothing new: caught up, and the leader knows it."""
    follower = _broker(statement)
    for _ in range(CATCH_UP_ROUNDS_MAX):
        before = broker(stage.cluster, follower)
        stage = flow(act(stage, moves.Fire(follower, moves.Timer.FETCH), line), line)
        after = broker(stage.cluster, follower)
        if before is not None and after is not None and after.durable == before.durable:
            return stage
    return stage


def _unfence(stage: Stage, statement: Statement, line: int) -> Stage:
    """Recovery ends, and a heartbeat asks to be unfenced."""
    id = _broker(statement)
    node = broker(stage.cluster, id)
    process = None if node is None else node.process
    recovered = process is not None and process.lifecycle is Lifecycle.RECOVERY
    if process is not None and not (recovered and process.ready_to_unfence):
        stage = act(stage, moves.FinishRecovery(id), line)
    return act(stage, moves.Fire(id, moves.Timer.HEARTBEAT), line)


def _shut_down(stage: Stage, statement: Statement, line: int) -> Stage:
    """Controlled shutdown begins: in KRaft the heartbeat that asks for it follows at once."""
    id = _broker(statement)
    stage = flow(act(stage, moves.ShutDown(id), line), line)
    heartbeat = moves.Fire(id, moves.Timer.HEARTBEAT)
    if stage.manual or why_not(stage.cluster, heartbeat) is not None:
        return stage
    return act(stage, heartbeat, line)


# --- clients and operators ----------------------------------------------------------------------


def _produce(stage: Stage, statement: Statement) -> moves.Move:
    name, acks_all = statement.arg("producer"), statement.arg("acks") != "1"
    partition, count = statement.words[0], int(statement.arg("count") or 1)
    if name is not None:
        return moves.ProduceAs(partition, name, count, acks_all)
    to = _node(statement.arg("to"))
    return moves.Produce(
        partition=partition,
        broker=leader_of(stage.cluster, partition) if to is None else to,
        count=count,
        acks_all=acks_all,
        transaction=statement.arg("transaction") is not None,
    )


def _upgrade(_stage: Stage, statement: Statement) -> moves.Move:
    metadata_version = statement.arg("metadata")
    if metadata_version is not None:
        return moves.UpgradeMetadata(metadata_version)
    if (level := statement.arg("elr")) is not None:
        return moves.UpgradeElr(int(level))
    everybody = not statement.words or statement.words[0] == "all"
    node = None if everybody else _node(statement.words[0])
    return moves.Upgrade(node, statement.arg("kafka") or "")


def _advance(stage: Stage, statement: Statement, line: int) -> Stage:
    """Let time pass; every timer on the way fires when it is due."""
    end = stage.cluster.now_ms + values.duration(statement.words[0], values.ANY)
    first = values.brokers(statement.arg("first") or "none", values.ANY)
    cluster = stage.cluster
    while (
        cluster.timed and not stage.manual and (due := due_moves(cluster, end, first)) is not None
    ):
        at, move = due
        if at > cluster.now_ms:
            stage = act(stage, moves.Advance(at - cluster.now_ms), line)
        stage = flow(act(stage, move, line), line)
        cluster = stage.cluster
    left = end - cluster.now_ms
    return act(stage, moves.Advance(left), line) if left or not cluster.timed else stage


def _alone(move_of: MoveOf) -> Perform:
    return lambda stage, statement, line: act(stage, move_of(stage, statement), line)


_ONE_MOVE: dict[str, MoveOf] = {
    **{verb: _move_of(form) for verb, form in MOVE_VERBS.items()},
    **{timer.verb: _timer(timer) for timer in moves.Timer},
    **{verb_of(move): _about(move) for move in get_args(moves.AboutMessage)},
    "race": _race,
    "declare-inactive": lambda _, said: moves.HeartbeatTimeout(_broker(said), at_controller=True),
    "fence-itself": lambda _, said: moves.HeartbeatTimeout(_broker(said), at_controller=False),
    "produce": _produce,
    "upgrade": _upgrade,
    "send": lambda stage, statement: moves.RawRequest(*raw_request(statement, stage.cluster)),
}
_VERBS: dict[str, Perform] = {
    **{verb: _alone(move_of) for verb, move_of in _ONE_MOVE.items()},
    "hold": lambda stage, said, _: replace(stage, holds=(*stage.holds, (pattern_of(said), True))),
    "release": _release,
    "catch-up": _catch_up,
    "unfence": _unfence,
    "shut-down": _shut_down,
    "advance": _advance,
}
