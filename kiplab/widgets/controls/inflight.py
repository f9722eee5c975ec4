"""Messages on their way: deliver them, in which order; lose them, send them again, hold them."""

from __future__ import annotations

from msgspec.structs import replace

from ...engine.channels import blocker
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.impossible_moves import why_not
from ...engine.moves import Deliver
from ...engine.nodes import has_zookeeper
from ...engine.zookeeper_routes import kinds_in
from ...plays.play import Statement
from ...protocol.ids import CONTROLLER, ZOOKEEPER, controller_on, node_name
from ...rows.columns import plural
from ..elements.labelled import button, column, dropdown, offer, row, watch, words
from ..markup import heading, muted
from .actions import Actions, LabLike, OfferRow, Reasons
from .broker_offers import Offer
from .cluster_offers import about_message, hold, holds_in_words, let_flow, route

SHOWN_MAX = 12
"""How many messages have buttons; of the others only the number is shown."""
EVERY_KIND, ANYBODY = "every kind", "anybody"
_AT_ONCE = 2
"""Deliver and Drop are at hand; the other offers about a message are in a drawer."""


# --- the order ------------------------------------------------------------------------------------


InboxOrder = tuple[MessageName, ...]
"""The order in which messages are to be taken; the others stay in the order of sending."""


def arranged(cluster: Cluster, order: InboxOrder) -> tuple[Message, ...]:
    """The messages in flight, next one first. Connections stay first in, first out."""
    if not order:
        return cluster.messages
    rank = {name: place for place, name in enumerate(order)}
    ranked = sorted((m for m in cluster.messages if m.name in rank), key=lambda m: rank[m.name])
    ordered = iter(ranked)
    left = [next(ordered) if m.name in rank else m for m in cluster.messages]
    taken: list[Message] = []
    while left:
        first = next(m for m in left if not any(_follows(cluster, m, o) for o in left))
        left.remove(first)
        taken.append(first)
    return tuple(taken)


def why_not_moved(
    cluster: Cluster, inbox: tuple[Message, ...], name: MessageName, by: int
) -> str | None:
    """What keeps a message of `inbox` from its neighbour's place; `by` is -1 for earlier, or 1."""
    place = next(place for place, message in enumerate(inbox) if message.name == name)
    if not 0 <= place + by < len(inbox):
        return "it is the next one already" if by < 0 else "it is the last one already"
    message, other = inbox[place], inbox[place + by]
    if by < 0 and _follows(cluster, message, other):
        return f"an earlier message on the same connection must arrive first: {other.name}"
    if by > 0 and _follows(cluster, other, message):
        return f"{other.name} follows it on the same connection, and cannot overtake it"
    return None


def moved(cluster: Cluster, order: InboxOrder, name: MessageName, by: int) -> InboxOrder:
    """The order with a message and its neighbour changed about; as it was where that can't be."""
    inbox = arranged(cluster, order)
    if why_not_moved(cluster, inbox, name, by) is not None:
        return order
    names = [message.name for message in inbox]
    place = names.index(name)
    names[place], names[place + by] = names[place + by], names[place]
    return tuple(names)


def next_up(cluster: Cluster, inbox: tuple[Message, ...]) -> Offer:
    if not inbox:
        return Offer("Deliver next", Statement("deliver"), "nothing is on its way")
    ready = (m for m in inbox if why_not(cluster, Deliver(m.name)) is None)
    first = about_message(cluster, next(ready, inbox[0]))[0]
    return replace(first, label="Deliver next")


def _follows(cluster: Cluster, later: Message, earlier: Message) -> bool:
    """Whether `later` was sent after `earlier` on the same connection."""
    if later is earlier or later.lane != earlier.lane:
        return False
    sent = tuple(m for m in cluster.messages if m is later or m is earlier)
    return blocker(replace(cluster, messages=sent), later) is earlier


# --- the panel ------------------------------------------------------------------------------------


class _MessageRow(OfferRow):
    """One message: what it says, its buttons, and its place in the order."""

    def __init__(self, inbox: InFlight) -> None:
        self._inbox = inbox
        self.earlier = button("Earlier", lambda: inbox.move(self.name, -1))
        self.later = button("Later", lambda: inbox.move(self.name, 1))
        super().__init__(inbox.lab, self.earlier, self.later)

    def be(self, place: int) -> None:
        """Be the message at `place`, counted from 1."""
        message = self._inbox.inbox[place - 1]
        self.name = message.name
        offers = about_message(self._inbox.cluster, message)
        title, text = heading(f"{place}. {route(message)}"), muted(message.body.in_words())
        label = f'<div style="line-height:1.4;padding:3px 0">{title}<br>{text}</div>'
        self.show(label, offers[:_AT_ONCE], lambda: offers[_AT_ONCE:])
        buttons = (self.earlier, self.later)
        for entry, when, moving in zip(buttons, ("sooner", "later"), self.moves, strict=True):
            offer(entry, moving.reason, f"“Deliver next” takes it {when}; nothing is delivered yet")

    @property
    def moves(self) -> tuple[Offer, ...]:
        """The places to which it can be moved, which no line of a play does."""
        messages = self._inbox.cluster, self._inbox.inbox, self.name
        sooner, later = why_not_moved(*messages, -1), why_not_moved(*messages, 1)
        return Offer("Earlier", Statement(), sooner), Offer("Later", Statement(), later)


