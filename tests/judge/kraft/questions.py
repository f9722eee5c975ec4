"""A seeded source of requests to a controller, from sensible to absurd.

It looks at what the engine's controller holds, so that most of what it asks is nearly right: a
request that is wrong in every way is refused by the first check, and tries none behind it.
"""

from collections.abc import Callable

from kiplab.engine.truth import Truth
from kiplab.protocol import ids, messages, registrations, releases
from kiplab.protocol.features import Features
from kiplab.protocol.kraft.replay import CLUSTER, MIN_INSYNC, UNCLEAN

from ..skeleton.generating import Dice
from .turns import Configured, Reassigned

KNOWN = (ids.BrokerId(1), ids.BrokerId(2), ids.BrokerId(3), ids.BrokerId(4))
MIN_ISR = (1, 2, 2, 2, 3, 3, 4)
STRANGER = ids.BrokerId(9)
"""A broker that begins unregistered, and no replica of anything."""
LOWEST_32, HIGHEST_32 = -(2**31), 2**31 - 1
LOWEST_64, HIGHEST_64 = -(2**63), 2**63 - 1


class Questions:
    """Requests in an order that `seed` decides.

    `alter_partition` are the oldest and the newest version to ask with. With `elr` the cluster
    begins with eligible leader replicas: who registers says how it has stopped.
    """

    def __init__(self, seed: int, alter_partition: tuple[int, int], *, elr: bool = False) -> None:
        self.dice = Dice(seed)
        self._versions, self._elr = alter_partition, elr
        self._incarnations: dict[ids.BrokerId, int] = {}
        self._kinds: dict[Callable[[Truth], messages.Request], int] = {
            self.heartbeat: 50 if elr else 40,
            self.alter_partition: 40,
            self.registration: 14 if elr else 8,
            self.election: 12,
            self.unregistration: 2 if elr else 1,
        }
        if elr:
            self._kinds[self.assignment] = 10

    def next(self, held: Truth) -> messages.Request:
        """The next request to a controller that holds this; there is at least one partition."""
        return self.dice.weighted(self._kinds)(held)

    # --- brokers --------------------------------------------------------------------------------

    def registration(self, held: Truth) -> messages.BrokerRegistrationRequest:
        """The process that is registered again, a new one, or one of long ago."""
        dice = self.dice
        broker = self._broker()
        odd = [*self._gone(held), *self._leaving(held)]
        if odd and dice.once_in(3):
            broker = dice.choice(odd)
        latest = self._incarnations.setdefault(broker, 1)
        if dice.once_in(2):
            latest = self._incarnations[broker] = latest + 1
        incarnation = dice.randint(1, latest) if dice.once_in(10) else latest
        return self.process(held, broker, ids.Incarnation(incarnation))

    def next_process(self, held: Truth, broker: ids.BrokerId) -> messages.BrokerRegistrationRequest:
        """A new process of `broker`."""
        latest = self._incarnations[broker] = self._incarnations.get(broker, 1) + 1
        return self.process(held, broker, ids.Incarnation(latest))

    def process(
        self, held: Truth, broker: ids.BrokerId, incarnation: ids.Incarnation
    ) -> messages.BrokerRegistrationRequest:
        """The process says that the one before stopped in order, that it did not, or is wrong."""
        previous, log_dirs = ids.NO_BROKER_EPOCH, registrations.ONE_DIRECTORY
        if self._elr and not self.dice.once_in(3):
            previous = self._epoch(held, broker, wrong=0.2)
        if self._elr:
            log_dirs = self.dice.choice([log_dirs, log_dirs, (1, 2), (1, 2), (2,)])
        return messages.BrokerRegistrationRequest(
            broker=broker, incarnation=incarnation, previous_epoch=previous, log_dirs=log_dirs
        )

    def assignment(self, held: Truth) -> messages.AssignReplicasToDirsRequest:
        """Where replicas are: in a directory that is registered mostly, or in no such."""
        dice = self.dice
        states = dice.shuffled(held.partitions)[: dice.choice([1, 1, 2])]
        names = [state.name for state in states]
        if dice.once_in(10):
            names += [dice.choice(["nothing-0", f"{registrations.topic_of(names[0])}-7"])]
        sender = dice.choice(states[0].replicas) if not dice.once_in(12) else self._broker()
        return messages.AssignReplicasToDirsRequest(
            broker=sender,
            broker_epoch=self._epoch(held, sender, wrong=0.05),
            items=tuple(
                messages.AssignedReplica(ids.PartitionName(name), dice.choice([1, 1, 2, 2, 2, 3]))
                for name in names
            ),
        )

    def unregistration(self, held: Truth) -> messages.UnregisterBrokerRequest:
        """Of a fenced one mostly: a controller of 3.2 resigns, in the end, for any other."""
        dice = self.dice
        fenced = [known.broker for known in held.registrations if known.fenced]
        wanted = dice.choice(fenced) if fenced and not dice.once_in(4) else self._broker()
        if dice.once_in(4):
            wanted = dice.choice([STRANGER, *self._gone(held)])
        return messages.UnregisterBrokerRequest(broker=wanted)

    def _gone(self, held: Truth) -> list[ids.BrokerId]:
        known = {found.broker for found in held.registrations}
        return [broker for broker in KNOWN if broker not in known]

    def _leaving(self, held: Truth) -> list[ids.BrokerId]:
        return [known.broker for known in held.registrations if known.in_controlled_shutdown]

    def heartbeat(self, held: Truth) -> messages.BrokerHeartbeatRequest:
        """Of a healthy broker, half of the time; else with any offset and any wish."""
        dice = self.dice
        if dice.once_in(2):
            fenced = [known.broker for known in held.registrations if known.fenced]
            broker = dice.choice(fenced) if fenced and not dice.once_in(3) else self._broker()
            return messages.BrokerHeartbeatRequest(
                broker=broker,
                broker_epoch=self._epoch(held, broker, wrong=0),
                metadata_offset=ids.MetadataOffset(held.next_offset + dice.choice([-1, -1, 5])),
            )
        leaving = self._leaving(held)
        goes_on = leaving and (not dice.once_in(4) if self._elr else dice.once_in(2))
        broker = dice.choice(leaving) if goes_on else self._broker()
        return messages.BrokerHeartbeatRequest(
            broker=broker,
            broker_epoch=self._epoch(held, broker, wrong=0.07),
            metadata_offset=self._offset(held, broker),
            want_fence=dice.once_in(8),
            want_shut_down=dice.once_in(5),
        )

    def _offset(self, held: Truth, broker: ids.BrokerId) -> ids.MetadataOffset:
        """Around what makes a broker caught up: its own registration, or the end of the log."""
        found, end = registrations.registration(held.registrations, broker), held.next_offset
        own = found.record_offset if found is not None else 0
        near = [own - 1, own, own + 1, end - 2, end - 1, end]
        far = [end + 50, end + 50, -1, 0, LOWEST_64, HIGHEST_64]
        return ids.MetadataOffset(self.dice.choice([*near, end - 1, *far]))

    def metadata_version(self, features: Features) -> str:
        """One to raise to: the next ones mostly, or any there is, which may be refused."""
        dice = self.dice
        # KRaft has feature levels from 1 on; what is older is a protocol of ZooKeeper's time.
        names = [name for name, level in releases.METADATA_LEVEL.items() if level >= 1]
        if dice.once_in(3):
            return dice.choice(names)
        at = names.index(features.metadata_version)
        above = [n for n in names[at + 1 : at + 4] if releases.supports(features.release, n)]
        return dice.choice(above or names[at : at + 1])

    # --- partitions -----------------------------------------------------------------------------

    def alter_partition(self, held: Truth) -> messages.AlterPartitionRequest:
        """One partition mostly, of its leader mostly; the ISR grows, shrinks or is absurd."""
        dice = self.dice
        led = [p for p in held.partitions if p.leader >= 0]
        first = dice.choice(led if led and not dice.once_in(7) else held.partitions)
        leads = first.leader >= 0 and not dice.once_in(8)
        sender = first.leader if leads else self._broker()
        version = dice.randint(*self._versions)
        count = 0 if dice.once_in(60) else dice.choice([1, 1, 1, 1, 2, 3])
        asked = [first, *(dice.choice(held.partitions) for _ in range(count - 1))][:count]
        return messages.AlterPartitionRequest(
            version=version,
            broker=sender,
            broker_epoch=self._epoch(held, sender, wrong=0.05),
            items=tuple(self._item(held, state, version) for state in asked),
        )

    def _item(
        self, held: Truth, state: registrations.PartitionRegistration, version: int
    ) -> messages.AlterPartitionItem:
        dice = self.dice
        topic = state.name.rpartition("-")[0]
        strange = [f"{topic}-7", f"{topic}--1", "nothing-0", f"{topic}-{HIGHEST_32}"]
        return messages.AlterPartitionItem(
            partition=dice.choice(strange) if dice.once_in(20) else state.name,
            leader_epoch=ids.LeaderEpoch(self._near(state.leader_epoch)),
            partition_epoch=ids.PartitionEpoch(self._near(state.partition_epoch)),
            isr=tuple(self._member(held, id, version) for id in self._isr(state)),
            recovery=dice.choice(_NO_STATES) if dice.once_in(45) else int(dice.once_in(7)),
        )

    def _member(self, held: Truth, broker: ids.BrokerId, version: int) -> messages.IsrMember:
        if version < 3 or self.dice.once_in(7):
            return messages.IsrMember(broker)
        return messages.IsrMember(broker, self._epoch(held, broker, wrong=0.1))

    def _isr(self, state: registrations.PartitionRegistration) -> list[ids.BrokerId]:
        dice = self.dice
        now = list(state.isr)
        outside = [replica for replica in state.replicas if replica not in now]
        ways: list[tuple[int, Callable[[], list[ids.BrokerId]]]] = [
            (35, lambda: [*now, *outside[:1]] if dice.once_in(2) else [*now, *outside[-1:]]),
            (20, lambda: now[:-1] if dice.once_in(2) else now[1:]),
            (20, lambda: dice.shuffled([r for r in state.replicas if not dice.once_in(3)])),
            (12, lambda: dice.shuffled(now)),
            (6, lambda: [*now, dice.choice([*KNOWN, STRANGER, *_NO_BROKERS])]),
            (4, lambda: now + now[:1]),
            (3, lambda: []),
        ]
        return dice.weighted({way: weight for weight, way in ways})()

    def election(self, held: Truth) -> messages.ElectLeadersRequest:
        """Of some partitions, of all, of none, of one that there is not."""
        dice = self.dice
        unclean, names = dice.random() < 0.6, [state.name for state in held.partitions]
        if dice.once_in(6):
            return messages.ElectLeadersRequest(unclean=unclean, partitions=None)
        some = dice.shuffled(names)[: dice.choice([1, 1, 1, 1, 2, 2, 0])]
        if dice.once_in(12):
            topic = names[0].rpartition("-")[0]
            some += [dice.choice(["nothing-0", f"{topic}-7", f"{topic}--1", names[0]])]
        return messages.ElectLeadersRequest(unclean=unclean, partitions=tuple(some))

    def reassignment(self, held: Truth) -> Reassigned:
        """A partition moves to other brokers, or back to those that it had; some of one that is
        moving already, which is cancelled or gets other targets.

        With eligible leader replicas none is cancelled whose leader would be no replica then. An
        unclean election may leave such a last known leader; when somebody is unfenced, Kafka asks
        for its directory, and resigns (4.1.2, by PartitionRegistration.directory). The engine moves
        no partition, and has no such state.
        """
        dice = self.dice
        moving = [p for p in held.partitions if p.adding or p.removing]
        state = dice.choice(moving if moving and not dice.once_in(3) else held.partitions)
        is_moving = bool(state.adding or state.removing)
        goes_back = not (self._elr and state.leader in state.adding)
        if dice.once_in(3 if is_moving else 12) and goes_back:
            return Reassigned(state.name, None)
        return Reassigned(state.name, tuple(self._targets(state)))

    def setting(self, held: Truth) -> Configured:
        """A topic's setting gets a value, often that which it has; or the cluster's gets one."""
        dice = self.dice
        if dice.once_in(4):
            return Configured(CLUSTER, MIN_INSYNC, str(dice.choice(MIN_ISR)))
        topic = registrations.topic_of(dice.choice(held.partitions).name)
        if dice.once_in(4):
            return Configured(topic, UNCLEAN, dice.choice(["true", "false"]))
        return Configured(topic, MIN_INSYNC, str(dice.choice(MIN_ISR)))

    def _targets(self, state: registrations.PartitionRegistration) -> list[ids.BrokerId]:
        """Mostly any of the brokers in any order; sometimes what is refused."""
        dice = self.dice
        if dice.once_in(15):
            odd = [[], [*state.replicas, state.replicas[0]], [*state.replicas, STRANGER]]
            return dice.choice(odd)
        if dice.once_in(4):
            return dice.shuffled(state.replicas)[: dice.randint(1, len(state.replicas))]
        return dice.sample(KNOWN, dice.choice([1, 2, 2, 3, 3, 4]))

    # --- dice -----------------------------------------------------------------------------------

    def _broker(self) -> ids.BrokerId:
        dice = self.dice
        if dice.once_in(80):
            return dice.choice(_NO_BROKERS)
        return dice.choice([*KNOWN, *KNOWN, *KNOWN, STRANGER])

    def _epoch(self, held: Truth, broker: ids.BrokerId, *, wrong: float) -> ids.BrokerEpoch:
        """The broker epoch that is registered, but for a share of `wrong` ones."""
        found = registrations.registration(held.registrations, broker)
        if found is not None and self.dice.random() >= wrong:
            return found.epoch
        own = found.epoch if found is not None else 5
        odd = [ids.NO_BROKER_EPOCH, 0, own - 1, own, own + 1, LOWEST_64, HIGHEST_64]
        return ids.BrokerEpoch(self.dice.choice(odd))

    def _near(self, right: int) -> int:
        """A number of 32 bits, right seven times of eight."""
        if not self.dice.once_in(8):
            return right
        return self.dice.choice([right - 1, right + 1, 0, -1, LOWEST_32, HIGHEST_32])


_NO_STATES = (2, -1, 127, -128)
"""Bytes that are no recovery state."""
_NO_BROKERS = (
    ids.BrokerId(-1),
    ids.BrokerId(77),
    ids.BrokerId(LOWEST_32),
    ids.BrokerId(HIGHEST_32),
)
