"""AlterPartitionManager: one request in flight per broker, one item per partition.

The input is an item that a leader prepared, the answer to a request, or the news that no answer
will come. An item waits until nothing is in flight and a controller is known. Then all waiting
items go out in one request to the controller that the process knows. Its header has the current
broker epoch, while the epochs inside an item stay those of its preparation. An answer is judged in
this order: whether it belongs to the request in flight; whether the request failed as a whole
(kept, and sent again after a pause); then each result. A result goes to its partition only if the
proposal that it answers is still pending there. A partition without a result stays in line. The
output is requests for the controller, and facts of the leader's reaction. A broker with nothing to
send and no decision stays the same object.

The lag check is the round that a broker makes every half replica.lag.time.max.ms.
`isr_proposals.propose_shrink` judges each partition that it leads: a proposal under way blocks it;
else the next ISR is without the lagging members. The output is one AlterPartition request with
every item, if none is in flight, and a fact for each proposal; without a lagging member the broker
stays the same object.

The end of a leader's recovery (KIP-704): the leader is done; that it recovers at all, and has not
announced the end before, was judged already. It aborts the open transaction, and proposes the
current ISR, itself alone, with RECOVERED. It keeps refusing (`recovering.py`) until the answer, or
metadata, says that this is written. If a request of the same partition is still under way, the
AlterPartition manager takes no second one: the leader keeps recovering, and has to announce the end
again. The output is the broker, the request, and facts. Kafka recovers nothing and lacks all this.
"""

from msgspec.structs import replace

from .. import messages
from ..errors import KafkaError
from ..facts import Fact, RecoveryPhase
from ..features import Features
from ..ids import ZOOKEEPER, BrokerId, ControllerEpoch, PartitionEpoch
from ..registrations import LeaderRecoveryState
from . import isr_proposals
from .broker_parts import BrokerEffect, here, process_of, with_process, with_replica
from .broker_state import Broker, Replica, log_of, replica_of
from .produce import abort_what_is_open
from .recovering import recovery_fact

_RECOVERY_STATES = frozenset(LeaderRecoveryState)
RETRY_MS = 50
"""Pause before a request that failed as a whole is rebuilt and resent."""


def submit(broker: Broker, item: messages.AlterPartitionItem, features: Features) -> BrokerEffect:
    """Hand an item over and send it, unless a request is under way.

    An item of the same partition that is still unanswered blocks the new one
    (OPERATION_NOT_ATTEMPTED): the partition goes back to its committed ISR at once, and what the
    unanswered item proposes counts no more either, if metadata has made the leader forget it.

    Source: DefaultAlterPartitionManager.submit (3.3.0, 3.5.2, 3.9.0-rc3 alike; in 3.2.0
    DefaultAlterIsrManager) and Partition.submitAlterPartition and handleAlterPartitionError (the
    same releases); KIP-497.
    """
    if features.leaders_write_isr() and not asks_by_isr_change(broker, features):
        return _written_by_the_leader(broker, item, features)
    items = process_of(broker).items
    if any(i.partition == item.partition for i in items):
        return _withdrawn(broker, item)
    return send_unsent(with_process(broker, items=(*items, item)), features)


def _written_by_the_leader(
    broker: Broker, item: messages.AlterPartitionItem, features: Features
) -> BrokerEffect:
    """Up to inter-broker protocol 2.7-IV1 no controller decides: the leader writes to ZooKeeper.

    Source: Partition.updateIsr (2.2.2); ZkIsrManager.submit (2.8.2), in 3.4.1
    ZkAlterPartitionManager.
    """
    replica = replica_of(broker, item.partition)
    leading = replica.leading if replica is not None else None
    epoch = leading.controller_epoch if leading is not None else None
    # ZooKeeper writes only over the version that the leader has read, here and in every release
    # that wrote: ReplicationUtils.updateLeaderAndIsr (2.1.1, 3.4.1). -1 means over any.
    checks = "zookeeper.isr-version" in features.active(broker.id)
    over = item if checks else replace(item, partition_epoch=PartitionEpoch(-1))
    request = messages.SetPartitionStateRequest(
        broker=broker.id, controller_epoch=epoch or ControllerEpoch(0), item=over
    )
    return broker, (messages.Send(ZOOKEEPER, request),), ()


