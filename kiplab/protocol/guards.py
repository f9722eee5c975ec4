"""The guard table: every rule of the protocol that can be switched by name.

A guard is one sentence of a design document (or of a bug fix) turned into one check. This table is
the source of legends, rule pages, the widgets' switches and the explanations of refusals.
"""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from itertools import pairwise

import msgspec

from .errors import KafkaError
from .releases import RELEASES, CodeVersion, Mode, Release


class GuardKind(StrEnum):
    """The sort of sentence that a guard stands for."""

    REFUSAL = "refusal"
    """A receiver answers with an error."""
    RULE = "rule"
    """A node behaves differently; nothing is refused."""
    ALTERNATIVE = "alternative"
    """An alternative that a KIP rejected. Never on unless asked for by its full id."""
    AS_SPECIFIED = "as-specified"
    """A rule of a KIP, in its words or as kiplab reads it, that no release has. Never on unless
    asked for, by its full id or, for all of one KIP, by ``704.specified``."""


NATIVE = (GuardKind.REFUSAL, GuardKind.RULE)
"""Kinds that Kafka has: a release brings them, and a bare subject means them."""
_ZOOKEEPER = "zookeeper"
"""The beginning of the id of a guard that is older than KIPs."""
SPECIFIED = "specified"
"""``704.specified``: everything that KIP-704 wants and no release does."""


class Built(msgspec.Struct, frozen=True):
    """The releases of one mode that have a guard, from one of them on."""

    mode: Mode
    first: CodeVersion | None = None
    """None is always: in every release of the mode."""

    def has(self, release: Release) -> bool:
        """Whether `release` is one of them."""
        later = self.first is None or release.code >= self.first
        return release.mode is self.mode and later


def since(release: str) -> Built:
    """From `release` on, in the mode of it; ``"kraft"`` or ``"zookeeper"`` is always in that mode.

    Raises ValueError where there is no such release.
    """
    if release in tuple(Mode):
        return Built(Mode(release))
    if release not in RELEASES:
        problem = f"a guard says since={release}, and there is no such release"
        raise ValueError(f"{problem}; they are {', '.join(RELEASES)}")
    return Built(RELEASES[release].mode, RELEASES[release].code)


class Guard(msgspec.Struct, frozen=True, kw_only=True):
    """One switchable rule.

    `kip` is None where a rule came with a bug fix and no KIP; `subject` then names the issue.
    `requires` names what must be there for the rule to act (a metadata version or a request
    version); switching the guard on by hand lifts that requirement with it.
    """

    id: str
    kip: int | None
    clause: str
    kind: GuardKind
    built: tuple[Built, ...]
    """One for each mode that has it; empty where no release ever had."""
    meant_for: tuple[Mode, ...] = ()
    """The modes that it would be in, where no release ever had it; empty is every mode."""
    error: KafkaError | None = None
    metadata_version: str | None = None
    alter_partition_version: int | None = None

    @property
    def modes(self) -> tuple[Mode, ...]:
        """The modes where it can be switched: in another mode no rule asks for it."""
        return self.meant_for or tuple(built.mode for built in self.built) or tuple(Mode)

    def built_in(self, release: Release) -> bool:
        """Whether Kafka of `release` does what the guard says."""
        return any(built.has(release) for built in self.built)

    @property
    def releases(self) -> tuple[str, ...]:
        """Names of the releases that have it, in the order of their table."""
        return tuple(name for name, release in RELEASES.items() if self.built_in(release))

    @property
    def subject(self) -> str:
        """``"KIP-903"``, ``"KAFKA-7128"`` or ``"ZooKeeper"``."""
        subject = self.id.split(".")[0]
        if self.kip:
            return f"KIP-{self.kip}"
        return "ZooKeeper" if subject == _ZOOKEEPER else subject.upper()

    @property
    def requires(self) -> str | None:
        """In words, or None."""
        if self.metadata_version:
            return f"metadata version {self.metadata_version}"
        if self.alter_partition_version:
            return f"AlterPartition version {self.alter_partition_version}"
        return None


