"""The actions of a controller in ZooKeeper mode, in a form in which two can be compared.

Differences between runs are left out: czxids (generations have names instead), correlation ids, the
order inside a request, and how the requests to several brokers interleave.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

LEADER_AND_ISR, STOP_REPLICA, UPDATE_METADATA = "LeaderAndIsr", "StopReplica", "UpdateMetadata"
NO_EPOCH = "-1"
"""The broker epoch of a request before KIP-380, which has no such field, and of one with -1."""


class SentPartition(msgspec.Struct, frozen=True, omit_defaults=True):
    """A partition as LeaderAndIsr and UpdateMetadata tell it."""

    topic: str
    leader: int
    isr: tuple[int, ...]
    leader_epoch: int
    zk_version: int
    controller_epoch: int
    replicas: tuple[int, ...]
    is_new: bool = False
    offline: tuple[int, ...] = ()
    leader_recovery_state: int = 0


class StoppedReplica(msgspec.Struct, frozen=True, omit_defaults=True):
    """A partition of a StopReplica; `leader_epoch` is None before version 3 (KIP-570)."""

    topic: str
    delete: bool
    leader_epoch: int | None = None


class SentRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request that reached a broker.

    `generation` is whom it reached, as in ``"b1g2"``: the second registration of broker 1;
    `stamped` is the generation whose epoch it carries. `full`: it has every partition there is.
    `live` are the brokers of an UpdateMetadata, the leaders of a LeaderAndIsr.
    """

    broker: int
    generation: str
    api: str
    version: int
    sender: int
    controller_epoch: int
    stamped: str
    answer: int
    full: bool = False
    partitions: tuple[SentPartition, ...] = ()
    stopped: tuple[StoppedReplica, ...] = ()
    live: tuple[int, ...] = ()


class ShutdownAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a ControlledShutdown: `stamped` as it was asked for, and the answer."""

    broker: int
    stamped: str
    error: int
    remaining: tuple[str, ...] = ()


class AlteredPartition(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result for one partition of an AlterPartition; its state where there was no error."""

    topic: str
    error: int
    leader: int = -1
    isr: tuple[int, ...] = ()
    leader_epoch: int = -1
    zk_version: int = -1
    leader_recovery_state: int = 0


class AlterAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a leader was answered to its AlterPartition, once called AlterIsr."""

    broker: int
    stamped: str
    version: int
    error: int
    partitions: tuple[AlteredPartition, ...] = ()


class StateZnode(msgspec.Struct, frozen=True, omit_defaults=True):
    """The state of a partition in ZooKeeper. `zk_version` is that of the znode."""

    topic: str
    leader: int
    isr: tuple[int, ...]
    leader_epoch: int
    controller_epoch: int
    zk_version: int
    leader_recovery_state: int = 0


class Passage(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was heard up to one moment of a situation.

    `requests` are in the order in which each broker got them, broker after broker; `answers`
    and `altered` in the order in which they were asked for; `znodes` by topic.
    """

    title: str
    controller_epoch: int
    requests: tuple[SentRequest, ...] = ()
    answers: tuple[ShutdownAnswer, ...] = ()
    znodes: tuple[StateZnode, ...] = ()
    altered: tuple[AlterAnswer, ...] = ()

    def to(self, broker: int) -> tuple[SentRequest, ...]:
        """What this broker got."""
        return tuple(sent for sent in self.requests if sent.broker == broker)


IDLE = "zz-idle"
"""A topic that nothing ever happens to: who is told of it is told of every partition."""
MARKER = "zz-marker"
"""The topic by which a barrier is told from all other control requests."""
_OURS = (IDLE, MARKER)
NONE, STALE_BROKER_EPOCH = 0, 77


class Received(NamedTuple):
    """A request, whom it reached, and what it was or will be answered."""

    broker: int
    generation: str
    api: str
    version: int
    body: dict[str, Any]
    answer: int


def sent_requests(
    received: Iterable[Received], generations: Mapping[tuple[int, int], str]
) -> tuple[SentRequest, ...]:
    """Requests as compared, broker by broker; `generations` are named by broker and czxid."""
    by_broker = sorted(received, key=lambda one: one.broker)
    return tuple(_sent(one, generations) for one in by_broker if not is_bare_marker(one))


