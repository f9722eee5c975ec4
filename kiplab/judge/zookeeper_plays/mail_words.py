"""What a controller was heard to send and answer, in words; broker epochs are those of the play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...protocol.errors import KafkaError
from ...protocol.ids import NO_LEADER, broker_list
from ..zookeeper_era.sequences import (
    NO_EPOCH,
    AlterAnswer,
    AlteredPartition,
    Passage,
    SentPartition,
    SentRequest,
    ShutdownAnswer,
    StateZnode,
    StoppedReplica,
)

Epochs = Mapping[str, int]
"""The broker epoch, in the play, of each generation such as ``"b1g2"``."""


def mail_in_words(passage: Passage, epochs: Epochs) -> Iterator[str]:
    """One sentence for each request and each answer."""
    yield from (_request(sent, epochs) for sent in passage.requests)
    yield from (_shutdown(answer, epochs) for answer in passage.answers)
    yield from (_alter(answer, epochs) for answer in passage.altered)


def znode_in_words(znode: StateZnode) -> str:
    """``ZooKeeper: L-0 leader 2 ISR {2} leader epoch 4 version 7``."""
    said = _state(znode.topic, znode.leader, znode.isr, znode.leader_epoch, znode.zk_version)
    return f"ZooKeeper: {said}{_recovering(znode.leader_recovery_state)}"


def _request(sent: SentRequest, epochs: Epochs) -> str:
    what = [*map(_partition, sent.partitions), *map(_stopped, sent.stopped)]
    said = "; ".join(what) or "no partition"
    live = f"; live {broker_list(sent.live)}" if sent.live else ""
    head = f"broker {sent.broker} gets {sent.api} v{sent.version}{_stamped(sent, epochs)}"
    return f"{head}, controller epoch {sent.controller_epoch}: {said}{live}{_error(sent.answer)}"


def _stamped(sent: SentRequest, epochs: Epochs) -> str:
    if sent.stamped == NO_EPOCH:
        return " without a broker epoch"
    now = "" if sent.stamped == sent.generation else f" (it has {epochs[sent.generation]})"
    return f" for broker epoch {epochs.get(sent.stamped, sent.stamped)}{now}"


def _error(code: int) -> str:
    return f"; it answers {_name(code)}" if code else ""


def _shutdown(answer: ShutdownAnswer, epochs: Epochs) -> str:
    left = ", ".join(f"{topic}-0" for topic in answer.remaining)
    still = f", it still leads {left}" if left else ""
    asks = f"broker {answer.broker} asks for its shutdown{_of(answer.stamped, epochs)}"
    return f"{asks}: {_name(answer.error)}{still}"


def _alter(answer: AlterAnswer, epochs: Epochs) -> str:
    results = "; ".join(map(_altered, answer.partitions))
    said = _name(answer.error) if answer.error else results
    asks = f"broker {answer.broker} asks for another ISR{_of(answer.stamped, epochs)}"
    return f"{asks}: {said}"


def _altered(result: AlteredPartition) -> str:
    if result.error:
        return f"{result.topic}-0 {_name(result.error)}"
    state = result.leader, result.isr, result.leader_epoch, result.zk_version
    return f"{_state(result.topic, *state)}{_recovering(result.leader_recovery_state)}"


def _of(stamped: str, epochs: Epochs) -> str:
    if stamped == NO_EPOCH:
        return " without a broker epoch"
    return f" with broker epoch {epochs.get(stamped, stamped)}"


def _partition(told: SentPartition) -> str:
    state = told.leader, told.isr, told.leader_epoch, told.zk_version
    return f"{_state(told.topic, *state)}{_recovering(told.leader_recovery_state)}"


def _stopped(replica: StoppedReplica) -> str:
    epoch = "" if replica.leader_epoch is None else f" of leader epoch {replica.leader_epoch}"
    return f"{replica.topic}-0{epoch}{' and delete it' if replica.delete else ''}"


def _state(topic: str, leader: int, isr: tuple[int, ...], leader_epoch: int, version: int) -> str:
    who = "none" if leader == NO_LEADER else str(leader)
    members = broker_list(isr)
    return f"{topic}-0 leader {who} ISR {members} leader epoch {leader_epoch} version {version}"


def _recovering(state: int) -> str:
    return " RECOVERING" if state else ""


def _name(code: int) -> str:
    named = {error.value: error.name for error in KafkaError}
    return named.get(code, f"error {code}")
