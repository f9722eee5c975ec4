"""Lines of a play of a history: its header, which is the cluster as it stands where the history
begins, and which lines may write the next records of the log, the likeliest first.

These are tries only: `play_of_history` runs each in the engine, and takes the first one after which
the engine has written what the log has.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from ...engine import cluster as nodes
from ...engine.truth import registration_of
from ...protocol.ids import NO_LEADER, BrokerId
from ...protocol.kraft import records
from ...protocol.releases import METADATA_LEVEL, RELEASES, Mode, of_mode, supports
from ..log_items import UNKNOWN
from ..states import ClusterState, LogEvent, PartitionState
from .compared_records import FEATURES, SETTINGS, RecordTarget

RECORDS = 10
"""How many records the assumed logs begin with, and how many are written after each change."""
_METADATA_VERSION = {level: name for name, level in METADATA_LEVEL.items()}
WORDS = {"true": "yes", "false": "no"}
"""What plays call the values of a setting."""


def header_of(
    first: LogEvent, state: PartitionState, targets: Sequence[RecordTarget]
) -> Iterator[str]:
    """The lines before the first move. `first` is the event after which the play begins, and the
    partition stands as in `state` there.
    """
    cluster, later = first.cluster, [t.after for t in targets if t.after]
    brokers = sorted({b for known in (state, *later) for b in known.replicas})
    release, version = release_of(cluster, brokers), metadata_version_of(cluster)
    yield f"kafka {release}/{version}".rstrip("/") + " elr=1" * cluster.has_elr
    if cluster.controller_release in RELEASES:
        yield f"controller kafka={cluster.controller_release}"
    taken = {incarnation.epoch for incarnation in cluster.incarnations.values()}
    free = (epoch for epoch in range(len(taken) + len(brokers)) if epoch not in taken)
    for broker in brokers:
        yield f"broker {broker} {_broker(broker, cluster, release, targets, next(free))}"
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
        shutting_down="yes"
        * (incarnation.shutting_down_since is not None and not incarnation.fenced),
        down="yes" * (incarnation.fenced and following == "REGISTER_BROKER_RECORD"),
    )


def _topic(state: PartitionState, cluster: ClusterState, first: LogEvent) -> str:
    own = cluster.topic_settings.get(state.topic, {})
    is_new = first.before is None and first.record.type == "PARTITION_RECORD"
    return _said(
        f"partition={state.key.partition} replicas={_ids(state.replicas)} isr={_ids(state.isr)}",
        f"leader={'none' if state.leader == NO_LEADER else state.leader}",
        f"leader-epoch={state.leader_epoch} partition-epoch={state.partition_epoch}",
        recovery="recovering" * state.recovering,
        **{
            key: _ids(getattr(state, key))
            for key in ("adding", "removing", "elr", "last_known")
            if getattr(state, key)
        },
        **{SETTINGS[key]: WORDS.get(own[key], own[key]) for key in SETTINGS if key in own},
        log="" if is_new else f"{RECORDS}@{state.leader_epoch}",
    )


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers)) or "none"


def _stop_in_two_steps(state: PartitionState, targets: Sequence[RecordTarget]) -> list[int]:
    """Brokers whose controlled shutdown begins while they do not lead the partition.

    The controller lets a broker that leads nothing stop at once (BrokerHeartbeatManager), so each
    of these led something else.
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
    """What is to come, and how it stands: the partition in the log before the next record, and
    what a process that dies takes along (the word of ``disk=``).
    """

    todo: Sequence[RecordTarget]
    cluster: nodes.Cluster
    state: PartitionState
    disk: str

    def dies(self, id: int) -> str:
        """The line for a process that dies."""
        return f"crash {id} disk={self.disk}"

    def runs(self, id: int) -> bool:
        """Whether the broker has a process in the engine."""
        node = nodes.broker(self.cluster, BrokerId(id))
        return node is not None and node.process is not None


def tries(now: Situation) -> Iterator[PlayLines]:
    """The lines to try for the first of `todo`."""
    content, after = now.todo[0].content, now.todo[0].after
    level = next((t for t in now.todo[:3] if t.content is None), None)
    if level is not None:
        yield (_upgrade(level),)
    if isinstance(content, records.ConfigRecord):
        setting = f"{SETTINGS[content.name]}={WORDS.get(content.value, content.value)}"
        verb = f"configure {content.topic}" if content.topic else "configure-brokers"
        yield (f"{verb} {setting}",)
    elif isinstance(content, records.RemoveTopicRecord):
        yield (f"delete-topic {content.topic}",)
    else:
        yield from _of_brokers(now)
        if after is not None:
            yield from _of_partition(now, after)


