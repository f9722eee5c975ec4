"""The initial state of a play, set up in a real controller that has just been started.

A controller can only be sent requests. Brokers register (meaningless records fill its log up to
their epochs), topics are created, ISRs shrink, brokers are fenced, until its log agrees with the
header. Epochs of partitions stay as they come, and the renaming has their distance from the play's.
A situation that no such requests lead to is refused, with its line.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from ...engine.truth import Truth
from ...plays.header import partition_name
from ...plays.play import Play
from ...plays.play_errors import PlayError
from ...protocol import messages, registrations, releases
from ...protocol.ids import NO_LEADER, BrokerId, Count, Incarnation, MetadataOffset
from ...protocol.kraft.controller_state import Controller
from ...protocol.kraft.replay import replay
from ...protocol.kraft.sessions import CHECK_MS, SESSION_TIMEOUT_MS, has_contacts
from ..conversation.kafka_terms import KafkaCall, record_of, split
from ..conversation.real_controller import RealController, RefusedByKafkaError
from ..wire.metadata_log import LoggedRecord, MetadataLog
from .deciding import EpochsMoved, OffsetPoint, Renaming

FILLERS_MAX = 5_000
"""Between two offsets of a play that are further apart there are so many records in Kafka."""
FILLERS_AT_ONCE = 1_000
SPARE = BrokerId((1 << 20) + 1)
"""A broker that no play has."""
HELD_UP = "held-up"
"""A topic that no broker of a play has for long."""
PARTS = 3
"""How many parts a time has in which some sessions end: between them others send heartbeats."""
FAR = 50
"""How far beyond the end of the log a broker says it is that has to count as caught up."""
_SHAPE = (
    *("leader", "isr", "replicas", "recovery", "adding", "removing", "elr", "last_known"),
    "directories",
)
"""What a partition begins with, beside its epochs."""


class InitialState:
    """Lets the log of `kafka` say what the header of `play`, which comes to `goal`, says. `image`
    is that log, replayed. Raises DeadKafkaError, or an OSError, once Kafka is gone.
    """

    def __init__(self, kafka: RealController, play: Play, goal: Truth) -> None:
        self.kafka, self._play, self._wanted = kafka, play, goal
        self._points: list[OffsetPoint] = []
        self._unfenced = {entry.broker for entry in goal.registrations if not entry.fenced}
        self.image = Controller()
        # With a place of its own in the log, for what the controller reads while it starts.
        self.log = MetadataLog(kafka.process.data, kafka.schemas)
        self._fillers = 0
        self.read()

    def read(self) -> tuple[LoggedRecord, ...]:
        """What is new in the log, replayed."""
        records = self.log.new()
        for logged in records:
            record = record_of(logged, self.kafka.topics)
            if record is not None:
                at = MetadataOffset(logged.offset)
                self.image = replay(replace(self.image, next_offset=at), record)
        return records

    def reach(self) -> Renaming:
        """Raises PlayError, with the line, for what no real controller comes to."""
        self._begin_anew()
        for entry in sorted(self._wanted.registrations, key=lambda entry: entry.epoch):
            self._fill_up_to(entry.epoch)
            self._register(entry.broker, entry.incarnation, entry.log_dirs)
        self._make_topics()
        self._shut_down()
        self._fence_who_begins_fenced()
        self._fill_up_to(self._wanted.next_offset)
        for entry in self._wanted.registrations:
            # Every broker has the whole log, and says so; a fenced one sends nothing.
            if not entry.fenced:
                self._beat(entry.broker, self.log.end - 1)
        self._check()
        moved = map(self._epochs_moved, self._wanted.partitions)
        epochs = tuple(m for m in moved if m.leader_moved or m.version_moved)
        return Renaming(tuple(self._points), epochs)

    def _ask(self, request: messages.Request) -> None:
        """Send a request, and ignore the answer."""
        self.kafka.ask(request)
        self.read()

    def _fill_up_to(self, play: int) -> None:
        """Let Kafka's log end where the play's ends, or as near as can be, by records that change
        nothing here: quotas of users that do not exist.
        """
        last = self._points[-1] if self._points else OffsetPoint(0, 0)
        count = min(last.kafka + play - last.play - self.log.end, FILLERS_MAX)
        while count > 0:
            some = range(self._fillers, self._fillers + min(count, FILLERS_AT_ONCE))
            version = self.kafka.schemas.requests["AlterClientQuotas"].versions.last
            quota = {"Key": "producer_byte_rate", "Value": 1.0, "Remove": False}
            users = [[{"EntityType": "user", "EntityName": f"filler-{n}"}] for n in some]
            entries = [{"Entity": user, "Ops": [quota]} for user in users]
            body = {"Entries": entries, "ValidateOnly": False}
            self.kafka.tell(KafkaCall("AlterClientQuotas", version, body))
            self.read()
            self._fillers, count = some.stop, count - len(some)
        self._points.append(OffsetPoint(play, self.log.end))

    # --- brokers --------------------------------------------------------------------------------

    def _register(
        self,
        broker: BrokerId,
        incarnation: Incarnation,
        log_dirs: tuple[Count, ...] = registrations.ONE_DIRECTORY,
    ) -> None:
        request = messages.BrokerRegistrationRequest(
            broker=broker, incarnation=incarnation, log_dirs=log_dirs
        )
        self._ask(request)

    def _begin_anew(self) -> None:
        """Up to 3.5 the epoch of the first registration after an election is not its offset."""
        self._register(SPARE, Incarnation(1))
        self._ask(messages.UnregisterBrokerRequest(broker=SPARE))

    def _registered(self, broker: BrokerId) -> registrations.Registration:
        """What the log says of a broker."""
        entry = registrations.registration(self.image.registrations, broker)
        assert entry is not None, f"broker {broker} is not registered"
        return entry

    def _is_fenced(self, broker: BrokerId) -> bool:
        return any(e.broker == broker and e.fenced for e in self.image.registrations)

    def _fence(self, brokers: Iterable[BrokerId], *, fenced: bool = True) -> None:
        """These are fenced, or unfenced, if they are not yet."""
        for broker in brokers:
            if self._is_fenced(broker) != fenced:
                self._beat(broker, self.log.end + FAR, want_fence=fenced)

    def _unfence(self, brokers: Iterable[BrokerId] = ()) -> None:
        """These, and who begins unfenced."""
        self._fence(sorted({*self._unfenced, *brokers}), fenced=False)

    def _beat(self, broker: BrokerId, offset: int, **wants: bool) -> None:
        """A heartbeat of a broker that has the metadata up to `offset`."""
        epoch, at = self._registered(broker).epoch, MetadataOffset(offset)
        heartbeat = messages.BrokerHeartbeatRequest(
            broker=broker, broker_epoch=epoch, metadata_offset=at, **wants
        )
        self._ask(heartbeat)

    def _shut_down(self) -> None:
        """Only who leads something waits to be let go: a topic of its own, for as long as that. A
        new controller remembers nothing of it, and has it in its log.
        """
        wanted = (entry for entry in self._wanted.registrations if not entry.fenced)
        leaving = [entry.broker for entry in wanted if entry.in_controlled_shutdown]
        for broker in leaving:
            self._create(HELD_UP, [[broker]])
            self._beat(broker, self.log.end - 1, want_shut_down=True)
            self.kafka.delete(HELD_UP)
            self.read()
            left = (state for state in self.image.partitions if split(state.name)[0] != HELD_UP)
            self.image = replace(self.image, partitions=tuple(left))
        if leaving:
            self.kafka.restart()
            self.read()
            self._begin_anew()

    def _fence_who_begins_fenced(self) -> None:
        """The last member of an ISR was there until now. From 4.0 on Kafka holds on to whoever was
        heard of, fenced or not, until that is some time ago; meanwhile others send heartbeats.
        """
        wanted = (entry.broker for entry in self._wanted.registrations if entry.fenced)
        broker_ids = [broker for broker in wanted if not self._is_fenced(broker)]
        # The last leader goes last: nobody else is in the ISR by then.
        last = {leader for wanted in self._wanted.partitions for leader in wanted.last_known}
        self._fence(sorted(broker_ids, key=lambda broker: broker in last))
        if not broker_ids or not has_contacts(releases.RELEASES[self.kafka.process.release].code):
            return
        for _ in range(PARTS):
            for broker in sorted(self._unfenced):
                self._beat(broker, self.log.end - 1)
            self.kafka.advance((SESSION_TIMEOUT_MS + CHECK_MS) // PARTS)
            self.kafka.barrier()
        self.read()

    # --- topics ---------------------------------------------------------------------------------

    def _partition(self, name: str) -> registrations.PartitionRegistration:
        """What the log says of a partition."""
        state = registrations.partition(self.image.partitions, name)
        assert state is not None, f"there is no {name}"
        return state

    def _make_topics(self) -> None:
        """Those with an unclean leader first: an unclean election needs a fenced broker."""
        topics = groupby(self._wanted.partitions, lambda wanted: split(wanted.name)[0])
        made = [(topic, tuple(partitions)) for topic, partitions in topics]
        for topic, partitions in sorted(made, key=lambda one: not any(map(_is_new, one[1]))):
            members = {member for wanted in partitions for member in (*wanted.isr, *wanted.elr)}
            self._unfence(members | set(map(_first, partitions)))
            self._make_topic(topic, partitions)
            for wanted in partitions:
                self._shape(wanted)
        self._unfence()

    def _make_topic(
        self, topic: str, partitions: Sequence[registrations.PartitionRegistration]
    ) -> None:
        in_order = sorted(partitions, key=lambda wanted: split(wanted.name)[1])
        if [split(wanted.name)[1] for wanted in in_order] != list(range(len(partitions))):
            why = "the partitions of a real topic are numbered from 0 on, and none is left out"
            raise self._untold("topic", partitions[0].name, why)
        # Whoever is to lead comes first.
        assigned = [
            sorted(
                _without(wanted.replicas, wanted.adding),
                key=lambda replica: replica != _first(wanted),
            )
            for wanted in in_order
        ]
        if len(set(map(len, assigned))) > 1:
            why = "a real topic is created with as many replicas for every partition"
            raise self._untold("topic", partitions[-1].name, why)
        unclean = any(wanted.unclean_leader_election for wanted in partitions)
        try:
            min_insync = self._min_insync(topic, in_order[0])
            self._create(topic, assigned, unclean=unclean, min_insync=min_insync)
        except RefusedByKafkaError as refused:
            why = f"Kafka refuses {refused}"
            raise self._untold("topic", partitions[0].name, why) from None

    def _min_insync(self, topic: str, wanted: registrations.PartitionRegistration) -> int | None:
        """A controller reads it only where it has, or will have, eligible leader replicas."""
        assert isinstance(self._wanted, Controller)
        switched = any(s.verb == "upgrade" and s.arg("elr") for s in self._play.statements)
        has_own = topic in self._wanted.topics_with_min_insync
        asked = has_own and (self.kafka.process.elr or switched)
        return wanted.min_insync_replicas if asked else None

    def _create(
        self,
        topic: str,
        replicas: list[list[BrokerId]],
        *,
        unclean: bool = False,
        min_insync: int | None = None,
    ) -> None:
        created = self.kafka.create(topic, replicas, unclean=unclean, min_insync=min_insync)
        self.read()
        both = sorted((*self.image.partitions, *created), key=lambda state: state.name)
        self.image = replace(self.image, partitions=tuple(both))

    def _shape(self, wanted: registrations.PartitionRegistration) -> None:
        """The partition's replicas, leader and ISR, as far as requests lead there."""
        now = _without(wanted.replicas, wanted.adding)
        if self._partition(wanted.name).replicas != now:
            self.kafka.reassign(wanted.name, now)
            self.read()
        if _is_new(wanted):
            # Nobody but the leader-to-be is there when the last member of the ISR has gone.
            self._alter(wanted.name, (self._partition(wanted.name).leader,))
            self._fence(replica for replica in wanted.replicas if replica != wanted.leader)
            self._ask(messages.ElectLeadersRequest(unclean=True, partitions=(wanted.name,)))
            self._unfence()
        if wanted.adding or wanted.removing:
            self.kafka.reassign(wanted.name, _without(wanted.replicas, wanted.removing))
        self.read()
        # Up to 4.2 this clears the eligible leader replicas.
        for replica in now:
            directory = registrations.directory_of(wanted, replica)
            if registrations.directory_of(self._partition(wanted.name), replica) != directory:
                self._assign(wanted.name, replica, directory)
        there = self._partition(wanted.name)
        if there.isr != wanted.isr and there.leader in wanted.isr:
            if wanted.elr:
                # Who leaves while the ISR is small enough is remembered.
                self._alter(wanted.name, (*wanted.isr, *wanted.elr))
            self._alter(wanted.name, wanted.isr)
        if wanted.last_known == (there.leader,):
            self._alter(wanted.name, (there.leader, *_without(wanted.elr, (there.leader,))))
            self._alter(wanted.name, (there.leader,))

    def _assign(self, name: str, broker: BrokerId, directory: Count) -> None:
        request = messages.AssignReplicasToDirsRequest(
            broker=broker,
            broker_epoch=self._registered(broker).epoch,
            items=(messages.AssignedReplica(name, directory),),
        )
        self._ask(request)

    def _alter(self, name: str, isr: Sequence[BrokerId]) -> None:
        """The partition's leader proposes another ISR."""
        there = self._partition(name)
        epochs = {member: self._registered(member).epoch for member in {there.leader, *isr}}
        members = tuple(messages.IsrMember(member, epochs[member]) for member in isr)
        item = messages.AlterPartitionItem(
            there.name, there.leader_epoch, there.partition_epoch, members, int(there.recovery)
        )
        request = messages.AlterPartitionRequest(
            version=self.kafka.schemas.requests["AlterPartition"].versions.last,
            broker=there.leader,
            broker_epoch=epochs[there.leader],
            items=(item,),
        )
        self._ask(request)

    # --- what has come of it --------------------------------------------------------------------

    def _check(self) -> None:
        for entry in self._wanted.registrations:
            there = self._registered(entry.broker)
            states = (there.fenced, there.in_controlled_shutdown)
            if states != (entry.fenced, entry.in_controlled_shutdown):
                why = "no requests lead a real controller there"
                raise self._untold("broker", str(entry.broker), why)
        for wanted in self._wanted.partitions:
            state = self._partition(wanted.name)
            parted = [n for n in _SHAPE if getattr(state, n) != getattr(wanted, n)]
            if parted:
                why = f"no requests lead a real controller to its {' and '.join(parted)}"
                raise self._untold("topic", wanted.name, why)

    def _epochs_moved(self, wanted: registrations.PartitionRegistration) -> EpochsMoved:
        there = self._partition(wanted.name)
        leader, version = wanted.leader_epoch, wanted.partition_epoch
        moved = there.leader_epoch - leader, there.partition_epoch - version
        return EpochsMoved(wanted.name, leader, moved[0], version, moved[1])

    def _untold(self, verb: str, name: str, why: str) -> PlayError:
        (line,) = (
            line
            for line, statement in enumerate(self._play.statements, 1)
            if statement.verb == verb
            and name == (partition_name(statement) if verb == "topic" else statement.words[0])
        )
        return untold(self._play, line, why)


