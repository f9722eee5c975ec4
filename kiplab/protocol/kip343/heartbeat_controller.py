"""The controller of KIP-343: one of ZooKeeper's time that keeps a state for each broker.

KIP-343 changes what makes a broker count. In a release whoever is registered in ZooKeeper is there;
here whoever is registered is known, and only who is ACTIVE or STOPPING is there. So an inactive
broker is in `known` and not in `live`, and everything that the controller of a release does about
live brokers (elections, metadata, queues) treats it as absent. Nothing here changes anything.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ..ids import BrokerEpoch, BrokerId
from ..messages import MembershipState
from ..zookeeper.zookeeper_controller import ZooKeeperController


class KnownBroker(msgspec.Struct, frozen=True, cache_hash=True):
    """A registered broker: its incarnation id, which is the czxid of its znode, and its state.

    `legacy` is who registered with a BrokerInfo below version 5, and sends no heartbeats.
    """

    broker: BrokerId
    incarnation_id: BrokerEpoch
    state: MembershipState = MembershipState.INACTIVE
    legacy: bool = False


class HeartbeatController(ZooKeeperController, frozen=True, cache_hash=True):
    """`known` is sorted by broker, and empty while the controller is not active."""

    known: tuple[KnownBroker, ...] = ()


def known_broker(controller: HeartbeatController, broker: BrokerId) -> KnownBroker | None:
    """What the controller knows of a registered broker; None of any other.

    Source: none; KIP-343 as it is written.
    """
    return next((found for found in controller.known if found.broker == broker), None)


def with_known(controller: HeartbeatController, found: KnownBroker) -> HeartbeatController:
    """`controller` that knows this of a broker.

    Source: none; KIP-343 as it is written.
    """
    others = [k for k in controller.known if k.broker != found.broker]
    return replace(controller, known=tuple(sorted([*others, found], key=lambda k: k.broker)))


def without_known(controller: HeartbeatController, broker: BrokerId) -> HeartbeatController:
    """`controller` that knows no such broker any more.

    Source: none; KIP-343 as it is written.
    """
    return replace(controller, known=tuple(k for k in controller.known if k.broker != broker))
