"""The state of a cluster as its metadata log tells it, and one step of it: a LogEvent.

All values are frozen. `PartitionState.joined` and the mappings of a ClusterState are replaced,
never changed.
"""

from collections.abc import Iterator, Mapping
from typing import Literal, NamedTuple, TypeVar

import msgspec

from .log_items import UNKNOWN, LogRecord, OffsetAndTime

NO_LEADER = -1
_FEW = 100
"""A mapping of less is copied: a dict is read faster than what shares."""
KeyT = TypeVar("KeyT")
ValueT = TypeVar("ValueT")


class PartitionKey(NamedTuple):
    """A partition of one topic id: a topic that was created again under its name has another."""

    topic_id: str
    partition: int


class Joined(msgspec.Struct, frozen=True, gc=False):
    """Under which broker epoch a member entered the ISR, and where. A member that a checkpoint
    brought has the epoch that was registered there, or an earlier one: it is not `exact`.
    """

    broker_epoch: int
    at: OffsetAndTime
    exact: bool = True


class PartitionState(msgspec.Struct, frozen=True, gc=False):
    """A partition after a record. `topic` is the name, or the id where the name is not known.

    `joined` has an entry for each member of the ISR and of the ELR. The moments are None where it
    is not so: `led_since` is where the present leader epoch began, `alone_since` where the ISR
    became one broker, `below_since` where it became smaller than `min_insync_replicas`.
    `isr_changes` are the times of the last changes of the ISR, eleven at most.
    """

    key: PartitionKey
    topic: str
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    recovering: bool = False
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    directories: tuple[str, ...] = ()
    elr: tuple[int, ...] = ()
    last_known: tuple[int, ...] = ()
    joined: Mapping[int, Joined] = {}
    led_since: OffsetAndTime | None = None
    leaderless_since: OffsetAndTime | None = None
    recovering_since: OffsetAndTime | None = None
    alone_since: OffsetAndTime | None = None
    below_since: OffsetAndTime | None = None
    isr_changes: tuple[int, ...] = ()
    eligible_until: tuple[tuple[int, ...], int] | None = None
    """Who was in the ELR when a record only emptied it, and its offset; until one joins the ISR."""
    passed_over: tuple[int, ...] = ()
    """Members of the ISR and the ELR at the last unclean election that are not back in sync."""

    @property
    def name(self) -> str:
        """``"orders-0"``."""
        return f"{self.topic}-{self.key.partition}"

    def ends_reassignment(self, after: "PartitionState") -> bool:
        """Whether a record removes what a reassignment removes (PartitionReassignmentReplicas)."""
        is_over = (self.adding or self.removing) and not (after.adding or after.removing)
        return bool(is_over) and set(after.replicas) == {*self.replicas} - {*self.removing}

    def elects_uncleanly(self, after: "PartitionState") -> bool:
        """Whether a record elects outside the ISR and the ELR, or begins a recovery (KIP-704).

        The join that ends a reassignment may elect who joins: that is clean, and the partition is
        not RECOVERING. Cancelling one may elect uncleanly, and it is not RECOVERING either.
        """
        if after.leader in (self.leader, NO_LEADER):
            return False
        if after.leader in (*self.isr, *self.elr):
            return after.recovering and not self.recovering
        # An unclean election leaves nobody else in the ISR.
        is_alone = after.isr == (after.leader,)
        return is_alone and (after.recovering or not self.ends_reassignment(after))


class RegisteredIncarnation(msgspec.Struct, frozen=True, gc=False):
    """One process of a broker: from a RegisterBrokerRecord to the next one, or to its end.

    `release` is what the highest metadata version that it supports tells: ``"4.1"``, empty where
    it is not known. `shutting_down_since` is None unless it asked for a controlled shutdown.
    """

    broker: int
    epoch: int
    incarnation_id: str
    registered: OffsetAndTime
    fenced: bool = True
    shutting_down_since: OffsetAndTime | None = None
    changed: OffsetAndTime | None = None
    """Where it was fenced or unfenced last."""
    ended: OffsetAndTime | None = None
    release: str = ""
    host: str = ""
    directories: tuple[str, ...] = ()
    exact: bool = True
    """False for one that a checkpoint brought: it may have begun earlier."""

    @property
    def may_lead(self) -> bool:
        """Whether a controller may add it to an ISR or make it leader."""
        return not self.fenced and self.shutting_down_since is None and self.ended is None


