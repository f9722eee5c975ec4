"""What can happen next, as buttons: to brokers and controller, by clients; and any other line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...engine.truth import partition_of, truth
from ...protocol.ids import NO_LEADER, BrokerId, node_name
from ..elements.kinds import Style, WholeNumber
from ..elements.labelled import button, column, dropdown, line, row, watch, words
from ..history_tree.bench import Bench
from ..markup import MUTED, heading, muted
from .actions import Act, Actions, Reasons
from .choices import (
    LOSS_WORDS,
    Choice,
    about_broker,
    about_controller,
    about_partition,
    about_time,
    leads,
    more_about_broker,
    standing,
)
from .client_actions import (
    about_consumer,
    believes_to_lead,
    consumers,
    delete_records,
    produce,
    reading,
    sends_again,
)
from .drawer import Drawer

RECORDS_MAX = 1_000_000


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
        self.state.value = _beside(node_name(self.id), standing(bench.here.cluster, self.id))
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
    """One partition: who leads it, and its elections."""

    def __init__(self, name: str, act: Act) -> None:
        self.name = name
        self.state = words()
        self.actions = Actions(act)
        both = [self.state, self.actions.box]
        self.box = row(both, justify_content="space-between", flex_flow="row wrap")

    def show(self, bench: Bench) -> None:
        cluster = bench.here.cluster
        state = partition_of(cluster, self.name)
        self.state.value = _beside(self.name, leads(state) if state is not None else "")
        self.actions.show(about_partition(cluster, self.name))


class _Clients:
    """What a producer writes and how sure it wants to be; where a consumer reads."""

    def __init__(self, bench: Bench, act: Act) -> None:
        self._bench = bench
        names = [state.name for state in truth(bench.here.cluster).partitions]
        self.partition = dropdown("partition", [(name, name) for name in names])
        self.count = WholeNumber(
            value=10,
            min=1,
            max=RECORDS_MAX,
            description="records",
            layout=Style(width="130px", margin="2px"),
        )
        self.acks = dropdown("acks", [("all", "all"), ("1", "1")])
        self.to = dropdown("to", [_LEADER])
        self.consumer = dropdown("consumer", [])
        self.state = words()
        self.actions, self.reads = Actions(act), Actions(act)
        for made in (self.partition, self.count, self.acks, self.to, self.consumer):
            watch(made, "value", lambda _: self._offer())
        head = row([words(heading("Clients"))], justify_content="space-between")
        if len(names) > 1:
            head.children = (*head.children, self.partition)
        writes = row([self.count, self.acks, self.to, self.actions.box], flex_flow="row wrap")
        self._who = row([self.state])
        self.box = column([head, writes, self._who, self.reads.box])

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Everything that they can do."""
        return (*self.actions.choices, *self.reads.choices)

    def show(self, bench: Bench) -> None:
        self._bench = bench
        cluster, name = bench.here.cluster, self.partition.value
        stale = [(node_name(id), id) for id in believes_to_lead(cluster, name)]
        _offer_values(self.to, (_LEADER, *stale))
        known = consumers(cluster)
        _offer_values(self.consumer, tuple((who, who) for who in known))
        self._who.children = (self.consumer, self.state) if len(known) > 1 else (self.state,)
        self._offer()

    def _offer(self) -> None:
        cluster, name = self._bench.here.cluster, self.partition.value
        to = None if self.to.value == _LEADER[1] else self.to.value
        written = produce(cluster, name, self.count.value, self.acks.value, to)
        again = sends_again(cluster, name)
        self.actions.show((written, *again, delete_records(cluster, name)))
        who = self.consumer.value
        self.reads.show(about_consumer(cluster, who, name))
        self.state.value = _beside(who, reading(cluster, who, name))


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
        self.clients = _Clients(bench, act)
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
        partitions = [(made.name, made.actions.choices) for made in self.partitions]
        return [*brokers, *partitions, ("clients", self.clients.choices)]


def _offer_values(made: Any, options: tuple[tuple[str, Any], ...]) -> None:
    """Other options; what was chosen stays chosen while it is one of them."""
    if made.options != options:
        kept = made.value
        made.options = options
        made.value = kept if kept in dict(options).values() else options[0][1]


_LEADER = ("the leader", NO_LEADER)
"""Whoever leads. (A dropdown takes None for nothing chosen.)"""


def _last_line(bench: Bench) -> str:
    done = bench.here.performed
    return f"Last line of the play here: {done[-1].statement.text}" if done else ""


def _beside(title: str, text: str) -> str:
    """A name, and how it does, on one line."""
    return (
        f'<div style="line-height:1.4;padding:4px 0 0">{heading(title)}'
        f' <span style="color:{MUTED};font-size:12px">{text}</span></div>'
    )
