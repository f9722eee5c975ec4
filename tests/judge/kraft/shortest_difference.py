"""From a conversation that parted to a short one that parts in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kiplab.engine.renumbering import Numbering, Renumber, renumbered
from kiplab.engine.truth import Truth
from kiplab.judge.conversation.real_controller import RefusedByKafkaError
from kiplab.protocol import messages, registrations
from kiplab.protocol.features import Features

from ..skeleton import generating, rows
from . import questions, real_side
from .conversation import Conversation, ConversationTurn, topics_of
from .turns import Asked, Raised, TookOver, Turn

LARGE = 10**12 - 1


class TurnInContext(NamedTuple):
    """A turn with both answers, and what the engine held for true before it and after it."""

    done: ConversationTurn
    before: Truth
    after: Truth

    @property
    def turn(self) -> Turn:
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
    kafka: real_side.Controller, parted: PartedConversation, tries: int = generating.TRIES
) -> PartedConversation:
    """The shortest that was found; every attempt leaves `kafka` as it found it.

    The same conversation where the metadata version was raised before: Kafka does not go back.
    """
    version = parted.features.metadata_version
    raised = any(isinstance(turn.turn, Raised) for turn in parted.turns)
    if raised or kafka.begin().metadata_version != version:
        return parted
    attempts = _Attempts(kafka, parted)
    generating.Shrinking(parted.turns, attempts.holds, _plainer, tries).shortest()
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
        """The turns done again; None if the two agree, if Kafka refuses a topic, or if who has
        resigned is not waited for: a controller that has not resigned does not come back.
        """
        conversation = Conversation(self._kafka, self._kafka.begin(), self.parted.features)
        topics = (topics_of(self.parted.seed), topics_of(self._seed))
        try:
            resigned = False
            for turn in turns:
                now = conversation.engine.held
                if (turn.turn == TookOver(restarted=False)) is not resigned:
                    return None
                conversation.do(retold(turn.turn, turn.before, now, topics))
                is_new = conversation.engine.held.controller_epoch != now.controller_epoch
                resigned = is_new and not isinstance(turn.turn, TookOver)
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
    plain = renumbered(request, lambda _what, _whose, n: max(-LARGE, min(n, LARGE)))
    if plain != request:
        yield plain


# --- the same question in another situation: numbers that fitted then fit again -------------------

NEAR, AHEAD = 3, 60
"""How far from what was held a number still means that; offsets may be ahead of the log."""


_EPOCHS = {Numbering.LEADER: "leader_epoch", Numbering.PARTITION: "partition_epoch"}


def retold(done: Turn, then: Truth, now: Truth, topics: tuple[str, str]) -> Turn:
    """A turn of a situation where `then` was held in one where `now` is: topics whose names began
    with `topics[0]` begin with `topics[1]`, and numbers that were near one that was held are.
    """
    if isinstance(done, Asked):
        done = replace(done, request=renumbered(done.request, _moved(then, now, topics)))
    row = msgspec.json.encode(rows.write_row(done, Turn)).decode()
    again: Turn = rows.read_row(msgspec.json.decode(row.replace(*topics)), Turn)
    return again


def _moved(then: Truth, now: Truth, topics: tuple[str, str]) -> Renumber:
    """Numbers are near the end of the log or a registration, or epochs of their partition."""
    metadata = [(int(then.next_offset), int(now.next_offset))]
    for old in then.registrations:
        if (new := registrations.registration(now.registrations, old.broker)) is not None:
            metadata += [(old.epoch, new.epoch), (old.record_offset, new.record_offset)]

    def anchors(what: Numbering, whose: str) -> list[tuple[int, int]]:
        if what is Numbering.METADATA:
            return metadata
        before = registrations.partition(then.partitions, whose)
        after = registrations.partition(now.partitions, whose.replace(*topics))
        if before is None or after is None or what not in _EPOCHS:
            return []
        return [(getattr(before, _EPOCHS[what]), getattr(after, _EPOCHS[what]))]

    def number(what: Numbering, whose: str, value: int) -> int:
        pairs = anchors(what, whose) or [(value, value)]
        held, holds = min(pairs, key=lambda pair: abs(value - pair[0]))
        most = AHEAD if held == then.next_offset else NEAR
        return value - held + holds if value >= 0 and -NEAR <= value - held <= most else value

    return number
