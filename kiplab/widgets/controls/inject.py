"""What can happen next, as buttons: to brokers and controller, by clients; and any other line. For
one producer and one consumer: what was acknowledged or read, and what is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from html import escape
from typing import Any

import msgspec

from ...engine.cluster import Cluster, broker
from ...engine.consumers import consumer_of
from ...engine.producers import producer_of
from ...engine.truth import partition_of, truth
from ...plays.stage import Stage
from ...protocol.clients.producer import Batch
from ...protocol.ids import NO_LEADER, NO_LEADER_EPOCH, BrokerId, LeaderEpoch, node_name
from ...protocol.replica.broker_state import log_of
from ...rows.client_records import EpochRecords, acknowledged_records, holders, missing, stretches
from ...rows.columns import offsets, plural
from ...rows.state_tree import leader_and_isr
from ..elements.kinds import Dropdown, Style, WholeNumber
from ..elements.labelled import button, column, dropdown, line, row, watch, words
from ..history_tree.playback import read_line
from ..markup import Answer, beside, heading, muted
from . import cluster_offers as about
from .actions import Actions, Drawer, LabLike, OfferRow, Reasons
from .broker_offers import LOSS_WORDS, Offer, about_broker, more_about_broker, standing


class Inject:
    """Buttons for the brokers and partitions that exist when it is made.

    `disk` is what a crash takes; it lies outside of `box`.
    """

    def __init__(self, lab: LabLike) -> None:
        self._lab = lab
        cluster = lab.playback.here.cluster
        self.disk = dropdown("A crash takes", list(LOSS_WORDS.items()))
        self.disk.layout.margin = "2px"
        watch(self.disk, "value", lambda _: self.show())
        self.brokers = {node.id: OfferRow(lab) for node in cluster.brokers}
        self.partitions = {state.name: OfferRow(lab) for state in truth(cluster).partitions}
        for id, offer_row in self.brokers.items():
            offer_row.box.add_class(f"kiplab-broker-{id}")
        for name, offer_row in self.partitions.items():
            offer_row.box.add_class(f"kiplab-partition-{name}")
        self.controller, self.time = Actions(lab), Actions(lab)
        self.clients = ClientsPanel(lab)
        self.line = line("Any other line", "produce orders-0 count=10")
        self.do = button("Do it", lambda: self.answer.to(self._do_line), "Do this line here")
        # What is wrong with a line that cannot be read stands above it: below may be out of sight.
        self.answer, self.written = Answer(), words()
        self.reasons = Reasons(self._reasons)
        self.box = column(self._parts())

    def _parts(self) -> list[Any]:
        title = words(heading("Controller and partitions"))
        controller = row([title, self.controller.box], justify_content="space-between")
        timed = self._lab.playback.here.cluster.timed
        time = [words(heading("Time")), self.time.box] if timed else []
        return [
            *(offer_row.box for offer_row in self.brokers.values()),
            controller,
            *(offer_row.box for offer_row in self.partitions.values()),
            self.clients.box,
            *time,
            self.answer.box,
            row([self.line, self.do]),
            self.written,
            self.reasons.whole,
        ]

    def _do_line(self) -> str:
        self._lab.act(read_line(self._lab.playback, self.line.value))
        return ""

    def show(self) -> None:
        self.answer.say("")
        here = self._lab.playback.here
        for id, offer_row in self.brokers.items():
            state = beside(node_name(id), standing(here.cluster, id))
            often = about_broker(here, id, self.disk.value)
            offer_row.show(state, often, partial(more_about_broker, here, id))
        self.controller.show(about.about_controller(here.cluster))
        for name, offer_row in self.partitions.items():
            self._show_partition(name, offer_row)
        self.clients.show()
        self.time.show(about.about_time(here))
        last = here.performed[-1].statement.text if here.performed else ""
        self.written.value = muted(last and f"Last line of the play here: {last}")
        self.reasons.show()

    def _show_partition(self, name: str, offer_row: OfferRow) -> None:
        cluster = self._lab.playback.here.cluster
        state, delete = partition_of(cluster, name), about.delete_records
        offer_row.show(
            beside(name, leader_and_isr(state) if state is not None else ""),
            about.about_partition(cluster, name),
            lambda: (*about.more_about_partition(cluster, name), delete(cluster, name)),
        )

    def _reasons(self) -> list[tuple[str, tuple[Offer, ...]]]:
        brokers = [(node_name(id), offer_row.offers) for id, offer_row in self.brokers.items()]
        partitions = [(name, offer_row.offers) for name, offer_row in self.partitions.items()]
        return [*brokers, *partitions, ("clients", self.clients.offers)]


# --- clients --------------------------------------------------------------------------------------


RECORDS_MAX = 1_000_000
_LEADER = ("the leader", NO_LEADER)
"""Whoever leads. (A dropdown takes None for nothing chosen.)"""
_UNSENT = "It has sent nothing yet: Send uses the records and the acks from above."


class ClientsPanel:
    """What a producer writes and how sure it wants to be; where a consumer reads.

    `watched` is a drawer with what the two hold.
    """

    def __init__(self, lab: LabLike) -> None:
        self._lab = lab
        names = [state.name for state in truth(lab.playback.here.cluster).partitions]
        self.partition = dropdown("partition", [(name, name) for name in names])
        range_ = {"min": 1, "max": RECORDS_MAX, "value": 10}
        lies = Style(width="130px", margin="2px")
        self.count = WholeNumber(description="records", layout=lies, **range_)
        self.acks = dropdown("acks", [("all", "all"), ("1", "1")])
        self.to, self.consumer = dropdown("to", [_LEADER]), dropdown("consumer", [])
        self.producer = dropdown("producer", [])
        self.state, self.written, self.read = words(), words(), words()
        self.actions, self.reads, self.writes = Actions(lab), Actions(lab), Actions(lab)
        self._who = row([self.state])
        self._writer = row([self.writes.box], flex_flow="row wrap")
        tooltip = "What a producer got acknowledged, what a consumer has read"
        held = (self._writer, self.written, self.read)
        self.watched = Drawer("Watch the clients", self._watch, *held, tooltip=tooltip)
        writes = (self.partition, self.count, self.acks, self.to)
        for control in (*writes, self.consumer, self.producer):
            watch(control, "value", lambda _: self._offer())
        self.box = column(self._parts(len(names) > 1))

    def _parts(self, several: bool) -> list[Any]:
        title = [words(heading("Clients")), *([self.partition] if several else [])]
        head = row([*title, self.watched.toggle], justify_content="space-between")
        writes = row([self.count, self.acks, self.to, self.actions.box], flex_flow="row wrap")
        return [head, writes, self._who, self.reads.box, self.watched.box]

    @property
    def offers(self) -> tuple[Offer, ...]:
        return (*self.actions.offers, *self.reads.offers, *self._sending())

    def show(self) -> None:
        cluster, name = self._lab.playback.here.cluster, self.partition.value
        stale = [(node_name(id), id) for id in about.believes_to_lead(cluster, name)]
        self.to.options = (_LEADER, *stale)
        readers, writers = about.consumers(cluster), about.producers(cluster)
        _offer_names(self.consumer, readers, {client.name for client in cluster.consumers})
        _offer_names(self.producer, writers, {client.name for client in cluster.producers})
        self._who.children = (self.consumer, self.state) if len(readers) > 1 else (self.state,)
        who = self.producer if len(writers) > 1 else words(heading(writers[0]))
        self._writer.children = (who, self.writes.box)
        self._offer()

    def _offer(self) -> None:
        cluster, name = self._lab.playback.here.cluster, self.partition.value
        to = None if self.to.value == _LEADER[1] else BrokerId(self.to.value)
        self.actions.show((about.produce(cluster, name, self.count.value, self.acks.value, to),))
        who = self.consumer.value
        self.reads.show(about.about_consumer(cluster, who, name))
        state, alone = about.reading(cluster, who, name), len(self.consumer.options) == 1
        self.state.value = beside(who, state) if alone else muted(state)
        self.watched.show()

    def _sending(self) -> tuple[Offer, ...]:
        cluster, name = self._lab.playback.here.cluster, self.partition.value
        count, acks = self.count.value, self.acks.value
        return about.about_producer(cluster, self.producer.value, name, count, acks)

    def _watch(self) -> None:
        stage, name = self._lab.playback.here, self.partition.value
        self.writes.show(self._sending())
        writer, reader = self.producer.value, self.consumer.value
        written = producer_in_words(stage, writer, name)
        self.written.value = _table(writer, written) or muted(_UNSENT)
        words = _table(reader, reader_in_words(stage, reader, name))
        unread = beside(reader, "has read nothing yet: Poll lets it read")
        self.read.value = f"{heading(reader)}{words}" if words else unread


def _table(who: str, facts: tuple[ClientFact, ...]) -> str:
    """What a client holds as a small table; what is gone stands out. Empty for a new one."""
    rows = ""
    for fact in facts:
        mark, sign = (' class="kiplab-lost"', "▼ ") if fact.lost else ("", "")
        lines = "".join(f"<div>{escape(line)}</div>" for line in fact.lines)
        rows += f"<div{mark}><dt>{sign}{escape(fact.name)}</dt><dd>{lines}</dd></div>"
    return f'<dl class="kiplab-held" aria-label="{escape(who)}">{rows}</dl>' if rows else ""


def _offer_names(dropdown: Dropdown, names: tuple[str, ...], present: set[str]) -> None:
    """Other clients; one that does not exist yet gives way to the first that does."""
    if dropdown.options != (options := tuple((who, who) for who in names)):
        dropdown.options = options
        dropdown.value = dropdown.value if dropdown.value in present else names[0]


class ClientFact(msgspec.Struct, frozen=True):
    """Something that a client knows, line by line; `lost`: of its records, those that are gone."""

    name: str
    lines: tuple[str, ...]
    lost: bool = False


def producer_in_words(stage: Stage, name: str, partition: str) -> tuple[ClientFact, ...]:
    """The producer's leader, acknowledged and waiting records; empty for a new one."""
    producer = producer_of(stage.cluster, name, partition)
    if producer is None:
        return ()
    asks = "; it will ask who leads before it sends" if producer.update_requested else ""
    batches = acknowledged_records(stage)
    own = (b for b in batches if (b.producer, b.partition) == (name, partition))
    pairs = [(records, _acks(batch.acks_all)) for batch in own for records in batch.records]
    acknowledged = tuple(f"{_stretch(records)}, {acks}" for records, acks in pairs)
    return (
        ClientFact("writes to", (_leader(producer.leader, producer.leader_epoch, asks),)),
        ClientFact("acknowledged", acknowledged or ("nothing yet",)),
        ClientFact("waits", tuple(_waits(batch) for batch in producer.batches) or ("nothing",)),
        *_gone(stage.cluster, partition, (records for records, _ in pairs)),
    )