_TABLE = """
# With ZooKeeper: what its controllers, brokers and leaders judge.
380.control-request-epoch refusal error=STALE_BROKER_EPOCH since=zk-2.2 metadata=2.2-IV0
    A broker refuses control requests for an earlier incarnation of it.
380.shutdown-epoch refusal error=STALE_BROKER_EPOCH since=zk-2.2
    The controller refuses a ControlledShutdown of an earlier incarnation of the broker.
380.bounce-detection rule since=zk-2.2
    A controller that finds a new registration of a broker handles a failure, then a startup.
380.live-set-first as-specified modes=zookeeper
    The controller updates its whole set of live brokers before it handles any change.
380.session-id alternative modes=zookeeper
    The id of a broker's session with ZooKeeper identifies its incarnation.
kafka-9839.newer-epoch rule since=zk-2.6
    A broker accepts a control request with a newer broker epoch than its own.
570.stop-replica-epoch refusal error=FENCED_LEADER_EPOCH since=zk-2.6
    A broker refuses a StopReplica with an earlier leader epoch.
kafka-13972.equal-epoch rule since=zk-3.4
    A broker accepts a StopReplica with its current leader epoch.
zookeeper.controller-epoch refusal error=STALE_CONTROLLER_EPOCH since=zookeeper
    A broker refuses the control requests of an earlier controller.
zookeeper.leader-epoch refusal error=STALE_CONTROLLER_EPOCH since=zookeeper
    A broker ignores a LeaderAndIsr whose leader epoch is not newer than its own.
zookeeper.controller-check rule since=zookeeper
    A controller writes to ZooKeeper only while the controller epoch is its own.
zookeeper.isr-version rule since=zookeeper
    A leader writes the ISR only over the version that it has read.
# The controller judges AlterPartition, in this order.
497.request-broker-epoch refusal error=STALE_BROKER_EPOCH since=kraft,zk-2.8
    The request has the broker epoch under which its sender is registered.
kafka-14154.newer-epoch refusal error=NOT_CONTROLLER since=3.3,zk-3.4
    A leader or partition epoch newer than the controller's own means that this controller is
    behind, not the leader.
497.leader-epoch refusal error=FENCED_LEADER_EPOCH since=kraft,zk-2.8
    A leader of an earlier epoch may not change the partition.
497.sender-is-leader refusal error=INVALID_REQUEST since=kraft
    Only the partition's leader may change its ISR.
497.partition-epoch refusal error=INVALID_UPDATE_VERSION since=kraft,zk-2.8
    Compare and set: the change is based on the current partition epoch.
497.isr-of-replicas refusal error=INVALID_REQUEST since=kraft
    The new ISR lists assigned replicas, each once.
497.leader-in-isr refusal error=INVALID_REQUEST since=kraft
    The leader stays in the ISR.
704.recovering-alone refusal error=INVALID_REQUEST since=kraft,zk-3.4
    While the leader recovers from an unclean election it is the only member of the ISR.
704.no-way-back refusal error=INVALID_REQUEST since=kraft,zk-3.4
    Only an unclean election makes a partition RECOVERING; a leader cannot propose it.
841.registered refusal error=INELIGIBLE_REPLICA since=3.3,zk-3.4
    Every proposed member is a registered broker.
841.shutting-down refusal error=INELIGIBLE_REPLICA since=3.3,zk-3.4
    A broker in controlled shutdown may not join the ISR.
841.fenced refusal error=INELIGIBLE_REPLICA since=3.3
    A fenced broker may not join the ISR.
903.controller-epoch refusal error=INELIGIBLE_REPLICA since=3.5 alter-partition=3
    The broker epochs in the proposed ISR match the registered ones.
# The leader decides what to propose and when a record is committed.
841.leader-skips-fenced rule since=3.3
    The leader does not propose a follower that its metadata shows as fenced.
841.leader-skips-shutting-down rule since=3.3
    The leader does not propose a follower that its metadata shows as shutting down.
zookeeper.leader-skips-absent rule since=zk-3.4
    With ZooKeeper, the leader does not propose a follower that is not alive in its metadata.
903.fetch-epoch rule since=3.5 metadata=3.5-IV1
    A follower sends its broker epoch in the Fetch request.
903.leader-epoch rule since=3.5
    The leader proposes a follower only while its last fetch and the metadata name the same
    broker epoch.
497.maximal-isr rule since=kraft,zk-2.8
    Until a proposed ISR is decided, a record is committed only when the larger set has it.
kafka-7128.epoch-start rule since=kraft,zookeeper
    A follower joins the ISR only when it has reached the start of the current leader epoch.
kafka-15021.committed-without-ineligible rule since=3.6
    The high watermark does not wait for a follower that may not join the ISR.
966.committed-with-min-isr rule since=3.7
    The high watermark does not move while the ISR is smaller than min.insync.replicas.
kafka-15221.stale-fetch refusal error=NOT_LEADER_OR_FOLLOWER since=3.7
    A fetch from an earlier incarnation of a broker is refused.
kafka-15221.locked-state rule since=3.7
    A leader reads a follower's state and records its proposal under one lock, without another
    fetch in between.
320.fenced-fetch refusal error=FENCED_LEADER_EPOCH since=kraft,zookeeper
    A fetch with an earlier leader epoch than the leader's is refused.
320.unknown-fetch refusal error=UNKNOWN_LEADER_EPOCH since=kraft,zookeeper
    A fetch with a newer leader epoch than the leader's is refused.
320.validated-position rule since=kraft,zk-2.5.0
    A consumer that learns of a new leader validates its position before it reads on.
# The controller keeps brokers and elects leaders.
631.one-live-incarnation refusal error=DUPLICATE_BROKER_REGISTRATION since=kraft
    A new incarnation waits until the session of the old one is over: fencing comes first.
631.heartbeat-epoch refusal error=STALE_BROKER_EPOCH since=kraft
    A heartbeat has the broker epoch under which its sender is registered.
841.active-leader rule since=3.3
    A broker in controlled shutdown is neither elected nor put into a new ISR.
kafka-15021.shrink-keeps-epoch rule since=3.6 metadata=3.6-IV0
    An ISR that shrinks no longer bumps the leader epoch.
kafka-12670.unclean-by-config rule since=3.9
    Where unclean.leader.election.enable is on, the controller lets a replica outside the ISR
    lead when no member can.
# Our reading of what KIP-497 wants for a pending proposal, and no sentence of it; Kafka
# (Partition.makeLeader, read at 3.5.0) forgets the proposal when metadata comes late. From then
# on the follower is waited for only if it had caught up within replica.lag.time.max.ms: one
# that had caught up when it was proposed holds records back for so long, one that has only
# reached the high watermark, as a returning follower has, not for a moment. Its next fetch does not
# bring the protection back: the leader's own AlterPartition manager refuses a second proposal
# while the first is pending (alter_partition_manager.submit), and the leader stays with what
# it has.
497.pending-outlives-metadata as-specified modes=kraft
    A proposed ISR counts until it is decided: metadata with the partition epoch that it is
    based on does not undo it.
# What KIP-704 wants of an unclean election. Every Kafka in KRaft mode writes RECOVERING
# and has the two refusals of AlterPartition above; nothing of this was built.
704.leader-recovers as-specified modes=zookeeper,kraft
    A leader that was elected uncleanly recovers first: it adds no replica to the ISR, and
    reports to the controller when it has recovered.
704.leader-refuses as-specified error=NOT_LEADER_OR_FOLLOWER modes=zookeeper,kraft
    While it recovers, the leader refuses Fetch, Produce, ListOffsets, DeleteRecords and
    OffsetForLeaderEpoch.
704.follower-refuses as-specified error=NOT_LEADER_OR_FOLLOWER modes=zookeeper,kraft
    While its leader recovers, a follower refuses consumers.
704.unclean-again as-specified modes=kraft
    While a partition is RECOVERING, only an unclean election gives it another leader, and that
    leader recovers again.
704.aborts-transactions as-specified modes=zookeeper,kraft
    A leader that recovers aborts every transaction that is still open in its log.
# KIP-343, which nobody built and no real Kafka can judge: the release "kip-343" does all of it.
# 2.2-IV1 stands for the inter-broker protocol that it would have come with: from it on brokers send
# heartbeats, below it they don't (KIP-343, Compatibility, Deprecation, and Migration Plan).
# Where the text leaves something open the clause says what was decided.
343.heartbeats as-specified modes=zookeeper metadata=2.2-IV1
    A broker's heartbeat says which state it wants; the reply says which state it has.
343.incarnation-id as-specified error=STALE_BROKER_EPOCH modes=zookeeper metadata=2.2-IV1
    The controller refuses the heartbeat of an earlier incarnation of a broker.
343.higher-incarnation as-specified modes=zookeeper metadata=2.2-IV1
    The controller accepts a heartbeat with a higher incarnation id than it knows, and treats
    that as a bounce.
343.inactive-at-first as-specified modes=zookeeper metadata=2.2-IV1
    A broker that registers is inactive until it sends a heartbeat.
343.legacy-active as-specified modes=zookeeper metadata=2.2-IV1
    A broker that registers without support for heartbeats is active at once.
343.fence-silent as-specified modes=zookeeper metadata=2.2-IV1
    The controller declares a broker inactive that sends no heartbeat for
    controller.heartbeat.timeout.ms.
343.fence-itself as-specified modes=zookeeper metadata=2.2-IV1
    A broker that has not reached the controller for broker.heartbeat.timeout.ms fences itself.
343.refuse-while-fenced as-specified error=NOT_LEADER_OR_FOLLOWER modes=zookeeper metadata=2.2-IV1
    A fenced broker refuses produce, fetches of consumers and followers, metadata and offsets.
343.stopping as-specified modes=zookeeper metadata=2.2-IV1
    A broker that wants to stop leads until other brokers do; once it leads nothing it is inactive.
343.failover-keeps-active as-specified modes=zookeeper metadata=2.2-IV1
    A controller that has just been elected treats every registered broker as active.
343.isr-change as-specified modes=zookeeper metadata=2.2-IV1
    A leader proposes an ISR to the controller, and does not write it to ZooKeeper.
343.isr-change-incarnation as-specified error=STALE_BROKER_EPOCH modes=zookeeper metadata=2.2-IV1
    The controller refuses an IsrChange of any incarnation other than the one that it knows.
343.isr-change-leader as-specified error=NOT_LEADER_OR_FOLLOWER modes=zookeeper metadata=2.2-IV1
    Only the leader of a partition, in its current leader epoch, may change its ISR.
343.isr-change-valid as-specified error=INVALID_REQUEST modes=zookeeper metadata=2.2-IV1
    The ISR of an IsrChange contains the leader, and only replicas, each once.
343.active-members as-specified error=INELIGIBLE_REPLICA modes=zookeeper metadata=2.2-IV1
    A broker that is not active may not be in the ISR of an IsrChange.
343.partition-epoch as-specified error=INVALID_UPDATE_VERSION modes=zookeeper metadata=2.2-IV1
    An IsrChange has the partition epoch that it is based on, and is refused if that is not
    the current one.
# What KIP-704 rejected.
704.election-epoch alternative modes=kraft
    Instead of the state, keep the leader epoch of the unclean election: the leader recovers
    while that epoch is the current one.
704.election-boolean alternative modes=kraft
    Instead of an int8 with two states, use a boolean: any byte except 0 is true.
# What KIP-903 rejected.
903.bump-leader-epochs alternative modes=kraft
    When a broker registers, bump the leader epoch of every partition it has a replica of.
903.epoch-from-metadata alternative modes=kraft
    Take the broker epochs of a proposed ISR from the leader's metadata, not from Fetch.
"""
"""Of each guard its id, its kind and the other fields of `Guard`; below, indented, its clause.

`since` lists the releases that it came with, one for each mode that has it; `modes` are those that
one would be in that no release has.
"""


