"""A real controller, and real brokers with Kafka's own Partitions, that decide in a play."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster
from ...engine.nodes import state_of
from ...engine.truth import registration_of, sessions, truth
from ...plays.play import Play
from ...protocol.errors import KafkaError
from ...protocol.facts import RecordWritten
from ...protocol.ids import CONTROLLER, BrokerEpoch, BrokerId, MetadataOffset
from ...protocol.kraft.heartbeats import broker_heartbeat
from ...protocol.kraft.records import RegisterBrokerRecord
from ...protocol.kraft.replay import CLUSTER, MIN_INSYNC, UNCLEAN
from ...protocol.kraft.sessions import SESSION_TIMEOUT_MS
from ...protocol.messages import BrokerHeartbeatRequest, BrokerRegistrationRequest, Request
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import Broker
from ...protocol.replica.remote_replicas import LAG_TIME_MAX_MS
from ..conversation.kafka_terms import record_of
from ..conversation.real_controller import RealController
from ..partition import partition_process as turns
from ..partition.observed_broker import ObservedBroker, without_times
from ..wire.metadata_log import LoggedRecord
from . import deciding, initial_state

APART_MS = 1
"""Between two requests of a play without a clock."""
SHORTLY_MS = 10
LOOK_MS, NEXT_LOOK_MS = SESSION_TIMEOUT_MS // 8, 10
"""From 4.0 on Kafka looks so often for silent brokers, and so soon after it has found one."""
EARLY_MS = 1
"""A session that is over by the ticks of a frozen clock is over a moment too soon."""
LOOKS_MAX = 3
"""So often it is waited for Kafka to look for silent brokers; in the meantime no other is."""


class LiveKafka:
    """`kafka`, which has just been started, with the initial state of `play`, which begins with
    `start`. Raises PlayError, with the line, for a beginning that no real controller comes to;
    every question raises DeadKafkaError or an OSError once Kafka is gone.
    """

    def __init__(self, kafka: RealController, play: Play, start: Cluster) -> None:
        self.kafka = kafka
        self._initial = initial_state.InitialState(kafka, play, truth(start))
        # What is looked for from time to time is looked for now, and counted from now on.
        kafka.advance(LOOK_MS)
        kafka.barrier()
        kafka.advance(EARLY_MS)
        self.renaming = self._initial.reach()
        self.scene_records = int(self._initial.log.end)
        self._now_ms = 0
        """Of Kafka's clock, since the initial state was set."""
        self._look_ms = LOOK_MS - EARLY_MS
        """When Kafka looks next for silent brokers, from 4.0 on."""
        self._heard_ms = {registered.broker: 0 for registered in truth(start).registrations}

    def decide(
        self, question: deciding.ControllerQuestion, cluster: Cluster, expected: int
    ) -> deciding.Decision:
        """See `DecidingKafka`."""
        # Time passes as it does in the play: timers on the way fire when they are due.
        while cluster.timed and self._look_ms <= cluster.now_ms:
            self._pass(self._look_ms - self._now_ms)
            self.kafka.barrier()
            self._look_ms += LOOK_MS
        self._pass(cluster.now_ms - self._now_ms if cluster.timed else 0)
        refused = ""
        match question:
            case deciding.RequestAsked():
                return self._ask(question, cluster, expected)
            case deciding.SessionOver():
                if not cluster.timed:
                    self._wait_for(question.broker, cluster)
                return deciding.Decision(question, None, self._noticed(cluster, expected))
            case deciding.TakeOver():
                self._begin_anew(self.kafka.restart())
            case deciding.VersionRaised():
                refused, ms = self.kafka.raise_metadata_version(question.metadata_version)
                self._now_ms += ms
            case deciding.Operated():
                refused = self._operate(question.move)
        return deciding.Decision(question, None, self._written(cluster), refused)

    def _operate(self, move: deciding.OperatorMove) -> str:
        match move:
            case moves.ConfigureBrokers():
                return self.kafka.configure(CLUSTER, MIN_INSYNC, str(move.min_insync_replicas))
            case moves.UpgradeElr():
                return self.kafka.switch_elr(move.level)
            case moves.DeleteTopic():
                self.kafka.delete(move.topic)
                return ""
        if move.min_insync_replicas is not None:
            return self.kafka.configure(move.topic, MIN_INSYNC, str(move.min_insync_replicas))
        value = str(move.unclean_leader_election).lower()
        return self.kafka.configure(move.topic, UNCLEAN, value)

    def _begin_anew(self, ms: int) -> None:
        """So much time has passed until a controller was active that has heard of nobody yet."""
        self._now_ms += ms
        self._heard_ms = dict.fromkeys(self._heard_ms, self._now_ms)

    def _pass(self, ms: int) -> None:
        if ms > 0:
            self._now_ms += ms
            self.kafka.advance(ms)

    def _ask(
        self, question: deciding.RequestAsked, cluster: Cluster, expected: int
    ) -> deciding.Decision:
        request: Any = question.request
        if not cluster.timed:
            self._pass(APART_MS)
        response, _ = self.kafka.ask(self._in_kafkas_numbers(request, cluster), expected=expected)
        if isinstance(request, BrokerHeartbeatRequest | BrokerRegistrationRequest):
            self._heard_ms[request.broker] = self._now_ms
        # First the records: they say how the answer's numbers are to be read.
        written = self._written(cluster)
        if getattr(response, "error", None) is KafkaError.UNKNOWN_SERVER_ERROR:
            self._begin_anew(self.kafka.return_from_resignation())
        return deciding.Decision(question, self.renaming.to_play(response), written)

    def _in_kafkas_numbers(self, request: Request, cluster: Cluster) -> Request:
        renamed = self.renaming.to_kafka(request)
        last = truth(cluster).next_offset - 1
        if not isinstance(request, BrokerHeartbeatRequest) or request.metadata_offset != last:
            return renamed
        # Who has the whole log has what only Kafka has in it as well.
        return replace(renamed, metadata_offset=MetadataOffset(self._initial.log.end - 1))

    def _written(self, cluster: Cluster) -> tuple[deciding.Written, ...]:
        records = self._initial.read()
        if records:
            self._begin_at(records[0], truth(cluster).next_offset)
        return tuple(map(self._in_play, records))

    def _in_play(self, logged: LoggedRecord) -> deciding.Written:
        record = record_of(logged, self.kafka.topics)
        return deciding.Written(
            offset=self.renaming.play_offset(logged.offset),
            kafka_offset=logged.offset,
            name=logged.name,
            version=logged.version,
            record=None if record is None else self.renaming.to_play(record),
        )

    def _begin_at(self, logged: LoggedRecord, play: int) -> None:
        """The next record of the play is this one, wherever it is in Kafka's log.

        An election leaves a record of the quorum's own before it, and up to 3.5 the first
        registration behind it has that one's offset for its epoch.
        """
        record, at = record_of(logged, self.kafka.topics), logged.offset
        if isinstance(record, RegisterBrokerRecord) and record.epoch == at - 1:
            at -= 1
        if self.renaming.kafka_offset(play) != at:
            self.renaming = self.renaming.following(deciding.OffsetPoint(play, at))

    # --- sessions -------------------------------------------------------------------------------

    def _noticed(self, cluster: Cluster, expected: int) -> tuple[deciding.Written, ...]:
        """What is written of a session that is over. From 4.0 on Kafka looks for it only every
        eighth of a session: without a clock it is waited for.
        """
        self.kafka.barrier()
        written = self._written(cluster)
        if written:
            self._look_ms = self._now_ms + NEXT_LOOK_MS - EARLY_MS
        looks = 0 if cluster.timed else LOOKS_MAX
        while expected and not written and looks:
            self._pass(LOOK_MS)
            self.kafka.barrier()
            written, looks = self._written(cluster), looks - 1
        return written

    def _wait_for(self, broker: BrokerId, cluster: Cluster) -> None:
        """Let only one broker's session end: others send a heartbeat now, and shortly before."""
        end = self._heard_ms[broker] + SESSION_TIMEOUT_MS + APART_MS
        for instant in (self._now_ms + 2 * APART_MS, end - SHORTLY_MS):
            self._pass(instant - self._now_ms)
            for session in sessions(cluster):
                if not session.over and session.broker != broker:
                    self._keep(session.broker, broker, cluster)
        self._pass(end - self._now_ms)

    def _keep(self, other: BrokerId, broker: BrokerId, cluster: Cluster) -> None:
        """A heartbeat that says nothing new. Raises UnaskableError where there is none such."""
        registered = registration_of(cluster, other)
        assert registered is not None
        memory: Any = state_of(cluster, CONTROLLER)
        (at,) = (state.metadata_offset for state in memory.heartbeats if state.broker == other)
        epoch, fenced = registered.epoch, registered.fenced
        beat = BrokerHeartbeatRequest(
            broker=other, broker_epoch=epoch, metadata_offset=at, want_fence=fenced
        )
        _, _, facts = broker_heartbeat(memory, beat, cluster.features, cluster.clock)
        if any(isinstance(fact, RecordWritten) for fact in facts):
            until = f"until the session of broker {broker} is over"
            why = f"{until}, broker {other} has to be heard of, and whatever it says lets it go"
            raise deciding.UnaskableError(why)
        self.kafka.ask(self._in_kafkas_numbers(beat, cluster))
        self._heard_ms[other] = self._now_ms


