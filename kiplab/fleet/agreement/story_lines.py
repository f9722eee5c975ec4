"""What was done in a run with a clock, as lines of a play without one.

Messages flow by themselves in a play, but for those that `hold` keeps back: requests that take
their time, and the answer to a leader that stops in the time that a stop takes. With ZooKeeper
nobody is the controller as long as nobody hears that /controller is gone: that is held back, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.events import Sent
from ...plays.history_as_play import statement_of
from ...plays.play import Statement
from ...plays.values import node_word
from ...protocol.ids import BrokerId, controller_on
from ...protocol.messages import (
    KINDS,
    AlterPartitionRequest,
    ControlledShutdownResponse,
    WatcherEvent,
)
from .driven_engine import DoneMove
from .driven_zookeeper import HOST

_REQUEST, _ANSWER = KINDS[AlterPartitionRequest], KINDS[ControlledShutdownResponse]
_WORD = KINDS[WatcherEvent]
_TO_HOST = (("to", node_word(controller_on(HOST))),)


class SaidLine(msgspec.Struct, frozen=True):
    """A line, and when (ms) was done what it says. A round that changes nothing needs no line."""

    at: int
    statement: Statement
    is_round: bool = False


def held_throughout(done: Iterable[DoneMove], *, zookeeper: bool) -> tuple[str, ...]:
    """The kinds of messages that a play of it holds back from its beginning on."""
    answered = zookeeper and any(isinstance(made.move, moves.ShutDown) for made in done)
    return (_REQUEST, _ANSWER) if answered else (_REQUEST,)


def said_lines(done: Iterable[DoneMove], *, zookeeper: bool) -> Iterator[SaidLine]:
    """The lines that are needed for it. To shut down is to say so at once."""
    before: moves.Move | None = None
    away = False
    for made in _with_lost_disks(done):
        move = made.move
        if zookeeper and (isinstance(move, moves.FailOver) or (away and _delivers(made, _WORD))):
            away = not away
            yield from (SaidLine(made.at, line) for line in _about_the_controller(away))
        if isinstance(move, moves.Advance) or _flows(move):
            continue
        if not _goes_without_saying(made, before):
            yield SaidLine(made.at, statement_of(move), isinstance(move, moves.Fire))
        before = move


def _about_the_controller(away: bool) -> tuple[Statement, ...]:
    """Whoever is to be the next one hears of it first: the others find that there is one."""
    if away:
        return (Statement("hold", (_WORD,)),)
    return Statement("release", (_WORD,), _TO_HOST), Statement("release", (_WORD,))


def _flows(move: moves.Move) -> bool:
    """Messages that arrive by themselves, or are held until they do."""
    if isinstance(move, moves.Deliver):
        return move.message.kind not in (_REQUEST, _ANSWER)
    return isinstance(move, moves.Drop) and move.message.kind == _WORD


def _delivers(made: DoneMove, kind: str) -> bool:
    return isinstance(made.move, moves.Deliver) and made.move.message.kind == kind


def _goes_without_saying(made: DoneMove, before: moves.Move | None) -> bool:
    if not isinstance(made.move, moves.Fire):
        return False
    if made.move.timer is moves.Timer.HEARTBEAT:
        return isinstance(before, moves.ShutDown)
    return made.move.timer is moves.Timer.LAG_CHECK and not _asked(made)


def _asked(made: DoneMove) -> bool:
    sent = (event for event in made.events if isinstance(event, Sent))
    return any(isinstance(event.body, AlterPartitionRequest) for event in sent)


def _with_lost_disks(done: Iterable[DoneMove]) -> list[DoneMove]:
    """With ZooKeeper a process that is not registered yet is none in the engine, and cannot crash.
    Its disk was lost with the process before, if that crashed: nobody has looked at it since.
    """
    found: list[DoneMove] = []
    down: dict[BrokerId, int] = {}
    for made in done:
        move = made.move
        if isinstance(move, moves.Start):
            down.pop(move.broker, None)
        elif isinstance(move, moves.Crash):
            if move.broker in down:
                earlier = down[move.broker]
                found[earlier] = replace(found[earlier], move=move)
                continue
            down[move.broker] = len(found)
        found.append(made)
    return found
