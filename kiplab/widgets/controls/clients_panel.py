"""Clients as controls: records written, a consumer that reads; and, opened, one producer and one
consumer that one watches: what each was told or has read, and what of it is gone.
"""

from __future__ import annotations

from html import escape
from typing import Any

from ...engine.truth import truth
from ...protocol.ids import NO_LEADER, BrokerId, node_name
from ..elements.kinds import Dropdown, Style, WholeNumber
from ..elements.labelled import column, dropdown, row, watch, words
from ..history_tree.bench import Bench
from ..markup import beside, heading, muted
from .actions import Act, Actions
from .choices import Choice
from .client_actions import (
    about_consumer,
    about_producer,
    believes_to_lead,
    consumers,
    produce,
    producers,
    reading,
)
from .client_words import Held, producer_in_words, reader_in_words
from .drawer import Drawer

RECORDS_MAX = 1_000_000
_LEADER = ("the leader", NO_LEADER)
"""Whoever leads. (A dropdown takes None for nothing chosen.)"""
_UNSENT = "It has sent nothing yet: Send takes the records and the acks from above."
_UNREAD = "has read nothing yet: Poll lets it read"


class ClientsPanel:
    """What a producer writes and how sure it wants to be; where a consumer reads.

    `watched` is a drawer with what the two hold.
    """

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
        self.to, self.consumer = dropdown("to", [_LEADER]), dropdown("consumer", [])
        self.producer = dropdown("producer", [])
        self.state, self.written, self.read = words(), words(), words()
        self.actions, self.reads, self.writes = Actions(act), Actions(act), Actions(act)
        self.watched = Drawer("Watch the clients", self._watch, *self._inside())
        self.watched.toggle.tooltip = "What a producer was told, what a consumer has read"
        for made in (self.partition, self.count, self.acks, self.to, self.consumer, self.producer):
            watch(made, "value", lambda _: self._offer())
        self.box = column(self._parts(len(names) > 1))

    def _parts(self, several: bool) -> list[Any]:
        head = [words(heading("Clients")), *([self.partition] if several else [])]
        writes = [self.count, self.acks, self.to, self.actions.box]
        self._who = row([self.state])
        return [
            row([*head, self.watched.toggle], justify_content="space-between"),
            row(writes, flex_flow="row wrap"),
            self._who,
            self.reads.box,
            self.watched.box,
        ]

    def _inside(self) -> list[Any]:
        self._writer = row([self.writes.box], flex_flow="row wrap")
        return [self._writer, self.written, self.read]

    @property
    def choices(self) -> tuple[Choice, ...]:
        """Everything that they can do."""
        return (*self.actions.choices, *self.reads.choices, *self._sending())

    def show(self, bench: Bench) -> None:
        """Follow the bench."""
        self._bench = bench
        cluster, name = bench.here.cluster, self.partition.value
        stale = [(node_name(id), id) for id in believes_to_lead(cluster, name)]
        _offer_values(self.to, (_LEADER, *stale))
        readers, writers = consumers(cluster), producers(cluster)
        _offer_names(self.consumer, readers, {client.name for client in cluster.consumers})
        _offer_names(self.producer, writers, {client.name for client in cluster.producers})
        self._who.children = (self.consumer, self.state) if len(readers) > 1 else (self.state,)
        who = self.producer if len(writers) > 1 else words(heading(writers[0]))
        self._writer.children = (who, self.writes.box)
        self._offer()

    def _offer(self) -> None:
        cluster, name = self._bench.here.cluster, self.partition.value
        to = None if self.to.value == _LEADER[1] else BrokerId(self.to.value)
        self.actions.show((produce(cluster, name, self.count.value, self.acks.value, to),))
        who = self.consumer.value
        self.reads.show(about_consumer(cluster, who, name))
        known = reading(cluster, who, name)
        alone = len(self.consumer.options) == 1
        self.state.value = beside(who, known) if alone else muted(known)
        if self.watched.is_open:
            self._watch()

    def _sending(self) -> tuple[Choice, ...]:
        cluster, name, who = self._bench.here.cluster, self.partition.value, self.producer.value
        return about_producer(cluster, who, name, self.count.value, self.acks.value)

    def _watch(self) -> None:
        stage, name = self._bench.here, self.partition.value
        self.writes.show(self._sending())
        writer, reader = self.producer.value, self.consumer.value
        written = producer_in_words(stage, writer, name)
        self.written.value = _held(writer, written) or muted(_UNSENT)
        known = _held(reader, reader_in_words(stage, reader, name))
        self.read.value = f"{heading(reader)}{known}" if known else beside(reader, _UNREAD)


def _held(who: str, known: tuple[Held, ...]) -> str:
    """What a client holds as a small table; what is gone stands out. Empty for a new one."""
    rows = "".join(_entry(entry) for entry in known)
    return f'<dl class="kiplab-held" aria-label="{escape(who)}">{rows}</dl>' if rows else ""


def _entry(entry: Held) -> str:
    mark, sign = (' class="kiplab-lost"', "▼ ") if entry.lost else ("", "")
    said = "".join(f"<div>{escape(line)}</div>" for line in entry.said)
    return f"<div{mark}><dt>{sign}{escape(entry.name)}</dt><dd>{said}</dd></div>"


def _offer_names(made: Dropdown, names: tuple[str, ...], known: set[str]) -> None:
    """Other clients; who is not there yet gives way to the first that is."""
    if made.options != (options := tuple((who, who) for who in names)):
        kept = made.value
        made.options = options
        made.value = kept if kept in known else names[0]


def _offer_values(made: Dropdown, options: tuple[tuple[str, Any], ...]) -> None:
    """Other options; what was chosen stays chosen while it is one of them."""
    if made.options != options:
        kept = made.value
        made.options = options
        made.value = kept if kept in dict(options).values() else options[0][1]
