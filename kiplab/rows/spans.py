"""Spans: states that last for a while. Each track is one function from a snapshot to words."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ..engine import history, moves, properties
from ..engine.cluster import Cluster, broker
from ..engine.events import CommittedLost, Event
from ..engine.nodes import has_zookeeper
from ..engine.truth import partition_of, registration_of, truth
from ..protocol.facts import Destroyed, LifecycleChanged
from ..protocol.ids import NO_BROKER_EPOCH, NO_LEADER, BrokerId, broker_list
from ..protocol.log import Log, first_difference, holds
from ..protocol.registrations import LeaderRecoveryState, PartitionRegistration
from ..protocol.replica import broker_state
from . import zookeeper_spans
from .columns import STRIPS, STRIPS_OF_ELR, SpanRow, broker_lane, offsets
from .snapshots import Reading, Snapshot, Track, replica_at, track, tracks

Losses = dict[str, list[tuple[int, Log]]]
"""By partition: at which x committed records were lost, and what was committed until then."""
Downs = dict[tuple[int, int], tuple[str, str]]
"""(broker, x) -> (value, text) of the track "down"."""
_OF_BROKER = ("uptime", "down", "fenced", "shutting down", "registered", "passed over")


def spans(shots: Sequence[Snapshot]) -> Iterator[SpanRow]:
    """All spans of a run, lane after lane in reading order."""
    start = shots[0].cluster
    names = [p.name for p in truth(start).partitions]
    reasons, lost = downs(shots), losses(shots)
    of_broker = [(name, "") for name in _OF_BROKER]
    of_broker += [(name, partition) for partition in names for name in ("role", "log")]
    for name in names:
        strips = [(strip, name) for strip in (*STRIPS, *STRIPS_OF_ELR)]
        yield from tracks(shots, "partition", strips, partial(_partition, name))
    yield from track(shots, "controller", "controller epoch", _controller_epoch)
    for node in start.brokers:
        yield from track(shots, "controller", broker_lane(node.id), partial(_standing, node.id))
    if has_zookeeper(start):
        yield from zookeeper_spans.zookeeper_spans(shots)
    for node in start.brokers:
        read_all = partial(_broker, node.id, names, reasons, lost)
        yield from tracks(shots, broker_lane(node.id), of_broker, read_all)
    for name in names:
        yield from track(shots, "records", "state", _Records(name), name)


def _broker(
    id: BrokerId, names: Iterable[str], reasons: Downs, lost: Losses, shot: Snapshot
) -> Iterator[tuple[Track, Reading]]:
    node, registration = broker(shot.cluster, id), registration_of(shot.cluster, id)
    if node is None:
        return
    if node.process is None:
        yield ("down", ""), Reading(*reasons.get((id, shot.x), ("down", "down")))
    else:
        yield ("uptime", ""), _uptime(node, node.process, shot)
        if registration is not None and registration.fenced:
            yield ("fenced", ""), Reading("yes", "fenced")
        leaving = node.process.lifecycle is broker_state.Lifecycle.PENDING_CONTROLLED_SHUTDOWN
        if leaving or (registration is not None and registration.in_controlled_shutdown):
            yield ("shutting down", ""), Reading("yes", "shutting down")
    if has_zookeeper(shot.cluster):
        yield from zookeeper_spans.taken_for(node, registration, shot)
    for name in names:
        state = partition_of(shot.cluster, name)
        if state is not None and id in state.replicas:
            yield ("log", name), _log(node, name)
            if node.process is not None:
                owed = [log for x, log in lost.get(name, ()) if x <= shot.x]
                yield ("role", name), _role(shot.cluster, node, state, owed)


# --- the partition, as the metadata log has it --------------------------------------------------


def _partition(name: str, shot: Snapshot) -> Iterator[tuple[Track, Reading]]:
    state = partition_of(shot.cluster, name)
    if state is not None:
        epoch, isr = str(state.partition_epoch), broker_list(state.isr)
        yield ("leader epoch", name), _leader_epoch(state)
        yield ("partition epoch", name), Reading(epoch, epoch)
        yield ("ISR", name), Reading(isr, isr)
        if state.elr:
            yield ("ELR", name), Reading(broker_list(state.elr), broker_list(state.elr))
        if state.last_known:
            yield ("last known leader", name), _last_known(state.last_known[0])


def _last_known(leader: BrokerId) -> Reading:
    """Kafka 4.0 may note that there was none."""
    return Reading(str(leader), f"broker {leader}" if leader != NO_LEADER else str(leader))


def _leader_epoch(state: PartitionRegistration) -> Reading:
    epoch = str(state.leader_epoch)
    if state.leader == NO_LEADER:
        return Reading(epoch, f"{epoch} · no leader", ("no leader",))
    if state.recovery is LeaderRecoveryState.RECOVERING:
        return Reading(epoch, f"{epoch} · recovering", ("recovering",))
    return Reading(epoch, epoch)


# --- the controller -----------------------------------------------------------------------------


def _controller_epoch(shot: Snapshot) -> Reading:
    if has_zookeeper(shot.cluster):
        return zookeeper_spans.controller_in_zookeeper(shot)
    epoch = str(truth(shot.cluster).controller_epoch)
    return Reading(epoch, f"controller epoch {epoch}")


def _standing(id: BrokerId, shot: Snapshot) -> Reading:
    registration = registration_of(shot.cluster, id)
    if registration is None:
        return Reading("absent", "not registered")
    state = "fenced" if registration.fenced else "active"
    if registration.in_controlled_shutdown:
        state = "shutting down"
    return Reading(state, f"{state}, epoch {registration.epoch}", (f"epoch {registration.epoch}",))


# --- a broker -----------------------------------------------------------------------------------


def _uptime(node: broker_state.Broker, process: broker_state.Volatile, shot: Snapshot) -> Reading:
    incarnation = (f"life {node.incarnation}",)
    if has_zookeeper(shot.cluster):
        return zookeeper_spans.czxid_of(node, shot, incarnation)
    if process.epoch == NO_BROKER_EPOCH:
        return Reading("none", "not registered yet", incarnation)
    return Reading(str(process.epoch), f"broker epoch {process.epoch}", incarnation)


def _log(node: broker_state.Broker, name: str) -> Reading:
    end, replica = broker_state.log_of(node, name).end, broker_state.replica_of(node, name)
    text = f"log ends at offset {end}"
    if replica is None:
        return Reading(str(end), text)
    mark = f"high watermark {replica.high_watermark}"
    return Reading(str(end), f"{text}, {mark}", (mark,))


def _role(
    cluster: Cluster, node: broker_state.Broker, state: PartitionRegistration, owed: Sequence[Log]
) -> Reading:
    """What the process is to the partition; `owed` are logs that were committed, and lost."""
    name, mine = state.name, broker_state.replica_of(node, state.name)
    observed = next((o for o in cluster.observed if o.partition == name), None)
    log = broker_state.log_of(node, name)
    lacks = "" if observed is None else _lacking(log, observed.committed)
    idle = ", does not fetch" if zookeeper_spans.is_idle(cluster, node, state) else ""
    holds_none = observed is not None and observed.committed.end > 0 and not log.end
    gone = next((old for old in owed if state.leader == node.id and not holds(log, old)), None)
    told = {"lacks committed": lacks or gone, "log empty": holds_none, "idle": idle}
    flags = tuple(flag for flag, is_so in told.items() if is_so)
    if state.leader == node.id:
        missing = "" if gone is None else offsets(first_difference(log, gone), gone.end - 1)
        return _leading(state, mine, flags, lacks, missing)
    if mine is not None and mine.leading is not None:
        text = f"still believes it leads, epoch {mine.leader_epoch}"
        return Reading("believes", text, flags)
    if node.id in state.isr:
        return Reading("in ISR", f"in ISR{idle}{lacks}", flags)
    if _is_proposed(cluster, state, node):
        return Reading("proposed", "proposed, not decided", flags)
    if node.id in state.elr:
        return Reading("out", "out of the ISR, in the ELR", (*flags, "in ELR"))
    return Reading("out", f"out of the ISR{idle}", flags)


def _leading(
    state: PartitionRegistration,
    mine: broker_state.Replica | None,
    flags: tuple[str, ...],
    lacks: str,
    missing: str,
) -> Reading:
    if mine is None or mine.leading is None:
        return Reading("elected", f"elected, does not know it yet{lacks}", flags)
    lead = f"leads without {missing}" if missing else "leader"
    if state.recovery is LeaderRecoveryState.RECOVERING:
        if mine.leading.isr_state.recovery is LeaderRecoveryState.RECOVERING:
            return Reading("leader", f"{lead} · recovering", (*flags, "recovering"))
        # As implemented the leader counts as recovered, also with RECOVERING in the metadata.
        text = f"{lead} · recovering for the controller only"
        return Reading("leader", text, (*flags, "recovering", "unaware"))
    return Reading("leader", lead if missing else "leader · in ISR", flags)


def _lacking(mine: Log, committed: Log) -> str:
    """What a replica lacks of the committed records, in words; empty if nothing."""
    if holds(mine, committed):
        return ""
    if not mine.end:
        return ", log empty"
    if mine.end >= committed.end:
        return ", log differs"
    return f", lacks {offsets(mine.end, committed.end - 1)}"


def _is_proposed(cluster: Cluster, state: PartitionRegistration, node: broker_state.Broker) -> bool:
    """Whether the sitting leader waits for an answer about this very incarnation of the broker."""
    replica, process = replica_at(cluster, state.leader, state.name), node.process
    sent = None if replica is None or replica.leading is None else replica.leading.isr_state.sent
    if process is None or sent is None:
        return False
    mine = (m for m in sent.isr if m.broker == node.id)
    epochs = (m.observed if m.epoch == NO_BROKER_EPOCH else m.epoch for m in mine)
    return any(epoch in (NO_BROKER_EPOCH, process.epoch) for epoch in epochs)


def losses(shots: Sequence[Snapshot]) -> Losses:
    """What was committed when records of it were lost: the observer forgets it there."""
    found: Losses = {}
    for shot in shots:
        for move in shot.moves:
            for event in (e for e in move.step.events if isinstance(e, CommittedLost)):
                before = (o for o in move.before.observed if o.partition == event.partition)
                found.setdefault(event.partition, []).extend((shot.x, o.committed) for o in before)
    return found


# --- committed records --------------------------------------------------------------------------


class _Records:
    """Remembers what is lost while it is asked moment after moment: a loss is for ever."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.lost: list[str] = []

    def __call__(self, shot: Snapshot) -> Reading | None:
        state = partition_of(shot.cluster, self.name)
        if state is None:
            return None
        for event in shot.events:
            if isinstance(event, CommittedLost) and event.partition == self.name:
                self.lost.append(offsets(event.first, event.last))
        if self.lost:
            return Reading("lost", f"{' and '.join(self.lost)} lost")
        if _at_risk(shot.cluster, state):
            return Reading("at risk", "at risk")
        if state.leader == NO_LEADER:
            return Reading("offline", "offline: no leader")
        return Reading("safe", "safe")


