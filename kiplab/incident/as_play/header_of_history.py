"""The header of a play of a history: the cluster as it stands where the history begins."""

from collections.abc import Iterable, Iterator, Sequence

from ...protocol.ids import NO_LEADER
from ...protocol.releases import METADATA_LEVEL, RELEASES, Mode, of_mode, supports
from ..states import ClusterState, LogEvent, PartitionState
from .compared_records import SETTINGS, RecordTarget

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