def send_unsent(broker: Broker, features: Features) -> BrokerEffect:
    """Send every waiting item in one request, unless one is in flight or no controller is known.

    Source: DefaultAlterPartitionManager.maybePropagateIsrChanges and buildRequest (3.5.0).
    """
    process = process_of(broker)
    if process.in_flight or not process.items or process.controller is None:
        return broker, (), ()
    request = _request(broker, process.controller, features)
    sends = (messages.Send(process.controller, request),)
    return with_process(broker, in_flight=process.items), sends, ()


def asks_by_isr_change(broker: Broker, features: Features) -> bool:
    """Whether this process sends IsrChange. Source: none; KIP-343 as it is written."""
    # KIP-343, Initiating ISR Changes: a leader makes an RPC to the controller.
    speaks = process_of(broker).state is not None
    return speaks and "343.isr-change" in features.active(broker.id)


def _request(
    broker: Broker, controller: BrokerId, features: Features
) -> messages.AlterPartitionRequest | messages.IsrChangeRequest:
    process = process_of(broker)
    if asks_by_isr_change(broker, features):
        return messages.IsrChangeRequest(
            broker=broker.id, incarnation_id=process.epoch, items=process.items
        )
    return messages.AlterPartitionRequest(
        version=features.alter_partition_version(broker.id, controller),
        broker=broker.id,
        broker_epoch=process.epoch,
        items=process.items,
    )


def forget(broker: Broker, partition: str, features: Features) -> Broker:
    """Up to 2.8 a LeaderAndIsr takes what is still unanswered of its partition off the manager.

    Source: DefaultAlterIsrManager.clearPending (2.8.2), which later releases have not.
    """
    process = process_of(broker)
    left = tuple(i for i in process.items if i.partition != partition)
    if features.code_of(broker.id) >= (3, 2) or len(left) == len(process.items):
        return broker
    return with_process(broker, items=left)


def give_up_waiting(broker: Broker) -> Broker:
    """The request or its answer is lost: the items are unsent again.

    Source: DefaultAlterPartitionManager.clearInFlightRequest (3.5.0).
    """
    return with_process(broker, in_flight=()) if process_of(broker).in_flight else broker


def retry(broker: Broker, features: Features) -> BrokerEffect:
    """No answer came, or an error for the whole request: send the waiting items again.

    Source: DefaultAlterPartitionManager.sendRequest (3.5.0), the retry it schedules.
    """
    return send_unsent(give_up_waiting(broker), features)


def answered(
    broker: Broker,
    response: messages.AlterPartitionResponse,
    request: messages.AlterPartitionRequest | messages.IsrChangeRequest,
    features: Features,
    now_ms: int | None,
) -> BrokerEffect:
    """Hand every result to its partition; keep and resend what got none.

    Of an IsrChange as well, whose answer `kip343` puts into the terms of this one.

    Source: DefaultAlterPartitionManager.handleAlterPartitionResponse (3.5.0) and, for
    NOT_CONTROLLER, BrokerToControllerRequestThread.handleResponse
    (3.5.0; from 3.7.0 on NodeToControllerRequestThread).
    """
    process = process_of(broker)
    if process.in_flight != request.items:
        # An earlier copy of the request has been answered already.
        return broker, (), ()
    retried = response.error is not KafkaError.NONE or any(
        r.error is KafkaError.NOT_CONTROLLER for r in response.results
    )
    if retried:
        timers = process.timers
        if now_ms is not None:
            timers = replace(timers, retry=now_ms + RETRY_MS)
        return with_process(broker, in_flight=(), timers=timers), (), ()
    results = {r.partition: r for r in response.results}
    left = tuple(i for i in process.items if i.partition not in results)
    broker = with_process(broker, items=left, in_flight=())
    facts: list[Fact] = []
    for item in request.items:
        result = results.get(item.partition)
        if result is not None:
            broker, more_facts = _hand_over(broker, item, result, features, now_ms)
            facts += more_facts
    broker, sends, more = send_unsent(broker, features)
    return broker, sends, (*facts, *more)