def _read(table: str) -> Iterator[Guard]:
    lines = [line for line in table.splitlines() if line and not line.startswith("#")]
    heads = [at for at, line in enumerate(lines) if not line.startswith(" ")]
    for at, end in pairwise([*heads, len(lines)]):
        yield _guard(lines[at], " ".join(line.strip() for line in lines[at + 1 : end]))


def _guard(head: str, clause: str) -> Guard:
    """Raises ValueError for a field that there is not, and KeyError for an unknown error."""
    id, kind, *words = head.split()
    fields = dict.fromkeys(_FIELDS, "") | dict(word.split("=", 1) for word in words)
    if len(fields) > len(_FIELDS):
        raise ValueError(f"guard {id}: the fields are {', '.join(_FIELDS)}, not {words}")
    subject, version = id.split(".")[0], fields["alter-partition"]
    return Guard(
        id=id,
        kip=int(subject) if subject.isdigit() else None,
        clause=clause,
        kind=GuardKind(kind),
        built=tuple(map(since, _listed(fields["since"]))),
        meant_for=tuple(map(Mode, _listed(fields["modes"]))),
        error=KafkaError[fields["error"]] if fields["error"] else None,
        metadata_version=fields["metadata"] or None,
        alter_partition_version=int(version) if version else None,
    )


