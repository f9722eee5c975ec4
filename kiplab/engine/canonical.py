"""`canonical`: epochs and offsets renumbered in order, so that equal situations are equal states.

Rules only ever compare these numbers, add to the largest, or test for "none": their order is all
that matters. Broker epochs are metadata offsets, so both share one numbering.

Offsets are the exception: a leader that has lost its log appends towards numbers that are known
already. Their distances stay, up to GAP_MAX records.
"""

import msgspec

from ..protocol.ids import NO_SESSION, SESSIONS_OF_A_SERVER, BrokerId
from ..protocol.messages import asked_by
from .cluster import Cluster, Message, MessageName
from .renumbering import Numbering, plan_of, renumbered
from .routes import node_kinds
from .truth import truth

GAP_MAX = 8
"""Distances of this many records and more count as equal."""
for _kind in (Cluster, *node_kinds()):
    # Here rather than at the first use: a field that doesn't say what it counts is found at import.
    plan_of(_kind)


def canonical(cluster: Cluster) -> Cluster:
    """The representative of all clusters that differ only in how things are numbered.

    A message keeps its ordinal among those still in flight, and counters go on from there.
    """
    cluster = msgspec.structs.replace(cluster, sent=(), messages=_renamed(cluster))
    # The log's last offset is a number that rules use, whether or not somebody has noted it.
    seen = {(Numbering.METADATA, ""): {truth(cluster).next_offset - 1}}

    def note(numbering: Numbering, whose: str, number: int) -> int:
        key = (numbering, whose)
        if key not in seen:
            seen[key] = {0} if numbering is Numbering.OFFSET else set()
        seen[key].add(number)
        return number

    renumbered(cluster, note)
    ranks = {key: _ranks(key[0], numbers) for key, numbers in seen.items()}
    ranked = renumbered(cluster, lambda numbering, whose, number: ranks[numbering, whose][number])
    assert isinstance(ranked, Cluster)
    return msgspec.structs.replace(ranked, sent=_counters(ranked.messages))


def _ranks(numbering: Numbering, numbers: set[int]) -> dict[int, int]:
    if numbering is Numbering.SESSION:
        return _ranked_by_server(numbers)
    return _ranked(numbers, GAP_MAX if numbering is Numbering.OFFSET else 1)


def _ranked_by_server(sessions: set[int]) -> dict[int, int]:
    """Session ids in order, each still that of its server: the next one depends on both."""
    ranks = {int(NO_SESSION): int(NO_SESSION)}
    for first in {s - s % SESSIONS_OF_A_SERVER for s in sessions}:
        own = {s for s in sessions if 0 <= s - first < SESSIONS_OF_A_SERVER}
        ranks |= {s: first + rank for s, rank in _ranked(own | {first}, 1).items()}
    return ranks


def _ranked(numbers: set[int], gap: int) -> dict[int, int]:
    """Negative numbers mean "none" or "unknown" and stay; distances stay up to `gap`."""
    ranks = {n: n for n in numbers if n < 0}
    positive = sorted(n for n in numbers if n >= 0)
    rank = 0
    for last, number in zip(positive[:1] + positive, positive, strict=False):
        rank += min(number - last, gap)
        ranks[number] = rank
    return ranks


def _renamed(cluster: Cluster) -> tuple[Message, ...]:
    counts: dict[tuple[int, int, str], int] = {}
    connections: dict[tuple[object, ...], int] = {}
    messages = []
    for message in cluster.messages:
        key = message.name[:3]
        counts[key] = counts.get(key, 0) + 1
        name = MessageName(*key, counts[key])
        mine = (*_client(message), message.connection)
        same = sum(1 for connection in connections if connection[:-1] == mine[:-1])
        number = connections.setdefault(mine, same + 1) if message.connection else 0
        messages.append(msgspec.structs.replace(message, name=name, connection=number))
    return tuple(messages)


def _client(message: Message) -> tuple[int, int, str]:
    """Who opened the connection of a message, in which incarnation, for what kind of request."""
    kind = message.name.kind
    if message.request is None:
        return message.name.sender, message.name.incarnation, kind
    return message.receiver, message.receiver_incarnation, asked_by(kind)


def _counters(messages: tuple[Message, ...]) -> tuple[tuple[BrokerId, int, str, int], ...]:
    """How far each sender's names and connections are taken."""
    taken: dict[tuple[int, int, str], int] = {}
    for message in messages:
        connection = _client(message), message.connection
        for key, number in ((message.name[:3], message.name.ordinal), connection):
            taken[key] = max(number, taken.get(key, 0))
    return tuple(
        (BrokerId(who), incarnation, kind, n)
        for (who, incarnation, kind), n in sorted(taken.items())
    )