def _hand_over(
    broker: Broker,
    item: messages.AlterPartitionItem,
    result: messages.AlterPartitionResult,
    features: Features,
    now_ms: int | None,
) -> tuple[Broker, tuple[Fact, ...]]:
    replica = replica_of(broker, item.partition)
    if replica is None or not _is_pending(replica, item):
        return broker, ()
    place, log = here(broker, features, now_ms), log_of(broker, item.partition)
    if result.error is KafkaError.NONE and result.recovery in _RECOVERY_STATES:
        replica, facts = isr_proposals.decided(place, replica, log, result)
    elif place.code < (3, 2) and not asks_by_isr_change(broker, features):
        # It would hand the proposal over again, is refused by its own manager, and gives up.
        facts = isr_proposals.stuck(broker.id, replica, result.error)
    elif result.error in isr_proposals.REVERTING or result.error in isr_proposals.WAITING:
        replica, facts = isr_proposals.denied(broker.id, replica, result.error)
    else:
        # "Any other" error, and a recovery state that there is not, which counts as
        # UNKNOWN_SERVER_ERROR: the same pending state is submitted again.
        return with_process(broker, items=(*process_of(broker).items, item)), ()
    return with_replica(broker, replica), facts


def _is_pending(replica: Replica, item: messages.AlterPartitionItem) -> bool:
    """An answer counts only while the state that sent the request still stands."""
    return replica.leading is not None and replica.leading.isr_state.sent == item


def _withdrawn(broker: Broker, item: messages.AlterPartitionItem) -> BrokerEffect:
    replica = replica_of(broker, item.partition)
    if replica is None or replica.leading is None:
        return broker, (), ()
    error = KafkaError.OPERATION_NOT_ATTEMPTED
    replica, facts = isr_proposals.denied(broker.id, replica, error)
    return with_replica(broker, replica), (), facts


def check_lag(broker: Broker, features: Features, now_ms: int | None) -> BrokerEffect:
    """Each led partition may shrink its ISR. Source: ReplicaManager.maybeShrinkIsr (3.5.0)."""
    place = here(broker, features, now_ms)
    sends: tuple[messages.Send, ...] = ()
    facts: tuple[Fact, ...] = ()
    for replica in process_of(broker).replicas:
        if replica.leading is None:
            continue
        log = log_of(broker, replica.partition)
        changed, item, more_facts = isr_proposals.propose_shrink(place, replica, log)
        facts = (*facts, *more_facts)
        if item is not None:
            broker, sent, withdrawn = submit(with_replica(broker, changed), item, features)
            sends, facts = (*sends, *sent), (*facts, *withdrawn)
    return broker, sends, facts


def finish_leader_recovery(
    broker: Broker, partition: str, features: Features, now_ms: int | None
) -> BrokerEffect:
    """The leader of `partition`, which recovers, has recovered.

    Source: none; Kafka recovers nothing, and this is KIP-704.
    """
    replica = replica_of(broker, partition)
    assert replica is not None, f"broker {broker.id} has no {partition}"
    place = here(broker, features, now_ms)
    done = recovery_fact(place, replica, RecoveryPhase.DONE)
    broker, _, aborted = abort_what_is_open(broker, partition, features, now_ms)
    replica, item = isr_proposals.propose_recovered(place, replica_of(broker, partition) or replica)
    broker, sends, facts = submit(with_replica(broker, replica), item, features)
    return broker, sends, (*aborted, done, *facts)
