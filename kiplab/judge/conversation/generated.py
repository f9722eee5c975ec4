"""One generated conversation: brokers come, topics are made, and questions are asked of both until
they part.
"""

from __future__ import annotations

import msgspec

from ...protocol.facts import RecordWritten
from ...protocol.features import Features
from ...protocol.ids import BrokerId, Incarnation, MetadataOffset
from ...protocol.messages import BrokerHeartbeatRequest, BrokerRegistrationRequest, Request
from ...protocol.registrations import registration
from .deciding_side import Answered, DecidingSide
from .engine_controller import EngineController
from .partings import Parting, partings
from .questions import KNOWN, STRANGER, Questions

PAUSES_MS = (1_500, 3_000, 4_500, 8_900, 9_500)
"""Silences; a session lasts 9 s."""
PAUSE_SHARE = 0.08
MARGIN_MS = 2
"""No request within so many ms of the end of a session: the real clock ticks at every look."""
REPLICATION = (1, 2, 3, 3, 4)


class Exchange(msgspec.Struct, frozen=True):
    """One question and both answers, `at_ms` since the conversation began."""

    at_ms: int
    request: Request
    kafka: Answered
    engine: Answered
    partings: tuple[Parting, ...]


class Conversation:
    """What `seed` has both asked, under the features that the deciding side runs with."""

    def __init__(self, kafka: DecidingSide, features: Features, seed: int) -> None:
        self.kafka = kafka
        kafka.records()
        self.engine = EngineController(features, kafka.end)
        self.seed = seed
        self.questions = Questions(seed, kafka.alter_partition)
        self.exchanges: list[Exchange] = []

    def run(self, questions: int) -> Exchange | None:
        """Ask so many; the exchange in which they part, which is the last, or None."""
        try:
            self._set_the_scene()
            while not self.parted and len(self.exchanges) < questions:
                if self.questions.dice.random() < PAUSE_SHARE:
                    self._pause()
                self._ask(self.questions.next(self.engine.held))
        finally:
            self.kafka.clear((*KNOWN, STRANGER))
        return self.exchanges[-1] if self.parted else None

    @property
    def parted(self) -> bool:
        """Whether the last answers differ."""
        return bool(self.exchanges) and bool(self.exchanges[-1].partings)

    def _set_the_scene(self) -> None:
        dice = self.questions.dice
        for broker in KNOWN:
            self._ask(BrokerRegistrationRequest(broker=broker, incarnation=Incarnation(1)))
            if broker != KNOWN[-1] or dice.random() < 0.5:
                self._ask(self._healthy(broker))
        for name in ("a", "b"):
            replication = dice.choice(REPLICATION)
            # An assignment to a fenced broker alone is refused.
            among = KNOWN if replication > 1 else KNOWN[:-1]
            replicas = [dice.sample(among, replication) for _ in range(2)]
            unclean = name == "b" and dice.random() < 0.5
            topic = f"conversation{self.seed}{name}"
            self.engine.add(self.kafka.create(topic, replicas, unclean=unclean))
        self.engine.follow(self.kafka.end)

    def _healthy(self, broker: BrokerId) -> BrokerHeartbeatRequest:
        held = self.engine.held
        known = registration(held.registrations, broker)
        assert known is not None
        return BrokerHeartbeatRequest(
            broker=broker,
            broker_epoch=known.epoch,
            metadata_offset=MetadataOffset(held.next_offset),
        )

    def _pause(self) -> None:
        ms = self.questions.dice.choice(PAUSES_MS)
        while self.engine.ends_soon(MARGIN_MS, self.engine.now_ms + ms + 1):
            ms += 137
        self.engine.advance(ms)
        self.kafka.advance(ms)

    def _ask(self, request: Request) -> None:
        if self.parted:
            return
        self.engine.advance(1)
        self.kafka.advance(1)
        before = self.kafka.barrier() if self.engine.is_stale() else ()
        lapsed = self.engine.lapse(fenced_in(before))
        mine = self.engine.ask(request)
        mine = mine._replace(records=(*lapsed, *mine.records))
        theirs = self.kafka.ask(request, expected=len(mine.records) - len(before))
        theirs = theirs._replace(records=(*before, *theirs.records))
        found = partings(theirs, mine)
        self.exchanges.append(Exchange(self.engine.now_ms, request, theirs, mine, found))


def fenced_in(records: tuple[RecordWritten, ...]) -> tuple[BrokerId, ...]:
    """Whom Kafka has fenced, in its order."""
    words = [record.text.split() for record in records if "fenced=1" in record.text]
    words += [record.text.split() for record in records if record.record == "FenceBrokerRecord"]
    return tuple(BrokerId(int(word.removeprefix("broker="))) for _, word, *_ in words)
