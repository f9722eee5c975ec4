"""Log directories: in which of its broker's directories a replica is (KIP-858).

The input is a broker's report that replicas of it are in these directories. The whole request is
refused to a sender with another broker epoch than it is registered with. Each replica is judged on
its own, against the state before the request: its partition has to be known, and the sender one of
the replicas. Then the builder of `partition_change.py` writes the directory, if the metadata has
another one, and elects as for any change. A replica in a directory that its broker has not
registered leaves the ISR as if its broker had been fenced. The output is the records, the new
metadata for every broker, and one answer; without a change the controller stays the same object.

What of KIP-858 is not here: a heartbeat that names directories that have failed, and the choice of
a directory for a new replica.
"""

from functools import partial

from ..errors import KafkaError
from ..facts import Fact, Refused
from ..features import Features, with_elr
from ..ids import CONTROLLER
from ..messages import (
    AssignedReplica,
    AssignReplicasToDirsRequest,
    AssignReplicasToDirsResponse,
    Send,
)
from ..registrations import PartitionRegistration, partition, registration, topic_of
from .controller_state import Controller, effective_min_isr, may_lead, stale_sender
from .fencing import changes
from .partition_change import Code, Targets, build
from .records import PartitionChangeRecord
from .replay import ControllerEffect, commit


def assign_replicas(
    controller: Controller, request: AssignReplicasToDirsRequest, features: Features
) -> ControllerEffect:
    """Note the log directory of each replica.

    Source: ReplicationControlManager.handleAssignReplicasToDirs (3.7.0, 4.1.2, 4.3.1).
    """
    stale = stale_sender(controller, request, None, checked=True)
    if stale is not None:
        reply = AssignReplicasToDirsResponse(error=stale.error)
        return controller, (Send(request.broker, reply),), (stale,)
    records: list[PartitionChangeRecord] = []
    offline: list[PartitionRegistration] = []
    results: list[tuple[str, KafkaError]] = []
    for item in request.items:
        held = partition(controller.partitions, item.partition)
        error = _error(controller, item.partition, request)
        results.append((item.partition, error))
        if held is None or error is not KafkaError.NONE:
            continue
        record = _assigned(controller, held, request, item, features)
        records += [] if record is None else [record]
        registered = registration(controller.registrations, request.broker)
        offline += [] if registered and item.directory in registered.log_dirs else [held]
    # Their ISR is that of before the request: Kafka has not replayed the records yet either.
    records += changes(controller, offline, features, removed=request.broker)
    refused: list[Fact] = [
        Refused(CONTROLLER, "assign-replicas-to-dirs", error, None, partition=name)
        for name, error in results
        if error is not KafkaError.NONE
    ]
    controller, sends, facts = commit(controller, records, features)
    reply = AssignReplicasToDirsResponse(results=tuple(results))
    return controller, (*sends, Send(request.broker, reply)), (*refused, *facts)


def _error(controller: Controller, name: str, request: AssignReplicasToDirsRequest) -> KafkaError:
    held = partition(controller.partitions, name)
    if held is not None:
        is_replica = request.broker in held.replicas
        return KafkaError.NONE if is_replica else KafkaError.NOT_LEADER_OR_FOLLOWER
    topics = {topic_of(p.name) for p in controller.partitions}
    is_known = topic_of(name) in topics
    return KafkaError.UNKNOWN_TOPIC_OR_PARTITION if is_known else KafkaError.UNKNOWN_TOPIC_ID


def _assigned(
    controller: Controller,
    held: PartitionRegistration,
    request: AssignReplicasToDirsRequest,
    item: AssignedReplica,
    features: Features,
) -> PartitionChangeRecord | None:
    # PR-20716, "move the ELR enabled check": before, the builder was not told that the cluster has
    # eligible leader replicas, and wrote that there are none, as in a cluster without them.
    keeps_elr = "pr-20716.dirs-keep-elr" in features.active(CONTROLLER)
    code = Code.of(features if keeps_elr else with_elr(features, 0))
    targets = Targets(
        min_isr=effective_min_isr(controller, held),
        directories=((request.broker, item.directory),),
    )
    return build(held, targets, partial(may_lead, controller, code.active, held), code)
