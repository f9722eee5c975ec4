"""What a process leaves on its disk, what a crash takes of it, what the next process finds.

In comes a start, a round of the process or of the operating system, a stop, or a crash with what it
takes. Flushing and the checkpoint of high watermarks write, each on its own, so a power loss may
leave either without the other; a clean stop does both and ends the process; a crash loses nothing,
the unflushed tail (and the checkpoint above it), or the disk. A start finds what is left, without
an epoch that was noted and had no record yet. Nothing is judged here and nothing is sent. Out go
the broker, the same object where the disk is as it was, and facts: stopped, crashed, records
destroyed.
"""

from __future__ import annotations

from msgspec.structs import replace

from .. import log
from ..facts import Destroyed, Fact, LifecycleChanged
from ..ids import Offset
from . import broker_parts
from .broker_state import Broker, Durable, DurableReplica, Loss


def load(broker: Broker) -> Broker:
    """Load the logs as a starting process finds them.

    Source: LogManager.startup and LogLoader.load (3.5.0).
    """
    loaded = tuple(_with_log(r, log.truncate(r.log, r.log.end)) for r in broker.durable.replicas)
    return _with_durable(broker, loaded)


def flush(broker: Broker) -> broker_parts.BrokerEffect:
    """The operating system writes the page cache to disk.

    Source: UnifiedLog.flush (3.5.0) at a clean stop; else it stands for the page cache's writeback.
    """
    flushed = tuple(_with_log(r, log.flush(r.log)) for r in broker.durable.replicas)
    return _with_durable(broker, flushed), (), ()


def checkpoint(broker: Broker) -> broker_parts.BrokerEffect:
    """The process writes its high watermarks to disk.

    Source: ReplicaManager.checkpointHighWatermarks (3.5.0).
    """
    process = broker_parts.process_of(broker)
    marks = {r.partition: r.high_watermark for r in process.replicas}
    written = tuple(
        replace(r, checkpoint=marks.get(r.partition, r.checkpoint))
        if marks.get(r.partition, r.checkpoint) != r.checkpoint
        else r
        for r in broker.durable.replicas
    )
    return _with_durable(broker, written), (), ()


def stop_cleanly(broker: Broker) -> broker_parts.BrokerEffect:
    """Flush, checkpoint, exit.

    Source: BrokerServer.shutdown, LogManager.shutdown and ReplicaManager.shutdown (3.5.0).
    """
    broker = checkpoint(flush(broker)[0])[0]
    return replace(broker, process=None), (), (LifecycleChanged(node=broker.id, state="STOPPED"),)


def crash(broker: Broker, loss: Loss) -> broker_parts.BrokerEffect:
    """The process is gone, and with it whatever `loss` says.

    Source: none; it stands for a killed process, a machine without power, a replaced disk.
    """
    facts: list[Fact] = [LifecycleChanged(node=broker.id, state="CRASHED")]
    kept: list[DurableReplica] = []
    for replica in broker.durable.replicas:
        left = _after_loss(replica, loss)
        kept.append(left)
        if left.log.end < replica.log.end:
            facts.append(
                Destroyed(
                    node=broker.id,
                    partition=replica.partition,
                    first=left.log.end,
                    last=Offset(replica.log.end - 1),
                )
            )
    durable = Durable(tuple(kept))
    return replace(broker, durable=durable, process=None), (), tuple(facts)


def _after_loss(replica: DurableReplica, loss: Loss) -> DurableReplica:
    if loss is Loss.NOTHING:
        return replica
    if loss is Loss.DISK:
        return DurableReplica(replica.partition)
    left = log.truncate(replica.log, replica.log.flushed)
    return replace(replica, log=left, checkpoint=Offset(min(replica.checkpoint, left.end)))


def _with_log(replica: DurableReplica, found: log.Log) -> DurableReplica:
    return replica if found is replica.log else replace(replica, log=found)


def _with_durable(broker: Broker, replicas: tuple[DurableReplica, ...]) -> Broker:
    same = all(a is b for a, b in zip(replicas, broker.durable.replicas, strict=True))
    return broker if same else replace(broker, durable=Durable(replicas))
