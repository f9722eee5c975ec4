"""Lines of a play of a history: its header, which is the cluster as it stands where the history
begins, and which lines may write the next records of the log, the likeliest first.

These are tries only: `play_of_history` runs each in the engine, and takes the first one after which
the engine has written what the log has.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ...engine import cluster as nodes
from ...engine.truth import partition_of, registration_of
from ...protocol.ids import NO_LEADER, BrokerId
from ...protocol.kraft import records
from ...protocol.registrations import ONE_DIRECTORY, directory_of
from ...protocol.releases import METADATA_LEVEL, RELEASES, Mode, of_mode, supports
from ..log_items import UNKNOWN
from ..states import ClusterState, LogEvent, PartitionState
from .compared_records import FEATURES, SETTINGS, RecordTarget
from .numbered_directories import UuidNumbers

RECORDS = 10
"""How many records the assumed logs begin with, and how many are written after each change."""
_METADATA_VERSION = {level: name for name, level in METADATA_LEVEL.items()}
WORDS = {"true": "yes", "false": "no"}
"""What plays call the values of a setting."""


def header_of(
    first: LogEvent, state: PartitionState, targets: Sequence[RecordTarget], numbers: UuidNumbers
) -> Iterator[str]:
    """The lines before the first move; `state` is that of the partition after the event `first`."""
    cluster, brokers = first.cluster, sorted(numbers)
    release, version = release_of(cluster, brokers), metadata_version_of(cluster)
    yield f"kafka {release}/{version}".rstrip("/") + " elr=1" * cluster.has_elr
    if cluster.controller_release in RELEASES:
        yield f"controller kafka={cluster.controller_release}"
    taken = {incarnation.epoch for incarnation in cluster.incarnations.values()}
    free = (epoch for epoch in range(len(taken) + len(brokers)) if epoch not in taken)
    for broker in brokers:
        said = f"broker {broker} {_broker(broker, cluster, release, targets, next(free))}"
        several = max(numbers[broker].values(), default=1)
        yield _said(said, directories=several if several > 1 else 0)
    yield f"topic {state.topic} {_topic(state, cluster, first)}"
    for broker in _stop_in_two_steps(state, targets):
        yield f"topic led-by-{broker} replicas={broker} isr={broker} leader={broker}"
    least = cluster.cluster_settings.get("min.insync.replicas")
    offset = max(first.record.offset, len(taken) + len(brokers), *taken, 0) + 1
    yield _said("given", next_metadata_offset=offset, min_insync_replicas=least)


def _said(*words: str, **args: object) -> str:
    """The words and those arguments that say something."""
    pairs = (f"{key.replace('_', '-')}={value}" for key, value in args.items() if value)
    return " ".join((*words, *pairs))


def metadata_version_of(cluster: ClusterState) -> str:
    """``"3.4-IV0"``; empty where no record tells."""
    level = cluster.features.get("metadata.version", 0)
    return _METADATA_VERSION.get(level, RELEASES[of_mode(Mode.KRAFT)[-1]].latest) if level else ""


def release_of(cluster: ClusterState, brokers: Iterable[int]) -> str:
    """The oldest known release of the brokers; else the first of the metadata version."""
    version = metadata_version_of(cluster)
    fits = [r for r in of_mode(Mode.KRAFT) if not version or supports(r, version)]
    ours = [cluster.incarnations[b].release for b in brokers if b in cluster.incarnations]
    return min((r for r in ours if r in fits), key=fits.index, default=fits[0])


def _broker(
    broker: int, cluster: ClusterState, release: str, targets: Sequence[RecordTarget], free: int
) -> str:
    """A broker that the log does not show yet is one that is down, under the epoch `free`."""
    incarnation = cluster.incarnations.get(broker)
    if incarnation is None or incarnation.ended is not None:
        return f"epoch={free} fenced=yes down=yes"
    following = next((t.event.record.type for t in targets if t.broker == broker), "")
    is_other = incarnation.release in RELEASES and incarnation.release != release
    return _said(
        f"epoch={incarnation.epoch}",
        kafka=incarnation.release if is_other else "",
        fenced="yes" * incarnation.fenced,
        shutting_down="yes" * (not incarnation.fenced and not incarnation.may_lead),
        down="yes" * (incarnation.fenced and following == "REGISTER_BROKER_RECORD"),
    )


def _topic(state: PartitionState, cluster: ClusterState, first: LogEvent) -> str:
    own = cluster.topic_settings.get(state.topic, {})
    is_new = first.before is None and first.record.type == "PARTITION_RECORD"
    lists = {key: getattr(state, key) for key in ("adding", "removing", "elr", "last_known")}
    return _said(
        f"partition={state.key.partition} replicas={_ids(state.replicas)} isr={_ids(state.isr)}",
        f"leader={'none' if state.leader == NO_LEADER else state.leader}",
        f"leader-epoch={state.leader_epoch} partition-epoch={state.partition_epoch}",
        recovery="recovering" * state.recovering,
        **{key: ids and _ids(ids) for key, ids in lists.items()},
        **{SETTINGS[key]: WORDS.get(own[key], own[key]) for key in SETTINGS if key in own},
        log="" if is_new else f"{RECORDS}@{state.leader_epoch}",
    )


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers)) or "none"


def _stop_in_two_steps(state: PartitionState, targets: Sequence[RecordTarget]) -> list[int]:
    """Brokers whose controlled shutdown begins while they do not lead the partition: they lead
    another, as the controller lets others stop at once (BrokerHeartbeatManager).
    """
    found: list[int] = []
    for target in targets:
        begins = target.event.record.fields.get("inControlledShutdown") == 1
        if begins and target.broker is not None and target.broker not in (state.leader, *found):
            found.append(target.broker)
        state = target.after or state
    return found


PlayLines = tuple[str, ...]
SHORT_MS = 1_000
"""Records of one handler are not further apart. Who joins sooner after it was unfenced may have
been asked for before.
"""


class Situation(NamedTuple):
    """What is to come, and the partition in the log before it; `disk` as in `as_play`."""

    todo: Sequence[RecordTarget]
    cluster: nodes.Cluster
    state: PartitionState
    disk: str

    def runs(self, id: int) -> bool:
        """Whether the broker has a process in the engine."""
        node = nodes.broker(self.cluster, BrokerId(id))
        return node is not None and node.process is not None


def tries(now: Situation) -> Iterator[PlayLines]:
    """The lines to try for the first of `todo`."""
    content, after = now.todo[0].content, now.todo[0].after
    level = next((t for t in now.todo[:3] if t.content is None), None)
    if level is not None:
        fields, version = level.event.record.fields, metadata_version_of(level.event.cluster)
        word = FEATURES[fields["name"]]
        yield (f"upgrade {word}={version if word == 'metadata' else fields['featureLevel']}",)
    if isinstance(content, records.ConfigRecord):
        setting = f"{SETTINGS[content.name]}={WORDS.get(content.value, content.value)}"
        verb = f"configure {content.topic}" if content.topic else "configure-brokers"
        yield (f"{verb} {setting}",)
    elif isinstance(content, records.RemoveTopicRecord):
        yield (f"delete-topic {content.topic}",)
    # The engine completes a reassignment, and has no move that begins one.
    elif not (getattr(content, "adding", ()) or getattr(content, "removing", ())):
        yield from _of_brokers(now)
        if after is not None:
            yield from _of_partition(now, after)


def _of_brokers(now: Situation) -> Iterator[PlayLines]:
    """What the next broker of the log does; changes of the partition before it may be its doing."""
    changes = [*takewhile(lambda t: t.broker is None, now.todo)]
    cause = now.todo[len(changes)] if len(changes) < len(now.todo) else None
    if cause is None or not all(_may_belong(change, cause) for change in changes):
        return
    id = NO_LEADER if cause.broker is None else cause.broker
    match cause.event.handlers[0]:
        case "registration":
            yield from _registers(now, id, cause)
        case "unregistration":
            yield (f"send unregister-broker from={id} broker={id}",)
        case "controlled shutdown":
            yield (f"shut-down {id}",)
        case "fenced":
            later = (t for t in now.todo[len(changes) + 1 :] if t.broker == id)
            yield from _is_fenced(now, id, next(later, None))
        case "unfenced":
            yield (f"unfence {id}",)
            yield (f"heartbeat {id}",)


def _may_belong(change: RecordTarget, cause: RecordTarget) -> bool:
    """Whether one handler may have written both: it does so at one time."""
    one, other = change.event.record, cause.event.record
    is_near = UNKNOWN in (one.time, other.time) or other.time - one.time <= SHORT_MS
    return change.after is not None and is_near and change.event.cause in (UNKNOWN, other.offset)


def _registers(now: Situation, id: int, target: RecordTarget) -> Iterator[PlayLines]:
    """It starts without directories that it does not register; a later record has the replica's."""
    node, event = nodes.broker(now.cluster, BrokerId(id)), target.event
    left = getattr(target.content, "log_dirs", None) or ONE_DIRECTORY
    held = node.durable.directories if node and event.record.fields.get("logDirs") else ()
    gone = [directory for directory in held if directory not in left]
    release = event.incarnation.release if event.incarnation is not None else ""
    is_other = release not in ("", now.cluster.features.release_of(BrokerId(id)))
    start = (
        *[f"upgrade {id} kafka={release}"] * is_other,
        *(f"remove-directory {id} directory={directory}" for directory in gone),
        *[f"hold assign-replicas-to-dirs from={id}"] * bool(gone),
        f"start {id}",
    )
    yield (f"crash {id} disk={now.disk}", *start) if now.runs(id) else start
    # A stop in order leaves no record where the broker leads nothing and its session lasts.
    yield (f"shut-down {id}", *start)


