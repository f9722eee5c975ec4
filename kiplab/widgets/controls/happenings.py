"""What can happen next: every move that the engine allows where one stands, in words."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.enabled import EVERYTHING, Menu, enabled
from ...plays.move_lines import statement_of
from ...plays.play import Statement
from ...protocol.ids import host_of, node_name
from ...rows.step_labels import expected
from ...rows.wording import plural
from .choices import in_short
from .client_actions import consumers, producers

WAITS_MS = (500, 2_000, 9_000)
"""How long one can wait in a run with a clock."""


class Happening(msgspec.Struct, frozen=True):
    """Something that can happen: in words, as the line of a play, and to what in the picture.

    `thing` is named as in `figures.timeline.places`.
    """

    words: str
    line: Statement
    thing: str
    is_fault: bool


def happenings(cluster: Cluster) -> tuple[Happening, ...]:
    """All that can happen: what is on its way first, then in the engine's order."""
    return tuple(_happening(cluster, move) for move in enabled(cluster, menu_of(cluster)))


def menu_of(cluster: Cluster) -> Menu:
    """Every family of moves, with everybody who reads or writes here, and waiting where there is a
    clock.
    """
    waits = WAITS_MS if cluster.timed else ()
    clients = replace(EVERYTHING, poll=consumers(cluster), producers=producers(cluster))
    return replace(clients, advance_ms=waits)


def _happening(cluster: Cluster, move: moves.Move) -> Happening:
    line, words = statement_of(move), _words(move)
    if isinstance(move, moves.AboutMessage):
        line = in_short(cluster, line, move.message)
    said = words[0].upper() + words[1:]
    return Happening(said, line, _thing(move), isinstance(move, moves.FAULTS))


def _words(move: moves.Move) -> str:
    if isinstance(move, moves.AboutMessage):
        return f"{move.message} {move.ends}"
    if isinstance(move, moves.Produce):
        return f"{plural(move.count, 'record')} written to {node_name(move.broker)}"
    return expected(statement_of(move))


def _thing(move: moves.Move) -> str:
    """What a move is about, by the fields that it has."""
    if isinstance(move, moves.AboutMessage):
        return f"message {move.message}"
    nodes = (getattr(move, name, None) for name in ("broker", "node", "other"))
    node = next((node for node in nodes if node is not None), None)
    if node is not None:
        return node_name(host_of(node))
    partition = getattr(move, "partition", "")
    return f"partition {partition}" if partition else "controller"
