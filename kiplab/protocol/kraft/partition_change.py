"""PartitionChangeBuilder: the leader, the ISR and the bumped epochs, in Kafka's order.

The input is a partition as in the metadata log, its target, and the replicas that may lead. First a
reassignment is completed if the wanted ISR completes it. Then it is found who is an eligible leader
replica (KIP-966), where the cluster has them: who leaves an ISR that is smaller than
min.insync.replicas. Then a leader is elected: the sitting one if it can stay, else the first
replica that is in the wanted ISR and may lead (of an empty one, the first eligible leader replica),
else the last known leader, and else (unclean) the first that may lead; these two are alone in the
ISR and RECOVERING. Else there is none. Then it is decided whether the
leader epoch must rise although the leader stays. The output is one record with the fields that
differ, or None when none does: then no epoch rises. The controller does not change here, and the
record holds no epochs: `replay.merge` raises them.
"""

from collections.abc import Callable
from enum import StrEnum

import msgspec
from msgspec.structs import replace

from ..features import Features
from ..ids import CONTROLLER, NO_LEADER, BrokerId, Count
from ..registrations import (
    ONE_DIRECTORY,
    LeaderRecoveryState,
    PartitionRegistration,
    directory_of,
)
from ..releases import CodeVersion, at_least
from .records import PartitionChangeRecord

Acceptable = Callable[[BrokerId], bool]
"""Whether a broker may lead: ISR membership is asked separately."""


class Election(StrEnum):
    """The ways to choose a leader."""

    ONLINE = "online"
    PREFERRED = "preferred"
    UNCLEAN = "unclean"


class Targets(msgspec.Struct, frozen=True):
    """The target of the partition; None means "as it is".

    `min_isr` is the effective min.insync.replicas, and `unclean_shutdown` the broker whose process
    was found not to have stopped in order. Both matter with eligible leader replicas only.
    `directories` are those of new replicas, or of one that is in another than before.
    """

    isr: tuple[BrokerId, ...] | None = None
    replicas: tuple[BrokerId, ...] | None = None
    adding: tuple[BrokerId, ...] | None = None
    removing: tuple[BrokerId, ...] | None = None
    recovery: LeaderRecoveryState | None = None
    min_isr: Count = 1
    unclean_shutdown: BrokerId | None = None
    directories: tuple[tuple[BrokerId, Count], ...] = ()


class Code(msgspec.Struct, frozen=True):
    """The code that builds the record: its version, metadata version, guards of the controller, and
    whether the cluster has eligible leader replicas.
    """

    version: CodeVersion
    metadata_version: str
    active: frozenset[str]
    has_elr: bool = False

    @classmethod
    def of(cls, features: Features) -> "Code":
        """Of the controller."""
        active = features.active(CONTROLLER)
        code = features.code_of(CONTROLLER)
        return cls(code, features.metadata_version, active, features.has_elr)

    @property
    def shrink_bumps_leader_epoch(self) -> bool:
        """Until metadata version 3.6-IV0 a shrinking ISR bumps the leader epoch."""
        # KAFKA-15021, "Skip leader epoch bump on ISR shrink": once no leader waits for a follower
        # that may not join (its other half, remote_replicas.py; so the metadata version), the bump,
        # which made every follower start anew, has nothing left to do.
        return "kafka-15021.shrink-keeps-epoch" not in self.active

    @property
    def elects_from_elr(self) -> bool:
        """Without the feature, too: what a cluster that had it once has left in the ELR."""
        # KIP-966, Unclean recovery: of an empty ISR an unfenced member of the ELR is elected, and
        # that is clean. PartitionChangeBuilder.isValidNewLeader (4.3.1) asks for no feature.
        return "966.elr-election" in self.active or not self.has_elr

    @property
    def compares_the_target(self) -> bool:
        """KAFKA-16624: up to 3.7 the target ISR is compared, even when no ISR is written."""
        return self.version < (3, 8)