def _is_fenced(now: Situation, id: int, following: RecordTarget | None) -> Iterator[PlayLines]:
    if not now.runs(id):
        yield (f"expire {id}",)
        return
    registered = registration_of(now.cluster, BrokerId(id))
    if registered is not None and registered.in_controlled_shutdown:
        others = tuple(f"heartbeat {b.id}" for b in now.cluster.brokers if b.process and b.id != id)
        yield (f"heartbeat {id}",)
        yield (*others, f"heartbeat {id}")
    kinds = following.event.handlers if following else ()
    # From 4.0 on a heartbeat of a broker that stops counts as a session: it is fenced twice.
    if "fenced" in kinds or (following and "registration" in kinds and _stays(now, id, following)):
        yield (f"shut-down {id}",)
    elif following and "registration" not in kinds:
        # It comes back as the same process: it lived, and was not heard.
        yield (f"expire {id}",)
    yield (f"crash {id} disk={now.disk}", f"expire {id}")
    yield (f"shut-down {id}",)


def _stays(now: Situation, id: int, registers: RecordTarget) -> bool:
    """Whether the ISR or the ELR keeps a broker that registers: with KIP-966, Unclean recovery, one
    that stopped in order.
    """
    known = [t.after for t in takewhile(lambda t: t is not registers, now.todo) if t.after]
    state = [now.state, *known][-1]
    return registers.event.cluster.has_elr and id in (*state.isr, *state.elr)