def _without(brokers: tuple[BrokerId, ...], others: Sequence[BrokerId]) -> tuple[BrokerId, ...]:
    """All but the others."""
    return tuple(broker for broker in brokers if broker not in others)


def _is_new(wanted: registrations.PartitionRegistration) -> bool:
    """Whether its leader was elected uncleanly, and nothing has happened since."""
    return wanted.recovery is registrations.LeaderRecoveryState.RECOVERING


def _first(wanted: registrations.PartitionRegistration) -> BrokerId:
    """Who leads the partition when it is created: its leader, unless another one comes before."""
    if _is_new(wanted):
        return next((r for r in wanted.replicas if r != wanted.leader), wanted.leader)
    if wanted.leader != NO_LEADER:
        return wanted.leader
    return next(iter((*wanted.isr, *wanted.last_known, *wanted.elr)), wanted.replicas[0])


class UntoldLeadersError(PlayError):
    """No real broker can be sent a line; a real controller may."""


def untold(play: Play, line: int, why: str, who: str = "controller") -> PlayError:
    """The first thing that no real controller, or leader, can be sent, and its line."""
    text = play.statements[line - 1].text
    problem = f"no real {who} can be told {text!r}"
    kind = UntoldLeadersError if who == "leader" else PlayError
    return kind(problem, expected=why, line=line, file=play.name)


def first_line(play: Play, *verbs: str) -> int:
    """Where the first of these verbs is; 1 where none is."""
    lines = (n for n, statement in enumerate(play.statements, 1) if statement.verb in verbs)
    return next(lines, 1)
