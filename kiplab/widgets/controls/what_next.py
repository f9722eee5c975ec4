"""One list of all that can happen next, faults apart; it opens in the place of the buttons."""

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.enabled import EVERYTHING, Menu, enabled
from ...plays.move_lines import statement_of
from ...protocol.ids import host_of, node_name
from ...rows.columns import plural
from ...rows.step_labels import expected
from ..elements.kinds import Element
from ..elements.labelled import watch
from ..history_tree.playback import Playback
from .actions import Act, Drawer
from .broker_offers import GoTo, Offer
from .cluster_offers import consumers, in_short, producers
from .offering import OfferGroup, Offering

TITLE, ORDINARY, FAULTS = "What can happen next", "In the ordinary course", "Faults"


class WhatNext:
    """Calls `act` with the line that is chosen. `covered` is hidden while the list is open."""

    def __init__(
        self, playback: Playback, act: Act, go: Callable[[GoTo], None], covered: Element
    ) -> None:
        self._playback, self._covered = playback, covered
        self.offering = Offering(playback, act, go, pops=False)
        self.drawer = Drawer(TITLE, self._fill, self.offering.list)
        self.toggle, self.box = self.drawer.toggle, self.drawer.box
        self.toggle.tooltip = "Every event that is possible now, and what would follow from it"
        watch(self.toggle, "value", lambda _: self._cover())

    def show(self, playback: Playback) -> None:
        """Follow the playback, while somebody looks."""
        self._playback = playback
        if self.drawer.is_open:
            self._fill()

    def open(self) -> None:
        """Open it, and give it the focus."""
        self.toggle.value = True
        self.offering.list.call()

    def _fill(self) -> None:
        self.offering.show(self._playback, groups_of(happenings(self._playback.here.cluster)))

    def _cover(self) -> None:
        self._covered.layout.display = "none" if self.drawer.is_open else "flex"


def groups_of(happenings: tuple[Offer, ...]) -> Iterator[OfferGroup]:
    """What is no fault first."""
    for title, are_faults in ((ORDINARY, False), (FAULTS, True)):
        here = tuple(offer for offer in happenings if offer.is_fault is are_faults)
        yield OfferGroup(title, here)


WAITS_MS = (500, 2_000, 9_000)
"""How long one can wait in a run with a clock."""


def happenings(cluster: Cluster) -> tuple[Offer, ...]:
    """All that can happen: what is on its way first, then in the engine's order."""
    return tuple(_happening(cluster, move) for move in enabled(cluster, menu_of(cluster)))


def menu_of(cluster: Cluster) -> Menu:
    """Every family of moves, with everybody who reads or writes here, and waiting where there is a
    clock.
    """
    waits = WAITS_MS if cluster.timed else ()
    clients = replace(EVERYTHING, poll=consumers(cluster), producers=producers(cluster))
    return replace(clients, advance_ms=waits)


def _happening(cluster: Cluster, move: moves.Move) -> Offer:
    line, words = statement_of(move), _words(move)
    if isinstance(move, moves.AboutMessage):
        line = in_short(cluster, line, move.message)
    label, is_fault = words[0].upper() + words[1:], isinstance(move, moves.FAULTS)
    return Offer(label, line, thing=_thing(move), is_fault=is_fault)


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
