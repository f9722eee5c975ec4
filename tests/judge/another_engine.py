"""A "real" controller and a "real" broker that are none: the engine's own under other features
decide, and take every turn. They show what a parting looks like without any Kafka.
"""

from typing import Any

from msgspec.structs import replace

from kiplab.engine import moves, nodes
from kiplab.engine.cluster import Cluster, Message, MessageName
from kiplab.engine.routes import MODE_MOVES, ROUTES
from kiplab.engine.truth import truth
from kiplab.judge.partition import partition_process as turns
from kiplab.judge.partition.observed_broker import EngineObservation, ObservedBroker
from kiplab.judge.side_by_side import deciding
from kiplab.judge.side_by_side.deciding import LeaderQuestion, MetadataPlayed, ProcessBegun
from kiplab.protocol import ids, log, messages
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features
from kiplab.protocol.kraft import broker_lifecycle, records
from kiplab.protocol.messages.api_message import ApiResponse
from kiplab.protocol.replica import alter_partition_manager, broker_parts, fetching, leader
from kiplab.protocol.replica.broker_parts import BrokerEffect
from kiplab.protocol.replica.broker_state import Broker, log_of, replica_of
from kiplab.protocol.replica.produce import produce


class AnotherEngine:
    """Decides as the engine does under `features`."""

    renaming = deciding.Renaming()
    scene_records = 0

    def __init__(self, features: Features) -> None:
        self.features = features

    def decide(
        self, question: deciding.ControllerQuestion, cluster: Cluster, expected: int
    ) -> deciding.Decision:
        """The engine's answer and records under the other features."""
        del expected
        other = replace(cluster, features=self.features)
        node = nodes.state_of(other, ids.CONTROLLER)
        match question:
            case deciding.RequestAsked():
                message = _arrived(question.request)
                _, sends, facts = ROUTES[type(node), type(message.body)](node, message, other)
            case deciding.SessionOver():
                rule = MODE_MOVES[type(node), moves.ExpireSession]
                ((_, (_, sends, facts)),) = rule(other, moves.ExpireSession(question.broker))
            case deciding.Operated():
                rule = MODE_MOVES[type(node), type(question.move)]
                ((_, (_, sends, facts)),) = rule(other, question.move)
            case _:
                return deciding.Decision(question)
        answers = [send.body for send in sends if isinstance(send.body, ApiResponse)]
        response: Any = answers[0] if answers else None
        written = tuple(_written(f) for f in facts if isinstance(f, RecordWritten))
        return deciding.Decision(question, response, written)


def _arrived(request: Any) -> Message:
    sender = getattr(request, "broker", ids.CLIENT)
    name = MessageName(sender, ids.Incarnation(1), messages.KINDS[type(request)], 1)
    return Message(name, ids.CONTROLLER, ids.Incarnation(1), request.api.lane, request)


def _written(fact: RecordWritten) -> deciding.Written:
    return deciding.Written(
        offset=fact.offset,
        kafka_offset=fact.offset,
        name=fact.record,
        version=fact.version,
        record=_record(fact.text),
    )


def _record(text: str) -> records.Record:
    """Back from `record_text`, which leaves out what is not set."""
    name, *words = text.split()
    fields = dict(word.split("=") for word in words)
    made: records.Record = getattr(records, name)(**{k: _value(v) for k, v in fields.items()})
    return made


def _value(word: str) -> Any:
    if word.startswith("["):
        return tuple(int(number) for number in word[1:-1].split(",") if number)
    if word in ("true", "false"):
        return word == "true"
    return int(word) if word.lstrip("-").isdecimal() else word


class AnotherLeader:
    """Holds what the engine's broker holds under `features`."""

    def __init__(self, features: Features) -> None:
        self.features = features
        self.turns = 0

    def decide(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> ObservedBroker:
        """What the engine holds after it, under the other features."""
        self.turns += 1
        after, sends, facts = self._taken(broker, question, cluster)
        names = tuple(state.name for state in truth(cluster).partitions)
        sight = EngineObservation(self.features.code_of(broker.id), names)
        return sight.of(after, [send.body for send in sends], facts)

    def _taken(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> BrokerEffect:
        under, now = self.features, cluster.clock
        match question:
            case ProcessBegun():
                for state in question.update.partitions:
                    if broker.id in state.replicas:
                        broker, _ = leader.play(broker, state, under, now)
                return broker, (), ()
            case MetadataPlayed():
                return broker_lifecycle.metadata_arrived(broker, question.update, under, now)
            case messages.FetchRequest():
                return fetching.serve_fetch(broker, question, under, now)
            case messages.AlterPartitionResponse():
                items = broker_parts.process_of(broker).in_flight
                asked: Any = messages.AlterPartitionRequest(
                    version=question.version,
                    broker=broker.id,
                    broker_epoch=broker_parts.process_of(broker).epoch,
                    items=items,
                )
                return alter_partition_manager.answered(broker, question, asked, under, now)
            case turns.ProducedTurn():
                name, count = question.partition, question.count
                return produce(broker, name, count, under, now, acks_all=question.acks_all)
            case turns.LagTurn():
                return alter_partition_manager.check_lag(broker, under, now)
            case turns.RetryTurn():
                return alter_partition_manager.retry(broker, under)
            case turns.ReplicatedTurn() | turns.TruncatedTurn():
                return _followed(broker, question), (), ()
        return alter_partition_manager.give_up_waiting(broker), (), ()


def _followed(broker: Broker, turn: turns.ReplicatedTurn | turns.TruncatedTurn) -> Broker:
    mine, replica = log_of(broker, turn.partition), replica_of(broker, turn.partition)
    assert replica is not None
    if isinstance(turn, turns.TruncatedTurn):
        now, known = log.truncate(mine, turn.offset), replica.high_watermark
    else:
        now, known = log.extend(mine, turn.records), turn.high_watermark
    broker = broker_parts.with_log(broker, turn.partition, now)
    mark = replace(replica, high_watermark=min(known, now.end))
    return broker_parts.with_replica(broker, mark)
