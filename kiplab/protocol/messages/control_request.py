"""What a controller on a broker asks of the brokers begins with the same words in every request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from ..features import Features
from ..ids import NO_BROKER_EPOCH, ApiVersion, BrokerEpoch, BrokerId, ControllerEpoch, Sender
from ..releases import at_least
from .api_message import ApiRequest

Gates = tuple[tuple[str, int], ...]
"""(inter-broker protocol, the version spoken from it on), the newest first."""


def gated_version(features: Features, gates: Gates) -> ApiVersion:
    """ZooKeeper's time negotiates nothing: inter.broker.protocol.version says what is spoken."""
    held = features.metadata_version
    return next(version for since, version in gates if at_least(held, since))


class ControlRequest(ApiRequest, frozen=True, cache_hash=True, kw_only=True):
    """What the three requests of a controller begin with.

    `broker_epoch` is the receiver's, as the controller knew it when it put the request into its
    queue; -1 where the version has none.
    """

    gates: ClassVar[Gates]

    version: ApiVersion
    controller: Sender
    controller_epoch: ControllerEpoch
    broker_epoch: BrokerEpoch = NO_BROKER_EPOCH

    @classmethod
    def version_sent(cls, features: Features, _sender: BrokerId) -> ApiVersion:
        return gated_version(features, cls.gates)

    def details(self) -> Iterator[str]:
        yield f"controller {self.controller} of epoch {self.controller_epoch}"
        if self.broker_epoch != NO_BROKER_EPOCH:
            yield f"for broker epoch {self.broker_epoch}"
