"""The checkpoint's story with the engine's broker: its second life, on the disk of the first."""

from __future__ import annotations

from ...protocol.ids import LeaderEpoch, Offset
from ...protocol.log import Log, append
from ...protocol.replica.broker_parts import process_of
from ...protocol.replica.broker_state import DurableReplica
from ...protocol.replica.disk import checkpoint
from .accepting_engine import AcceptingEngine, features_of
from .asked_brokers import asked_broker
from .checkpoint_story import BOTH, FIRST_LEADER_EPOCHS, FOLLOWED, RECORDS, CheckpointStory
from .control_questions import ControlQuestion, GivenEpoch


def engine_checkpoint(name: str) -> CheckpointStory:
    """What becomes of it. A partition that is not in the checkpoint counts as 0
    there, in the engine: it is left out here too.

    Raises UnaskedBrokerError for a broker that is not asked.
    """
    versions, features = asked_broker(name).versions, features_of(name)
    engine = AcceptingEngine(features, versions, *map(_written, RECORDS))
    stopped_with = before_any_mail = _checkpoint(engine)
    old_mail = _lead(engine, 2, "older", FOLLOWED)
    after_old_mail = _checkpoint(engine)
    engine.tell([ControlQuestion("UpdateMetadata")] * len(RECORDS), tuple(RECORDS))
    _lead(engine, 3, "own", *RECORDS)
    process = process_of(engine.broker)
    return CheckpointStory(
        stopped_with=stopped_with,
        before_any_mail=before_any_mail,
        old_mail=old_mail,
        after_old_mail={topic: mark for topic, mark in after_old_mail.items() if mark},
        begun_at={_topic(r.partition): r.high_watermark for r in process.replicas},
        at_the_end=_checkpoint(engine),
    )


def _written(topic: str) -> DurableReplica:
    epoch, count = LeaderEpoch(FIRST_LEADER_EPOCHS[topic] + 1), RECORDS[topic]
    return DurableReplica(f"{topic}-0", append(Log(), epoch, count), Offset(count))


def _lead(engine: AcceptingEngine, life: int, epoch: GivenEpoch, *topics: str) -> int:
    """The code of its answer to a LeaderAndIsr; `life` makes its leader epochs higher."""
    asked = [
        ControlQuestion(
            "LeaderAndIsr",
            (FIRST_LEADER_EPOCHS[topic] + life,),
            broker_epoch=epoch,
            isr=BOTH,
            replicas=BOTH,
        )
        for topic in topics
    ]
    return engine.tell(asked, topics).error.value


def _checkpoint(engine: AcceptingEngine) -> dict[str, int]:
    """After a round of the task that writes it, if it runs."""
    engine.broker, _, _ = checkpoint(engine.broker)
    return {_topic(r.partition): int(r.checkpoint) for r in engine.broker.durable.replicas}


def _topic(partition: str) -> str:
    return partition.rpartition("-")[0]