class SharedMapping(Mapping[KeyT, ValueT]):
    """`late` lies over `base`; an empty value stands for none."""

    def __init__(self, base: Mapping[KeyT, ValueT], late: Mapping[KeyT, ValueT]) -> None:
        self.base, self.late = base, late

    def __getitem__(self, key: KeyT) -> ValueT:
        return self.late[key] if key in self.late else self.base[key]

    def __iter__(self) -> Iterator[KeyT]:
        return (key for key, value in {**self.base, **self.late}.items() if value)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def with_value(mapping: Mapping[KeyT, ValueT], key: KeyT, value: ValueT) -> Mapping[KeyT, ValueT]:
    """The mapping with this value for the key, or with none for an empty value. Large ones share
    most: n values one after the other cost about n√n steps, and n² where each is put into a copy.
    """
    base, late = mapping, {key: value}
    if isinstance(mapping, SharedMapping):
        base, late = mapping.base, {**mapping.late, key: value}
    one = SharedMapping(base, late)
    return dict(one) if len(late) ** 2 > 8 * len(base) or len(base) < _FEW else one


class ClusterState(msgspec.Struct, frozen=True, gc=False):
    """What is true of the whole cluster: replaced where a record changes it.

    `incarnations` has the present one of each broker, also one that ended without a successor;
    `earlier_incarnations` the last hundred before it, oldest first. `features` are levels by name.
    `topic_settings` and `cluster_settings` have min.insync.replicas and
    unclean.leader.election.enable as the records set them. `controller_id` is that of the active
    controller, `controller_release` what it registered, both where the log tells.
    """

    controller_epoch: int = UNKNOWN
    controller_since: OffsetAndTime | None = None
    controller_id: int = UNKNOWN
    controller_release: str = ""
    incarnations: Mapping[int, RegisteredIncarnation] = {}
    earlier_incarnations: Mapping[int, tuple[RegisteredIncarnation, ...]] = {}
    features: Mapping[str, int] = {}
    topic_settings: Mapping[str, Mapping[str, str]] = {}
    cluster_settings: Mapping[str, str] = {}
    idles: bool = False
    """Whether the controllers of this log write a record each second while nothing happens."""
    fenced_last: tuple[int, ...] = ()
    """The two brokers that were fenced last."""
    previous: OffsetAndTime | None = None
    """The record before this one, where that was a second or more before it."""

    @property
    def has_elr(self) -> bool:
        """Whether eligible leader replicas are on (KIP-966)."""
        return self.features.get("eligible.leader.replicas.version", 0) > 0

    def min_insync_replicas(self, topic: str) -> int | None:
        """The topic's own, else the cluster's; None where no record sets it."""
        own = self.topic_settings.get(topic, {}).get("min.insync.replicas")
        value = own or self.cluster_settings.get("min.insync.replicas")
        return int(value) if value and value.isdigit() else None


Handler = Literal[
    "created",
    "removed",
    "fenced",
    "controlled shutdown",
    "unfenced",
    "registration",
    "unregistration",
    "AlterPartition",
    "preferred election",
    "unclean election",
    "reassignment",
    "directories",
    "settings",
    "unknown",
]
"""Which request or timer of the controller wrote a record, as far as the order of records tells."""


class LogEvent(msgspec.Struct, frozen=True, gc=False):
    """One record and what it changed.

    Of a record about a partition, `before` is None where the partition is new or was not known,
    `after` where its topic was removed. A ClearElrRecord or a removed topic is one event for each
    partition. Of a record about a broker, `incarnation` is the one after it. `cluster` is the state
    after the record. `handlers` is more than one where the order of records fits several.
    """

    record: LogRecord
    cluster: ClusterState
    before: PartitionState | None = None
    after: PartitionState | None = None
    incarnation: RegisteredIncarnation | None = None
    handlers: tuple[Handler, ...] = ("unknown",)
    cause: int = UNKNOWN
    """The offset of the record that names the broker: of its fence, unfencing, controlled shutdown
    or registration, with which the controller wrote this one. UNKNOWN where it wrote it alone.
    """

    @property
    def origin(self) -> int:
        """The offset of its cause, or its own where the controller wrote it alone."""
        return self.record.offset if self.cause == UNKNOWN else self.cause

    @property
    def partition(self) -> PartitionState | None:
        """The partition that the record is about, after it, or before where it is gone."""
        return self.after or self.before
