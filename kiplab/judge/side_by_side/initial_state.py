"""What a play begins with, told to a real controller that has just been started.

A controller cannot be given a situation, only requests: brokers register (records that mean nothing
fill its log up to their epochs), topics are created, ISRs shrink, brokers are fenced, until its log
says what the header says. Epochs of partitions are left as they come: the renaming says by how much
they differ from the play's. A situation that no such requests lead to is refused, with its line.
"""

from collections.abc import Sequence
from itertools import groupby

from ...engine.truth import Truth
from ...plays.header import partition_name
from ...plays.play import Play, Statement
from ...plays.play_errors import PlayError
from ...protocol.ids import NO_LEADER, BrokerId, Incarnation
from ...protocol.registrations import LeaderRecoveryState, PartitionRegistration, Registration
from ..conversation.kafka_terms import split
from ..conversation.real_controller import RefusedByKafkaError
from .renaming import EpochsMoved, OffsetPoint, Renaming
from .told_kafka import ToldKafka

FILLERS_MAX = 5_000
"""Between two offsets of a play that are further apart there are so many records in Kafka."""
SPARE = BrokerId((1 << 20) + 1)
"""A broker that no play has."""
HELD_UP = "held-up"
"""A topic that no broker of a play has for long."""
_SHAPE = ("leader", "isr", "replicas", "recovery", "adding", "removing")
"""What a partition begins with, beside its epochs."""


def set_initial_state(kafka: ToldKafka, play: Play, wanted: Truth) -> Renaming:
    """Let Kafka's log say what the header of `play`, which comes to `wanted`, says.

    Raises PlayError, with the line, for what no real controller comes to.
    """
    state = _InitialState(kafka, play, wanted)
    state.register_brokers()
    state.make_topics()
    state.shut_down()
    state.fence()
    state.reach_the_end()
    for entry in wanted.registrations:
        # Every broker has the whole log, and says so; of a fenced one nothing is heard.
        if not entry.fenced:
            kafka.beat(entry.broker, kafka.end - 1)
    state.check()
    return Renaming(tuple(state.points), tuple(state.epochs_moved()))


