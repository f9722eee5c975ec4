"""From a conversation that parted to a short one that parts in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from msgspec.structs import replace

from kiplab.engine.truth import Truth
from kiplab.judge.conversation.real_controller import RefusedByKafkaError
from kiplab.protocol import ids, messages, registrations
from kiplab.protocol.features import Features

from ..skeleton.shrinking import TRIES, shortest
from . import questions, real_side
from .conversation import Conversation, ConversationTurn, topics_of
from .turns import Asked, Created, Raised, Reassigned, Turn

LARGE = 10**12 - 1


class TurnInContext(NamedTuple):
    """A turn with both answers, and what the engine held for true before it and after it."""

    done: ConversationTurn
    before: Truth
    after: Truth

    @property
    def turn(self) -> Turn:
        """What was done."""
        return self.done.turn


class PartedConversation(NamedTuple):
    """A conversation that parted, in its last turn. `features` are those of its beginning."""

    seed: int
    features: Features
    turns: tuple[TurnInContext, ...]

    @classmethod
    def of(cls, seed: int, conversation: Conversation) -> PartedConversation:
        """The conversation as it was held."""
        turns = map(TurnInContext, conversation.done, conversation.held, conversation.held[1:])
        return cls(seed, conversation.features, tuple(turns))

    @property
    def last(self) -> ConversationTurn:
        """The turn in which it parted."""
        return self.turns[-1].done


def shortest_difference(
    kafka: real_side.Controller, parted: PartedConversation, tries: int = TRIES
) -> PartedConversation:
    """The shortest that was found; every attempt leaves `kafka` as it found it.

    The same conversation where the metadata version was raised before: Kafka does not go back.
    """
    version = parted.features.metadata_version
    raised = any(isinstance(turn.turn, Raised) for turn in parted.turns)
    if raised or kafka.begin().metadata_version != version:
        return parted
    attempts = _Attempts(kafka, parted)
    shortest(parted.turns, attempts.holds, _plainer, tries)
    return attempts.parted


class _Attempts:
    """Attempts with `kafka`; `parted` is the last that held."""

    def __init__(self, kafka: real_side.Controller, parted: PartedConversation) -> None:
        self._kafka, self.parted, self._seed = kafka, parted, parted.seed

    def holds(self, turns: Sequence[TurnInContext]) -> Sequence[TurnInContext] | None:
        """The turns that were done, if these part in the same way."""
        self._seed += 1
        again = self._attempt(turns)
        if again is None or _way(again.last) != _way(self.parted.last):
            return None
        self.parted = again
        return again.turns

    def _attempt(self, turns: Sequence[TurnInContext]) -> PartedConversation | None:
        """The turns done again; None if the two agree, or if Kafka refuses a topic."""
        conversation = Conversation(self._kafka, self._kafka.begin(), self.parted.features)
        topics = (topics_of(self.parted.seed), topics_of(self._seed))
        try:
            for turn in turns:
                again = Retelling(turn.before, conversation.engine.held, topics).turn(turn.turn)
                conversation.do(again)
        except RefusedByKafkaError:
            return None
        finally:
            self._kafka.clear((*questions.KNOWN, questions.STRANGER))
        return PartedConversation.of(self._seed, conversation) if conversation.parted else None


def _way(done: ConversationTurn) -> object:
    """In which way two part: what was asked, and which parts of the answers differ."""
    turn = done.turn
    kind = type(turn.request) if isinstance(turn, Asked) else type(turn)
    return kind, [parting.what for parting in done.partings]


def _plainer(context: TurnInContext) -> Iterator[TurnInContext]:
    """With fewer partitions in a request, or with numbers that a play can say."""
    turn = context.turn
    if isinstance(turn, Asked):
        for request in (*_with_fewer_items(turn.request), *_with_plain_numbers(turn.request)):
            done = context.done._replace(turn=replace(turn, request=request))
            yield context._replace(done=done)


def _with_fewer_items(request: messages.Request) -> Iterator[messages.Request]:
    """The same with one partition less."""
    if isinstance(request, messages.AlterPartitionRequest) and len(request.items) > 1:
        for items in combinations(request.items, len(request.items) - 1):
            yield replace(request, items=items)
    if isinstance(request, messages.ElectLeadersRequest) and request.partitions:
        for names in combinations(request.partitions, len(request.partitions) - 1):
            if names:
                yield replace(request, partitions=names)


def _with_plain_numbers(request: messages.Request) -> Iterator[messages.Request]:
    """The same with numbers of twelve digits at most: none in a play has more."""
    if isinstance(request, messages.BrokerHeartbeatRequest):
        epoch, offset = _plain(request.broker_epoch), _plain(request.metadata_offset)
        plain: messages.Request = replace(request, broker_epoch=epoch, metadata_offset=offset)
    elif isinstance(request, messages.AlterPartitionRequest):
        items = tuple(
            replace(item, isr=tuple(replace(m, epoch=_plain(m.epoch)) for m in item.isr))
            for item in request.items
        )
        plain = replace(request, broker_epoch=_plain(request.broker_epoch), items=items)
    else:
        return
    if plain != request:
        yield plain


def _plain(number: int) -> int:
    return max(-LARGE, min(number, LARGE))


# --- the same question in another situation: numbers that fitted then fit again -------------------

NEAR, AHEAD = 3, 60
"""How far from what was held a number still means that; offsets may be ahead of the log."""


class Retelling(NamedTuple):
    """From a situation where `then` was held to one where `now` is.

    Topics whose names began with `topics[0]` begin with `topics[1]` now.
    """

    then: Truth
    now: Truth
    topics: tuple[str, str]

    def turn(self, done: Turn) -> Turn:
        """The turn, done now."""
        match done:
            case Asked(request=request):
                return replace(done, request=self.request(request))
            case Created():
                return replace(done, topic=self._name(done.topic))
            case Reassigned():
                return replace(done, partition=self._name(done.partition))
        return done

    def request(self, asked: messages.Request) -> messages.Request:
        """The question, asked now."""
        match asked:
            case messages.BrokerHeartbeatRequest():
                return replace(
                    asked,
                    broker_epoch=self._broker_epoch(asked.broker, asked.broker_epoch),
                    metadata_offset=self._offset(asked.broker, asked.metadata_offset),
                )
            case messages.AlterPartitionRequest():
                return replace(
                    asked,
                    broker_epoch=self._broker_epoch(asked.broker, asked.broker_epoch),
                    items=tuple(self._item(item) for item in asked.items),
                )
            case messages.ElectLeadersRequest() if asked.partitions is not None:
                return replace(asked, partitions=tuple(map(self._name, asked.partitions)))
        return asked

    def _item(self, item: messages.AlterPartitionItem) -> messages.AlterPartitionItem:
        name = self._name(item.partition)
        fields: dict[str, Any] = {"partition": name}
        before = registrations.partition(self.then.partitions, item.partition)
        after = registrations.partition(self.now.partitions, name)
        if before is not None and after is not None:
            leader = _moved(item.leader_epoch, before.leader_epoch, after.leader_epoch)
            state = _moved(item.partition_epoch, before.partition_epoch, after.partition_epoch)
            fields |= {
                "leader_epoch": ids.LeaderEpoch(leader),
                "partition_epoch": ids.PartitionEpoch(state),
            }
        isr = tuple(replace(m, epoch=self._broker_epoch(m.broker, m.epoch)) for m in item.isr)
        return replace(item, **fields, isr=isr)

    def _name(self, name: str) -> str:
        before, after = self.topics
        return after + name.removeprefix(before) if name.startswith(before) else name

    def _broker_epoch(self, broker: ids.BrokerId, epoch: ids.BrokerEpoch) -> ids.BrokerEpoch:
        before = registrations.registration(self.then.registrations, broker)
        after = registrations.registration(self.now.registrations, broker)
        if before is None or after is None or epoch == ids.NO_BROKER_EPOCH:
            return epoch
        return ids.BrokerEpoch(_moved(epoch, before.epoch, after.epoch))

    def _offset(self, broker: ids.BrokerId, offset: ids.MetadataOffset) -> ids.MetadataOffset:
        """Near the end of the log, or else near the broker's own registration."""
        before, after = self.then.next_offset, self.now.next_offset
        if -NEAR <= offset - before <= AHEAD:
            return ids.MetadataOffset(offset - before + after)
        old = registrations.registration(self.then.registrations, broker)
        new = registrations.registration(self.now.registrations, broker)
        if old is None or new is None:
            return offset
        return ids.MetadataOffset(_moved(offset, old.record_offset, new.record_offset))


def _moved(number: int, before: int, after: int) -> int:
    return number - before + after if abs(number - before) <= NEAR else number
