"""The properties of every message; the tables of the other rooms are read from them.

A new message is a struct with these properties, a rule and a route. `send` reads the annotations of
its fields to build a request.

`ControlRequest` is the common part of the three requests of a controller on a broker.
"""

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Any, ClassVar

import msgspec

from .. import ids
from ..features import Features
from ..releases import at_least

LAST_PROMINENCE = 9
IsrOf = Callable[[ids.PartitionName], tuple[ids.BrokerId, ...]]
"""The ISR that the controller knows when a message is sent, by the name of its partition."""


class Against(StrEnum):
    """The receiver's side of a comparison with a request; for explanations of the answer."""

    PARTITION = "partition"
    """The controller's state of each partition, and the registrations of the proposed ISR."""
    REGISTRATION = "registration"
    """The sender's registration."""
    REPLICA = "replica"
    """The receiving broker's replica of the partition."""
    NOTHING = "nothing"


class Api(msgspec.Struct, frozen=True, kw_only=True):
    """The common part of a request and its answer: they share one of these.

    Messages of one `lane` between two processes arrive in the order they were sent. `label` is the
    name that people read, Kafka's where it has one, and `noun` the word for it in the label of a
    step, ``"heartbeat"``. The arrival of `routine` messages is told by what follows from it.
    `log_event` is what a controller's log calls the event that handles the request, None where it
    logs no such event.
    """

    label: str
    noun: str
    lane: str
    routine: bool = False
    log_event: str | None = None


class ApiMessage(msgspec.Struct, frozen=True, cache_hash=True):
    """The body of a message. Its tag is what plays call it; an answer's tag ends in ``-reply``.

    `prominence` orders messages where there is no room for all, the most telling first.
    """

    api: ClassVar[Api]
    prominence: ClassVar[int] = LAST_PROMINENCE

    def in_words(self) -> str:
        """The message in a few words, for a transcript."""
        raise NotImplementedError(f"{type(self).__name__} has no in_words; give it a sentence")

    def on_arrow(self, _isr_of: IsrOf) -> str:
        """The API and what is wanted of it, as far as an arrow has room for it."""
        return self.api.label

    def about(self) -> ids.PartitionName:
        """The one partition that it speaks of; empty where it speaks of none, or of several."""
        items: tuple[Any, ...] = getattr(self, "items", ())
        return items[0].partition if len(items) == 1 else getattr(self, "partition", "")


class ApiRequest(ApiMessage, frozen=True, cache_hash=True):
    """A message whose sender waits for an answer."""

    against: ClassVar[Against] = Against.NOTHING

    @classmethod
    def version_sent(cls, _features: Features, _sender: ids.BrokerId) -> ids.ApiVersion:
        """The version that `sender` speaks where these features hold."""
        raise NotImplementedError(f"{cls.__name__} has no version_sent; say which version is sent")

    def details(self) -> Iterable[str]:
        """Its fields in words, a line each: ``"leader epoch 5, last fetched epoch 4"``."""
        return ()


class ApiResponse(ApiMessage, frozen=True, cache_hash=True):
    """The answer to the request of the same `api`.

    `unlogged` says why the one who asked logs nothing when it comes; empty where something is
    logged.
    """

    unlogged: ClassVar[str] = ""

    def on_arrow(self, _isr_of: IsrOf) -> str:
        return f"{self.api.label} reply"


Gates = tuple[tuple[str, int], ...]
"""(inter-broker protocol, the version spoken from it on), the newest first."""


def gated(table: str) -> Gates:
    """Of ``"2.2-IV0=5 2.1-IV2=4"``, which says what each protocol begins with."""
    pairs = (words.split("=") for words in table.split())
    return tuple((protocol, int(version)) for protocol, version in pairs)


class GatedRequest(ApiRequest, frozen=True, cache_hash=True):
    """ZooKeeper's time negotiates nothing: inter.broker.protocol.version says what is spoken."""

    gates: ClassVar[Gates] = (("2.1-IV2", 0),)

    @classmethod
    def version_sent(cls, features: Features, _sender: ids.BrokerId) -> ids.ApiVersion:
        held = features.metadata_version
        return next(version for since, version in cls.gates if at_least(held, since))


class ControlRequest(GatedRequest, frozen=True, cache_hash=True, kw_only=True):
    """The first fields of the three requests of a controller.

    `broker_epoch` is the receiver's, as the controller knew it when it put the request into its
    queue; -1 where the version has none.
    """

    epoch_since: ClassVar[int]
    """The first version that has a broker epoch (KIP-380)."""

    version: ids.ApiVersion
    controller: ids.Sender
    controller_epoch: ids.ControllerEpoch
    broker_epoch: ids.BrokerEpoch = ids.NO_BROKER_EPOCH

    @property
    def epoch_on_wire(self) -> ids.BrokerEpoch:
        """The broker epoch as the receiver reads it."""
        return self.broker_epoch if self.version >= self.epoch_since else ids.NO_BROKER_EPOCH

    def details(self) -> Iterator[str]:
        yield f"controller {self.controller} of epoch {self.controller_epoch}"
        if self.broker_epoch != ids.NO_BROKER_EPOCH:
            yield f"for broker epoch {self.broker_epoch}"
