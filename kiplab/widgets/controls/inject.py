"""What can happen next, as buttons: to brokers and controller, by clients; and any other line."""

from collections.abc import Callable
from typing import Any

from ...engine.truth import partition_of, truth
from ...protocol.ids import BrokerId, node_name
from ..elements.labelled import button, column, dropdown, line, row, watch, words
from ..history_tree.bench import Bench
from ..markup import beside, heading, muted
from .actions import Act, Actions, Drawer, Reasons
from .choices import (
    LOSS_WORDS,
    Choice,
    about_broker,
    about_controller,
    about_partition,
    about_time,
    leads,
    more_about_broker,
    more_about_partition,
    standing,
)
from .client_actions import delete_records
from .clients_panel import ClientsPanel


class _BrokerRow:
    """One broker: how it does, what happens to it most often, and the rest in a drawer."""

    def __init__(self, id: BrokerId, act: Act) -> None:
        self.id = id
        self._bench: Bench | None = None
        self.state = words()
        self.others = Actions(act)
        self.more = Drawer("More", self._show_more, self.others.box)
        self.main = Actions(act, self.more.toggle)
        self.box = column([self.state, self.main.box, self.more.box])
        self.box.add_class(f"kiplab-broker-{id}")

    def show(self, bench: Bench, disk: str) -> None:
        self._bench = bench
        self.state.value = beside(node_name(self.id), standing(bench.here.cluster, self.id))
        self.main.show(about_broker(bench.here, self.id, disk))
        if self.more.is_open:
            self._show_more()

    def _show_more(self) -> None:
        self.others.show(self._rest())

    def _rest(self) -> tuple[Choice, ...]:
        return () if self._bench is None else more_about_broker(self._bench.here, self.id)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Everything that can happen to it, in the drawer or not."""
        return (*self.main.choices, *self._rest())


class _PartitionRow:
    """One partition: who leads it, its elections, and the rest in a drawer."""

    def __init__(self, name: str, act: Act) -> None:
        self.name = name
        self._bench: Bench | None = None
        self.state = words()
        self.others = Actions(act)
        self.more = Drawer("More", self._show_more, self.others.box)
        self.actions = Actions(act, self.more.toggle)
        self.box = column([self.state, self.actions.box, self.more.box])
        self.box.add_class(f"kiplab-partition-{name}")

    def show(self, bench: Bench) -> None:
        self._bench = bench
        cluster = bench.here.cluster
        state = partition_of(cluster, self.name)
        self.state.value = beside(self.name, leads(state) if state is not None else "")
        self.actions.show(about_partition(cluster, self.name))
        if self.more.is_open:
            self._show_more()

    def _show_more(self) -> None:
        self.others.show(self._rest())

    def _rest(self) -> tuple[Choice, ...]:
        if self._bench is None:
            return ()
        cluster = self._bench.here.cluster
        return (*more_about_partition(cluster, self.name), delete_records(cluster, self.name))

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Everything that can be done with it, in the drawer or not."""
        return (*self.actions.choices, *self._rest())


class Inject:
    """Calls `act` with the line that a button stands for, and `write` with a line as written.

    `disk` is what a crash takes; it lies outside of `box`.
    """

    def __init__(self, bench: Bench, act: Act, write: Callable[[str], None]) -> None:
        self._bench = bench
        cluster = bench.here.cluster
        self.disk = dropdown("A crash takes", list(LOSS_WORDS.items()))
        self.disk.layout.margin = "2px"
        watch(self.disk, "value", lambda _: self.show(self._bench))
        self.rows = [_BrokerRow(node.id, act) for node in cluster.brokers]
        self.partitions = [_PartitionRow(p.name, act) for p in truth(cluster).partitions]
        self.controller, self.time = Actions(act), Actions(act)
        self.clients = ClientsPanel(bench, act)
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
        time = [words(heading("Time")), self.time.box] if self._bench.here.cluster.timed else []
        return [
            *(made.box for made in self.rows),
            controller,
            *(made.box for made in self.partitions),
            self.clients.box,
            *time,
            row([self.line, self.do]),
            self.written,
            self.reasons.box,
        ]

    def show(self, bench: Bench) -> None:
        """What can happen now."""
        self._bench = bench
        for broker in self.rows:
            broker.show(bench, self.disk.value)
        self.controller.show(about_controller(bench.here.cluster))
        for made in self.partitions:
            made.show(bench)
        self.clients.show(bench)
        self.time.show(about_time(bench.here))
        self.written.value = muted(_last_line(bench))
        self.reasons.show()

    def button(self, broker: int, label: str) -> Any:
        """A button by its broker and label; the drawer's once it is open. KeyError for none."""
        made = next((row for row in self.rows if row.id == broker), None)
        if made is None:
            raise KeyError(broker)
        try:
            return made.main.button(label)
        except KeyError:
            return made.others.button(label)

    def _reasons(self) -> list[tuple[str, tuple[Choice, ...]]]:
        brokers = [(node_name(made.id), made.choices) for made in self.rows]
        partitions = [(made.name, made.choices) for made in self.partitions]
        return [*brokers, *partitions, ("clients", self.clients.choices)]


def _last_line(bench: Bench) -> str:
    done = bench.here.performed
    return f"Last line of the play here: {done[-1].statement.text}" if done else ""
