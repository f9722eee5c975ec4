"""What comes of an event that a node handles together with ZooKeeper, in one step.

In comes the event, with the node as it is and ZooKeeper as it is: a watch that arrives, a request
from a queue, a process that starts. While Kafka handles one it reads and writes ZooKeeper and waits
for each answer, so nothing else happens in between, and one step may hold several transactions.

Out come both as they are afterwards, in their order what the node sends and what ZooKeeper sends,
and the facts. Watches that went off are sent, never handled here: when they arrive is a question of
the network. What an event leaves as it was stays the same object.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from ..facts import Fact
from ..ids import controller_on
from ..messages import Send, WatcherEvent
from .ensemble import Ensemble
from .ensemble_writes import Fired

Node = TypeVar("Node")


class Together(NamedTuple, Generic[Node]):
    """The node and ZooKeeper after it, what the node sends, what ZooKeeper sends, the facts.

    `node` is a Broker or a ZooKeeperController; `fired` are the watches that went off, and word of
    a session's end.
    """

    node: Node
    ensemble: Ensemble
    sends: tuple[Send, ...] = ()
    fired: tuple[Send, ...] = ()
    facts: tuple[Fact, ...] = ()


def told(fired: tuple[Fired, ...]) -> tuple[Send, ...]:
    """What ZooKeeper sends when these watches go off: each to the controller of its process.

    Source: WatchManager.triggerWatch (ZooKeeper 3.9.5).
    """
    return tuple(
        Send(
            controller_on(f.owner),
            WatcherEvent(path=f.event.path, change=str(f.event.type), session=f.session),
        )
        for f in fired
    )
