"""The guard table: every rule of the protocol that can be switched by name.

A guard is one sentence of a design document (or of a bug fix) turned into one check. Legends, rule
pages, the widgets' switches and the refusals' explanations are all read from this table.
"""

from enum import StrEnum

import msgspec

from .errors import KafkaError
from .releases import RELEASES, CodeVersion, Mode, Release


class GuardKind(StrEnum):
    """What sort of sentence a guard stands for."""

    REFUSAL = "refusal"
    """A receiver answers with an error."""
    RULE = "rule"
    """Somebody behaves differently; nothing is refused."""
    ALTERNATIVE = "alternative"
    """What a KIP considered and rejected. Never on unless asked for by its full id."""
    AS_SPECIFIED = "as-specified"
    """What a KIP wants, in its words or as kiplab reads it, and no release does. Never on unless
    asked for, by its full id or, for all of one KIP, by ``704.specified``."""


NATIVE = (GuardKind.REFUSAL, GuardKind.RULE)
"""Kinds that Kafka has: a release brings them, and a bare subject means them."""
ASKED_FOR = {
    GuardKind.ALTERNATIVE: "a KIP rejected it",
    GuardKind.AS_SPECIFIED: "no release does it",
}
"""Kinds that are on only where somebody asks for them, and why."""
_ZOOKEEPER = "zookeeper"
"""What the id of a guard begins with that is older than KIPs."""
SPECIFIED = "specified"
"""``704.specified``: everything that KIP-704 wants and no release does."""


class Built(msgspec.Struct, frozen=True):
    """Where Kafka does what a guard says: the releases of one mode, from one of them on."""

    mode: Mode
    first: CodeVersion | None = None
    """None is always: as long as there is the mode, whatever its oldest release here."""

    def has(self, release: Release) -> bool:
        """Whether `release` is one of them."""
        later = self.first is None or release.code >= self.first
        return release.mode is self.mode and later


ALWAYS_IN_KRAFT = Built(Mode.KRAFT)
"""The rule is as old as KRaft."""
ALWAYS_IN_ZOOKEEPER = Built(Mode.ZOOKEEPER)
"""The rule is as old as the oldest release with ZooKeeper that is here, or older."""


def since(release: str) -> Built:
    """From `release` on, in the mode of it. Raises ValueError where there is no such release."""
    if release not in RELEASES:
        problem = f"a guard says since({release!r}), and there is no such release"
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
        """Where it can be switched: whoever keeps the metadata otherwise, nobody asks for it."""
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


def _refusal(
    id: str,
    clause: str,
    error: KafkaError,
    *built: Built,
    version: int | None = None,
    metadata_version: str | None = None,
) -> Guard:
    return Guard(
        id=id,
        kip=_kip(id),
        clause=clause,
        kind=GuardKind.REFUSAL,
        error=error,
        built=built,
        alter_partition_version=version,
        metadata_version=metadata_version,
    )


def _rule(id: str, clause: str, *built: Built, metadata_version: str | None = None) -> Guard:
    return Guard(
        id=id,
        kip=_kip(id),
        clause=clause,
        kind=GuardKind.RULE,
        built=built,
        metadata_version=metadata_version,
    )


def _alternative(id: str, clause: str, *modes: Mode) -> Guard:
    return Guard(
        id=id,
        kip=_kip(id),
        clause=clause,
        kind=GuardKind.ALTERNATIVE,
        built=(),
        meant_for=modes or (Mode.KRAFT,),
    )


def _as_specified(
    id: str,
    clause: str,
    error: KafkaError | None = None,
    *modes: Mode,
    metadata_version: str | None = None,
) -> Guard:
    return Guard(
        id=id,
        kip=_kip(id),
        clause=clause,
        kind=GuardKind.AS_SPECIFIED,
        error=error,
        built=(),
        metadata_version=metadata_version,
        meant_for=modes or (Mode.KRAFT,),
    )


