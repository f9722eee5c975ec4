"""The moves of a run with ZooKeeper, as lines of a play, with the outages of the controller.

A controller falls silent when its broker is cut off from all others. Its session ends when the next
one is due; then the broker is reached again, registers anew and is elected.
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from ...engine import moves
from ...plays.move_lines import statement_of
from ...plays.play import Statement
from ...plays.values import node_word
from ...protocol.ids import ZOOKEEPER, BrokerId, controller_on
from ...protocol.messages import KINDS, WatcherEvent
from .driven_engine import DoneMove
from .driven_zookeeper import HOST
from .story_lines import DatedStatement, dated_statements

_WORD = KINDS[WatcherEvent]
_TO_HOST = (("to", node_word(controller_on(HOST))),)


def zookeeper_lines(
    done: Iterable[DoneMove], lost: Iterable[int], ids: Iterable[int]
) -> Iterator[DatedStatement]:
    """The lines that a play needs; `lost` has the number of moves done each time that the
    controller fell silent.
    """
    brokers = tuple(BrokerId(b) for b in ids)
    cut: set[BrokerId] = set()
    silences = iter(lost)
    next_one = next(silences, None)
    away = False
    for number, made in _with_lost_disks(done).items():
        move = made.move
        if next_one is not None and next_one <= number:
            away, next_one = True, next(silences, None)
            yield from _at(made, _host_is_cut_off([b for b in brokers if b not in cut]))
        if away and move == moves.ExpireSession(HOST):
            away = False
            yield from _at(made, _host_is_back([b for b in brokers if b not in cut]))
        elif _is_link_of_host(move, cut) and away:
            continue
        elif isinstance(move, moves.Drop) and move.message.kind == _WORD:
            # The others get no event of the end of its session until it is elected.
            yield from _at(made, [Statement("drop", (_WORD,), _TO_HOST)] if away else [])
        else:
            yield from dated_statements([made])


def _at(move: DoneMove, lines: Iterable[Statement]) -> Iterator[DatedStatement]:
    return (DatedStatement(move.at, line) for line in lines)


def _is_link_of_host(move: moves.Move, cut: set[BrokerId]) -> bool:
    """Whether the move cuts or heals a link to the controller's broker; `cut` keeps note of it."""
    if not isinstance(move, moves.Cut | moves.Heal) or move.other != HOST:
        return False
    (cut.add if isinstance(move, moves.Cut) else cut.discard)(move.one)
    return True


def _host_is_cut_off(others: Iterable[BrokerId]) -> Iterator[Statement]:
    return (statement_of(moves.Cut(HOST, other)) for other in (ZOOKEEPER, *others))


def _host_is_back(others: Iterable[BrokerId]) -> Iterator[Statement]:
    """It learns of the end of its session first; the others then find a controller."""
    yield Statement("hold", (_WORD,))
    yield statement_of(moves.ExpireSession(HOST))
    yield from (statement_of(moves.Heal(HOST, other)) for other in (*others, ZOOKEEPER))
    yield Statement("release", (_WORD,), _TO_HOST)
    yield Statement("release", (_WORD,))


def _with_lost_disks(done: Iterable[DoneMove]) -> dict[int, DoneMove]:
    """By number. A process that is not registered yet is none in the engine, and cannot crash.
    Its disk was lost with the process before, if that crashed; nothing has read it since.
    """
    moves_by_number: dict[int, DoneMove] = {}
    down: dict[BrokerId, int] = {}
    for number, made in enumerate(done):
        move = made.move
        if isinstance(move, moves.Start):
            down.pop(move.broker, None)
        elif isinstance(move, moves.Crash):
            if move.broker in down:
                earlier = down[move.broker]
                moves_by_number[earlier] = replace(moves_by_number[earlier], move=move)
                continue
            down[move.broker] = number
        moves_by_number[number] = made
    return moves_by_number