def _upgrade(target: RecordTarget) -> str:
    fields, version = target.event.record.fields, metadata_version_of(target.event.cluster)
    word = FEATURES[fields["name"]]
    return f"upgrade {word}={version if word == 'metadata' else fields['featureLevel']}"


def _of_brokers(now: Situation) -> Iterator[PlayLines]:
    """What the next broker of the log does; changes of the partition before it may be its doing."""
    changes = [*takewhile(lambda t: t.broker is None, now.todo)]
    cause = now.todo[len(changes)] if len(changes) < len(now.todo) else None
    if cause is None or not all(_may_belong(change, cause) for change in changes):
        return
    content, id = cause.content, NO_LEADER if cause.broker is None else cause.broker
    if isinstance(content, records.RegisterBrokerRecord):
        yield from _registers(now, id, cause)
    elif isinstance(content, records.UnregisterBrokerRecord):
        yield (f"send unregister-broker from={id} broker={id}",)
    elif getattr(content, "in_controlled_shutdown", 0):
        yield (f"shut-down {id}",)
    elif _is_fence(cause):
        later = (t for t in now.todo[len(changes) + 1 :] if t.broker == id)
        yield from _is_fenced(now, id, next(later, None))
    else:
        yield (f"unfence {id}",)
        yield (f"heartbeat {id}",)


def _may_belong(change: RecordTarget, cause: RecordTarget) -> bool:
    """Whether one handler may have written both: it does so at one time."""
    one, other = change.event.record, cause.event.record
    is_near = UNKNOWN in (one.time, other.time) or other.time - one.time <= SHORT_MS
    return change.after is not None and is_near and change.event.cause in (UNKNOWN, other.offset)


def _registers(now: Situation, id: int, target: RecordTarget) -> Iterator[PlayLines]:
    release = target.event.incarnation.release if target.event.incarnation is not None else ""
    is_other = release not in ("", now.cluster.features.release_of(BrokerId(id)))
    start = (*((f"upgrade {id} kafka={release}",) if is_other else ()), f"start {id}")
    yield (now.dies(id), *start) if now.runs(id) else start
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
    fenced_again = following is not None and _is_fence(following)
    if _stopped_in_order(now, id) or fenced_again:
        # From 4.0 on a heartbeat of a broker that stops counts as a session: it is fenced twice.
        yield (f"shut-down {id}",)
    elif following and not isinstance(following.content, records.RegisterBrokerRecord):
        # It comes back as the same process: it lived, and was not heard.
        yield (f"expire {id}",)
    yield (now.dies(id), f"expire {id}")
    yield (f"shut-down {id}",)


def _is_fence(target: RecordTarget) -> bool:
    is_old = isinstance(target.content, records.FenceBrokerRecord)
    changes = isinstance(target.content, records.BrokerRegistrationChangeRecord)
    return is_old or (changes and getattr(target.content, "fenced", 0) == 1)


def _stopped_in_order(now: Situation, id: int) -> bool:
    """Whether the controller takes its next registration for that of a broker that stopped in
    order: with KIP-966, Unclean recovery, it leaves such a one in the ELR.
    """
    state = now.state
    for target in now.todo:
        if target.broker == id and isinstance(target.content, records.RegisterBrokerRecord):
            return target.event.cluster.has_elr and id in (*state.isr, *state.elr)
        state = target.after or state
    return False


def _of_partition(now: Situation, after: PartitionState) -> Iterator[PlayLines]:
    """What the leader or an operator does."""
    before, name, leader = now.state, after.name, after.leader
    if leader == before.leader:
        yield tuple(f"catch-up {b}" for b in after.isr if b not in before.isr)
        # Without any record behind, nobody has been behind for too long.
        kept = tuple(f"catch-up {b}" for b in after.isr if b != leader and now.runs(b))
        yield (f"produce {name} count={RECORDS}", *kept, f"check-lag {leader}")
    yield (f"elect {name}",)
    yield (f"elect {name} unclean=yes",)
