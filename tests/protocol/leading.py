"""A broker 101 that leads, driven one fetch, check, answer or metadata update at a time.

Registered epoch of broker n = 1000 + n. A "generic cache" of the vectors is a cluster whose
followers send no broker epoch (Fetch 13); a "KRaft cache" one whose followers do (Fetch 15).
"""

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from kiplab.protocol import ids, log, messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Fact
from kiplab.protocol.features import Features
from kiplab.protocol.kraft.broker_lifecycle import metadata_arrived
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration, Registration
from kiplab.protocol.replica import alter_partition_manager, broker_parts, broker_state
from kiplab.protocol.replica.alter_partition_manager import finish_leader_recovery
from kiplab.protocol.replica.fetches_at_once import serve_fetches_at_once
from kiplab.protocol.replica.fetching import serve_fetch
from kiplab.protocol.replica.isr_proposals import propose_shrink
from kiplab.protocol.replica.remote_replicas import move_high_watermark
from tests.protocol.building import instance, partition, present

GENERIC, KRAFT = 13, 15
T0 = 100_000
"""When 101 became leader, in ms."""
NAME = "test-topic-0"
ME = ids.BrokerId(101)


def log_of_length(count: int, epoch: int = 4) -> log.Log:
    return log.append(log.EMPTY, ids.LeaderEpoch(epoch), count) if count else log.EMPTY


