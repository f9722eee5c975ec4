"""The moves of a run with a clock, as lines of a play without one.

Messages flow by themselves in a play, but for those that `hold` keeps back: requests with a delay,
and the answer to a leader that takes time to stop.
"""

from collections.abc import Iterable, Iterator

import msgspec

from ...engine import moves
from ...engine.events import Sent
from ...plays.move_lines import statement_of
from ...plays.play import Statement
from ...protocol import messages
from .driven_engine import DoneMove, isr_asked

_REQUEST = messages.KINDS[messages.AlterPartitionRequest]
_ANSWER = messages.KINDS[messages.ControlledShutdownResponse]


class DatedStatement(msgspec.Struct, frozen=True):
    """A line, and when (ms) its move was done. A round that changes nothing needs no line."""

    at: int
    statement: Statement
    is_round: bool = False


def held_throughout(done: Iterable[DoneMove], *, zookeeper: bool) -> tuple[str, ...]:
    """The kinds of messages that its play holds back from the beginning."""
    answered = zookeeper and any(isinstance(made.move, moves.ShutDown) for made in done)
    return (_REQUEST, _ANSWER) if answered else (_REQUEST,)


def dated_statements(done: Iterable[DoneMove]) -> Iterator[DatedStatement]:
    """The lines that a play needs. A shutdown includes the heartbeat that asks for it."""
    before: moves.Move | None = None
    for made in done:
        move = made.move
        if isinstance(move, moves.Advance):
            continue
        # Other messages arrive by themselves.
        if isinstance(move, moves.Deliver) and move.message.kind not in (_REQUEST, _ANSWER):
            continue
        if not _goes_without_saying(made, before):
            yield DatedStatement(made.at, statement_of(move), isinstance(move, moves.Fire))
        before = move


def _goes_without_saying(made: DoneMove, before: moves.Move | None) -> bool:
    if not isinstance(made.move, moves.Fire):
        return False
    if made.move.timer is moves.Timer.HEARTBEAT:
        return isinstance(before, moves.ShutDown)
    return made.move.timer is moves.Timer.LAG_CHECK and not _asked(made)


def _asked(move: DoneMove) -> bool:
    sent = (event for event in move.events if isinstance(event, Sent))
    return any(isr_asked(event.body) is not None for event in sent)
