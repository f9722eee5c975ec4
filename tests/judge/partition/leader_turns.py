"""A seeded source of turns for a broker: followers fetch, producers write, the controller answers,
metadata arrives late, time passes.

It looks at what the engine's broker holds, so that most of what happens is nearly right.
"""

from collections.abc import Callable

from kiplab.judge.partition import partition_process as turns
from kiplab.protocol import ids, messages
from kiplab.protocol.log import EpochStart, Log, epoch_at
from kiplab.protocol.replica.broker_state import Replica

from ..skeleton.generating import Dice
from . import engine_leader, pretended_controller

PAUSES_MS = (1, 5, 50, 500, 5_000, 15_000, 29_999, 30_000, 30_000, 30_001, 30_001, 45_000)
"""Around replica.lag.time.max.ms."""
STRANGER = ids.BrokerId(9)
"""A broker that is no replica, and unknown to the metadata."""
HIGHEST = 2**63 - 1
ABSURD = (-2, 2**31 - 1, -(2**31))
"""Numbers of 32 bits that no epoch is."""


class LeaderTurns:
    """Turns in an order that `seed` decides, for `partitions` partitions."""

    def __init__(self, seed: int, partitions: int, *, timed: bool) -> None:
        self.dice = Dice(seed)
        self.elsewhere = pretended_controller.PretendedController(self.dice, partitions)
        self.elsewhere.require(self.dice.choice([1, 1, 2, 3]))
        self._names = [turns.partition_name(index) for index in range(partitions)]
        self._waiting: list[turns.BrokerTurn] = []
        self._kinds: dict[Callable[[engine_leader.EngineLeader], turns.BrokerTurn | None], int] = {
            self._fetch: 46,
            self._produce: 12,
            self._replicate: 12,
            self._answer: 18,
            self._metadata: 12,
            lambda _held: turns.LagTurn(): 5,
            lambda held: turns.RetryTurn() if held.is_due_again else None: 4,
        }
        if timed:
            self._kinds[lambda _held: turns.PauseTurn(self.dice.choice(PAUSES_MS))] = 9

    def first(self) -> turns.BrokerTurn:
        """The metadata that a run begins with."""
        return self.elsewhere.next_metadata(1)

    def next(self, held: engine_leader.EngineLeader) -> turns.BrokerTurn:
        """The next thing that happens to a broker that holds this."""
        if self._waiting:
            return self._waiting.pop(0)
        while True:
            if self.dice.once_in(9):
                self.elsewhere.decide()
            found = self.dice.weighted(self._kinds)(held)
            if found is not None:
                return found

    # --- followers and producers ----------------------------------------------------------------

    def _fetch(self, held: engine_leader.EngineLeader) -> turns.BrokerTurn | None:
        dice = self.dice
        led = [name for name in self._names if _is_led(held.replica(name))]
        name = dice.choice(led if led and not dice.once_in(12) else self._names)
        replica, log = held.replica(name), held.log(name)
        if replica is None:
            return None
        follower = self._follower(replica)
        offset = self._offset(replica, log, follower)
        return messages.FetchRequest(
            version=dice.choice([11, 13]) if dice.once_in(12) else 17,
            partition=name,
            replica=follower,
            replica_epoch=self._epoch(follower),
            leader_epoch=ids.LeaderEpoch(self._leader_epoch(replica)),
            offset=ids.Offset(offset),
            last_fetched_epoch=self._last_fetched(log, offset),
        )

    def _follower(self, replica: Replica) -> ids.BrokerId:
        dice = self.dice
        if dice.once_in(25):
            return dice.choice([*pretended_controller.FOLLOWERS, STRANGER])
        others = [broker for broker in replica.replicas if broker in pretended_controller.FOLLOWERS]
        return dice.choice(others or pretended_controller.FOLLOWERS)

    def _epoch(self, broker: ids.BrokerId) -> ids.BrokerEpoch:
        """The broker epoch that the controller has; one of before, of nobody, of later."""
        found = self.elsewhere.brokers.get(broker)
        own = found.epoch if found is not None else 7
        if not self.dice.once_in(7):
            return ids.BrokerEpoch(own)
        odd = [own - 1, own + 1, ids.NO_BROKER_EPOCH, 0, HIGHEST]
        return ids.BrokerEpoch(self.dice.choice(odd))

    def _leader_epoch(self, replica: Replica) -> int:
        if not self.dice.once_in(15):
            return replica.leader_epoch
        own = replica.leader_epoch
        odd = [own - 1, own + 1, ids.NO_LEADER_EPOCH, ids.NO_LEADER_EPOCH, *ABSURD]
        return self.dice.choice(odd)

    def _offset(self, replica: Replica, log: Log, follower: ids.BrokerId) -> int:
        """Where the follower stood or a little further; level; at one of the marks; absurd."""
        dice = self.dice
        remotes = replica.leading.remotes if replica.leading is not None else ()
        stood = max((0, *(r.end for r in remotes if r.broker == follower)))
        start = replica.leading.start_offset if replica.leading is not None else 0
        mark = replica.high_watermark
        marks = [mark, mark, mark - 1, mark + 1, start, start - 1, start + 1]
        if dice.once_in(20):
            return dice.choice([-1, 0, log.end + 1, log.end + 50, HIGHEST, -(2**63)])
        ways = [
            stood,
            min(log.end, stood + 1),
            min(log.end, stood + dice.randint(0, 3)),
            log.end,
            log.end,
            log.end,
            max(0, log.end - 1),
            max(0, min(log.end, dice.choice(marks))),
            dice.randint(0, log.end),
        ]
        return dice.choice(ways)

    def _last_fetched(self, log: Log, offset: int) -> ids.LeaderEpoch:
        """The epoch of the record before; none, as before KIP-595; or another."""
        dice = self.dice
        if dice.once_in(10):
            return ids.NO_LEADER_EPOCH
        right = (
            epoch_at(log, ids.Offset(offset - 1)) if 0 < offset <= log.end else ids.NO_LEADER_EPOCH
        )
        if not dice.once_in(12):
            return right
        return ids.LeaderEpoch(dice.choice([right - 1, right + 1, 0, 4, 5, 6, 7, *ABSURD]))

    def _produce(self, held: engine_leader.EngineLeader) -> turns.BrokerTurn | None:
        dice = self.dice
        name = dice.choice(self._names)
        if not _is_led(held.replica(name)):
            return None
        return turns.ProducedTurn(name, dice.choice([1, 1, 1, 2, 3]), dice.once_in(2))

    def _replicate(self, held: engine_leader.EngineLeader) -> turns.BrokerTurn | None:
        """Records of the leader that it follows, under that one's epoch or the one before."""
        dice = self.dice
        followed = [
            (name, replica)
            for name in self._names
            if (replica := held.replica(name)) is not None and replica.leading is None
        ]
        if not followed:
            return None
        name, replica = dice.choice(followed)
        log, count = held.log(name), dice.randint(0, 3)
        end = ids.Offset(log.end + count)
        epoch = max(replica.leader_epoch - dice.choice([0, 0, 1]), _last(log))
        runs = (EpochStart(ids.LeaderEpoch(epoch), log.end),) if count else ()
        mark = dice.choice([end, end, end + 2, replica.high_watermark, max(0, log.end - 2), 0, 0])
        return turns.ReplicatedTurn(name, Log(runs, end, end), ids.Offset(mark))

    # --- the controller -------------------------------------------------------------------------

    def _answer(self, held: engine_leader.EngineLeader) -> turns.BrokerTurn | None:
        request = held.under_way
        if request is None:
            return None
        # What fails on its way is sent again as it was by Kafka, and built anew by the engine:
        # the same as long as nothing else waits.
        if self.dice.once_in(12) and held.items == request.items:
            self._waiting.append(turns.RetryTurn())
            return turns.LostTurn() if self.dice.once_in(2) else self.elsewhere.not_me(request)
        return self.elsewhere.answer(request)

    def _metadata(self, _held: engine_leader.EngineLeader) -> turns.BrokerTurn | None:
        if not self.elsewhere.unread:
            return None
        return self.elsewhere.next_metadata(self.dice.choice([1, 1, 1, 2, 5]))


def _is_led(replica: Replica | None) -> bool:
    return replica is not None and replica.leading is not None


def _last(log: Log) -> int:
    return log.epochs[-1].epoch if log.epochs else 0