class _Holds:
    """What is held back from now on: a kind, a sender, two buttons."""

    def __init__(self, lab: LabLike) -> None:
        self._lab = lab
        cluster = lab.playback.here.cluster
        # With ZooKeeper the controller may be on any broker.
        nodes = [node.id for node in cluster.brokers]
        apart = [ZOOKEEPER, *map(controller_on, nodes)] if has_zookeeper(cluster) else [CONTROLLER]
        senders = [(node_name(id), id) for id in (*apart, *nodes)]
        self.kind = dropdown("kind", [(k, k) for k in kinds_in(cluster)])
        self.kind.value = "leader-and-isr" if has_zookeeper(cluster) else "alter-partition"
        self.sender = dropdown("from", [("anybody", ANYBODY), *senders])
        for chosen in (self.kind, self.sender):
            watch(chosen, "value", lambda _: self.show())
        self.actions = Actions(lab)
        self.standing = words()
        title = words(heading("What is sent from now on"))
        head = row([title, self.actions.box], justify_content="space-between")
        choice = row([self.kind, self.sender], flex_flow="row wrap")
        self.box = column([head, choice, self.standing], margin="8px 0 0")

    def show(self) -> None:
        here, kind, chosen = self._lab.playback.here, self.kind.value, self.sender.value
        sender = None if chosen == ANYBODY else chosen
        self.actions.show((hold(here, kind, sender), let_flow(here, kind, sender)))
        sentence = holds_in_words(here) or "Nothing is held back: what is sent arrives at once."
        if here.manual:
            sentence = "In this play every message waits until you deliver it."
        self.standing.value = muted(sentence)


class InFlight:
    """Delivers, loses, repeats and holds back messages.

    `order` is in which order "Deliver next" takes them. A row is used again for the message that
    comes in its place, and so keeps the focus.
    """

    def __init__(self, lab: LabLike) -> None:
        self.lab = lab
        self.order: InboxOrder = ()
        self.inbox: tuple[Message, ...] = ()
        self.rows: list[_MessageRow] = []
        self.title = words()
        self.next = Actions(lab)
        self.kind = dropdown("show", [(EVERY_KIND, EVERY_KIND)])
        watch(self.kind, "value", lambda _: self.show())
        self._filter = row([self.kind])
        self.holds = _Holds(lab)
        self.reasons = Reasons(self._reasons)
        self.list = column([])
        self.more = words()
        head = row([self.title, self.next.box], justify_content="space-between")
        self._head, self._foot = head, (self.holds.box, self.reasons.whole)
        self.box = column([head, self.list, *self._foot], padding="4px 0 0")

    def move(self, name: MessageName, by: int) -> None:
        """Change a message about with its neighbour; nothing is delivered by that."""
        self.order = moved(self.cluster, self.order, name, by)
        self.show()

    @property
    def cluster(self) -> Cluster:
        return self.lab.playback.here.cluster

    def show(self) -> None:
        """The messages of the step where one stands, the next one first."""
        self.inbox = inbox = arranged(self.cluster, self.order)
        kinds = [message.name.kind for message in inbox]
        offered = (EVERY_KIND, *sorted({*kinds}))
        self.kind.options = tuple((kind, kind) for kind in offered)
        fits = [n for n, kind in enumerate(kinds, 1) if self.kind.value in (EVERY_KIND, kind)]
        shown = fits[:SHOWN_MAX]
        self.rows += [_MessageRow(self) for _ in shown[len(self.rows) :]]
        for entry, place in zip(self.rows, shown, strict=False):
            entry.be(place)
        on_the_way = f"On the way: {plural(len(inbox), 'message')}"
        self.title.value = heading(on_the_way if inbox else "Nothing is on the way")
        self.next.show((next_up(self.cluster, inbox),))
        self.more.value = muted(f"and {len(fits) - SHOWN_MAX} more")
        self.list.children = tuple(entry.box for entry in self.rows[: len(shown)])
        parts = (self._filter,) * (len(self.kind.options) > 2)
        more = (self.more,) * (len(fits) > SHOWN_MAX)
        self.box.children = (self._head, *parts, self.list, *more, *self._foot)
        self.holds.show()
        self.reasons.show()

    def _reasons(self) -> list[tuple[str, tuple[Offer, ...]]]:
        shown = [entry for entry in self.rows if entry.box in self.list.children]
        reasons = [(str(entry.name), entry.offers + entry.moves) for entry in shown]
        to_come = (*self.next.offers, *self.holds.actions.offers)
        return [*reasons, ("what is sent from now on", to_come)]
