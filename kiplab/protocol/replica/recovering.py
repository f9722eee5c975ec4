"""A leader that recovers from an unclean election: its refusals meanwhile, and its end.

The input is metadata that makes this broker lead, or a request while it leads. No release of Kafka
recovers anything: makeLeader takes every partition for RECOVERED, and the controller keeps
RECOVERING until the leader next changes the ISR, for any reason. Under KIP-704 the leader keeps the
state in its metadata, refuses clients and followers, and has to announce the end
(`finish_leader_recovery`). The recovery is over when the controller has written RECOVERED, not
before: later acknowledged records are lost by no election but an unclean one. Only the state and
the guard are judged. The output is the state to keep, refusals, and facts; no replica changes here.
"""

from ..errors import KafkaError
from ..facts import Compared, LeaderRecovery, RecoveryPhase, Refused
from ..registrations import LeaderRecoveryState, PartitionRegistration, partition
from .broker_parts import Here, process_of
from .broker_state import Broker, Replica

_RECOVERED, _RECOVERING = LeaderRecoveryState.RECOVERED, LeaderRecoveryState.RECOVERING


def recovery_at_leader(here: Here, state: PartitionRegistration) -> LeaderRecoveryState:
    """The recovery state of a leader with this state in its metadata, at any metadata version.

    Source: Partition.makeLeader (3.2.0, 3.5.0, 3.9.0-rc3), which installs RECOVERED; KIP-704.
    """
    # KIP-704, Proposed Changes: told RECOVERING, the leader performs what recovery there is to do,
    # and changes the state only then.
    return state.recovery if "704.leader-recovers" in here.active else _RECOVERED


def is_recovering(replica: Replica) -> bool:
    """Whether this broker leads and recovers. Source: none; no release of Kafka recovers."""
    leading = replica.leading
    return leading is not None and leading.isr_state.recovery is _RECOVERING


def noted(here: Here, before: Replica | None, after: Replica) -> tuple[LeaderRecovery, ...]:
    """The fact when a leader gets metadata: a recovery begins, or is over.

    Source: none; it stands for a line in the log of a broker that would recover.
    """
    new = before is None or before.leading is None or before.leader_epoch != after.leader_epoch
    was = not new and before is not None and is_recovering(before)
    if was == is_recovering(after):
        return ()
    phase = RecoveryPhase.OVER if was else RecoveryPhase.BEGINS
    return (recovery_fact(here, after, phase),)


def recovery_fact(here: Here, replica: Replica, phase: RecoveryPhase) -> LeaderRecovery:
    """The phase of the recovery of a partition that this broker leads.

    Source: none; it stands for a line in the log of a broker that would recover.
    """
    return LeaderRecovery(
        here.id, replica.partition, leader_epoch=replica.leader_epoch, phase=phase
    )


def leader_refuses(here: Here, replica: Replica, request: str) -> Refused | None:
    """Why a recovering leader refuses a request. Source: none; KIP-704 as it is written."""
    # KIP-704, Proposed Changes, Topic Partition Leader: while it recovers, NOT_LEADER_OR_FOLLOWER
    # is the answer to Fetch, Produce, ListOffsets, DeleteRecords and OffsetForLeaderEpoch.
    if "704.leader-refuses" not in here.active or not is_recovering(replica):
        return None
    error = KafkaError.NOT_LEADER_OR_FOLLOWER
    return here.refusal(replica.partition, request, error, "704.leader-refuses", compared_state())


def follower_refuses(broker: Broker, here: Here, name: str, request: str) -> Refused | None:
    """Why a follower does not answer a consumer: by its metadata, its leader recovers.

    Metadata of the same leader epoch ends that as well as any other: what counts is what the
    broker has replicated last.

    Source: none; KIP-704 and KIP-392 as they are written.
    """
    # KIP-704, Proposed Changes, Topic Partition Follower: a consumer that reads from a follower
    # (KIP-392) gets NOT_LEADER_OR_FOLLOWER from RECOVERING on until RECOVERED.
    if "704.follower-refuses" not in here.active:
        return None
    image = process_of(broker).image
    state = None if image is None else partition(image.partitions, name)
    if state is None or state.recovery is not _RECOVERING:
        return None
    error = KafkaError.NOT_LEADER_OR_FOLLOWER
    return here.refusal(name, request, error, "704.follower-refuses", compared_state())


def compared_state() -> Compared:
    """The refusal of a recovering leader to a request. Source: none; KIP-704 as it is written."""
    return Compared("leader recovery state", f"needs {_RECOVERED.name}", _RECOVERING.name)