def build(
    partition: PartitionRegistration,
    targets: Targets,
    acceptable: Acceptable,
    code: Code,
    election: Election = Election.ONLINE,
) -> PartitionChangeRecord | None:
    """The record that brings `partition` to `targets`, or None when there is nothing to write.

    Source: PartitionChangeBuilder.build (3.5.0, 3.8.0 for the later bump rule, 4.0.2 and 4.3.1 for
    eligible leader replicas); KIP-704, Proposed Changes.
    """
    wanted = {name: value for name in _WANTED if (value := getattr(targets, name)) is not None}
    goal = _completed(replace(partition, **wanted), code)
    goal = replace(goal, elr=_eligible(partition, goal.isr, targets, code))
    leader, unclean = elect(
        *(partition, goal.isr, goal.replicas, acceptable, election),
        clean=not _only_uncleanly(partition, code),
        elr=goal.elr if code.elects_from_elr else (),
        last_leader=_last_leader(partition, goal, acceptable, code),
    )
    new_leader = None if leader == partition.leader else leader
    unclean = unclean and new_leader is not None
    if new_leader in goal.elr:
        goal = replace(goal, isr=(leader,), elr=tuple(r for r in goal.elr if r != leader))
    # An empty target leaves the ISR alone: this is why the last member stays in it.
    # KIP-966, Unclean recovery: the ISR may be empty, because the ELR remembers who had everything.
    may_be_empty = "966.elr-empty-isr" in code.active
    isr = _differs(goal.isr, partition.isr) if goal.isr or may_be_empty else None
    if unclean:
        isr = (leader,)
    # An unclean election may lose what these have; and without the feature no change keeps them.
    kept = () if unclean or "966.elr-members" not in code.active else goal.elr
    if new_leader is None and _bumps(partition, goal, isr, code):
        new_leader = partition.leader
    record = PartitionChangeRecord(
        partition=partition.name,
        isr=isr,
        leader=new_leader,
        replicas=_differs(goal.replicas, partition.replicas) if goal.replicas else None,
        removing=_differs(goal.removing, partition.removing),
        adding=_differs(goal.adding, partition.adding),
        recovery=_recovery(partition, goal, new_leader, unclean, code),
        elr=_differs(kept, partition.elr),
        directories=_assigned(partition, goal.replicas or partition.replicas, targets),
    )
    record = replace(record, last_known=_last_known(partition, record, code))
    return None if _is_nothing(record, code) else record


_WANTED = ("isr", "replicas", "adding", "removing", "recovery")
"""Fields of Targets that a partition has, too."""


def _assigned(
    partition: PartitionRegistration, replicas: tuple[BrokerId, ...], targets: Targets
) -> tuple[Count, ...] | None:
    """The log directory of each replica, where one is another; of new replicas not the first ones.

    Source: PartitionChangeBuilder.setDirectory and setAssignmentChanges (3.7.0, 4.3.1).
    """
    given = dict(targets.directories)
    directories = tuple(given.get(r, directory_of(partition, r)) for r in replicas)
    # A directory is one broker's, so that the same number may be another directory.
    now = [d and (r, d) for r, d in zip(replicas, directories, strict=True)]
    before = [d and (r, d) for r in partition.replicas for d in [directory_of(partition, r)]]
    all_first = not partition.directories and {*directories} <= {*ONE_DIRECTORY}
    return None if now == before or all_first else directories


def _eligible(
    partition: PartitionRegistration, isr: tuple[BrokerId, ...], targets: Targets, code: Code
) -> tuple[BrokerId, ...]:
    """Who may be elected when the ISR is empty.

    Source: PartitionChangeBuilder.maybePopulateTargetElr (4.0.2, 4.3.1).
    """
    # KIP-966, Additional High Watermark advancement requirement: while the ISR is smaller than
    # min.insync.replicas nothing is committed, so that whoever leaves it then has every committed
    # record. Who leaves an ISR that stays large enough does not have the next ones.
    if "966.elr-members" not in code.active:
        return partition.elr
    if len(isr) >= targets.min_isr:
        return ()
    # KIP-966, Motivation: a process that did not stop in order may have lost records.
    return tuple(sorted({*partition.elr, *partition.isr} - {*isr, targets.unclean_shutdown}))