def reader_in_words(stage: Stage, name: str, partition: str) -> tuple[ClientFact, ...]:
    """Where a consumer is, what it has read, and what of that is gone; empty for a new one."""
    consumer = consumer_of(stage.cluster, name, partition)
    if consumer is None:
        return ()
    read, epoch = stretches(consumer.observed), consumer.last_epoch
    last = f", leader epoch {epoch} of the last record" if epoch != NO_LEADER_EPOCH else ""
    doubt = ", in doubt: it will ask where that epoch ends" if consumer.validating else ""
    asks = "; it will ask who leads before it reads on" if consumer.update_requested else ""
    # A follower that is nearer (KIP-392), or the leader.
    if consumer.preferred != NO_LEADER:
        asks = f"; it was sent there by {node_name(consumer.leader)}{asks}"
    source = _leader(consumer.reads_from, consumer.leader_epoch, asks)
    return (
        ClientFact("reads from", (source,)),
        ClientFact("position", (f"offset {consumer.position}{last}{doubt}",)),
        ClientFact("has read", tuple(_stretch(records) for records in read) or ("nothing",)),
        *_gone(stage.cluster, partition, read),
    )


def _leader(leader: BrokerId, epoch: LeaderEpoch, besides: str) -> str:
    if leader == NO_LEADER:
        return f"no broker: it knows no leader{besides}"
    return f"{node_name(leader)}, in leader epoch {epoch}{besides}"


