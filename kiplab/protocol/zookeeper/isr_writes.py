"""ISR writes of leaders to ZooKeeper, without a controller, up to inter-broker protocol 2.7-IV1.

The input is a leader's wanted ISR, the version of the state that it has read, and the epoch of the
controller that made it leader. ZooKeeper writes if that version still holds. Otherwise the leader
checks whether the very same state is there, as after a lost answer. Nothing checks whether that
controller is still active, nor whether the writer still leads. An answer is judged by whether it
belongs to the pending proposal. A refused leader of 2.6 and older keeps its ISR; one of 2.7 and
later waits for a LeaderAndIsr. Now and then the leader announces its writes, for the controller to
read. The output is ZooKeeper or the broker, answers, watches, and facts.
"""

from msgspec.structs import replace

from ..errors import KafkaError
from ..facts import Fact, IsrChanged
from ..features import Features
from ..ids import ZOOKEEPER, PartitionEpoch, SessionId, Zxid, broker_list
from ..messages import (
    AlterPartitionResult,
    Send,
    SetPartitionStateRequest,
    SetPartitionStateResponse,
)
from ..registrations import LeaderRecoveryState
from ..replica import broker_parts, isr_proposals
from ..replica.broker_state import Broker, Replica, log_of, replica_of
from ..replica.remote_replicas import move_high_watermark
from ..zookeeper_facts import ZnodeChanged
from . import znodes
from .ensemble import Ensemble, find
from .ensemble_writes import Create, SetData, Together, ZooKeeperError, transact

ANNOUNCE_ISR_MS = 2_500
"""The period of a broker's check for ISR changes to announce."""


EnsembleEffect = tuple[Ensemble, tuple[Send, ...], tuple[Fact, ...]]
"""ZooKeeper after a leader's write; its answer, and behind it the watches that went off; facts."""


def set_partition_state(ensemble: Ensemble, request: SetPartitionStateRequest) -> EnsembleEffect:
    """Write the state if it still has the version that the leader has read.

    Source: ReplicationUtils.updateLeaderAndIsr and checkLeaderAndIsrZkData,
    KafkaZkClient.conditionalUpdatePath (2.2.2, 2.8.2, 3.4.1).
    """
    item, path = request.item, znodes.partition_state_path(request.item.partition)
    before = find(ensemble, path)
    znode = _wanted(request)
    # A number that no session has if that of the process is over.
    sessions = (s.id for s in ensemble.sessions if s.owner == request.broker)
    session = next(sessions, SessionId(-1))
    done = transact(ensemble, session, (SetData(path, znode, item.partition_epoch),))
    if done.error is ZooKeeperError.NONE:
        after = find(done.ensemble, path)
        assert after is not None
        reply = _answer(request, KafkaError.NONE, after.stat.version)
        facts = _changed(before, after, znode, done.ensemble.zxid)
        return done.ensemble, (reply, *done.fired), facts
    if done.error is ZooKeeperError.BADVERSION and before is not None and before.data == znode:
        # An earlier copy of the request has written it, and its answer was lost.
        return done.ensemble, (_answer(request, KafkaError.NONE, before.stat.version),), ()
    return done.ensemble, (_answer(request, KafkaError.INVALID_UPDATE_VERSION),), ()


def _wanted(request: SetPartitionStateRequest) -> znodes.PartitionStateZnode:
    item = request.item
    return znodes.PartitionStateZnode(
        partition=item.partition,
        leader=request.broker,
        leader_epoch=item.leader_epoch,
        controller_epoch=request.controller_epoch,
        isr=item.members,
        recovery=LeaderRecoveryState(item.recovery),
    )


def _answer(
    request: SetPartitionStateRequest, error: KafkaError, version: PartitionEpoch | None = None
) -> Send:
    item = request.item
    reply = SetPartitionStateResponse(
        partition=item.partition,
        error=error,
        partition_epoch=item.partition_epoch if version is None else version,
    )
    return Send(request.broker, reply)


