"""A real controller and the engine's, asked the same by hand."""

from msgspec.structs import replace

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.judge.conversation.real_controller import record_texts
from kiplab.protocol import facts, messages
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import BrokerEpoch, BrokerId, Incarnation, MetadataOffset
from kiplab.protocol.kraft.sessions import NEXT_CHECK_MS
from tests.judge.kraft import engine_controller, real_side, turns

SESSION_AND_A_HALF_MS, MOST_CHECKS = 13_500, 60


class Both:
    """Asks both, and fails where they part."""

    def __init__(self, process: ControllerProcess) -> None:
        self.side = real_side.RealSide(process)
        self.kafka = self.side.kafka
        features = parse_features(f"{process.release}/{process.metadata_version}")
        self.engine = engine_controller.EngineController(features, self.side.begin())

    def ask(self, request: messages.Request) -> turns.Answer:
        self.kafka.advance(1)
        self.engine.advance(1)
        mine = self.engine.ask(request)
        theirs = turns.Answer(*self.kafka.ask(request, expected=len(mine.records)))
        if self.engine.is_stale() and not self.engine.looks_later:
            # The first word since an election: only now is it looked who is silent.
            theirs = replace(theirs, records=(*theirs.records, *self.kafka.barrier()))
            fenced = self.engine.lapse(turns.fenced_in(theirs.records))
            mine = replace(mine, records=(*mine.records, *fenced))
        found = turns.partings(theirs, mine)
        assert not found, f"{request.in_words()}\n" + "\n".join(map(str, found))
        return theirs

    def epoch(self, broker: BrokerId) -> BrokerEpoch:
        return next(r.epoch for r in self.engine.held.registrations if r.broker == broker)

    def start(self, broker: BrokerId, incarnation: int = 1) -> None:
        life = Incarnation(incarnation)
        self.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=life))
        self.beat(broker)

    def beat(self, broker: BrokerId, **wishes: bool) -> messages.BrokerHeartbeatResponse:
        """A heartbeat of a broker that has seen all of the log."""
        offset = MetadataOffset(self.engine.held.next_offset)
        request = messages.BrokerHeartbeatRequest(
            broker=broker, broker_epoch=self.epoch(broker), metadata_offset=offset, **wishes
        )
        self.last = self.ask(request)
        assert isinstance(self.last.response, messages.BrokerHeartbeatResponse)
        return self.last.response

    def create(self, topic: str, *replicas: list[int]) -> None:
        self.engine.add(self.kafka.create(topic, replicas), self.kafka.end)

    def fall_silent(self) -> tuple[facts.RecordWritten, ...]:
        """Nobody is heard of for so long that every session is over."""
        theirs = self.silence(SESSION_AND_A_HALF_MS)
        for _ in range(MOST_CHECKS):
            if not self.engine.is_stale():
                break
            theirs += self.silence(NEXT_CHECK_MS)
        assert not self.engine.is_stale()
        return theirs

    def silence(self, ms: int) -> tuple[facts.RecordWritten, ...]:
        """Time passes, and what Kafka has written of it."""
        self.wait(ms)
        return self.noticed()

    def noticed(self) -> tuple[facts.RecordWritten, ...]:
        """What Kafka has written of a silence; from 4.0 on it looks for one after the other."""
        theirs = self.kafka.barrier()
        fenced = turns.fenced_in(theirs)
        later = self.engine.looks_later
        mine = self.engine.notice(fenced) if later else self.engine.lapse(fenced)
        assert record_texts(theirs) == record_texts(mine)
        return theirs

    def wait(self, ms: int) -> None:
        """Time passes."""
        self.kafka.advance(ms)
        self.engine.advance(ms)

    def come_back(self) -> None:
        """The same controller, after it has resigned."""
        self.engine.advance(self.kafka.return_from_resignation())
        self.engine.follow(self.kafka.end)

    def restart(self) -> None:
        """Another controller."""
        ms = self.kafka.restart()
        self.engine.take_over(self.kafka.end)
        self.engine.advance(ms)
