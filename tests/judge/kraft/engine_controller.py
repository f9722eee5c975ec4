"""The engine's controller does the turns of conversations: a cluster with a control plane and a
clock, and no brokers, since all that send requests are fake.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from kiplab.engine import cluster, impossible_moves, moves, nodes
from kiplab.engine.events import Dropped, Event
from kiplab.engine.step import Step, step
from kiplab.engine.truth import (
    Truth,
    session_lasts,
    session_timeout_ms,
    sessions,
    stale_sessions,
    truth,
)
from kiplab.judge.conversation.real_controller import NOBODY
from kiplab.protocol import errors, registrations
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features
from kiplab.protocol.ids import CONTROLLER, BrokerId, Count, MetadataOffset
from kiplab.protocol.kraft.controller_state import Controller, effective_min_isr, may_lead
from kiplab.protocol.kraft.partition_change import Code, Election, Targets, build, ordinary
from kiplab.protocol.kraft.records import PartitionChangeRecord
from kiplab.protocol.kraft.replay import CLUSTER, SETTINGS, commit
from kiplab.protocol.kraft.sessions import has_contacts
from kiplab.protocol.messages import Request, UnregisterBrokerRequest, api_message
from kiplab.protocol.registrations import PartitionRegistration, topic_of

from . import turns

Witness = Callable[[cluster.Cluster, moves.Move, Step], None]
"""Who sees every move: the cluster before it, and what it came to."""


class EngineController:
    """What `features` make of the requests that a real controller is asked."""

    def __init__(self, features: Features, beginning: turns.Beginning) -> None:
        """With `features`, whose metadata version is that of `beginning`."""
        self.witness: Witness = lambda _before, _move, _done: None
        end, own = beginning.end, MetadataOffset(beginning.last_record + 1)
        # A cluster that was formatted with eligible leader replicas has the cluster-level entry.
        cluster_level = 1 if features.has_elr else None
        first = Controller(next_offset=end, cluster_min_insync_replicas=cluster_level)
        self.cluster = cluster.Cluster(features, first, (), timed=True)
        if own < end:
            self.follow(own)
            self.take_over(end)

    def answer(self, turn: turns.Turn, real: turns.Answer, /) -> turns.Answer:
        """What the turn came to. Of Kafka's answer it takes where the log ends, how much time has
        passed, the partitions of a new topic, and the order of brokers that fall silent together.
        """
        order = turns.fenced_in(real.records)
        match turn:
            case turns.Asked(request=request, after_ms=ms):
                self.advance(ms)
                lapsed = () if self.looks_later else self.lapse(order)
                answer = self.ask(request, lapsed)
                late = self.lapse(order) if turn.checked else ()
                return replace(answer, records=(*answer.records, *late))
            case turns.Checked(after_ms=ms, is_last=is_last):
                self.advance(ms)
                return turns.Answer(records=self.lapse(order) if is_last else self.notice(order))
            case turns.Created():
                self.add(real.partitions, real.end, has_own=turn.min_insync is not None)
                return real
            case turns.Reassigned():
                return self._reassign(turn)
            case turns.Waited(ms=ms):
                self.advance(ms)
                return real
            case turns.TookOver(restarted=restarted):
                if restarted:
                    self.take_over(real.end)
                self.follow(real.end)
                self.advance(real.ms)
                return real
            case turns.Raised(metadata_version=version):
                refused = self.raise_metadata_version(version)
                self.advance(real.ms)
                self.follow(real.end)
                return turns.Answer(refused=refused)
            case turns.Configured():
                return turns.Answer(records=self._configure(turn))
            case turns.Deleted(topic=topic):
                return turns.Answer(records=_records(self._do(moves.DeleteTopic(topic))))
            case turns.Switched(level=level):
                refused = self._unless_impossible(moves.UpgradeElr(level))
                self.follow(real.end)
                return turns.Answer(refused=refused)

    @property
    def held(self) -> Truth:
        """What it holds for true."""
        return truth(self.cluster)

    @property
    def end(self) -> MetadataOffset:
        """The offset of its next record."""
        return MetadataOffset(self.held.next_offset)

    @property
    def features(self) -> Features:
        """What it runs with by now."""
        return self.cluster.features

    def ask(self, request: Request, before: tuple[RecordWritten, ...] = ()) -> turns.Answer:
        """Its answer, and the records it wrote, behind those `before`."""
        self._do(moves.RawRequest(NOBODY, CONTROLLER, request))
        (message,) = self.cluster.messages
        events = self._do(moves.Deliver(message.name))
        # Nobody is there to receive the answer, so that it is dropped.
        bodies = [event.body for event in events if isinstance(event, Dropped)]
        (response,) = (body for body in bodies if isinstance(body, api_message.ApiResponse))
        return turns.Answer(response, (*before, *_records(events)))

    def _reassign(self, turn: turns.Reassigned) -> turns.Answer:
        lapsed = () if self.looks_later else self.lapse()
        controller: Any = nodes.state_of(self.cluster, CONTROLLER)
        try:
            record = reassign(controller, turn.partition, turn.replicas, self.features)
        except RefusedReassignmentError as refused:
            return turns.Answer(records=lapsed, refused=str(refused))
        controller, _, facts = commit(controller, [record] if record else [], self.features)
        self.cluster = nodes.with_state(self.cluster, CONTROLLER, controller)
        written = tuple(fact for fact in facts if isinstance(fact, RecordWritten))
        return turns.Answer(records=(*lapsed, *written))

    @property
    def looks_later(self) -> bool:
        """Whether it is noticed later that a session is over: from 4.0 on, `notice` says when."""
        return has_contacts(self.features.code_of(CONTROLLER))

    @property
    def looks_first(self) -> bool:
        """Whether the next request is the first since the election that makes it look for silent
        brokers.
        """
        controller: Any = nodes.state_of(self.cluster, CONTROLLER)
        return not self.looks_later and not controller.watches_sessions

    def advance(self, ms: int) -> None:
        """Let time pass; whoever is silent for too long is fenced by `lapse` or `notice`."""
        if ms:
            self._do(moves.Advance(ms))

    def is_stale(self) -> bool:
        """Whether somebody has been silent for too long."""
        return bool(stale_sessions(self.cluster))

    def notice(self, order: Iterable[BrokerId]) -> tuple[RecordWritten, ...]:
        """Fence those in `order` whose session is over, in that order: the records of it."""
        written: tuple[RecordWritten, ...] = ()
        for broker in order:
            if broker in stale_sessions(self.cluster):
                written += _records(self._do(moves.ExpireSession(broker)))
        return written

    def lapse(self, order: Iterable[BrokerId] = ()) -> tuple[RecordWritten, ...]:
        """Fence everybody whose session is over: the records of it.

        Of sessions that end at the same moment, those in `order` end first, in that order: after a
        failover Kafka goes through a hash table there, and no rule says whose turn it is.
        """
        first_ones = tuple(order)
        written: tuple[RecordWritten, ...] = ()
        while tied := stale_sessions(self.cluster):
            first = next((broker for broker in first_ones if broker in tied), min(tied))
            written += _records(self._do(moves.ExpireSession(first)))
        return written

    def ends_soon(self, within_ms: int) -> bool:
        """Whether some session ends within so many milliseconds of the next question."""
        lasting = (session for session in sessions(self.cluster) if not session.over)
        ends = (s.last_contact_ms + session_timeout_ms(self.cluster) for s in lasting)
        return any(abs(end_ms - self.cluster.now_ms - 1) < within_ms for end_ms in ends)

    def leaves_a_session(self, request: Request) -> bool:
        """Whether a broker would be unregistered by this, and its session would go on."""
        if not isinstance(request, UnregisterBrokerRequest):
            return False
        forgets = self.features.code_of(CONTROLLER) >= (3, 3)
        return session_lasts(self.cluster, request.broker) and not forgets

    def take_over(self, end: MetadataOffset) -> None:
        """Another controller; the quorum has written of its election, up to `end`."""
        self._do(moves.FailOver())
        self.follow(end)

    def raise_metadata_version(self, metadata_version: str) -> str:
        """The metadata version is another one; or why it cannot be."""
        return self._unless_impossible(moves.UpgradeMetadata(metadata_version))

    def _configure(self, turn: turns.Configured) -> tuple[RecordWritten, ...]:
        """Of a value that is there already nothing is written."""
        setting = SETTINGS[turn.name](turn.value)
        move: moves.Move = moves.Configure(turn.topic, **setting)
        if turn.topic == CLUSTER:
            move = moves.ConfigureBrokers(**setting)
        if impossible_moves.why_not(self.cluster, move) is not None:
            return ()
        return _records(self._do(move))

    def _unless_impossible(self, move: moves.Move) -> str:
        refused = impossible_moves.why_not(self.cluster, move)
        if refused is None:
            self._do(move)
        return refused or ""

    def add(
        self, partitions: Sequence[PartitionRegistration], end: MetadataOffset, *, has_own: bool
    ) -> None:
        """Partitions of a topic that Kafka has created, and written into its log, which ends there
        now. A topic without its own min.insync.replicas has the cluster's.
        """
        controller: Any = nodes.state_of(self.cluster, CONTROLLER)
        own, count = {*controller.topics_with_min_insync}, controller.cluster_min_insync_replicas
        if has_own:
            own |= {topic_of(p.name) for p in partitions}
        elif count is not None:
            partitions = [replace(p, min_insync_replicas=count) for p in partitions]
        both = sorted((*self.held.partitions, *partitions), key=lambda p: p.name)
        self._hold(
            partitions=tuple(both), write_offset=None, topics_with_min_insync=tuple(sorted(own))
        )
        self.follow(end)

    def follow(self, end: MetadataOffset) -> None:
        """Kafka's log ends there, by records that the engine has nothing to do with."""
        self._hold(next_offset=end)

    def _hold(self, **changed: object) -> None:
        state = replace(nodes.state_of(self.cluster, CONTROLLER), **changed)
        self.cluster = nodes.with_state(self.cluster, CONTROLLER, state)

    def _do(self, move: moves.Move) -> tuple[Event, ...]:
        done = step(self.cluster, move)
        self.witness(self.cluster, move, done)
        self.cluster = done.cluster
        return done.events