def _at_risk(cluster: Cluster, state: PartitionRegistration) -> bool:
    """A property broke, and what broke it has not been mended since."""
    broken = {id for id, name in cluster.broken if name == state.name}
    if not broken & {properties.ELECTABLE_HOLDS_COMMITTED.id, properties.NO_STALE_EPOCH_IN_ISR.id}:
        return False
    observed = next(o for o in cluster.observed if o.partition == state.name)
    members = [b for b in cluster.brokers if b.id in (state.isr or state.elr)]
    lacking = any(
        not holds(broker_state.log_of(b, state.name), observed.committed) for b in members
    )
    if has_zookeeper(cluster):
        # Its ISR has no broker epochs: a member that is gone may come back with its whole log.
        return lacking
    registered = {r.broker: r.epoch for r in truth(cluster).registrations}
    stale = any(registered.get(member) != epoch for member, epoch in observed.isr_epochs)
    return lacking or (len(state.isr) > 1 and stale)


# --- downtime -------------------------------------------------------------------------------------


def downs(shots: Sequence[Snapshot]) -> Downs:
    """The reason stays until the broker runs again."""
    reasons_by_place: Downs = {}
    reasons: dict[int, tuple[str, str]] = {}
    for shot in shots:
        for move in shot.moves:
            reasons.update(_reasons(move.step))
        reasons_by_place.update({(id, shot.x): reason for id, reason in reasons.items()})
    return reasons_by_place


def _reasons(step: history.Recorded) -> Iterator[tuple[int, tuple[str, str]]]:
    if isinstance(step.move, moves.Crash):
        yield step.move.broker, _crashed(step.move, step.events)
        return
    for event in step.events:
        if isinstance(event, LifecycleChanged) and event.state == "STOPPED":
            yield event.node, ("stopped", "shut down, log kept")


def _crashed(move: moves.Crash, events: Sequence[Event]) -> tuple[str, str]:
    gone = [e for e in events if isinstance(e, Destroyed)]
    if move.loss is broker_state.Loss.DISK:
        return "disk replaced", "disk replaced: log empty"
    if move.loss is broker_state.Loss.UNFLUSHED and gone:
        return "tail lost", f"{offsets(gone[0].first, gone[0].last)} gone"
    return "crashed", "crashed, log kept"