RECORDS_MAX = 10_000
"""Of one log, or of one producer: each is written by Kafka, one in a batch."""
FOR_ALL = "all"
"""Before a line that is not for one broker."""


class LeaderWords(turns.PartitionWords):
    """The lines that a process of real brokers gets in a play that begins with `start`. Without a
    clock a follower that lags has lagged for too long: so much time passes before each turn.
    """

    def __init__(self, start: Cluster) -> None:
        super().__init__([state.name for state in truth(start).partitions])
        self._now_ms = 0
        self._version = start.features.metadata_version
        self._epochs: dict[BrokerId, BrokerEpoch] = {}
        self.turns = 0

    def decide(self, broker: Broker, question: deciding.LeaderQuestion, cluster: Cluster) -> None:
        """As `DecidingLeaders`, but it only finds the words, and asks no process."""
        self.lines(broker, question, cluster)
        self.turns += 1

    def lines(
        self, broker: Broker, question: deciding.LeaderQuestion, cluster: Cluster
    ) -> tuple[tuple[str, str], ...]:
        """(broker or FOR_ALL, its line), in order. Raises UnaskableError for too many records."""
        meanwhile = tuple((FOR_ALL, line) for line in self._meanwhile(cluster))
        own = tuple((str(broker.id), line) for line in self._own(broker, question))
        return (*meanwhile, *own)

    def _meanwhile(self, cluster: Cluster) -> Iterator[str]:
        version = cluster.features.metadata_version
        if version != self._version:
            self._version = version
            yield f"version {version}"
        passed = cluster.now_ms - self._now_ms if cluster.timed else LAG_TIME_MAX_MS + 1
        self._now_ms = cluster.now_ms
        if passed:
            yield f"advance {passed}"

    def _own(self, broker: Broker, question: deciding.LeaderQuestion) -> Iterator[str]:
        epoch, earlier = process_of(broker).epoch, self._epochs.get(broker.id)
        self._epochs[broker.id] = epoch
        if isinstance(question, deciding.ProcessBegun):
            yield from self._begun(broker, question)
            return
        # A registration that was sent twice may be answered twice.
        if earlier != epoch:
            yield f"epoch {epoch}"
        if isinstance(question, deciding.MetadataPlayed):
            yield self.metadata(question.update, question.changed)
            return
        if isinstance(question, turns.ProducedTurn):
            _must_be_few(question.count)
        if isinstance(question, turns.RetryTurn) and process_of(broker).in_flight:
            # Nobody has answered: the request has timed out.
            yield self.of(turns.LostTurn())
        yield self.of(question)

    def _begun(self, broker: Broker, question: deciding.ProcessBegun) -> Iterator[str]:
        """What a topic wants is known before there are logs, which keep it."""
        yield self.begin(process_of(broker).epoch)
        yield self.metadata(question.update, ())
        for kept in broker.durable.replicas:
            _must_be_few(kept.log.end)
            yield self.log(kept.partition, kept.log, kept.checkpoint)
        played = [s.name for s in question.update.partitions if broker.id in s.replicas]
        yield self.metadata(question.update, played)


