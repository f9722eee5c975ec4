"""The order in which messages in flight are taken, and what is held back from now on: as values."""

import msgspec
from msgspec.structs import replace

from ...engine.channels import blocker
from ...engine.cluster import Cluster, Message, MessageName
from ...engine.impossible_moves import why_not
from ...engine.moves import Deliver
from ...plays.play import Statement
from ...plays.stage import Pattern, Stage
from ...plays.values import node_word
from ...protocol.ids import BrokerId, node_name
from .broker_offers import Offer
from .cluster_offers import about_message


class InboxOrder(msgspec.Struct, frozen=True):
    """In which order somebody wants messages taken; the others stay where they were sent."""

    names: tuple[MessageName, ...] = ()


def arranged(cluster: Cluster, order: InboxOrder) -> tuple[Message, ...]:
    """The messages in flight, next one first. Connections stay first in, first out."""
    if not order.names:
        return cluster.messages
    rank = {name: place for place, name in enumerate(order.names)}
    asked = iter(
        sorted((m for m in cluster.messages if m.name in rank), key=lambda m: rank[m.name])
    )
    left = [next(asked) if m.name in rank else m for m in cluster.messages]
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
    place = _place(inbox, name)
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
    return InboxOrder(tuple(names))


def next_up(cluster: Cluster, inbox: tuple[Message, ...]) -> Offer:
    """Deliver the first message of `inbox` that can arrive."""
    if not inbox:
        return Offer("Deliver next", Statement("deliver"), "nothing is on its way")
    ready = (m for m in inbox if why_not(cluster, Deliver(m.name)) is None)
    first = about_message(cluster, next(ready, inbox[0]))[0]
    return replace(first, label="Deliver next")


def _place(inbox: tuple[Message, ...], name: MessageName) -> int:
    return next(place for place, message in enumerate(inbox) if message.name == name)


def _follows(cluster: Cluster, later: Message, earlier: Message) -> bool:
    """Whether `later` was sent after `earlier` on the same connection."""
    if later is earlier or later.lane != earlier.lane:
        return False
    sent = tuple(m for m in cluster.messages if m is later or m is earlier)
    return blocker(replace(cluster, messages=sent), later) is earlier


# --- holding back ---------------------------------------------------------------------------------


def hold(stage: Stage, kind: str, sender: BrokerId | None) -> Offer:
    """Keep back what is sent from now on."""
    asked = Pattern(kind, sender)
    said = [kept for pattern, kept in standing_holds(stage) if _overlap(pattern, asked)]
    covered = any(kept and _covers(p, asked) for p, kept in standing_holds(stage))
    reason = None
    if stage.manual:
        reason = "in this play every message waits until it is delivered"
    elif covered and all(said):
        reason = "it is held back already"
    return Offer("Hold back", _line("hold", kind, sender), reason, "What is sent from now on waits")


def let_flow(stage: Stage, kind: str, sender: BrokerId | None) -> Offer:
    """End the holding back: what waits arrives, and what comes is delivered at once."""
    asked = Pattern(kind, sender)
    held = any(kept and _overlap(pattern, asked) for pattern, kept in standing_holds(stage))
    waiting = any(
        asked.fits(m.name, m.receiver) for m in stage.cluster.messages if m.name in stage.held
    )
    reason = None if held or waiting else "nothing of that kind is held back"
    advice = "What waits arrives, and nothing is held back from now on"
    return Offer("Let it flow", _line("release", kind, sender), reason, advice)


def standing_holds(stage: Stage) -> tuple[tuple[Pattern, bool], ...]:
    """What `hold` (True) and `release` (False) said, without what a later line took back."""
    standing: list[tuple[Pattern, bool]] = []
    for pattern, kept in stage.holds:
        standing = [(p, k) for p, k in standing if not _covers(pattern, p)]
        if kept or any(_overlap(pattern, p) for p, _ in standing):
            standing.append((pattern, kept))
    return tuple(standing)


def holds_in_words(stage: Stage) -> str:
    """``"Held back from now on: fetch, but not fetch from broker 2"``; empty for nothing."""
    said = [("" if kept else "but not ") + _words(p) for p, kept in standing_holds(stage)]
    return f"Held back from now on: {', '.join(said)}." if said else ""


def _line(verb: str, kind: str, sender: BrokerId | None) -> Statement:
    return Statement(verb, (kind,), () if sender is None else (("from", node_word(sender)),))


def _words(pattern: Pattern) -> str:
    sender = "" if pattern.sender is None else f" from {node_name(pattern.sender)}"
    receiver = "" if pattern.receiver is None else f" to {node_name(pattern.receiver)}"
    exact = "" if pattern.ordinal is None else f" #{pattern.ordinal}"
    return f"{pattern.kind}{exact}{sender}{receiver}"


def _fields(pattern: Pattern) -> tuple[BrokerId | int | None, ...]:
    return (pattern.sender, pattern.receiver, pattern.ordinal, pattern.life)


def _covers(wide: Pattern, narrow: Pattern) -> bool:
    """Whether everything that `narrow` fits, `wide` fits too."""
    pairs = zip(_fields(wide), _fields(narrow), strict=True)
    return wide.kind == narrow.kind and all(w is None or w == n for w, n in pairs)


def _overlap(one: Pattern, other: Pattern) -> bool:
    pairs = zip(_fields(one), _fields(other), strict=True)
    return one.kind == other.kind and all(None in (a, b) or a == b for a, b in pairs)