def _records(events: Iterable[Event]) -> tuple[RecordWritten, ...]:
    return tuple(event for event in events if isinstance(event, RecordWritten))


# --- reassignments --------------------------------------------------------------------------------


class RefusedReassignmentError(Exception):
    """The controller refuses; the message is the name of the error."""


def reassign(
    controller: Controller, name: str, replicas: tuple[BrokerId, ...] | None, features: Features
) -> PartitionChangeRecord | None:
    """The record of a request to move a partition to `replicas`, or with None to cancel that.

    None where there is nothing to write. Raises RefusedReassignmentError.

    Source: ReplicationControlManager.alterPartitionReassignment (3.5.2, 4.3.1).
    """
    held = registrations.partition(controller.partitions, name)
    if held is None:
        raise RefusedReassignmentError(errors.KafkaError.UNKNOWN_TOPIC_OR_PARTITION.name)
    code = Code.of(features)
    election, targets = Election.ONLINE, Targets()
    if replicas is None:
        election = ordinary(held, code)
        targets = _cancelled(held, election)
    else:
        _check(controller, replicas)
        targets = _moved(held, replicas)
    new = [b for b in targets.replicas or () if b not in held.replicas]
    targets = replace(
        targets,
        min_isr=effective_min_isr(controller, held),
        directories=tuple((broker, _default_directory(controller, broker)) for broker in new),
    )

    def acceptable(broker: BrokerId) -> bool:
        """Whoever was dropped while the ISR was small is in the ELR, and has no directory: Kafka
        asks for that of a replica of before, and finds none.

        Source: LeaderAcceptor and PartitionRegistration.directory (4.0.2, 4.3.1).
        """
        active = may_lead(controller, code.active, held, broker)
        if active and broker not in held.replicas:
            raise RefusedReassignmentError(errors.KafkaError.UNKNOWN_SERVER_ERROR.name)
        return active

    return build(held, targets, acceptable, code, election)