def _stretch(records: EpochRecords) -> str:
    return f"{offsets(records.first, records.last)} in leader epoch {records.epoch}"


def _waits(batch: Batch) -> str:
    where = f"{plural(batch.count, 'record')}, not written anywhere yet"
    if batch.at != NO_LEADER:
        there = f"{offsets(batch.first, batch.end - 1)} in the log of {node_name(batch.at)}"
        where = f"{there}, not acknowledged yet"
    return f"{where}, {_acks(batch.acks_all)}"


def _acks(acks_all: bool) -> str:
    return f"acks={'all' if acks_all else '1'}"


# --- what is gone ---------------------------------------------------------------------------------


def _gone(
    cluster: Cluster, partition: str, recordses: Iterable[EpochRecords]
) -> Iterator[ClientFact]:
    """Records missing in the leader's log, and brokers with them; unknown without a leader."""
    state = partition_of(cluster, partition)
    leader = broker(cluster, state.leader) if state is not None else None
    lost = missing(log_of(leader, partition), recordses) if leader is not None else ()
    if leader is not None and lost:
        sentences = tuple(f"{_stretch(one)}, {_where(cluster, partition, one)}" for one in lost)
        yield ClientFact(f"leader {leader.id} lacks", sentences, lost=True)


def _where(cluster: Cluster, partition: str, records: EpochRecords) -> str:
    nodes = ((id, broker(cluster, id)) for id in holders(cluster, partition, records))
    logs = [f"{node_name(i)}{'' if n and n.process else ', which is down'}" for i, n in nodes]
    return f"still in the log of {' and '.join(logs)}" if logs else "in no log any more"