def _sent(received: Received, generations: Mapping[tuple[int, int], str]) -> SentRequest:
    body = received.body
    epoch = body.get("BrokerEpoch", -1)
    stamped = generations.get((received.broker, epoch), f"unknown epoch {epoch}")
    states = sorted(partitions_in(received.body), key=lambda one: one[0])
    stops, of_all = received.api == STOP_REPLICA, body.get("DeletePartitions", False)
    stopped = [
        StoppedReplica(topic, state.get("DeletePartition", of_all), state.get("LeaderEpoch"))
        for topic, state in states
        if stops
    ]
    partitions = [_sent_partition(*s) for s in states if not stops and s[0] not in _OURS]
    live = [broker["Id"] for broker in body.get("LiveBrokers", ())]
    live += [leader["BrokerId"] for leader in body.get("LiveLeaders", ())]
    return SentRequest(
        broker=received.broker,
        generation=received.generation,
        api=received.api,
        version=received.version,
        sender=body["ControllerId"],
        controller_epoch=body["ControllerEpoch"],
        stamped=NO_EPOCH if epoch == -1 else stamped,
        answer=received.answer,
        full=any(topic == IDLE for topic, _ in states),
        partitions=tuple(partitions),
        stopped=tuple(stopped),
        live=tuple(sorted(live)),
    )


def answer_to(api: str, version: int, body: Mapping[str, Any], error: int) -> dict[str, Any]:
    """An answer without any error of a partition's own."""
    if error or api == UPDATE_METADATA:
        return {"ErrorCode": error}
    if api == LEADER_AND_ISR and version >= 5:
        topics = []
        for topic in body["TopicStates"]:
            states = [{"PartitionIndex": p["PartitionIndex"]} for p in topic["PartitionStates"]]
            topics.append({"TopicId": topic["TopicId"], "PartitionErrors": states})
        return {"ErrorCode": NONE, "Topics": topics}
    errors = [{"TopicName": topic, "PartitionIndex": 0} for topic, _ in partitions_in(body)]
    return {"ErrorCode": NONE, "PartitionErrors": errors}


def marker_version(received: Received) -> int | None:
    """The zkVersion of the marker in a barrier's UpdateMetadata; None for any other request."""
    if received.api != UPDATE_METADATA:
        return None
    states = dict(partitions_in(received.body))
    if MARKER not in states or IDLE in states:
        return None
    return int(states[MARKER]["ZkVersion"])


def is_bare_marker(received: Received) -> bool:
    """Whether it has nothing but a barrier's marker in it."""
    return marker_version(received) is not None and len(list(partitions_in(received.body))) == 1


def partitions_in(body: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(topic, partition) as the version has them: each with its topic, or topic by topic."""
    for state in body.get("UngroupedPartitionStates", body.get("UngroupedPartitions", ())):
        yield state["TopicName"], state
    for topic in body.get("TopicStates", body.get("Topics", ())):
        name = topic["TopicName"] if "TopicName" in topic else topic["Name"]
        for state in topic.get("PartitionStates", topic.get("PartitionIndexes", ())):
            yield name, state if isinstance(state, dict) else {"PartitionIndex": state}


def _sent_partition(topic: str, state: Mapping[str, Any]) -> SentPartition:
    return SentPartition(
        topic=topic,
        leader=state["Leader"],
        isr=state["Isr"],
        leader_epoch=state["LeaderEpoch"],
        zk_version=state["PartitionEpoch" if "PartitionEpoch" in state else "ZkVersion"],
        controller_epoch=state["ControllerEpoch"],
        replicas=state["Replicas"],
        is_new=state.get("IsNew", False),
        offline=state.get("OfflineReplicas", ()),
        leader_recovery_state=state.get("LeaderRecoveryState", 0),
    )


PATIENCE_S = 120
"""Longer than a machine with much else to do takes for anything."""
_LOOK_AGAIN_S = 0.005


class TooQuietError(Exception):
    """An expected message did not come in time; the text says which."""


def wait_until(come: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> None:
    """Look again and again until it has `come`. Raises TooQuietError after `patience_s`."""
    end = time.monotonic() + patience_s
    while not come():
        if time.monotonic() > end:
            raise TooQuietError(f"{what} did not come within {patience_s} s")
        time.sleep(_LOOK_AGAIN_S)


class Journal:
    """Every request that reached a fake, in order; fakes add to it from their own thread."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._taken = 0

    def take(self) -> tuple[Received, ...]:
        """What came since the last time."""
        new = tuple(self.received[self._taken :])
        self._taken += len(new)
        return new

    def wait_for(
        self,
        come: Callable[[Received], bool],
        what: str,
        since: int = 0,
        patience_s: float = PATIENCE_S,
    ) -> None:
        """Until there is one that is `come`, from place `since` on. Raises TooQuietError."""
        wait_until(lambda: any(map(come, self.received[since:])), what, patience_s)
