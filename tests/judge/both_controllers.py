"""A real controller and the engine's, asked the same by hand."""

from kiplab.judge.controller.controller_process import ControllerProcess
from kiplab.protocol import facts, ids, messages
from kiplab.protocol.features import parse_features
from kiplab.protocol.kraft.sessions import NEXT_CHECK_MS
from tests.judge.kraft import conversation, real_side, turns

SESSION_AND_A_HALF_MS, MOST_CHECKS = 13_500, 60


class Both(conversation.Conversation):
    """Asks both, and fails where they part."""

    def __init__(self, process: ControllerProcess) -> None:
        self.side = real_side.RealSide(process)
        self.kafka = self.side.kafka
        features = parse_features(f"{process.release}/{process.metadata_version}")
        super().__init__(self.side, self.side.begin(), features)

    def take(self, turn: turns.Turn) -> turns.Answer:
        """Kafka's answer to one more turn."""
        assert self.do(turn), f"{turn}\n" + "\n".join(map(str, self.done[-1].partings))
        return self.done[-1].real

    def ask(self, request: messages.Request) -> turns.Answer:
        return self.take(turns.Asked(request, 1, self.engine.looks_first))

    def epoch(self, broker: ids.BrokerId) -> ids.BrokerEpoch:
        return next(r.epoch for r in self.engine.held.registrations if r.broker == broker)

    def start(self, broker: ids.BrokerId, incarnation: int = 1) -> None:
        life = ids.Incarnation(incarnation)
        self.ask(messages.BrokerRegistrationRequest(broker=broker, incarnation=life))
        self.beat(broker)

    def beat(self, broker: ids.BrokerId, **wishes: bool) -> messages.BrokerHeartbeatResponse:
        """A heartbeat of a broker that has seen all of the log."""
        offset = ids.MetadataOffset(self.engine.held.next_offset)
        answered = self.ask(
            messages.BrokerHeartbeatRequest(
                broker=broker, broker_epoch=self.epoch(broker), metadata_offset=offset, **wishes
            )
        )
        assert isinstance(answered.response, messages.BrokerHeartbeatResponse)
        return answered.response

    def create(self, topic: str, *replicas: list[int]) -> None:
        assigned = tuple(tuple(map(ids.BrokerId, each)) for each in replicas)
        self.take(turns.Created(topic, assigned))

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
        self.take(turns.Waited(ms))
        return self.noticed()

    def noticed(self) -> tuple[facts.RecordWritten, ...]:
        """What Kafka has written of a silence; from 4.0 on it looks for one after the other."""
        return self.take(turns.Checked(is_last=not self.engine.looks_later)).records
