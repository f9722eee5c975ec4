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
from ...protocol.ids import CONTROLLER, ZOOKEEPER, BrokerId, controller_on, node_name
from ...rows.columns import plural
from ..elements.labelled import button, column, dropdown, offer, row, watch, words
from ..history_tree.playback import Playback
from ..markup import heading, muted, stacked
from .actions import Act, Actions, OfferRow, Reasons
from .broker_offers import Offer
from .cluster_offers import about_message, hold, holds_in_words, let_flow, route

SHOWN_MAX = 12
"""Messages with buttons; of more than these only the number is told."""
EVERY_KIND, ANYBODY = "every kind", "anybody"
_AT_ONCE = 2
"""Deliver and Drop are at hand; the other offers about a message are in a drawer."""


# --- the order ------------------------------------------------------------------------------------


InboxOrder = tuple[MessageName, ...]
"""In which order somebody wants messages taken; the others stay where they were sent."""


def arranged(cluster: Cluster, order: InboxOrder) -> tuple[Message, ...]:
    """The messages in flight, next one first. Connections stay first in, first out."""
    if not order:
        return cluster.messages
    rank = {name: place for place, name in enumerate(order)}
    ranked = sorted((m for m in cluster.messages if m.name in rank), key=lambda m: rank[m.name])
    wanted = iter(ranked)
    left = [next(wanted) if m.name in rank else m for m in cluster.messages]
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
        self.name: MessageName | None = None
        self.earlier = button("Earlier", lambda: self._move(-1))
        self.later = button("Later", lambda: self._move(1))
        super().__init__(inbox.act, self.earlier, self.later)

    def _move(self, by: int) -> None:
        if self.name is not None:
            self._inbox.move(self.name, by)

    def be(self, cluster: Cluster, inbox: tuple[Message, ...], place: int) -> None:
        """Be the message at `place`, counted from 1."""
        message = inbox[place - 1]
        self.name = message.name
        offers = about_message(cluster, message)
        label = stacked(f"{place}. {route(message)}", message.body.in_words())
        self.show(label, offers[:_AT_ONCE], lambda: offers[_AT_ONCE:])
        for made, by, advice in ((self.earlier, -1, "sooner"), (self.later, 1, "later")):
            reason = why_not_moved(cluster, inbox, message.name, by)
            offer(made, reason, f"“Deliver next” takes it {advice}; nothing is delivered yet")


def _senders(cluster: Cluster) -> tuple[BrokerId, ...]:
    """Who sends something by itself: with ZooKeeper every broker may have the controller on it."""
    brokers = [node.id for node in cluster.brokers]
    if not has_zookeeper(cluster):
        return (CONTROLLER, *brokers)
    return (ZOOKEEPER, *map(controller_on, brokers), *brokers)


class _Holds:
    """What is held back from now on: a kind, a sender, two buttons."""

    def __init__(self, playback: Playback, act: Act) -> None:
        self._playback = playback
        senders = [(node_name(id), id) for id in _senders(playback.here.cluster)]
        self.kind = dropdown("kind", [(k, k) for k in kinds_in(playback.here.cluster)])
        apart = has_zookeeper(playback.here.cluster)
        self.kind.value = "leader-and-isr" if apart else "alter-partition"
        self.sender = dropdown("from", [("anybody", ANYBODY), *senders])
        for chosen in (self.kind, self.sender):
            watch(chosen, "value", lambda _: self.show(self._playback))
        self.actions = Actions(act)
        self.said = words()
        title = words(heading("What is sent from now on"))
        head = row([title, self.actions.box], justify_content="space-between")
        choice = row([self.kind, self.sender], flex_flow="row wrap")
        self.box = column([head, choice, self.said], margin="8px 0 0")

    def show(self, playback: Playback) -> None:
        self._playback = playback
        kind, chosen = self.kind.value, self.sender.value
        sender = None if chosen == ANYBODY else chosen
        self.actions.show(
            (hold(playback.here, kind, sender), let_flow(playback.here, kind, sender))
        )
        sentence = holds_in_words(playback.here)
        self.said.value = muted(sentence or "Nothing is held back: what is sent arrives at once.")
        if playback.here.manual:
            self.said.value = muted("In this play every message waits until you deliver it.")


class InFlight:
    """Calls `act` with the line that delivers, loses, repeats or holds back a message.

    `order` is in which order "Deliver next" takes them. Rows are kept and used again: a browser
    never forgets a widget.
    """

    def __init__(self, playback: Playback, act: Act) -> None:
        self.act: Act = act
        self.order: InboxOrder = ()
        self.inbox: tuple[Message, ...] = ()
        self.rows: list[_MessageRow] = []
        self._playback = playback
        self.title = words()
        self.next = Actions(act)
        self.kind = dropdown("show", [(EVERY_KIND, EVERY_KIND)])
        watch(self.kind, "value", lambda _: self.show(self._playback))
        self._filter = row([self.kind])
        self.holds = _Holds(playback, act)
        self.reasons = Reasons(self._reasons)
        self.list = column([])
        self.more = words()
        head = row([self.title, self.next.box], justify_content="space-between")
        self._head, self._foot = head, (self.holds.box, self.reasons.box)
        self.box = column([head, self.list, *self._foot], padding="4px 0 0")

    def move(self, name: MessageName, by: int) -> None:
        """Change a message about with its neighbour; nothing is delivered by that."""
        self.order = moved(self._playback.here.cluster, self.order, name, by)
        self.show(self._playback)

    def show(self, playback: Playback) -> None:
        """The messages of the step where one stands, the next one first."""
        self._playback = playback
        cluster = playback.here.cluster
        self.inbox = inbox = arranged(cluster, self.order)
        kinds = [message.name.kind for message in inbox]
        offered = (EVERY_KIND, *sorted({*kinds}))
        self.kind.options = tuple((kind, kind) for kind in offered)
        fits = [n for n, kind in enumerate(kinds, 1) if self.kind.value in (EVERY_KIND, kind)]
        shown = fits[:SHOWN_MAX]
        self.rows += [_MessageRow(self) for _ in shown[len(self.rows) :]]
        for made, place in zip(self.rows, shown, strict=False):
            made.be(cluster, inbox, place)
        on_the_way = f"On the way: {plural(len(inbox), 'message')}"
        self.title.value = heading(on_the_way if inbox else "Nothing is on the way")
        self.next.show((next_up(cluster, inbox),))
        self.more.value = muted(f"and {len(fits) - SHOWN_MAX} more")
        self.list.children = tuple(made.box for made in self.rows[: len(shown)])
        self._arrange(len(fits) > SHOWN_MAX)
        self.holds.show(playback)
        self.reasons.show()

    def _arrange(self, too_many: bool) -> None:
        several = len(self.kind.options) > 2
        parts = (self._filter,) if several else ()
        more = (self.more,) if too_many else ()
        self.box.children = (self._head, *parts, self.list, *more, *self._foot)

    def _reasons(self) -> list[tuple[str, tuple[Offer, ...]]]:
        shown = [made for made in self.rows if made.box in self.list.children]
        reasons = [(str(made.name), made.offers + self._moves(made)) for made in shown]
        held = (*self.next.offers, *self.holds.actions.offers)
        return [*reasons, ("what is sent from now on", held)]

    def _moves(self, made: _MessageRow) -> tuple[Offer, ...]:
        if made.name is None:
            return ()
        cluster, name = self._playback.here.cluster, made.name
        nowhere = Statement()
        return tuple(
            Offer(label, nowhere, why_not_moved(cluster, self.inbox, name, by))
            for label, by in (("Earlier", -1), ("Later", 1))
        )