class Stage:
    """`requests` are the AlterPartition requests sent so far, `facts` what the last act reported.

    `fenced` and `leaving` are what the metadata cache shows of followers; set them any time.
    """

    def __init__(
        self,
        features: Features,
        replicas: Sequence[int],
        isr: Sequence[int],
        *,
        cache: int = GENERIC,
        le: int = 5,
        pe: int = 1,
        records: int = 10,
        record_epoch: int = 4,
        hw: int = 0,
        min_isr: int = 1,
        recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED,
    ) -> None:
        self.features, self.cache, self.now, self.offset = features, cache, T0, 0
        self.min_isr = min_isr
        self.requests: list[messages.AlterPartitionRequest] = []
        self.facts: tuple[Fact, ...] = ()
        durable = broker_state.DurableReplica(
            NAME, log_of_length(records, record_epoch), ids.Offset(hw)
        )
        process = broker_state.Volatile(
            lifecycle=broker_state.Lifecycle.RUNNING,
            epoch=ids.BrokerEpoch(1000 + ME),
            ready_to_unfence=True,
            published=True,
        )
        self.broker = broker_state.Broker(
            ME, durable=broker_state.Durable((durable,)), process=process
        )
        self.metadata(replicas, isr, le=le, pe=pe, recovery=recovery)

    # what happens to it

    def metadata(
        self,
        replicas: Sequence[int],
        isr: Sequence[int],
        *,
        le: int,
        pe: int,
        leader: int = ME,
        fenced: Iterable[int] = (),
        leaving: Iterable[int] = (),
        recovery: LeaderRecoveryState = LeaderRecoveryState.RECOVERED,
    ) -> None:
        """The partition as metadata has it now; `fenced` and `leaving` as the cache shows them."""
        self.offset += 1
        state = partition(NAME, list(replicas), list(isr), leader, le=le, pe=pe, recovery=recovery)
        state = replace(state, min_insync_replicas=self.min_isr)
        self._arrives(state, self._registered(replicas, fenced, leaving))

    def cache_shows(self, *, fenced: Iterable[int] = (), leaving: Iterable[int] = ()) -> None:
        """The metadata cache learns of followers; the partition is as it was."""
        self.offset += 1
        known = present(self.process.image)
        state = known.partitions[0]
        self._arrives(state, self._registered(state.replicas, fenced, leaving))

    def fetch(
        self,
        follower: int,
        offset: int,
        *,
        epoch: int | None = None,
        leader_epoch: int | None = None,
        last_fetched: int = -1,
    ) -> messages.FetchResponse:
        """The follower fetches; `leader_epoch` -1 is a request without one."""
        request = self._request(follower, offset, epoch, leader_epoch, last_fetched)
        effect = serve_fetch(self.broker, request, self.features, self.now)
        return instance(messages.FetchResponse, self._done(effect)[0].body)

    def fetches_at_once(self, follower: int, *ends_and_epochs: tuple[int, int]) -> None:
        """Two fetches (offset, broker epoch), by two incarnations of a follower, a thread each."""
        one, other = (self._request(follower, end, epoch) for end, epoch in ends_and_epochs)
        broker, sends, more, facts = serve_fetches_at_once(
            self.broker, one, other, self.features, self.now
        )
        self._done((broker, (*sends, *more), facts))

    def _request(
        self,
        follower: int,
        offset: int,
        epoch: int | None,
        leader_epoch: int | None = None,
        last_fetched: int = -1,
    ) -> messages.FetchRequest:
        held = self.replica.leader_epoch
        return messages.FetchRequest(
            version=self.cache,
            partition=NAME,
            replica=ids.BrokerId(follower),
            replica_epoch=ids.BrokerEpoch(1000 + follower if epoch is None else epoch),
            leader_epoch=ids.LeaderEpoch(held if leader_epoch is None else leader_epoch),
            offset=ids.Offset(offset),
            last_fetched_epoch=ids.LeaderEpoch(last_fetched),
        )

    def shrink_check(self) -> None:
        here = broker_parts.here(self.broker, self.features, self.now)
        replica, item, _ = propose_shrink(
            here, self.replica, broker_state.log_of(self.broker, NAME)
        )
        if item is not None:
            broker = broker_parts.with_replica(self.broker, replica)
            self._done(alter_partition_manager.submit(broker, item, self.features))

    def recovers(self) -> None:
        self._done(finish_leader_recovery(self.broker, NAME, self.features, self.now))

    def append(self, count: int, *, transaction: bool = False) -> None:
        mine, epoch = broker_state.log_of(self.broker, NAME), self.replica.leader_epoch
        longer = log.append(mine, epoch, count, transaction=transaction)
        self.broker = broker_parts.with_log(self.broker, NAME, longer)
        here = broker_parts.here(self.broker, self.features, self.now)
        replica, _ = move_high_watermark(here, self.replica, longer)
        self.broker = broker_parts.with_replica(self.broker, replica)

    def completes(self, isr: Sequence[int], *, le: int = 5, pe: int = 2, recovery: int = 0) -> None:
        """The controller answers NONE with this state."""
        self._answered(
            messages.AlterPartitionResult(
                partition=NAME,
                leader=ME,
                leader_epoch=ids.LeaderEpoch(le),
                partition_epoch=ids.PartitionEpoch(pe),
                isr=tuple(ids.BrokerId(b) for b in isr),
                recovery=recovery,
            )
        )

    def fails(self, error: KafkaError) -> None:
        self._answered(messages.AlterPartitionResult(NAME, error))

    # what can be seen of it

    @property
    def process(self) -> broker_state.Volatile:
        return broker_parts.process_of(self.broker)

    @property
    def replica(self) -> broker_state.Replica:
        return present(broker_state.replica_of(self.broker, NAME))

    @property
    def leading(self) -> broker_state.Leading:
        assert self.replica.leading is not None
        return self.replica.leading

    @property
    def isr(self) -> list[int]:
        return list(self.leading.isr_state.isr)

    @property
    def maximal(self) -> list[int]:
        """In id order: what counts is the set."""
        return sorted(self.leading.isr_state.maximal)

    @property
    def in_flight(self) -> bool:
        return self.leading.isr_state.sent is not None

    @property
    def queue(self) -> int:
        return len(self.process.items)

    @property
    def high_watermark(self) -> int:
        return self.replica.high_watermark

    @property
    def proposed(self) -> dict[int, int]:
        """Member and broker epoch of the ISR last asked for."""
        return {m.broker: m.epoch for m in self.requests[-1].items[0].isr}

    def remote(self, follower: int) -> broker_state.RemoteReplica:
        return next(r for r in self.leading.remotes if r.broker == follower)

    def is_committed(self, isr: Sequence[int]) -> bool:
        """Committed, nothing in flight, nothing queued."""
        return (self.isr, self.in_flight, self.queue) == (list(isr), False, 0)

    def is_pending(self, isr: Sequence[int], maximal: Sequence[int]) -> bool:
        return self.in_flight and (self.isr, self.maximal) == (list(isr), list(maximal))

    def _registered(
        self, replicas: Iterable[int], fenced: Iterable[int], leaving: Iterable[int]
    ) -> tuple[Registration, ...]:
        out, going = set(fenced), set(leaving)
        return tuple(
            Registration(
                ids.BrokerId(b), ids.BrokerEpoch(1000 + b), ids.Incarnation(1), b in out, b in going
            )
            for b in sorted(replicas)
        )

    def _arrives(
        self, state: PartitionRegistration, registrations: tuple[Registration, ...]
    ) -> None:
        update = messages.MetadataUpdate(
            offset=ids.MetadataOffset(self.offset), registrations=registrations, partitions=(state,)
        )
        self._done(metadata_arrived(self.broker, update, self.features, self.now))

    def _answered(self, result: messages.AlterPartitionResult) -> None:
        request = self.requests[-1]
        reply = messages.AlterPartitionResponse(version=request.version, results=(result,))
        answered = alter_partition_manager.answered
        self._done(answered(self.broker, reply, request, self.features, self.now))

    def _done(self, effect: Any) -> tuple[messages.Send, ...]:
        self.broker, sends, self.facts = effect
        bodies = (send.body for send in sends)
        self.requests += [b for b in bodies if isinstance(b, messages.AlterPartitionRequest)]
        return tuple(sends)


def both(features: Features, **given: Any) -> Stage:
    """101 and 102 in the ISR, 102 has not fetched."""
    return Stage(features, [101, 102], [101, 102], **given)
