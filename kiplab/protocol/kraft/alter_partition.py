"""AlterPartition in the controller: every check in Kafka's order, then the change.

The input is a leader's request: its broker epoch in the header and, for each partition, the leader
epoch and the partition epoch that the change was prepared against, the wanted ISR, the recovery
state. The header is judged first and refuses the request as a whole. Then each partition is judged
on its own, against the state before the request: known at all, epochs not newer than ours, leader
epoch, sender, partition epoch, ISR, recovery state, and last every member of the ISR (registered,
not shutting down, not fenced, broker epoch). The first check that fails names the error.
The output is the records of all accepted changes, the new metadata for every broker, one answer
with a result for each partition, and a Refused fact for each refusal. An invalid byte for the
recovery state is an exception in Kafka: the request fails as a whole and the controller gives up. A
request that is refused in every part, or changes nothing, leaves the controller the same object.
"""

from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from ..errors import KafkaError
from ..facts import Compared, Fact, Refused, compare, differing
from ..features import Features
from ..ids import CONTROLLER, BrokerId, epoch_in_version, is_of_another_incarnation
from ..messages import (
    AlterPartitionItem,
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResult,
    RecoveryOnWire,
    Send,
)
from ..registrations import (
    LeaderRecoveryState,
    PartitionRegistration,
    partition,
    registration,
    topic_of,
)
from .controller_state import Controller, effective_min_isr, may_lead, stale_sender
from .fencing import resign
from .partition_change import Code, Targets, build, ordinary
from .records import PartitionChangeRecord
from .replay import ControllerEffect, commit, merge

KIND = "alter-partition"


class _Case(msgspec.Struct, frozen=True):
    controller: Controller
    request: AlterPartitionRequest
    item: AlterPartitionItem
    held: PartitionRegistration

    @property
    def recovery(self) -> RecoveryOnWire:
        """The recovery state that is asked for; below version 1 the request has none."""
        return self.item.recovery if self.request.version >= 1 else LeaderRecoveryState.RECOVERED


ItemCheck = Callable[[_Case], Compared | None]


def alter_partition(
    controller: Controller, request: AlterPartitionRequest, features: Features, now_ms: int | None
) -> ControllerEffect:
    """Judge every partition against the state before the request, then write all records.

    Source: ReplicationControlManager.alterPartition (3.2.0, 3.5.0, 3.9.0-rc3); KIP-497,
    Proposed Changes.
    """
    if not request.items:
        # QuorumController.alterPartition (3.2.0 to 3.9.0-rc3) asks nothing of such a sender.
        nothing = AlterPartitionResponse(version=request.version)
        return controller, (Send(request.broker, nothing),), ()
    # KIP-497, AlterIsrRequest (BrokerEpoch): it names the sender and its broker epoch, so that
    # nothing sent by an earlier incarnation of that broker is obeyed
    # (ClusterControlManager.checkBrokerEpoch, 3.2.0 to 3.9.0-rc3).
    guard = "497.request-broker-epoch"
    checked = guard in features.active(CONTROLLER)
    refused = stale_sender(controller, request, guard, checked=checked)
    if refused is not None:
        reply = AlterPartitionResponse(version=request.version, error=refused.error)
        return controller, (Send(request.broker, reply),), (refused,)
    records: list[PartitionChangeRecord] = []
    results: list[AlterPartitionResult] = []
    facts: list[Fact] = []
    for item in request.items:
        record, result, refusal = _judge(controller, request, item, features)
        if refusal is not None and refusal.error is KafkaError.UNKNOWN_SERVER_ERROR:
            # An exception that is no Kafka error (LeaderRecoveryState.of throws it): no partition
            # is answered, none changes, and the controller gives up its epoch
            # (QuorumController.handleEventException and renounce, 3.2.0, 3.5.0, 3.9.0-rc3).
            exception = "IllegalArgumentException"
            following, _, resigned = resign(controller, KIND, exception, features, now_ms)
            reply = AlterPartitionResponse(version=request.version, error=refusal.error)
            return following, (Send(request.broker, reply),), (refusal, *resigned)
        records += [record] if record else []
        facts += [refusal] if refusal else []
        results.append(result)
    controller, sends, written = commit(controller, records, features)
    reply = AlterPartitionResponse(version=request.version, results=tuple(results))
    return controller, (*sends, Send(request.broker, reply)), (*facts, *written)


