"""What comes of an event that a node handles together with ZooKeeper, in one step."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from ..facts import Fact
from ..messages import Send
from .ensemble import Ensemble

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