def _last_leader(
    partition: PartitionRegistration,
    goal: PartitionRegistration,
    acceptable: Acceptable,
    code: Code,
) -> BrokerId | None:
    """The last known leader, if it may be elected without being in ISR or ELR.

    Source: PartitionChangeBuilder.canElectLastKnownLeader (4.0.2, 4.3.1).
    """
    # KIP-966, Delivery plan: as long as the KIP's own unclean recovery is not built, the leader of
    # before is elected when both lists are empty, as it was when it stayed in the ISR.
    may_lead = "966.elr-last-known-leader" in code.active and not goal.isr and not goal.elr
    if not may_lead or len(partition.last_known) != 1:
        return None
    (leader,) = partition.last_known
    # KAFKA-19522, "avoid electing fenced lastKnownLeader": before, its state was only logged.
    if "kafka-19522.live-last-leader" in code.active and not acceptable(leader):
        return None
    return leader


def _last_known(
    partition: PartitionRegistration, record: PartitionChangeRecord, code: Code
) -> tuple[BrokerId, ...] | None:
    """What becomes of the last known leader: noted when there is no leader, forgotten with one.

    Source: PartitionChangeBuilder.maybeUpdateLastKnownLeader (4.0.2, 4.1.0, 4.1.2, 4.3.1).
    """
    # KIP-966, Delivery plan: the last leader is noted in LastKnownElr when it is fenced.
    if "966.elr-last-known-leader" not in code.active:
        return None
    # PR-20629, "simplify last known elr update": what was noted when the ISR became empty could be
    # that there was no leader.
    if "pr-20629.last-known-by-leader" in code.active:
        notes = record.leader == NO_LEADER and not partition.last_known
        forgets = record.leader is not None and record.leader >= 0
    else:
        notes = record.isr == () and partition.last_known != (partition.leader,)
        leads_on = partition.leader != NO_LEADER and record.leader != NO_LEADER
        forgets = leads_on or (record.leader is not None and record.leader >= 0)
    if notes:
        return (partition.leader,)
    return () if forgets and partition.last_known else None


def ordinary(partition: PartitionRegistration, code: Code) -> Election:
    """The controller's own way to elect; KRaft did not read the configuration before 3.9.

    Source: ReplicationControlManager.generateLeaderAndIsrUpdates (3.9.0-rc3), where it asks
    ConfigurationControlManager.uncleanLeaderElectionEnabledForTopic.
    """
    # KAFKA-12670, "Support configuring unclean leader election in KRaft".
    allowed = partition.unclean_leader_election and "kafka-12670.unclean-by-config" in code.active
    return Election.UNCLEAN if allowed else Election.ONLINE


def elect(
    partition: PartitionRegistration,
    isr: tuple[BrokerId, ...],
    replicas: tuple[BrokerId, ...],
    acceptable: Acceptable,
    election: Election,
    *,
    clean: bool = True,
    elr: tuple[BrokerId, ...] = (),
    last_leader: BrokerId | None = None,
) -> tuple[BrokerId, bool]:
    """(leader, unclean): the leader that `election` chooses, NO_LEADER when no replica is eligible.
    Without `clean` only the sitting leader comes from the ISR as of right: any other leader was
    elected uncleanly, members of the ISR first. Of an empty ISR a member of `elr` is elected.

    Source: PartitionChangeBuilder.electLeader, electPreferredLeader and electAnyLeader (3.5.0,
    4.3.1).
    """
    eligible = isr or elr

    def valid(replica: BrokerId) -> bool:
        return replica in eligible and acceptable(replica)

    sitting = partition.leader
    if election is Election.PREFERRED and clean and valid(replicas[0]):
        return replicas[0], False
    if sitting != NO_LEADER and valid(sitting):
        return sitting, False
    if clean or election is Election.UNCLEAN:
        for replica in replicas:
            if valid(replica):
                return replica, not clean
    if last_leader is not None:
        return last_leader, True
    if election is Election.UNCLEAN:
        for replica in replicas:
            if acceptable(replica):
                return replica, True
    return NO_LEADER, False