def _changed(
    before: znodes.Znode | None, after: znodes.Znode, znode: znodes.PartitionStateZnode, zxid: Zxid
) -> tuple[Fact, ...]:
    leader = f"leader {znode.leader} ISR {broker_list(znode.isr)}"
    text = f"{leader} (leader epoch {znode.leader_epoch}), version {after.stat.version}"
    wrote = ZnodeChanged(ZOOKEEPER, after.path, zxid, text)
    old = before.data if before is not None else None
    if not isinstance(old, znodes.PartitionStateZnode) or old.isr == znode.isr:
        return (wrote,)
    changed = IsrChanged(znode.partition, old.isr, znode.isr, after.stat.version)
    return wrote, changed


# --- the leader ----------------------------------------------------------------------------------


def written(
    broker: Broker,
    response: SetPartitionStateResponse,
    request: SetPartitionStateRequest,
    features: Features,
    now_ms: int | None,
) -> broker_parts.BrokerEffect:
    """The thread that wrote goes on: with the new ISR, or with the one that it had.

    Source: Partition.updateIsr (2.2.2), Partition.handleAlterIsrResponse (2.8.2), in 3.4.1
    handleAlterPartitionUpdate and handleAlterPartitionError.
    """
    replica = replica_of(broker, response.partition)
    if replica is None or not _is_pending(replica, request):
        return broker, (), ()
    here = broker_parts.here(broker, features, now_ms)
    mine = log_of(broker, replica.partition)
    if response.error is KafkaError.NONE:
        result = _result(replica, response, request)
        replica, facts = isr_proposals.decided(here, replica, mine, result)
        broker = broker_parts.with_replica(broker, replica)
        changes = {*broker_parts.process_of(broker).isr_changes, replica.partition}
        return broker_parts.with_process(broker, isr_changes=tuple(sorted(changes))), (), facts
    if here.code >= (2, 8):
        return broker, (), isr_proposals.stuck(broker.id, replica, response.error)
    # Cached zkVersion not equal to that in ZooKeeper: the ISR stays, until somebody says more.
    replica, reverted = isr_proposals.reverted(broker.id, replica, response.error)
    replica, moved = move_high_watermark(here, replica, mine)
    return broker_parts.with_replica(broker, replica), (), (*reverted, *moved)


def _is_pending(replica: Replica, request: SetPartitionStateRequest) -> bool:
    sent = replica.leading.isr_state.sent if replica.leading is not None else None
    if sent is None:
        return False
    # A leader that does not look at versions has said so in its request.
    version = request.item.partition_epoch
    return replace(sent, partition_epoch=version) == request.item


def _result(
    replica: Replica, response: SetPartitionStateResponse, request: SetPartitionStateRequest
) -> AlterPartitionResult:
    return AlterPartitionResult(
        partition=replica.partition,
        leader=replica.leader,
        leader_epoch=request.item.leader_epoch,
        isr=request.item.members,
        partition_epoch=response.partition_epoch,
        recovery=request.item.recovery,
    )


def announce_isr(broker: Broker, ensemble: Ensemble) -> Together[Broker]:
    """Tell the controller, by a znode, whose ISR was written; with nothing to tell, nothing.

    Kafka waits until there was no change for 5 s, or 60 s at most.

    Source: ReplicaManager.maybePropagateIsrChanges (2.2.2), ZkIsrManager (2.8.2), in 3.4.1
    ZkAlterPartitionManager; KafkaZkClient.propagateIsrChanges (2.2.2).
    """
    process = broker_parts.process_of(broker)
    if not process.isr_changes or process.session is None:
        return Together(broker, ensemble)
    operation = Create(
        znodes.ISR_CHANGE_PREFIX, znodes.IsrChangeZnode(process.isr_changes), sequential=True
    )
    done = transact(ensemble, process.session, (operation,))
    if done.error is not ZooKeeperError.NONE:
        return Together(broker, done.ensemble)
    path = str(done.results[0])
    text = f"the ISR of {', '.join(process.isr_changes)} was written"
    fact = ZnodeChanged(ZOOKEEPER, path, done.ensemble.zxid, text)
    announced = broker_parts.with_process(broker, isr_changes=())
    return Together(announced, done.ensemble, fired=done.fired, facts=(fact,))