def _judge(
    controller: Controller,
    request: AlterPartitionRequest,
    item: AlterPartitionItem,
    features: Features,
) -> tuple[PartitionChangeRecord | None, AlterPartitionResult, Refused | None]:
    registration = partition(controller.partitions, item.partition)
    if registration is None:
        error = _unknown(controller, request, item.partition)
        refused = Refused(CONTROLLER, KIND, error, None, partition=item.partition)
        return None, AlterPartitionResult(item.partition, error), refused
    active = features.active(CONTROLLER)
    # KIP-704, Rejected Alternatives, Recovering Election Boolean: a boolean is a byte on the wire
    # as well, of which any but 0 reads as true; so no byte is left that means nothing.
    if "704.election-boolean" in active:
        boolean = LeaderRecoveryState(item.recovery != 0)
        item = msgspec.structs.replace(item, recovery=boolean)
    case = _Case(controller, request, item, registration)
    refusal = _first_refusal(case, active)
    if refusal is not None:
        return None, AlterPartitionResult(item.partition, refusal.error), refusal
    return _accept(case, features)


def _first_refusal(case: _Case, active: frozenset[str]) -> Refused | None:
    for guard, check, error in CHECKS:
        if guard is not None and guard not in active:
            continue
        compared = check(case)
        if compared is not None:
            return _refused(case, guard, error, compared)
    return _first_ineligible(case, active)


def _first_ineligible(case: _Case, active: frozenset[str]) -> Refused | None:
    """Every member is judged, the leader and unchanged members too."""
    for member in case.item.isr:
        registered = registration(case.controller.registrations, member.broker)
        name = f"broker {member.broker}"
        if registered is None:
            # KIP-841, Proposed Changes: the controller no longer takes the leader's word for who is
            # eligible. That a broker nobody registered is not, only the code says
            # (ReplicationControlManager.ineligibleReplicasForIsr, 3.3.0).
            if "841.registered" in active:
                return _ineligible(case, "841.registered", compare(name, "member", "unknown"))
            continue
        # KIP-841, AlterPartition RPC: a member that is shutting down gets the partition refused.
        if registered.in_controlled_shutdown and "841.shutting-down" in active:
            return _ineligible(case, "841.shutting-down", compare(name, "member", "shutting down"))
        # KIP-841, Proposed Changes: the leader's metadata may be late, and a broker fenced since
        # then must not come back by its request.
        if registered.fenced and "841.fenced" in active:
            return _ineligible(case, "841.fenced", compare(name, "member", "fenced"))
        # Below version 3 there is none, and it reads as -1 (AlterPartitionRequest.json, 3.5.0).
        epoch = epoch_in_version(case.request.version, 3, member.epoch)
        # KIP-903, Proposed Design, The new behaviors, 3 (Controller): every epoch in the ISR is the
        # one registered last; -1, where the check is not supported (AlterPartition RPC, Request,
        # NewIsrWithEpochs), passes.
        if is_of_another_incarnation(epoch, registered.epoch) and "903.controller-epoch" in active:
            compared = compare(f"{name} epoch", epoch, registered.epoch)
            return _ineligible(case, "903.controller-epoch", compared)
    return None


def _accept(
    case: _Case, features: Features
) -> tuple[PartitionChangeRecord | None, AlterPartitionResult, Refused | None]:
    code = Code.of(features)
    targets = Targets(
        isr=case.item.members,
        recovery=LeaderRecoveryState(case.recovery),
        min_isr=effective_min_isr(case.controller, case.held),
    )
    acceptable = partial(may_lead, case.controller, code.active, case.held)
    record = build(case.held, targets, acceptable, code, ordinary(case.held, code))
    after = case.held if record is None else merge(case.held, record)
    if record is not None and record.leader not in (None, case.request.broker):
        # A reassignment that completes may take the leadership from the sender: the record stands.
        newer = case.request.version >= 2
        error = KafkaError.NEW_LEADER_ELECTED if newer else KafkaError.FENCED_LEADER_EPOCH
        refused = Refused(CONTROLLER, KIND, error, None, partition=case.item.partition)
        return record, AlterPartitionResult(case.item.partition, error), refused
    if case.request.version < 1:
        # No recovery state is on the wire: the reader of the answer takes the default.
        after = msgspec.structs.replace(after, recovery=LeaderRecoveryState.RECOVERED)
    return record, AlterPartitionResult.granted(after), None


def _unknown(controller: Controller, request: AlterPartitionRequest, name: str) -> KafkaError:
    topic = topic_of(name)
    # "orders--1" is index -1 of topic orders, if there is that topic.
    wanted = {topic, topic.removesuffix("-")}
    topic_exists = any(topic_of(p.name) in wanted for p in controller.partitions)
    if topic_exists or request.version < 2:
        return KafkaError.UNKNOWN_TOPIC_OR_PARTITION
    return KafkaError.UNKNOWN_TOPIC_ID


def _newer_epoch(case: _Case) -> Compared | None:
    # KAFKA-14154, "Return NOT_CONTROLLER from AlterPartition if leader is ahead of controller": the
    # leader has read more of the metadata log than we, so somebody else is the controller now.
    item, registration = case.item, case.held
    if item.leader_epoch > registration.leader_epoch:
        return compare("leader epoch", item.leader_epoch, registration.leader_epoch)
    if item.partition_epoch > registration.partition_epoch:
        return compare("partition epoch", item.partition_epoch, registration.partition_epoch)
    return None


