"""A controller for a broker that is judged alone: it decides by dice, and writes metadata.

What it does is possible, not right: it stands for whatever a controller of any release may answer.
"""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from kiplab.judge.partition.partition_process import LEADER, LEADER_BROKER_EPOCH, partition_name
from kiplab.protocol import ids, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.messages.replication_messages import AlterPartitionResult
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration, Registration
from kiplab.protocol.replica.isr_proposals import REVERTING

from ..skeleton.generating import Dice

FOLLOWERS = (ids.BrokerId(2), ids.BrokerId(3), ids.BrokerId(4))
TOP_LEVEL = (
    KafkaError.STALE_BROKER_EPOCH,
    KafkaError.UNKNOWN_SERVER_ERROR,
    KafkaError.INVALID_REQUEST,
)
"""Errors for the whole request that are tried; each comes to the same."""
REFUSING = tuple(e for e in KafkaError if e not in (KafkaError.NONE, KafkaError.NOT_CONTROLLER))
"""Every error that a result may have, but for the one that the channel keeps to itself."""


class PretendedController:
    """What it holds for true, and the metadata that the broker has not got yet."""

    def __init__(self, dice: Dice, partitions: int) -> None:
        self.dice = dice
        self._offset = 1_000
        self.brokers = {
            LEADER: Registration(LEADER, LEADER_BROKER_EPOCH, ids.Incarnation(1), False)
        }
        for broker in FOLLOWERS:
            self.brokers[broker] = self._born(broker)
        self.partitions = [self._made(index) for index in range(partitions)]
        self.unread: list[messages.MetadataUpdate] = []
        self._write()

    # --- what it is asked -----------------------------------------------------------------------

    def answer(self, request: messages.AlterPartitionRequest) -> messages.AlterPartitionResponse:
        """Mostly as a controller should; else any error, any state, or results left out."""
        dice = self.dice.random()
        if dice < 0.12:
            error = self.dice.choice(TOP_LEVEL)
            return messages.AlterPartitionResponse(version=request.version, error=error)
        results = [self._judged(item) for item in request.items]
        if dice < 0.16:
            results = results[1:]
        if dice > 0.97:
            results.append(AlterPartitionResult("orders-7", KafkaError.UNKNOWN_TOPIC_OR_PARTITION))
        return messages.AlterPartitionResponse(version=request.version, results=tuple(results))

    def not_me(self, request: messages.AlterPartitionRequest) -> messages.AlterPartitionResponse:
        """It is no controller any more, though it may have accepted before."""
        error = KafkaError.NOT_CONTROLLER
        results = [AlterPartitionResult(item.partition, error) for item in request.items]
        return messages.AlterPartitionResponse(version=request.version, results=tuple(results))

    def _judged(self, item: messages.AlterPartitionItem) -> AlterPartitionResult:
        dice = self.dice.random()
        if dice < 0.25:
            errors = self.dice.choice([REFUSING, REVERTING])
            return AlterPartitionResult(item.partition, self.dice.choice(errors))
        if dice < 0.33:
            return self._strange(item)
        state = self._named(item.partition)
        if item.leader_epoch != state.leader_epoch:
            return AlterPartitionResult(item.partition, KafkaError.FENCED_LEADER_EPOCH)
        if item.partition_epoch != state.partition_epoch:
            return AlterPartitionResult(item.partition, KafkaError.INVALID_UPDATE_VERSION)
        self._accept(item)
        return self._told(item.partition)

    def _accept(self, item: messages.AlterPartitionItem) -> None:
        state = self._named(item.partition)
        isr = tuple(member.broker for member in item.isr)
        if set(isr) != set(state.isr):
            self._change(state, isr=isr, recovery=LeaderRecoveryState.RECOVERED)

    def _told(self, partition: str) -> AlterPartitionResult:
        state = self._named(partition)
        return AlterPartitionResult(
            partition=partition,
            leader=state.leader,
            leader_epoch=state.leader_epoch,
            partition_epoch=state.partition_epoch,
            isr=state.isr,
            recovery=int(state.recovery),
        )

    def _strange(self, item: messages.AlterPartitionItem) -> AlterPartitionResult:
        """A success of another time, or one that never was."""
        told = self._told(item.partition)
        return replace(
            told,
            leader_epoch=ids.LeaderEpoch(told.leader_epoch + self.dice.choice([0, 0, 0, -1, 1])),
            partition_epoch=ids.PartitionEpoch(
                item.partition_epoch + self.dice.choice([0, 0, 1, 2, -1])
            ),
            isr=(LEADER, *self.dice.sample(FOLLOWERS, self.dice.randint(0, 3))),
            recovery=self.dice.choice([0, 0, 0, 1, 5]),
        )

    # --- what it does by itself -----------------------------------------------------------------

    def next_metadata(self, most: int) -> messages.MetadataUpdate:
        """Of the metadata that has not been read, the next; or several records in one batch."""
        count = self.dice.randint(1, min(most, len(self.unread)))
        read, self.unread = self.unread[:count], self.unread[count:]
        return read[-1]

    def decide(self) -> None:
        """Something happens elsewhere in the cluster."""
        ways: dict[Callable[[], object], float] = {
            self._fence: 3,
            self._restart: 3,
            self._shut_down: 2,
            self._unfence: 5,
            self._shrink: 3,
            lambda: self._lead(state := self._any(), state.leader): 2,
            lambda: self._lead(state := self._any(), self.dice.choice(state.replicas)): 5,
            self._elect_back: 20,
            self._reassign: 2,
            # Another partition epoch, and nothing else.
            lambda: self._change(self._any()): 1,
        }
        self.dice.weighted(ways)()
        self._write()

    def _fence(self) -> None:
        self._leaves(self._follower(fenced=True))

    def _shut_down(self) -> None:
        self._leaves(self._follower(in_controlled_shutdown=True))

    def _unfence(self) -> None:
        self._follower(fenced=False, in_controlled_shutdown=False)

    def _follower(self, **changed: bool) -> ids.BrokerId:
        """One of them is registered otherwise."""
        broker = self.dice.choice(FOLLOWERS)
        self.brokers[broker] = replace(self.brokers[broker], **changed)
        return broker

    def _restart(self) -> None:
        """A new incarnation of a broker is registered: fenced until it is unfenced."""
        broker = self.dice.choice(FOLLOWERS)
        self.brokers[broker] = self._born(broker, fenced=self.dice.random() < 0.5)
        self._leaves(broker)

    def _leaves(self, broker: ids.BrokerId) -> None:
        for state in tuple(self.partitions):
            if broker in state.isr and state.isr != (broker,):
                isr = tuple(member for member in state.isr if member != broker)
                self._change(state, isr=isr)
                if state.leader == broker:
                    self._lead(self._named(state.name), isr[0])

    def _shrink(self) -> None:
        state = self._any()
        if len(state.isr) > 1:
            isr = tuple(member for member in state.isr if member == state.leader)
            self._change(state, isr=isr or state.isr[:1])

    def _elect_back(self) -> None:
        lost = [state for state in self.partitions if state.leader != LEADER]
        for state in lost[:1]:
            self._lead(state, LEADER)

    def _lead(self, state: PartitionRegistration, leader: ids.BrokerId) -> None:
        """An unclean election, if the new leader is no member."""
        clean = leader in state.isr
        self._change(
            state,
            leader=leader,
            leader_epoch=ids.LeaderEpoch(state.leader_epoch + 1),
            isr=state.isr if clean else (leader,),
            recovery=state.recovery if clean else LeaderRecoveryState.RECOVERING,
        )

    def _reassign(self) -> None:
        """Replicas come or go; the broker that is judged stays."""
        state = self._any()
        others = self.dice.sample(FOLLOWERS, self.dice.randint(1, 3))
        replicas = tuple(sorted({LEADER, *others, state.leader}))
        isr = tuple(member for member in state.isr if member in replicas)
        self._change(state, replicas=replicas, isr=isr or (state.leader,))

    # --- plumbing -------------------------------------------------------------------------------

    def _born(self, broker: ids.BrokerId, *, fenced: bool = False) -> Registration:
        self._offset += 1
        return Registration(broker, ids.BrokerEpoch(self._offset), ids.Incarnation(1), fenced)

    def _made(self, index: int) -> PartitionRegistration:
        followers = self.dice.sample(FOLLOWERS, self.dice.choice([1, 2, 2, 2, 3]))
        members = self.dice.sample(followers, self.dice.randint(0, len(followers)))
        return PartitionRegistration(
            name=partition_name(index),
            replicas=(LEADER, *followers),
            isr=(LEADER, *members),
            leader=LEADER,
            leader_epoch=ids.LeaderEpoch(5),
            partition_epoch=ids.PartitionEpoch(10),
            min_insync_replicas=1,
        )

    def require(self, min_insync_replicas: int) -> None:
        """The topic's min.insync.replicas, from the first metadata on."""
        self.partitions = [
            replace(state, min_insync_replicas=min_insync_replicas) for state in self.partitions
        ]
        self.unread.clear()
        self._write()

    def _any(self) -> PartitionRegistration:
        return self.dice.choice(self.partitions)

    def _named(self, name: str) -> PartitionRegistration:
        return next(state for state in self.partitions if state.name == name)

    def _change(self, state: PartitionRegistration, **changed: object) -> None:
        later = ids.PartitionEpoch(state.partition_epoch + 1)
        changed = {**changed, "partition_epoch": later}
        index = self.partitions.index(state)
        self.partitions[index] = replace(state, **changed)
        self._write()

    def _write(self) -> None:
        """One more record in the log, and the image after it."""
        self._offset += 1
        brokers: Sequence[Registration] = sorted(self.brokers.values(), key=lambda r: r.broker)
        image = messages.MetadataUpdate(
            offset=ids.MetadataOffset(self._offset),
            registrations=tuple(brokers),
            partitions=tuple(self.partitions),
        )
        self.unread.append(image)
