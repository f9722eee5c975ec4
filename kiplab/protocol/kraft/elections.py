"""ElectLeaders: the elections an operator asks for.

In comes a request for some partitions, or for all of them, to have the preferred replica lead, or a
replica outside the ISR if nobody leads. Each partition is judged on its own, against the state
before the request: unknown; no election needed (the preferred replica leads, or somebody does);
nobody to elect. Otherwise the builder of `partition_change.py` has found a leader. Out go the
records of all elections, the new metadata for every broker, one answer to the client (without the
partitions that needed nothing, if all were asked for), and a Refused fact for each error in it.
Where no election is held the controller stays the same object. No guard is asked for here by name:
who may lead is `controller_state.is_active`.
"""

from __future__ import annotations

from ..errors import KafkaError
from ..facts import Fact, Refused
from ..features import Features
from ..ids import CLIENT, CONTROLLER, NO_LEADER, BrokerId
from ..messages import ElectLeadersRequest, ElectLeadersResponse, Send
from ..registrations import partition, registration
from .controller_state import Controller, is_active
from .partition_change import Code, Election, Targets, build
from .records import PartitionChangeRecord
from .replay import ControllerEffect, commit


def elect_leaders(
    controller: Controller, request: ElectLeadersRequest, features: Features
) -> ControllerEffect:
    """Judge each partition on its own, in the order asked for, against the state before them all.

    None asks for every partition, and what needs no election is then left out of the answer; an
    empty list asks for none.

    Source: ReplicationControlManager.electLeaders and electLeader (3.2.0 to 3.9.0-rc3); KIP-460.
    """
    names = request.partitions
    if names is None:
        names = tuple(p.name for p in controller.partitions)
    records: list[PartitionChangeRecord] = []
    results: list[tuple[str, KafkaError]] = []
    for name in names:
        error, record = elect_leader(controller, name, request.unclean, features)
        records += [record] if record else []
        if request.partitions is not None or error is not KafkaError.ELECTION_NOT_NEEDED:
            results.append((name, error))
    refused: list[Fact] = [
        Refused(node=CONTROLLER, request="elect-leaders", error=e, guard=None, partition=name)
        for name, e in results
        if e is not KafkaError.NONE
    ]
    controller, sends, facts = commit(controller, records, features)
    reply = ElectLeadersResponse(results=tuple(results))
    return controller, (*sends, Send(CLIENT, reply)), (*refused, *facts)


def elect_leader(
    controller: Controller, name: str, unclean: bool, features: Features
) -> tuple[KafkaError, PartitionChangeRecord | None]:
    """The record that gives one partition a leader, or the error that says why there is none.

    Source: ReplicationControlManager.electLeader (3.2.0 to 3.9.0-rc3).
    """
    held = partition(controller.partitions, name)
    if held is None:
        return KafkaError.UNKNOWN_TOPIC_OR_PARTITION, None
    needed = held.leader == NO_LEADER if unclean else held.leader != held.replicas[0]
    if not needed:
        return KafkaError.ELECTION_NOT_NEEDED, None
    active = features.active(CONTROLLER)
    code = Code(features.code_of(CONTROLLER), features.metadata_version, active)

    def acceptable(broker: BrokerId) -> bool:
        return is_active(registration(controller.registrations, broker), active)

    election = Election.UNCLEAN if unclean else Election.PREFERRED
    record = build(held, Targets(), acceptable, code, election)
    if record is not None:
        return KafkaError.NONE, record
    if unclean:
        return KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE, None
    return KafkaError.PREFERRED_LEADER_NOT_AVAILABLE, None
