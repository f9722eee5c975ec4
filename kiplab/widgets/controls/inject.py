"""What can happen next, as buttons: to brokers and controller, by clients; and any other line."""

from collections.abc import Callable
from typing import Any

from ...engine.truth import partition_of, truth
from ...protocol.ids import BrokerId, node_name
from ..elements.labelled import button, column, dropdown, line, row, watch, words
from ..history_tree.playback import Playback
from ..markup import beside, heading, muted
from . import cluster_offers as about
from .actions import Act, Actions, OfferRow, Reasons
from .broker_offers import LOSS_WORDS, Offer, about_broker, more_about_broker, standing
from .clients_panel import ClientsPanel


class Inject:
    """Calls `act` with the line that a button stands for, and `write` with a line as written.

    `disk` is what a crash takes; it lies outside of `box`.
    """

    def __init__(self, playback: Playback, act: Act, write: Callable[[str], None]) -> None:
        self._playback = playback
        cluster = playback.here.cluster
        self.disk = dropdown("A crash takes", list(LOSS_WORDS.items()))
        self.disk.layout.margin = "2px"
        watch(self.disk, "value", lambda _: self.show(self._playback))
        self.brokers = {node.id: OfferRow(act) for node in cluster.brokers}
        self.partitions = {state.name: OfferRow(act) for state in truth(cluster).partitions}
        for id, offer_row in self.brokers.items():
            offer_row.box.add_class(f"kiplab-broker-{id}")
        for name, offer_row in self.partitions.items():
            offer_row.box.add_class(f"kiplab-partition-{name}")
        self.controller, self.time = Actions(act), Actions(act)
        self.clients = ClientsPanel(playback, act)
        self.line = line("Any other line", "produce orders-0 count=10")
        self.do = button("Do it", lambda: write(self.line.value), "Do this line here")
        self.written = words()
        self.reasons = Reasons(self._reasons)
        self.box = column(self._parts())

    def _parts(self) -> list[Any]:
        controller = row(
            [words(heading("Controller and partitions")), self.controller.box],
            justify_content="space-between",
        )
        time = [words(heading("Time")), self.time.box] if self._playback.here.cluster.timed else []
        return [
            *(made.box for made in self.brokers.values()),
            controller,
            *(made.box for made in self.partitions.values()),
            self.clients.box,
            *time,
            row([self.line, self.do]),
            self.written,
            self.reasons.box,
        ]

    def show(self, playback: Playback) -> None:
        """What can happen now."""
        self._playback = playback
        for id, offer_row in self.brokers.items():
            self._show_broker(id, offer_row)
        self.controller.show(about.about_controller(playback.here.cluster))
        for name, offer_row in self.partitions.items():
            self._show_partition(name, offer_row)
        self.clients.show(playback)
        self.time.show(about.about_time(playback.here))
        self.written.value = muted(_last_line(playback))
        self.reasons.show()

    def _show_broker(self, id: BrokerId, offer_row: OfferRow) -> None:
        here = self._playback.here
        state = beside(node_name(id), standing(here.cluster, id))
        often = about_broker(here, id, self.disk.value)
        offer_row.show(state, often, lambda: more_about_broker(here, id))

    def _show_partition(self, name: str, offer_row: OfferRow) -> None:
        cluster = self._playback.here.cluster
        state, delete = partition_of(cluster, name), about.delete_records
        offer_row.show(
            beside(name, about.leads(state) if state is not None else ""),
            about.about_partition(cluster, name),
            lambda: (*about.more_about_partition(cluster, name), delete(cluster, name)),
        )

    def button(self, broker: int, label: str) -> Any:
        """A button by its broker and label; the drawer's once it is open. KeyError for none."""
        return self.brokers[BrokerId(broker)].button(label)

    def _reasons(self) -> list[tuple[str, tuple[Offer, ...]]]:
        brokers = [(node_name(id), made.offers) for id, made in self.brokers.items()]
        partitions = [(name, made.offers) for name, made in self.partitions.items()]
        return [*brokers, *partitions, ("clients", self.clients.offers)]


def _last_line(playback: Playback) -> str:
    done = playback.here.performed
    return f"Last line of the play here: {done[-1].statement.text}" if done else ""
