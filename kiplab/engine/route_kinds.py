"""What kinds of rules the routing tables hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..protocol.facts import Fact
from ..protocol.ids import BrokerId
from ..protocol.messages import Send
from ..protocol.zookeeper.ensemble_writes import Together
from .cluster import Cluster

NodeKind = type
"""What lives at an address: the type of its state."""
NodeEffect = tuple[Any, tuple[Send, ...], tuple[Fact, ...]]
Rule = Callable[[Any, Any, Cluster], NodeEffect]
JointRule = Callable[[Any, Any, Cluster], Together[Any]]
"""(node, message, cluster) to what becomes of the node and of ZooKeeper."""
JointTimerRule = Callable[[Any, Cluster], Together[Any]]
TimerRule = Callable[[Any, Cluster], NodeEffect]
IdleCheck = Callable[[Any, Cluster], str | None]
"""(node, cluster) to why nothing would come of a timer; None when something may."""
Plan = Callable[[Any, Cluster], Any]
"""(node, cluster with a clock) to the node with its timers set; the same node if they are."""
NodeEffects = tuple[tuple[BrokerId, NodeEffect], ...]
"""What becomes of which nodes, in order."""
ModeRule = Callable[[Cluster, Any], NodeEffects]
"""(cluster, move) to what becomes of which nodes."""