_FIELDS = ("error", "since", "modes", "metadata", "alter-partition")


def _listed(words: str) -> list[str]:
    return words.split(",") if words else []


GUARDS: dict[str, Guard] = {guard.id: guard for guard in _read(_TABLE)}
"""Every guard by id, in Kafka's order of checks."""


@cache
def named(name: str) -> tuple[str, ...]:
    """The ids that a guard name means; empty when there is no such guard.

    A full id means itself. A bare subject (``903``, ``kip-903``, ``kafka-15021``) means its
    refusals and rules, never its alternatives; ``704.specified`` means what that KIP wants and no
    release does.
    """
    wanted = name.lower().removeprefix("kip-")
    if wanted in GUARDS:
        return (wanted,)
    subject, dot, word = wanted.partition(".")
    if dot and word != SPECIFIED:
        return ()
    kinds = (GuardKind.AS_SPECIFIED,) if dot else NATIVE
    return tuple(g.id for g in GUARDS.values() if g.id.split(".")[0] == subject and g.kind in kinds)


def releases_in(mode: Mode, guard: Guard) -> str:
    """For one mode, which is not named: ``"3.5 and later"``, ``"all"`` or ``"never
    built"``.
    """
    built = next((built for built in guard.built if built.mode is mode), None)
    if built is None:
        return "never built"
    return "all" if built.first is None else _releases_of(guard, built)


def releases_of(guard: Guard) -> str:
    """``"3.5 and later"``, ``"all"``, ``"all of KRaft; zk-2.8 and later"`` or ``"never built"``."""
    if not guard.built:
        return "never built"
    always = {built.mode for built in guard.built if built.first is None}
    if always == set(Mode):
        return "all"
    return "; ".join(_releases_of(guard, built) for built in guard.built)


_ALL_OF = {Mode.KRAFT: "all of KRaft", Mode.ZOOKEEPER: "all with ZooKeeper"}


def _releases_of(guard: Guard, built: Built) -> str:
    if built.first is None:
        return _ALL_OF[built.mode]
    first = next(name for name in guard.releases if RELEASES[name].mode is built.mode)
    return f"{first} and later"
