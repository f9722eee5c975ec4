"""Reassignments as an operator asks a controller for them: begun, retargeted, cancelled.

The engine has no such request; it has the rule that every change of a partition goes through. What
a controller asks of that rule is written down here, for the judge alone.
"""

from kiplab.protocol import errors, registrations
from kiplab.protocol.features import Features
from kiplab.protocol.ids import CONTROLLER, BrokerId
from kiplab.protocol.kraft.controller_state import Controller, is_active
from kiplab.protocol.kraft.partition_change import Code, Election, Targets, build, ordinary
from kiplab.protocol.kraft.records import PartitionChangeRecord


class RefusedReassignmentError(Exception):
    """The controller refuses; the message is the name of the error."""


def reassign(
    controller: Controller, name: str, replicas: tuple[BrokerId, ...] | None, features: Features
) -> PartitionChangeRecord | None:
    """The record of a request to move a partition to `replicas`, or with None to cancel that.

    None where there is nothing to write. Raises RefusedReassignmentError.

    Source: ReplicationControlManager.alterPartitionReassignment (3.5.2, 4.3.1).
    """
    held = registrations.partition(controller.partitions, name)
    if held is None:
        raise RefusedReassignmentError(errors.KafkaError.UNKNOWN_TOPIC_OR_PARTITION.name)
    active = features.active(CONTROLLER)
    code = Code(features.code_of(CONTROLLER), features.metadata_version, active)
    election, targets = Election.ONLINE, Targets()
    if replicas is None:
        election = ordinary(held, code)
        targets = _cancelled(held, election)
    else:
        _check(controller, replicas)
        targets = _moved(held, replicas)

    def acceptable(broker: BrokerId) -> bool:
        return is_active(registrations.registration(controller.registrations, broker), active)

    return build(held, targets, acceptable, code, election)


def _check(controller: Controller, replicas: tuple[BrokerId, ...]) -> None:
    """Source: ReplicationControlManager.validateManualPartitionAssignment (3.5.2)."""
    registered = {known.broker for known in controller.registrations}
    if not replicas or len(set(replicas)) < len(replicas) or not set(replicas) <= registered:
        raise RefusedReassignmentError("INVALID_REPLICA_ASSIGNMENT")


def _moved(held: registrations.PartitionRegistration, replicas: tuple[BrokerId, ...]) -> Targets:
    """An empty list of brokers is not set, so that what an earlier request wanted stays.

    Source: ReplicationControlManager.changePartitionReassignment and
    PartitionReassignmentReplicas (3.5.2, 4.3.1).
    """
    removing = tuple(sorted(set(held.replicas) - set(replicas)))
    adding = tuple(sorted(set(replicas) - set(held.replicas)))
    return Targets(
        replicas=(*replicas, *removing), adding=adding or None, removing=removing or None
    )


def _cancelled(held: registrations.PartitionRegistration, election: Election) -> Targets:
    """Source: ReplicationControlManager.cancelPartitionReassignment and
    PartitionReassignmentRevert (3.5.2, 4.3.1).
    """
    if not held.adding and not held.removing:
        raise RefusedReassignmentError("NO_REASSIGNMENT_IN_PROGRESS")
    replicas = tuple(broker for broker in held.replicas if broker not in held.adding)
    isr = tuple(broker for broker in held.isr if broker not in held.adding)
    if not replicas or (not isr and election is not Election.UNCLEAN):
        raise RefusedReassignmentError("INVALID_REPLICA_ASSIGNMENT")
    return Targets(isr=isr or replicas[:1], replicas=replicas, adding=(), removing=())