def _leader_epoch(case: _Case) -> Compared | None:
    # KIP-497, AlterIsrResponse (FENCED_LEADER_EPOCH): another leader was elected since, and the
    # sender shall not retry. Before 3.3 this also answers epochs that are too new; from 3.3 on
    # those never get here.
    return differing("leader epoch", case.item.leader_epoch, case.held.leader_epoch)


def _sender_is_leader(case: _Case) -> Compared | None:
    # KIP-497, Motivation: leaders ask for changes of the ISR that they lead, nobody else does
    # (ReplicationControlManager.validateAlterPartitionData, 3.2.0 to 3.9.0-rc3, answers so).
    if case.request.broker == case.held.leader:
        return None
    return compare("sender", f"broker {case.request.broker}", f"leader {case.held.leader}")


def _partition_epoch(case: _Case) -> Compared | None:
    # KIP-497, AlterIsrResponse (INVALID_ISR_VERSION, renamed since): what ZooKeeper did with the
    # version of the state's znode. Whoever decided on an older state has not seen a change yet.
    return differing("partition epoch", case.item.partition_epoch, case.held.partition_epoch)


def _isr_of_replicas(case: _Case) -> Compared | None:
    # KIP-497, AlterIsrResponse (INVALID_REQUEST): brokers that are no replicas make the request
    # inconsistent in itself.
    members = case.item.members
    proper = len(set(members)) == len(members) and set(members) <= set(case.held.replicas)
    return None if proper else compare("ISR", _listed(members), _listed(case.held.replicas))


def _leader_in_isr(case: _Case) -> Compared | None:
    # KIP-497, AlterIsrResponse (INVALID_REQUEST): an ISR without its leader is inconsistent too.
    if case.request.broker in case.item.members:
        return None
    return compare("ISR", _listed(case.item.members), f"leader {case.request.broker}")


_RECOVERY_STATES = tuple(int(state) for state in LeaderRecoveryState)


def _known_recovery_state(case: _Case) -> Compared | None:
    # No rule of a KIP: the byte becomes an enum only here, after the ISR has been judged.
    if case.recovery in _RECOVERY_STATES:
        return None
    return compare("recovery state", case.recovery, " or ".join(map(str, _RECOVERY_STATES)))


def _recovering_alone(case: _Case) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 1: no replica joins before the leader is done.
    if case.recovery != LeaderRecoveryState.RECOVERING or len(case.item.isr) <= 1:
        return None
    return compare("ISR while RECOVERING", _listed(case.item.members), "one member")


def _no_way_back(case: _Case) -> Compared | None:
    # KIP-704, AlterPartition RPC, Request Handling, 2: a leader ends a recovery and begins none.
    recovered = case.held.recovery is LeaderRecoveryState.RECOVERED
    if recovered and case.recovery == LeaderRecoveryState.RECOVERING:
        return compare("recovery state", "RECOVERING", "RECOVERED")
    return None


_E = KafkaError
# Source: ReplicationControlManager.validateAlterPartitionData (3.5.0), in its order.
CHECKS: tuple[tuple[str | None, ItemCheck, KafkaError], ...] = (
    ("kafka-14154.newer-epoch", _newer_epoch, _E.NOT_CONTROLLER),
    ("497.leader-epoch", _leader_epoch, _E.FENCED_LEADER_EPOCH),
    ("497.sender-is-leader", _sender_is_leader, _E.INVALID_REQUEST),
    ("497.partition-epoch", _partition_epoch, _E.INVALID_UPDATE_VERSION),
    ("497.isr-of-replicas", _isr_of_replicas, _E.INVALID_REQUEST),
    ("497.leader-in-isr", _leader_in_isr, _E.INVALID_REQUEST),
    (None, _known_recovery_state, _E.UNKNOWN_SERVER_ERROR),
    ("704.recovering-alone", _recovering_alone, _E.INVALID_REQUEST),
    ("704.no-way-back", _no_way_back, _E.INVALID_REQUEST),
)


def _ineligible(case: _Case, guard: str, compared: Compared) -> Refused:
    # INELIGIBLE_REPLICA came with version 2; older leaders get a code that they know.
    newer = case.request.version >= 2
    error = KafkaError.INELIGIBLE_REPLICA if newer else KafkaError.OPERATION_NOT_ATTEMPTED
    return _refused(case, guard, error, compared)


def _refused(case: _Case, guard: str | None, error: KafkaError, compared: Compared) -> Refused:
    return Refused(CONTROLLER, KIND, error, guard, (compared,), case.item.partition)


def _listed(members: Iterable[BrokerId]) -> str:
    return "[" + ",".join(str(m) for m in members) + "]"