def _of_partition(now: Situation, after: PartitionState) -> Iterator[PlayLines]:
    """What the leader or an operator does."""
    before, name, leader = now.state, after.name, after.leader
    yield from _assigned(now, name)
    if leader == before.leader:
        if joins := tuple(f"catch-up {b}" for b in after.isr if b not in before.isr):
            yield joins
        # Without any record behind, nobody has been behind for too long.
        kept = tuple(f"catch-up {b}" for b in after.isr if b != leader and now.runs(b))
        yield (f"produce {name} count={RECORDS}", *kept, f"check-lag {leader}")
    yield (f"elect {name}",)
    yield (f"elect {name} unclean=yes",)


def _assigned(now: Situation, name: str) -> Iterator[PlayLines]:
    """A broker tells where its replica is. Up to 4.2 that empties the ELR, whatever it tells."""
    record, state = now.todo[0].content, partition_of(now.cluster, name)
    told = getattr(record, "directories", None)
    if state is None or (told is None and getattr(record, "elr", None) != ()):
        return
    homes = told or [directory_of(state, id) for id in state.replicas]
    for id, home in zip(state.replicas, homes, strict=False):
        kind, at_home = f"assign-replicas-to-dirs from={id}", f"partition={name} directory={home}"
        yield (f"release {kind}",)
        # The hold stays: the engine's broker, which moves no log, would take it back.
        yield (f"hold {kind}", f"send {kind} {at_home}", f"deliver {kind}")
