"""What a leader was seen to do, by name, so that it can be said how often each was tried.

All of it is read off what is seen of one side before and after a turn.
"""

from collections.abc import Iterable, Iterator

from kiplab.judge.partition.observed_broker import ObservedBroker, SeenPartition
from kiplab.judge.partition.partition_process import (
    LEADER,
    BrokerTurn,
    LagTurn,
    ProducedTurn,
    index_of,
    partition_name,
)
from kiplab.protocol import errors, messages

from ..skeleton.coverage import Rule

OFTEN_ENOUGH = 20
"""So often each is tried in the runs of a release."""
FETCH_ERRORS = (
    errors.KafkaError.OFFSET_OUT_OF_RANGE,
    errors.KafkaError.NOT_LEADER_OR_FOLLOWER,
    errors.KafkaError.FENCED_LEADER_EPOCH,
    errors.KafkaError.UNKNOWN_LEADER_EPOCH,
)
"""What a follower's fetch may be answered with, by a broker that plays the partition."""
ALL_TRANSITIONS = (
    *(f"fetch: {error.name}" for error in FETCH_ERRORS),
    "fetch: the logs part",
    "fetch: follower noted",
    "produce: NOT_ENOUGH_REPLICAS",
    "high watermark: moved",
    "high watermark: back, with another leader's word",
    "proposal: larger ISR",
    "proposal: smaller ISR",
    "answer: accepted",
    "answer: ignored, the proposal is forgotten already",
    "answer: back to the committed ISR",
    "answer: the proposal stays",
    "answer: asked for again",
    "answer: the whole request failed",
    "metadata: forgets a proposal, the partition epoch is known already",
    "metadata: forgets a proposal, the partition epoch is new",
    "metadata: older than what is known",
    "metadata: leads",
    "metadata: leads on in a new leader epoch",
    "metadata: follows",
)
"""Every one there is."""


_FAMILY = "leader"
RULES = tuple(Rule(_FAMILY, name) for name in ALL_TRANSITIONS)


def transitions(
    before: tuple[SeenPartition, ...], turn: BrokerTurn, after: ObservedBroker
) -> Iterator[str]:
    """Those of one turn."""
    if isinstance(turn, messages.FetchRequest):
        yield from _of_fetch(after)
    if isinstance(turn, ProducedTurn) and after.error == errors.KafkaError.NOT_ENOUGH_REPLICAS:
        yield "produce: NOT_ENOUGH_REPLICAS"
    if isinstance(turn, messages.AlterPartitionResponse) and turn.error:
        yield "answer: the whole request failed"
    told = turn.partitions if isinstance(turn, messages.MetadataUpdate) else ()
    epochs = {index_of(state.name): state.partition_epoch for state in told}
    for index, (was, now) in enumerate(zip(before, after.partitions, strict=False)):
        yield from _of_marks(was, now)
        yield from _of_proposals(turn, was, now)
        if isinstance(turn, messages.AlterPartitionResponse) and not turn.error:
            yield from _of_answer(turn, index, was, now, after)
        if index in epochs:
            yield from _of_metadata(epochs[index], was, now)


def _of_fetch(after: ObservedBroker) -> Iterator[str]:
    if after.error:
        yield f"fetch: {errors.KafkaError(after.error).name}"
    elif after.read is not None:
        yield "fetch: the logs part" if after.read.diverging else "fetch: follower noted"


def _of_marks(was: SeenPartition, now: SeenPartition) -> Iterator[str]:
    if now.high_watermark > was.high_watermark:
        yield "high watermark: moved"
    if now.high_watermark < was.high_watermark:
        yield "high watermark: back, with another leader's word"


def _of_proposals(turn: BrokerTurn, was: SeenPartition, now: SeenPartition) -> Iterator[str]:
    if not isinstance(turn, messages.FetchRequest | LagTurn) or was.proposed == now.proposed:
        return
    if now.proposed is not None:
        larger = len(now.proposed.isr) > len(now.isr)
        yield f"proposal: {'larger' if larger else 'smaller'} ISR"


def _of_answer(
    turn: messages.AlterPartitionResponse,
    index: int,
    was: SeenPartition,
    now: SeenPartition,
    after: ObservedBroker,
) -> Iterator[str]:
    result = next((r for r in turn.results if r.partition == partition_name(index)), None)
    if result is None or result.error is errors.KafkaError.NOT_CONTROLLER:
        return
    if was.proposed is None:
        yield "answer: ignored, the proposal is forgotten already"
    elif now.proposed is None:
        accepted = result.error is errors.KafkaError.NONE
        yield "answer: accepted" if accepted else "answer: back to the committed ISR"
    elif any(item.partition == index for request in after.sent for item in request.items):
        yield "answer: asked for again"
    else:
        yield "answer: the proposal stays"


def _of_metadata(partition_epoch: int, was: SeenPartition, now: SeenPartition) -> Iterator[str]:
    if partition_epoch < was.partition_epoch:
        yield "metadata: older than what is known"
        return
    if was.proposed is not None and now.proposed is None and now.leader == LEADER:
        same = partition_epoch == was.partition_epoch
        known = "is known already" if same else "is new"
        yield f"metadata: forgets a proposal, the partition epoch {known}"
    if was.leader != LEADER and now.leader == LEADER:
        yield "metadata: leads"
    if was.leader == LEADER and now.leader == LEADER and now.leader_epoch > was.leader_epoch:
        yield "metadata: leads on in a new leader epoch"
    if was.leader == LEADER and now.leader != LEADER:
        yield "metadata: follows"


def rules_of(run: Iterable[tuple[BrokerTurn, ObservedBroker]]) -> Iterator[Rule]:
    """What the turns of a run try, in order."""
    before: tuple[SeenPartition, ...] = ()
    for turn, after in run:
        yield from (Rule(_FAMILY, name) for name in transitions(before, turn, after))
        before = after.partitions
