"""From a conversation that parted to a short one that parts in the same way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from msgspec.structs import replace

from ...engine.truth import Truth
from ...protocol.features import Features
from ...protocol.ids import BrokerId
from ...protocol.messages import (
    AlterPartitionRequest,
    BrokerHeartbeatRequest,
    ElectLeadersRequest,
    Request,
)
from ..conversation.deciding_side import DecidingSide
from ..conversation.generated import Conversation, topics_of
from ..conversation.questions import KNOWN, STRANGER
from ..conversation.real_controller import RefusedByKafkaError
from ..conversation.turns import Created, Exchange, Raised, TookOver, Turn, Waited
from .told_again import Retelling

LARGE = 10**12 - 1
TRIES_MAX = 400
"""Attempts; each asks a part of the conversation again."""


class ToldTurn(NamedTuple):
    """A turn, and what the engine held for true before it and after it."""

    turn: Turn
    before: Truth
    after: Truth


class PartedConversation(NamedTuple):
    """A conversation that parted, in its last turn. `features` are those of its beginning."""

    seed: int
    features: Features
    turns: tuple[ToldTurn, ...]

    @property
    def last(self) -> Turn:
        """The turn in which it parted."""
        return self.turns[-1].turn


class ShortestDifference:
    """Attempts with `kafka`, which every attempt leaves as it found it."""

    def __init__(
        self, kafka: DecidingSide, parted: PartedConversation, *, tries: int = TRIES_MAX
    ) -> None:
        self._kafka, self._left = kafka, tries
        self._names = parted.seed
        self.found = parted

    def shrink(self) -> PartedConversation:
        """The shortest that was found."""
        if any(isinstance(told.turn, Raised) for told in self.found.turns):
            # Kafka does not go back to the metadata version that the conversation began at.
            return self.found
        if self._holds(self.found.turns):
            while self._drop_parts() or self._make_plainer():
                pass
        return self.found

    def _drop_parts(self) -> bool:
        """Without turns: halves first, then ever smaller parts, from the end on."""
        begun, size = len(self.found.turns), max(len(self.found.turns) // 2, 1)
        while size:
            end = len(self.found.turns) - 1
            while end > 0:
                start = max(end - size, 0)
                turns = self.found.turns
                self._holds((*turns[:start], *turns[end:]))
                end = min(start, len(self.found.turns) - 1)
            size //= 2
        return len(self.found.turns) < begun

    def _make_plainer(self) -> bool:
        """With fewer partitions in a request, or with numbers that a play can say."""
        for n, told in enumerate(self.found.turns):
            for plainer in _plainer(told.turn):
                tried = told._replace(turn=plainer)
                if self._holds((*self.found.turns[:n], tried, *self.found.turns[n + 1 :])):
                    return True
        return False

    def _holds(self, turns: tuple[ToldTurn, ...]) -> bool:
        """Whether these turns part in the same way; then they are what was found."""
        if not self._left:
            return False
        self._left -= 1
        self._names += 1
        again = self._attempt(turns)
        if again is None or _way(again.last) != _way(self.found.last):
            return False
        self.found = again
        return True

    def _attempt(self, turns: tuple[ToldTurn, ...]) -> PartedConversation | None:
        """The turns asked again; None if the two agree, or if Kafka refuses a topic."""
        conversation = Conversation(self._kafka, self.found.features, self._names)
        try:
            for told in turns:
                _repeat(conversation, told, self.found.seed)
        except RefusedByKafkaError:
            return None
        finally:
            self._kafka.clear((*KNOWN, STRANGER))
        return told_of(conversation, self.found.features) if conversation.parted else None


def told_of(conversation: Conversation, features: Features) -> PartedConversation:
    """A conversation that began with `features`, as it was told."""
    after = conversation.held_after
    before = [conversation.held_before, *after[:-1]]
    return PartedConversation(
        conversation.seed, features, tuple(map(ToldTurn, conversation.turns, before, after))
    )


def _repeat(conversation: Conversation, told: ToldTurn, seed: int) -> None:
    topics = (topics_of(seed), topics_of(conversation.seed))
    match told.turn:
        case Exchange(request=request):
            now = conversation.engine.held
            conversation.ask(Retelling(told.before, now, topics).request(request))
        case Waited(ms=ms):
            conversation.wait(ms)
        case TookOver(restarted=True):
            conversation.restart()
        case Created(partitions=partitions):
            name = partitions[0].name.rpartition("-")[0].removeprefix(topics[0])
            replicas: list[tuple[BrokerId, ...]] = [p.replicas for p in partitions]
            unclean = partitions[0].unclean_leader_election
            conversation.create(name, replicas, unclean=unclean)


def _way(turn: Turn) -> object:
    """In which way two part: what was asked, and which parts of the answers differ."""
    if not isinstance(turn, Exchange):
        return type(turn)
    return type(turn.request), [parting.what for parting in turn.partings]


def _plainer(turn: Turn) -> Iterator[Exchange]:
    if isinstance(turn, Exchange):
        for request in (*_with_fewer_items(turn.request), *_with_plain_numbers(turn.request)):
            yield replace(turn, request=request)


def _with_fewer_items(request: Request) -> Iterator[Request]:
    """The same with one partition less."""
    if isinstance(request, AlterPartitionRequest) and len(request.items) > 1:
        for items in combinations(request.items, len(request.items) - 1):
            yield replace(request, items=items)
    if isinstance(request, ElectLeadersRequest) and request.partitions:
        for names in combinations(request.partitions, len(request.partitions) - 1):
            if names:
                yield replace(request, partitions=names)


def _with_plain_numbers(request: Request) -> Iterator[Request]:
    """The same with numbers of twelve digits at most: none in a play has more."""
    if isinstance(request, BrokerHeartbeatRequest):
        epoch, offset = _plain(request.broker_epoch), _plain(request.metadata_offset)
        plain: Request = replace(request, broker_epoch=epoch, metadata_offset=offset)
    elif isinstance(request, AlterPartitionRequest):
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