def _only_uncleanly(partition: PartitionRegistration, code: Code) -> bool:
    # KIP-704, Proposed Changes, Topic Partition Leader: if the leader changes while it recovers,
    # the next one comes from an unclean election too. Kafka elects the member of the ISR cleanly.
    recovering = partition.recovery is LeaderRecoveryState.RECOVERING
    return recovering and "704.unclean-again" in code.active


def _completed(goal: PartitionRegistration, code: Code) -> PartitionRegistration:
    """A reassignment is complete when enough replicas are in the ISR without the removing ones."""
    if not goal.adding and not goal.removing:
        return goal
    isr = tuple(r for r in goal.isr if r not in goal.removing)
    replicas = tuple(r for r in goal.replicas if r not in goal.removing)
    if not isr or not replicas or not _waited_for(goal, replicas, code) <= set(isr):
        return goal
    return replace(goal, isr=isr, replicas=replicas, adding=(), removing=())


def _waited_for(
    goal: PartitionRegistration, replicas: tuple[BrokerId, ...], code: Code
) -> set[BrokerId]:
    """The brokers that have to be in the ISR before a reassignment to `replicas` is complete.

    A broker may be adding and removing: then it is none of `replicas`.

    Source: PartitionReassignmentReplicas.maybeCompleteReassignment (3.5.0, 3.8.0, 4.2.1, 4.3.1).
    """
    # KAFKA-15665: from 3.8 on every replica that stays. From 4.3 on those that are added, and all
    # only where replicas become fewer: elsewhere the old ones, which may be ill, need not be
    # waited for.
    if code.version >= (4, 3):
        fewer = len(goal.adding) < len(goal.removing)
        return {*goal.adding, *replicas} if fewer else {*goal.adding}
    return set(replicas if code.version >= (3, 8) else goal.adding)


def _bumps(
    partition: PartitionRegistration,
    goal: PartitionRegistration,
    isr: tuple[BrokerId, ...] | None,
    code: Code,
) -> bool:
    if not set(partition.replicas) <= set(goal.replicas):
        return True
    if not code.shrink_bumps_leader_epoch:
        return False
    written = partition.isr if isr is None else isr
    decides = goal.isr if code.compares_the_target else written
    return not set(partition.isr) <= set(decides)


def _recovery(
    partition: PartitionRegistration,
    goal: PartitionRegistration,
    new_leader: BrokerId | None,
    unclean: bool,
    code: Code,
) -> LeaderRecoveryState | None:
    if goal.recovery != partition.recovery:
        return goal.recovery
    recovering = partition.recovery is LeaderRecoveryState.RECOVERING
    if recovering and not unclean:
        return _forgotten(new_leader, code)
    # KIP-704, Proposed Changes, KRaft Controller: the record tells the leader of an unclean
    # election that it has to recover. One that is RECOVERING already is not told so again; where
    # such an election may choose a member of the ISR, only this tells that it was one.
    if not unclean or (recovering and not _only_uncleanly(partition, code)):
        return None
    has_field = at_least(code.metadata_version, "3.2-IV0")
    return LeaderRecoveryState.RECOVERING if has_field else None


def _forgotten(new_leader: BrokerId | None, code: Code) -> LeaderRecoveryState | None:
    """What a leader epoch that rises without an unclean election does to a recovery: nothing."""
    # KIP-704, Rejected Alternatives, Unclean Election Epoch: who compares the leader epoch of the
    # unclean election with the current one finds them different from here on. The two are equal
    # until a record sets the leader, so that this state says all that such a number would.
    if new_leader is None or "704.election-epoch" not in code.active:
        return None
    return LeaderRecoveryState.RECOVERED


def _is_nothing(record: PartitionChangeRecord, code: Code) -> bool:
    fields: list[object] = [record.isr, record.leader, record.elr, record.last_known]
    fields += [record.replicas, record.removing, record.adding, record.directories]
    if code.version >= (3, 3):
        # Up to 3.2 a record that only changes the recovery state counted as nothing.
        fields.append(record.recovery)
    return all(field is None for field in fields)


def _differs(goal: tuple[BrokerId, ...], now: tuple[BrokerId, ...]) -> tuple[BrokerId, ...] | None:
    """Order counts: the same members in another order are another ISR."""
    return None if goal == now else goal