def _default_directory(controller: Controller, broker: BrokerId) -> Count:
    """Source: ClusterControlManager.defaultDir (3.7.0, 4.3.1)."""
    registered = registrations.registration(controller.registrations, broker)
    log_dirs = () if registered is None else registered.log_dirs
    return log_dirs[0] if len(log_dirs) == 1 else registrations.UNASSIGNED


def _check(controller: Controller, replicas: tuple[BrokerId, ...]) -> None:
    """Source: ReplicationControlManager.validateManualPartitionAssignment (3.5.2)."""
    registered = {known.broker for known in controller.registrations}
    if not replicas or len(set(replicas)) < len(replicas) or not set(replicas) <= registered:
        raise RefusedReassignmentError("INVALID_REPLICA_ASSIGNMENT")


def _moved(held: registrations.PartitionRegistration, replicas: tuple[BrokerId, ...]) -> Targets:
    """An empty list of brokers is not set, so that what an earlier request wanted stays.

    Source: ReplicationControlManager.changePartitionReassignment and
    PartitionReassignmentReplicas (3.5.2, 4.3.1).
    """
    removing = tuple(sorted(set(held.replicas) - set(replicas)))
    adding = tuple(sorted(set(replicas) - set(held.replicas)))
    return Targets(
        replicas=(*replicas, *removing), adding=adding or None, removing=removing or None
    )


def _cancelled(held: registrations.PartitionRegistration, election: Election) -> Targets:
    """Source: ReplicationControlManager.cancelPartitionReassignment and
    PartitionReassignmentRevert (3.5.2, 4.3.1).
    """
    if not held.adding and not held.removing:
        raise RefusedReassignmentError("NO_REASSIGNMENT_IN_PROGRESS")
    replicas = tuple(broker for broker in held.replicas if broker not in held.adding)
    isr = tuple(broker for broker in held.isr if broker not in held.adding)
    if not replicas or (not isr and election is not Election.UNCLEAN):
        raise RefusedReassignmentError("INVALID_REPLICA_ASSIGNMENT")
    return Targets(isr=isr or replicas[:1], replicas=replicas, adding=(), removing=())