class _InitialState:
    def __init__(self, kafka: ToldKafka, play: Play, wanted: Truth) -> None:
        self.kafka, self.play, self.wanted = kafka, play, wanted
        self.points: list[OffsetPoint] = []

    # --- brokers --------------------------------------------------------------------------------

    def register_brokers(self) -> None:
        brokers = self.wanted.registrations
        self._after_an_election()
        for entry in sorted(brokers, key=lambda entry: entry.epoch):
            self._register(entry)

    def _after_an_election(self) -> None:
        """Up to 3.5 the epoch of the first registration after it is not its offset."""
        self.kafka.register(SPARE, Incarnation(1))
        self.kafka.unregister(SPARE)

    def _register(self, entry: Registration) -> None:
        self._fill_up_to(entry.epoch)
        self.kafka.register(entry.broker, entry.incarnation)

    def _fill_up_to(self, play: int) -> None:
        """Let Kafka's log end where the play's ends, or as near as can be."""
        last = self.points[-1] if self.points else OffsetPoint(0, 0)
        self.kafka.fill(min(last.kafka + play - last.play - self.kafka.end, FILLERS_MAX))
        self.points.append(OffsetPoint(play, self.kafka.end))

    def reach_the_end(self) -> None:
        self._fill_up_to(self.wanted.next_offset)

    # --- topics ---------------------------------------------------------------------------------

    def make_topics(self) -> None:
        """Those with an unclean leader first: getting there takes fencing somebody."""
        topics = groupby(self.wanted.partitions, lambda wanted: split(wanted.name)[0])
        made = [(topic, tuple(partitions)) for topic, partitions in topics]
        for topic, partitions in sorted(made, key=lambda one: not any(map(_is_new, one[1]))):
            members = {member for wanted in partitions for member in wanted.isr}
            self.kafka.unfence(sorted(self._unfenced() | members | set(map(_first, partitions))))
            self._create(topic, partitions)
            for wanted in partitions:
                self._shape(wanted)
        self.kafka.unfence(sorted(self._unfenced()))

    def shut_down(self) -> None:
        """Only who leads something waits to be let go: a topic of its own, for as long as that. A
        new controller remembers nothing of it, and has it in its log.
        """
        leaving = [entry.broker for entry in self.wanted.registrations if _is_leaving(entry)]
        if not leaving:
            return
        for broker in leaving:
            self.kafka.create(HELD_UP, [[broker]], unclean=False)
            self.kafka.beat(broker, self.kafka.end - 1, want_shut_down=True)
            self.kafka.delete(HELD_UP)
        self.kafka.restart()
        self._after_an_election()

    def fence(self) -> None:
        """The last member of an ISR was there until now. From 4.0 on Kafka holds on to whoever was
        heard of, fenced or not, until that is some time ago.
        """
        fenced = [entry.broker for entry in self.wanted.registrations if entry.fenced]
        heard = [broker for broker in fenced if not self.kafka.is_fenced(broker)]
        self.kafka.fence(heard)
        if heard and self.kafka.has_contacts:
            self.kafka.wait_without(sorted(self._unfenced()))

    def _unfenced(self) -> set[BrokerId]:
        return {entry.broker for entry in self.wanted.registrations if not entry.fenced}

    def _create(self, topic: str, partitions: Sequence[PartitionRegistration]) -> None:
        indices = sorted(split(wanted.name)[1] for wanted in partitions)
        if indices != list(range(len(partitions))):
            why = "the partitions of a real topic are numbered from 0 on, and none is left out"
            raise self._untold_partition(partitions[0], why)
        assigned = [_assigned(w) for w in sorted(partitions, key=lambda w: split(w.name)[1])]
        if len(set(map(len, assigned))) > 1:
            why = "a real topic is created with as many replicas for every partition"
            raise self._untold_partition(partitions[-1], why)
        unclean = any(wanted.unclean_leader_election for wanted in partitions)
        try:
            self.kafka.create(topic, assigned, unclean=unclean)
        except RefusedByKafkaError as refused:
            raise self._untold_partition(partitions[0], f"Kafka refuses {refused}") from None

    def _shape(self, wanted: PartitionRegistration) -> None:
        """The partition's replicas, leader and ISR, as far as requests lead there."""
        name, there = wanted.name, self.kafka.partition(wanted.name)
        now = tuple(replica for replica in wanted.replicas if replica not in wanted.adding)
        if there.replicas != now:
            self.kafka.reassign(name, now)
        if _is_new(wanted):
            self._elect_uncleanly(wanted)
        if wanted.adding or wanted.removing:
            left = [replica for replica in wanted.replicas if replica not in wanted.removing]
            self.kafka.reassign(name, left)
        there = self.kafka.partition(name)
        if there.isr != wanted.isr and there.leader in wanted.isr:
            self.kafka.alter(name, wanted.isr)

    def _elect_uncleanly(self, wanted: PartitionRegistration) -> None:
        """Nobody but the leader-to-be is there when the last member of the ISR has gone."""
        others = [replica for replica in wanted.replicas if replica != wanted.leader]
        self.kafka.alter(wanted.name, (self.kafka.partition(wanted.name).leader,))
        self.kafka.fence(others)
        self.kafka.elect_uncleanly(wanted.name)
        self.kafka.unfence(sorted(self._unfenced()))

    # --- what has come of it --------------------------------------------------------------------

    def check(self) -> None:
        for entry in self.wanted.registrations:
            leaves = self.kafka.is_leaving(entry.broker) == entry.in_controlled_shutdown
            if self.kafka.is_fenced(entry.broker) != entry.fenced or not leaves:
                raise self._untold_broker(entry, "no requests lead a real controller there")
        for wanted in self.wanted.partitions:
            there = self.kafka.partition(wanted.name)
            parted = [n for n in _SHAPE if getattr(there, n) != getattr(wanted, n)]
            if parted:
                why = f"no requests lead a real controller to its {' and '.join(parted)}"
                raise self._untold_partition(wanted, why)

    def epochs_moved(self) -> list[EpochsMoved]:
        moved = []
        for wanted in self.wanted.partitions:
            there = self.kafka.partition(wanted.name)
            leader = there.leader_epoch - wanted.leader_epoch
            version = there.partition_epoch - wanted.partition_epoch
            begun = (wanted.leader_epoch, leader, wanted.partition_epoch, version)
            if leader or version:
                moved.append(EpochsMoved(wanted.name, *begun))
        return moved

    # --- what cannot be told --------------------------------------------------------------------

    def _untold_broker(self, entry: Registration, why: str) -> PlayError:
        return self._untold("broker", str(entry.broker), why)

    def _untold_partition(self, wanted: PartitionRegistration, why: str) -> PlayError:
        return self._untold("topic", wanted.name, why)

    def _untold(self, verb: str, name: str, why: str) -> PlayError:
        (line,) = (
            line
            for line, statement in enumerate(self.play.statements, 1)
            if statement.verb == verb and _named(statement) == name
        )
        return untold(self.play, line, why)


class UntoldLeadersError(PlayError):
    """No real broker can be told a line; a real controller may."""


def untold(play: Play, line: int, why: str, who: str = "controller") -> PlayError:
    """What no real controller, or leader, can be told, and on which line that is."""
    text = play.statements[line - 1].text
    problem = f"no real {who} can be told {text!r}"
    kind = UntoldLeadersError if who == "leader" else PlayError
    return kind(problem, expected=why, line=line, file=play.name)


def _named(statement: Statement) -> str:
    return partition_name(statement) if statement.verb == "topic" else statement.words[0]


def _is_leaving(entry: Registration) -> bool:
    """Whether it has asked to shut down, and waits."""
    return entry.in_controlled_shutdown and not entry.fenced


def _is_new(wanted: PartitionRegistration) -> bool:
    """Whether its leader was elected uncleanly, and nothing has happened since."""
    return wanted.recovery is LeaderRecoveryState.RECOVERING


def _first(wanted: PartitionRegistration) -> BrokerId:
    """Who leads the partition when it is created: its leader, unless another one comes before."""
    if _is_new(wanted):
        return next((r for r in wanted.replicas if r != wanted.leader), wanted.leader)
    if wanted.leader != NO_LEADER:
        return wanted.leader
    return wanted.isr[0] if wanted.isr else wanted.replicas[0]


def _assigned(wanted: PartitionRegistration) -> list[BrokerId]:
    """Its replicas, with whoever is to lead it first."""
    replicas = [replica for replica in wanted.replicas if replica not in wanted.adding]
    return sorted(replicas, key=lambda replica: replica != _first(wanted))