HEARTBEAT_PROTOCOL = "2.2-IV1"
"""Stands for the inter-broker protocol that KIP-343 would have come with: from it on brokers send
heartbeats, below it they don't (KIP-343, Compatibility, Deprecation, and Migration Plan)."""


def _heartbeat_rule(id: str, clause: str, error: KafkaError | None = None) -> Guard:
    return _as_specified(id, clause, error, Mode.ZOOKEEPER, metadata_version=HEARTBEAT_PROTOCOL)


def _kip(id: str) -> int | None:
    subject = id.split(".")[0]
    return int(subject) if subject.isdigit() else None


_E = KafkaError
_TABLE = (
    # The controller judges AlterPartition, in this order.
    _refusal(
        "380.control-request-epoch",
        "A broker refuses control requests that were meant for an earlier incarnation of it.",
        _E.STALE_BROKER_EPOCH,
        since("zk-2.2"),
        metadata_version="2.2-IV0",
    ),
    _refusal(
        "380.shutdown-epoch",
        "The controller refuses a ControlledShutdown of an earlier incarnation of the broker.",
        _E.STALE_BROKER_EPOCH,
        since("zk-2.2"),
    ),
    _rule(
        "380.bounce-detection",
        "A controller that finds a broker registered anew treats it as gone and come back.",
        since("zk-2.2"),
    ),
    _as_specified(
        "380.live-set-first",
        "The controller takes over the whole set of live brokers before it reacts to any change.",
        None,
        Mode.ZOOKEEPER,
    ),
    _alternative(
        "380.session-id",
        "The id of a broker's session with ZooKeeper says which incarnation speaks.",
        Mode.ZOOKEEPER,
    ),
    _rule(
        "kafka-9839.newer-epoch",
        "A broker obeys a control request for an incarnation that it does not know of yet.",
        since("zk-2.6"),
    ),
    _refusal(
        "570.stop-replica-epoch",
        "A broker refuses to stop a replica on account of an earlier leader epoch.",
        _E.FENCED_LEADER_EPOCH,
        since("zk-2.6"),
    ),
    _rule(
        "kafka-13972.equal-epoch",
        "A StopReplica of the leader epoch that the broker holds is obeyed.",
        since("zk-3.4"),
    ),
    _refusal(
        "zookeeper.controller-epoch",
        "A broker refuses what an earlier controller asks of it.",
        _E.STALE_CONTROLLER_EPOCH,
        ALWAYS_IN_ZOOKEEPER,
    ),
    _refusal(
        "zookeeper.leader-epoch",
        "A broker ignores a LeaderAndIsr that names no newer leader epoch than it knows.",
        _E.STALE_CONTROLLER_EPOCH,
        ALWAYS_IN_ZOOKEEPER,
    ),
    _rule(
        "zookeeper.controller-check",
        "A controller writes to ZooKeeper only while the controller epoch is its own.",
        ALWAYS_IN_ZOOKEEPER,
    ),
    _rule(
        "zookeeper.isr-version",
        "A leader writes the ISR only over the version that it has read.",
        ALWAYS_IN_ZOOKEEPER,
    ),
    _refusal(
        "497.request-broker-epoch",
        "The sender speaks with the broker epoch it is registered under.",
        _E.STALE_BROKER_EPOCH,
        ALWAYS_IN_KRAFT,
        since("zk-2.8"),
    ),
    _refusal(
        "kafka-14154.newer-epoch",
        "A leader or partition epoch newer than the controller's own means that this controller"
        " is behind, not the leader.",
        _E.NOT_CONTROLLER,
        since("3.3"),
        since("zk-3.4"),
    ),
    _refusal(
        "497.leader-epoch",
        "A leader of an earlier epoch may not change the partition.",
        _E.FENCED_LEADER_EPOCH,
        ALWAYS_IN_KRAFT,
        since("zk-2.8"),
    ),
    _refusal(
        "497.sender-is-leader",
        "Only the partition's leader may change its ISR.",
        _E.INVALID_REQUEST,
        ALWAYS_IN_KRAFT,
    ),
    _refusal(
        "497.partition-epoch",
        "Compare and set: the change was prepared against the partition state that still holds.",
        _E.INVALID_UPDATE_VERSION,
        ALWAYS_IN_KRAFT,
        since("zk-2.8"),
    ),
    _refusal(
        "497.isr-of-replicas",
        "The new ISR lists assigned replicas, each once.",
        _E.INVALID_REQUEST,
        ALWAYS_IN_KRAFT,
    ),
    _refusal(
        "497.leader-in-isr", "The leader stays in the ISR.", _E.INVALID_REQUEST, ALWAYS_IN_KRAFT
    ),
    _refusal(
        "704.recovering-alone",
        "While the leader recovers from an unclean election it is the only member of the ISR.",
        _E.INVALID_REQUEST,
        ALWAYS_IN_KRAFT,
        since("zk-3.4"),
    ),
    _refusal(
        "704.no-way-back",
        "Only an unclean election makes a partition RECOVERING; a leader cannot ask for it.",
        _E.INVALID_REQUEST,
        ALWAYS_IN_KRAFT,
        since("zk-3.4"),
    ),
    _refusal(
        "841.registered",
        "Every proposed member is a registered broker.",
        _E.INELIGIBLE_REPLICA,
        since("3.3"),
        since("zk-3.4"),
    ),
    _refusal(
        "841.shutting-down",
        "A broker in controlled shutdown may not join the ISR.",
        _E.INELIGIBLE_REPLICA,
        since("3.3"),
        since("zk-3.4"),
    ),
    _refusal(
        "841.fenced",
        "A fenced broker may not join the ISR.",
        _E.INELIGIBLE_REPLICA,
        since("3.3"),
    ),
    _refusal(
        "903.controller-epoch",
        "The broker epochs in the proposed ISR match the registered ones.",
        _E.INELIGIBLE_REPLICA,
        since("3.5"),
        version=3,
    ),
    # The leader decides what to propose and when a record is committed.
    _rule(
        "841.leader-skips-fenced",
        "The leader does not propose a follower that its metadata shows as fenced.",
        since("3.3"),
    ),
    _rule(
        "841.leader-skips-shutting-down",
        "The leader does not propose a follower that its metadata shows as shutting down.",
        since("3.3"),
    ),
    _rule(
        "zookeeper.leader-skips-absent",
        "Where ZooKeeper keeps the metadata, the leader does not propose a follower that is not"
        " alive in its own.",
        since("zk-3.4"),
    ),
    _rule(
        "903.fetch-epoch",
        "A follower sends its broker epoch in the Fetch request.",
        since("3.5"),
        metadata_version="3.5-IV1",
    ),
    _rule(
        "903.leader-epoch",
        "The leader proposes a follower only while its last fetch and the metadata name the same"
        " broker epoch.",
        since("3.5"),
    ),
    _rule(
        "497.maximal-isr",
        "Until a proposed ISR is decided, a record is committed only when the larger set has it.",
        ALWAYS_IN_KRAFT,
        since("zk-2.8"),
    ),
    _rule(
        "kafka-7128.epoch-start",
        "A follower joins the ISR only when it has reached the start of the current leader epoch.",
        ALWAYS_IN_KRAFT,
        ALWAYS_IN_ZOOKEEPER,
    ),
    _rule(
        "kafka-15021.committed-without-ineligible",
        "The high watermark does not wait for a follower that may not join the ISR.",
        since("3.6"),
    ),
    _rule(
        "966.committed-with-min-isr",
        "The high watermark does not move while the ISR is smaller than min.insync.replicas.",
        since("3.7"),
    ),
    _refusal(
        "kafka-15221.stale-fetch",
        "A fetch from an earlier incarnation of a broker is refused.",
        _E.NOT_LEADER_OR_FOLLOWER,
        since("3.7"),
    ),
    _rule(
        "kafka-15221.locked-state",
        "A follower's next fetch is noted only when its leader has written down what it proposes.",
        since("3.7"),
    ),
    _refusal(
        "320.fenced-fetch",
        "A fetch that still obeys an earlier leader epoch is refused.",
        _E.FENCED_LEADER_EPOCH,
        ALWAYS_IN_KRAFT,
        ALWAYS_IN_ZOOKEEPER,
    ),
    _refusal(
        "320.unknown-fetch",
        "A fetch that names a newer leader epoch than the leader knows is refused.",
        _E.UNKNOWN_LEADER_EPOCH,
        ALWAYS_IN_KRAFT,
        ALWAYS_IN_ZOOKEEPER,
    ),
    _rule(
        "320.validated-position",
        "A consumer that learns of a new leader asks where its own epoch ends before it reads on.",
        ALWAYS_IN_KRAFT,
        since("zk-2.5.0"),
    ),
    # The controller keeps brokers and elects leaders.
    _refusal(
        "631.one-live-incarnation",
        "A new incarnation waits until the session of the old one is over: fencing comes first.",
        _E.DUPLICATE_BROKER_REGISTRATION,
        ALWAYS_IN_KRAFT,
    ),
    _refusal(
        "631.heartbeat-epoch",
        "A heartbeat carries the epoch the broker is registered under.",
        _E.STALE_BROKER_EPOCH,
        ALWAYS_IN_KRAFT,
    ),
    _rule(
        "841.active-leader",
        "A broker in controlled shutdown is neither elected nor put into a new ISR.",
        since("3.3"),
    ),
    _rule(
        "kafka-15021.shrink-keeps-epoch",
        "An ISR that shrinks no longer bumps the leader epoch.",
        since("3.6"),
        metadata_version="3.6-IV0",
    ),
    _rule(
        "kafka-12670.unclean-by-config",
        "Where unclean.leader.election.enable is on, the controller lets a replica outside the ISR"
        " lead when no member can.",
        since("3.9"),
    ),
    # Our reading of what KIP-497 wants for a proposal under way, and no sentence of it; Kafka
    # (Partition.makeLeader, read at 3.5.0) forgets the proposal when metadata comes late. From then
    # on the follower is waited for only if it had caught up within replica.lag.time.max.ms: one
    # that had caught up when it was asked for holds records back for so long, one that has only
    # reached the high watermark, as who returns has, not for a moment. Its next fetch does not
    # bring the protection back: the leader's own AlterPartition manager refuses a second proposal
    # while the first is under way (alter_partition_manager.submit), and the leader stays with what
    # it has.
    _as_specified(
        "497.pending-outlives-metadata",
        "A proposed ISR counts until it is decided: metadata of the partition epoch that it was"
        " prepared against does not undo it.",
    ),
    # What KIP-704 wants of an unclean election. Every Kafka in KRaft mode writes RECOVERING down
    # and obeys the two refusals of AlterPartition above; nothing of this was built.
    _as_specified(
        "704.leader-recovers",
        "A leader that was elected uncleanly recovers first: it lets nobody into the ISR, and tells"
        " the controller when it is done.",
        None,
        *Mode,
    ),
    _as_specified(
        "704.leader-refuses",
        "While it recovers, the leader answers no Fetch, Produce, ListOffsets, DeleteRecords and"
        " OffsetForLeaderEpoch.",
        _E.NOT_LEADER_OR_FOLLOWER,
        *Mode,
    ),
    _as_specified(
        "704.follower-refuses",
        "While its leader recovers, a follower answers no consumer.",
        _E.NOT_LEADER_OR_FOLLOWER,
        *Mode,
    ),
    _as_specified(
        "704.unclean-again",
        "While a partition is RECOVERING, another leader comes from an unclean election only, and"
        " has to recover again.",
    ),
    _as_specified(
        "704.aborts-transactions",
        "A leader that recovers aborts every transaction that is still open in its log.",
        None,
        *Mode,
    ),
    # KIP-343, which nobody built and no real Kafka can judge: the release "kip-343" does all of it.
    # Where the text leaves something open the clause says what was decided.
    _heartbeat_rule(
        "343.heartbeats",
        "By heartbeats a broker tells the controller which state it wants, and learns which it"
        " has.",
    ),
    _heartbeat_rule(
        "343.incarnation-id",
        "The controller refuses the heartbeat of an earlier incarnation of a broker.",
        _E.STALE_BROKER_EPOCH,
    ),
    _heartbeat_rule(
        "343.higher-incarnation",
        "The controller believes a heartbeat that names a higher incarnation than it knows, and"
        " takes that for a bounce.",
    ),
    _heartbeat_rule(
        "343.inactive-at-first", "A broker that registers is inactive until it sends a heartbeat."
    ),
    _heartbeat_rule(
        "343.legacy-active",
        "A broker that registers as one that knows no heartbeats is active all the same.",
    ),
    _heartbeat_rule(
        "343.fence-silent",
        "The controller declares a broker inactive whose heartbeats stay out for"
        " controller.heartbeat.timeout.ms.",
    ),
    _heartbeat_rule(
        "343.fence-itself",
        "A broker that has not reached the controller for broker.heartbeat.timeout.ms fences"
        " itself.",
    ),
    _heartbeat_rule(
        "343.refuse-while-fenced",
        "A fenced broker refuses produce, fetches of consumers and followers, metadata and"
        " offsets.",
        _E.NOT_LEADER_OR_FOLLOWER,
    ),
    _heartbeat_rule(
        "343.stopping",
        "A broker that wants to stop leads on until others do, and is inactive once it leads"
        " nothing.",
    ),
    _heartbeat_rule(
        "343.failover-keeps-active",
        "A controller that has just been elected takes every registered broker for active.",
    ),
    _heartbeat_rule(
        "343.isr-change",
        "A leader asks the controller for another ISR, and does not write it to ZooKeeper.",
    ),
    _heartbeat_rule(
        "343.isr-change-incarnation",
        "The controller refuses the IsrChange of any incarnation but the one that it knows.",
        _E.STALE_BROKER_EPOCH,
    ),
    _heartbeat_rule(
        "343.isr-change-leader",
        "Only who leads a partition, under its present leader epoch, may change its ISR.",
        _E.NOT_LEADER_OR_FOLLOWER,
    ),
    _heartbeat_rule(
        "343.isr-change-valid",
        "The ISR of an IsrChange has the leader in it, and replicas only, each once.",
        _E.INVALID_REQUEST,
    ),
    _heartbeat_rule(
        "343.active-members",
        "A broker that is not active may not be in the ISR of an IsrChange.",
        _E.INELIGIBLE_REPLICA,
    ),
    _heartbeat_rule(
        "343.partition-epoch",
        "An IsrChange names the partition epoch that it was prepared against, and is refused once"
        " that is over.",
        _E.INVALID_UPDATE_VERSION,
    ),
    # What KIP-704 rejected.
    _alternative(
        "704.election-epoch",
        "In place of the state, keep the leader epoch of the unclean election: the leader recovers"
        " while that is the current one.",
    ),
    _alternative(
        "704.election-boolean",
        "In place of an int8 with two states, say true or false: any byte but 0 is true.",
    ),
    # What KIP-903 rejected.
    _alternative(
        "903.bump-leader-epochs",
        "When a broker registers, bump the leader epoch of every partition it has a replica of.",
    ),
    _alternative(
        "903.epoch-from-metadata",
        "Take the broker epochs of a proposed ISR from the leader's metadata, not from Fetch.",
    ),
)

GUARDS: dict[str, Guard] = {guard.id: guard for guard in _TABLE}
"""Every guard by id, in Kafka's order of checks."""


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
    return tuple(g.id for g in _TABLE if g.id.split(".")[0] == subject and g.kind in kinds)


def releases_in(mode: Mode, guard: Guard) -> str:
    """Of one mode, to whoever speaks of no other: ``"3.5 and later"``, ``"all"`` or ``"never
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
