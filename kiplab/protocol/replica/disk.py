"""The disk of a process: what a stop or a crash leaves, and what the next process reads.

The input is a start, a round of the process or of the operating system, a stop, a crash with its
loss, or a log directory that is removed. Flushing and the checkpoint of high watermarks write
independently, so a power loss may leave either without the other. A clean stop does both, notes the
broker epoch and ends the process. A crash loses nothing, the unflushed tail (and the checkpoint
above it), or the disk. A start reads what is left, without an epoch that was noted and had no
record yet. Nothing is judged here and nothing is sent. The output is the broker, the same object
where the disk did not change, and facts: stopped, crashed, records destroyed.
"""

from collections.abc import Callable

from msgspec.structs import replace

from .. import log
from ..facts import Destroyed, Fact, LifecycleChanged
from ..ids import Count, Offset
from ..zookeeper_facts import CheckpointLost
from . import broker_parts
from .broker_state import Broker, Durable, DurableReplica, Loss


def load(broker: Broker) -> Broker:
    """Load logs as a process starts. Source: LogManager.startup, LogLoader.load (3.5.0)."""
    return _with_logs(broker, lambda mine: log.truncate(mine, mine.end))


def flush(broker: Broker) -> broker_parts.BrokerEffect:
    """The operating system writes the page cache to disk.

    Source: UnifiedLog.flush (3.5.0) at a clean stop; else it stands for the page cache's writeback.
    """
    return _with_logs(broker, log.flush), (), ()


def checkpoint(broker: Broker) -> broker_parts.BrokerEffect:
    """The process writes its high watermarks to disk, if it has begun to.

    In KRaft it begins with all its replicas, in ZooKeeper's time with the first LeaderAndIsr.

    Source: ReplicaManager.startHighWatermarkCheckPointThread (2.2.2, 3.5.0).
    """
    if not broker_parts.process_of(broker).checkpoints:
        return broker, (), ()
    return _write_high_watermarks(broker)


def _write_high_watermarks(broker: Broker) -> broker_parts.BrokerEffect:
    """The file is written anew, with the partitions that the process knows and no others.

    In KRaft it knows all it has from the start. Where it knows of none, no file is written.

    Source: ReplicaManager.checkpointHighWatermarks (2.2.2, 3.5.0).
    """
    process = broker_parts.process_of(broker)
    marks = {r.partition: r.high_watermark for r in process.replicas}
    lost: tuple[Fact, ...] = ()
    if process.session is not None and marks:
        lost = _lost(broker, marks)
        marks = {r.partition: marks.get(r.partition, Offset(0)) for r in broker.durable.replicas}
    written = tuple(
        replace(r, checkpoint=marks[r.partition])
        if marks.get(r.partition, r.checkpoint) != r.checkpoint
        else r
        for r in broker.durable.replicas
    )
    return _with_durable(broker, written), (), lost


def _lost(broker: Broker, marks: dict[str, Offset]) -> tuple[Fact, ...]:
    return tuple(
        CheckpointLost(broker.id, r.partition, r.checkpoint)
        for r in broker.durable.replicas
        if r.partition not in marks and r.checkpoint
    )


def stop_cleanly(broker: Broker, *, notes_epoch: bool = False) -> broker_parts.BrokerEffect:
    """Flush, checkpoint, exit, and write the broker epoch down, where anybody asks for it.

    Source: BrokerServer.shutdown, LogManager.shutdown and ReplicaManager.shutdown (3.5.0);
    CleanShutdownFileHandler.write (4.3.1).
    """
    broker, _, lost = _write_high_watermarks(flush(broker)[0])
    # KIP-966, Proposed Changes, "During the shutdown, write the current broker epoch".
    if notes_epoch:
        epoch = broker_parts.process_of(broker).epoch
        broker = replace(broker, durable=replace(broker.durable, clean_epoch=epoch))
    stopped = LifecycleChanged(broker.id, "STOPPED")
    return replace(broker, process=None), (), (*lost, stopped)


def crash(broker: Broker, loss: Loss) -> broker_parts.BrokerEffect:
    """The process is gone, and with it the records that `loss` names.

    Source: none; it stands for a killed process, a machine without power, a replaced disk.
    """
    facts: list[Fact] = [LifecycleChanged(broker.id, "CRASHED")]
    kept: list[DurableReplica] = []
    for replica in broker.durable.replicas:
        left = _after_loss(replica, loss)
        kept.append(left)
        first, last = left.log.end, Offset(replica.log.end - 1)
        if first <= last:
            facts.append(Destroyed(broker.id, replica.partition, first=first, last=last))
    durable = Durable(tuple(kept), directories=broker.durable.directories)
    return replace(broker, durable=durable, process=None), (), tuple(facts)


def remove_directory(broker: Broker, directory: Count) -> broker_parts.BrokerEffect:
    """A log directory is taken out of the configuration of a broker that is down. The file with the
    broker epoch is in the others, too: the next process has stopped in order all the same.

    Source: LogManager.readBrokerEpochFromCleanShutdownFiles, which asks for the directories that
    are configured; LogManager.nextLogDirs, the one with the fewest logs (4.3.1).
    """
    left = tuple(d for d in broker.durable.directories if d != directory)
    kept = [r for r in broker.durable.replicas if r.directory != directory]
    facts: list[Fact] = []
    for replica in broker.durable.replicas:
        if replica.directory != directory:
            continue
        fewest = min(left, key=[r.directory for r in kept].count)
        kept.append(DurableReplica(replica.partition, directory=fewest))
        if replica.log.end:
            last = Offset(replica.log.end - 1)
            facts.append(Destroyed(broker.id, replica.partition, first=Offset(0), last=last))
    replicas = tuple(sorted(kept, key=lambda r: r.partition))
    durable = replace(broker.durable, replicas=replicas, directories=left)
    return replace(broker, durable=durable), (), tuple(facts)


def _after_loss(replica: DurableReplica, loss: Loss) -> DurableReplica:
    if loss is Loss.NOTHING:
        return replica
    if loss is Loss.DISK:
        return DurableReplica(replica.partition, directory=replica.directory)
    left = log.truncate(replica.log, replica.log.flushed)
    return replace(replica, log=left, checkpoint=Offset(min(replica.checkpoint, left.end)))


def _with_logs(broker: Broker, change: Callable[[log.Log], log.Log]) -> Broker:
    changed = [(replica, change(replica.log)) for replica in broker.durable.replicas]
    replicas = (r if after is r.log else replace(r, log=after) for r, after in changed)
    return _with_durable(broker, tuple(replicas))


def _with_durable(broker: Broker, replicas: tuple[DurableReplica, ...]) -> Broker:
    same = all(a is b for a, b in zip(replicas, broker.durable.replicas, strict=True))
    return broker if same else replace(broker, durable=replace(broker.durable, replicas=replicas))