def _must_be_few(count: int) -> None:
    """Raises UnaskableError for more records than are written."""
    if count > RECORDS_MAX:
        most = f"{count:,} are too many, {RECORDS_MAX:,} the most"
        raise deciding.UnaskableError(f"each record is written by a real log: {most}", "leader")


class LiveLeaders(ExitStack):
    """``with LiveLeaders("3.5", "3.5.2") as leaders:``, and then `begin` with a cluster.

    Each release has a process, started when the first broker needs it: this one of that patch
    release, any other of its last one. Raises DeadKafkaError once Kafka is gone, MissingKafkaError
    where a release cannot be run.
    """

    def __init__(self, release: str, patch: str) -> None:
        super().__init__()
        self._release, self._patch = release, patch
        self._processes: dict[str, turns.PartitionProcess] = {}
        self._runs_in: dict[BrokerId, str] = {}
        self._words: LeaderWords | None = None
        self._meanwhile: list[str] = []
        self.turns = 0

    def begin(self, start: Cluster) -> None:
        """A play begins with `start`: nothing of another one is left."""
        self._words = LeaderWords(start)
        self._runs_in.clear()
        self._meanwhile.clear()
        self.turns = 0
        for process in self._processes.values():
            process.tell("anew")
        self._tell_all(f"version {start.features.metadata_version}")

    def decide(
        self, broker: Broker, question: deciding.LeaderQuestion, cluster: Cluster
    ) -> ObservedBroker:
        """See `DecidingLeaders`."""
        assert self._words is not None, "no play has begun"
        if isinstance(question, deciding.ProcessBegun):
            self._runs_in[broker.id] = cluster.features.release_of(broker.id)
        lines = self._words.lines(broker, question, cluster)
        process = self._process(self._runs_in[broker.id])
        answers = []
        for who, line in lines:
            if who == FOR_ALL:
                self._tell_all(line)
            else:
                answers.append(process.observe(line, broker.id))
        self.turns += 1
        sent = tuple(request for answer in answers for request in answer.sent)
        observed_broker = replace(answers[-1], sent=sent)
        return observed_broker if cluster.timed else without_times(observed_broker)

    def _tell_all(self, line: str) -> None:
        self._meanwhile.append(line)
        for process in self._processes.values():
            process.tell(line)

    def _process(self, release: str) -> turns.PartitionProcess:
        """That of a release, which knows how late it is."""
        if release not in self._processes:
            name = self._patch if release == self._release else release
            process = self.enter_context(turns.PartitionProcess(name))
            self._processes[release] = process
            for line in self._meanwhile:
                process.tell(line)
        return self._processes[release]
