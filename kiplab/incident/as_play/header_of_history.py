"""The header of a play of a history: the cluster as it stands where the history begins."""

from collections.abc import Iterable, Iterator, Sequence

from ...plays.play import Statement
from ...protocol.ids import NO_LEADER
from ...protocol.releases import METADATA_LEVEL, RELEASES, Mode, of_mode, supports
from ..states import BrokerLife, ClusterState, LogEvent, PartitionState
from .compared_records import Target

RECORDS = 10
"""How many records the assumed logs begin with, and how many are written after each change."""
_METADATA_VERSION = {level: name for name, level in METADATA_LEVEL.items()}


def header_of(first: LogEvent, targets: Sequence[Target]) -> Iterator[Statement]:
    """The lines before the first move. `first` is the event after which the play begins."""
    state, cluster = first.after, first.cluster
    if state is None:
        return
    written_in = [t.event.after.replicas for t in targets if t.event.after]
    brokers = sorted({b for replicas in (state.replicas, *written_in) for b in replicas})
    yield _kafka(cluster, brokers)
    if cluster.controller_release in RELEASES:
        yield _statement("controller", kafka=cluster.controller_release)
    free = iter(_free_epochs(cluster, brokers))
    for broker in brokers:
        life = cluster.lives.get(broker)
        yield _broker(
            broker, life, next(free), _dies(broker, targets), release_of(cluster, brokers)
        )
    yield _topic(state, cluster, is_new=first.before is None and _is_created(first))
    yield from (_only_here(broker) for broker in _stop_in_two_steps(state, targets))
    least = cluster.cluster_settings.get("min.insync.replicas")
    given = {"min-insync-replicas": least} if least else {}
    yield _statement("given", **{"next-metadata-offset": str(_next_offset(first))}, **given)


def _statement(verb: str, *words: str, comment: str | None = None, **args: str) -> Statement:
    pairs = tuple((key.replace("_", "-"), value) for key, value in args.items() if value)
    return Statement(verb, words, pairs, comment)


def _kafka(cluster: ClusterState, brokers: Iterable[int]) -> Statement:
    release, version = release_of(cluster, brokers), metadata_version_of(cluster)
    words = f"{release}/{version}" if version else release
    return _statement("kafka", words, elr="1" if cluster.has_elr else "")


def metadata_version_of(cluster: ClusterState) -> str:
    """``"3.4-IV0"``; empty where no record tells."""
    level = cluster.features.get("metadata.version", 0)
    return _METADATA_VERSION.get(level, RELEASES[of_mode(Mode.KRAFT)[-1]].latest) if level else ""


def release_of(cluster: ClusterState, brokers: Iterable[int]) -> str:
    """The oldest release among the brokers that kiplab knows; else the first of the metadata
    version.
    """
    known, version = of_mode(Mode.KRAFT), metadata_version_of(cluster)
    fits = [r for r in known if not version or supports(r, version)]
    lives = (cluster.lives.get(broker) for broker in brokers)
    ours = [life.release for life in lives if life is not None and life.release in fits]
    return min(ours, key=known.index, default=fits[0] if version else known[0])


def _broker(broker: int, life: BrokerLife | None, free: int, dies: bool, release: str) -> Statement:
    is_there = life is not None and life.ended is None
    if life is None or not is_there:
        return _statement("broker", str(broker), epoch=str(free), fenced="yes", down="yes")
    return _statement(
        "broker",
        str(broker),
        epoch=str(life.epoch),
        kafka=life.release if life.release in RELEASES and life.release != release else "",
        fenced="yes" if life.fenced else "",
        shutting_down="yes" if life.shutting_down_since and not life.fenced else "",
        down="yes" if life.fenced and dies else "",
    )


def _dies(broker: int, targets: Sequence[Target]) -> bool:
    """Whether the next record of a broker registers another process."""
    of_broker = (t.said.record for t in targets if t.said.broker == broker)
    return next(of_broker, "") == "RegisterBrokerRecord"


def _free_epochs(cluster: ClusterState, brokers: Sequence[int]) -> list[int]:
    """Broker epochs for those that are not registered where the play begins."""
    taken = {life.epoch for life in cluster.lives.values()}
    return [n for n in range(len(taken) + len(brokers)) if n not in taken][: len(brokers)]


def _next_offset(first: LogEvent) -> int:
    epochs = (life.epoch for life in first.cluster.lives.values())
    return max(first.record.offset, *epochs, 12) + 1


def _is_created(first: LogEvent) -> bool:
    return first.record.type == "PARTITION_RECORD" and first.record.offset >= 0


def _topic(state: PartitionState, cluster: ClusterState, is_new: bool) -> Statement:
    own = cluster.topic_settings.get(state.topic, {})
    return _statement(
        "topic",
        state.topic,
        partition=str(state.key.partition),
        replicas=_ids(state.replicas),
        isr=_ids(state.isr),
        leader=str(state.leader) if state.leader != NO_LEADER else "none",
        leader_epoch=str(state.leader_epoch),
        partition_epoch=str(state.partition_epoch),
        recovery="recovering" if state.recovering else "",
        adding=_ids(state.adding) if state.adding else "",
        removing=_ids(state.removing) if state.removing else "",
        elr=_ids(state.elr) if state.elr else "",
        last_known=_ids(state.last_known) if state.last_known else "",
        min_insync_replicas=own.get("min.insync.replicas", ""),
        unclean_leader_election=_yes_no(own.get("unclean.leader.election.enable", "")),
        log="" if is_new else f"{RECORDS}@{state.leader_epoch}",
    )


def _yes_no(setting: str) -> str:
    return {"true": "yes", "false": "no"}.get(setting, "")


def _ids(brokers: Iterable[int]) -> str:
    return ",".join(map(str, brokers)) or "none"


def _stop_in_two_steps(state: PartitionState, targets: Sequence[Target]) -> list[int]:
    """Brokers whose controlled shutdown begins while they do not lead the partition.

    The controller lets a broker that leads nothing stop at once (BrokerHeartbeatManager), so each
    of these led something else.
    """
    found: list[int] = []
    for target in targets:
        begins = target.said.field("in_controlled_shutdown") == "1"
        id = target.said.broker
        if begins and id is not None and id not in (state.leader, *found):
            found.append(id)
        state = target.event.after or state
    return found


def _only_here(broker: int) -> Statement:
    words = {"replicas": str(broker), "isr": str(broker), "leader": str(broker)}
    return _statement("topic", f"led-by-{broker}", **words)
