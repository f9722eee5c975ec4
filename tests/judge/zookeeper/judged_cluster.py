"""A real controller among fake brokers: what can be done to them, and what is heard of it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from kiplab.judge.kafka_jars.judged_releases import zookeeper_release
from kiplab.judge.wire.message_schemas import ReleaseSchemas
from kiplab.judge.zookeeper_era.asked_controller import (
    AskedController,
    Barrier,
)
from kiplab.judge.zookeeper_era.control_answers import (
    IDLE,
    MARKER,
    Journal,
    Received,
    partitions_in,
    sent_requests,
    wait_until,
)
from kiplab.judge.zookeeper_era.engine_control_requests import alter_answer
from kiplab.judge.zookeeper_era.gates import BackgroundLoop, Gate
from kiplab.judge.zookeeper_era.kafka_server import KafkaServer
from kiplab.judge.zookeeper_era.kafka_znodes import create_topic, end, session, state_of
from kiplab.judge.zookeeper_era.sequences import (
    NO_EPOCH,
    AlterAnswer,
    Passage,
    ShutdownAnswer,
    StateZnode,
)
from tests.judge.zookeeper.fake_brokers import FakeBroker
from tests.judge.zookeeper.situations import CONTROLLER, AskForIsr, alter_request

if TYPE_CHECKING:
    from kazoo.client import KazooClient

_KIP_380 = (2, 2)
_WITHOUT_EPOCH, _WITH_EPOCH = 1, 2
"""Versions of ControlledShutdown."""
EPOCH = "/controller_epoch"


class _Asked(NamedTuple):
    broker: int
    stamped: str
    answer: Future[tuple[int, tuple[str, ...]]]


class JudgedCluster:
    """``with JudgedCluster("2.2.2", port, "/bounce", schemas, "") as cluster: ...``

    Broker 0 is real, and the controller. Its cluster is kept by the ZooKeeper at `zookeeper_port`,
    below `chroot`; `schemas` know the control requests. `protocol` is its
    inter.broker.protocol.version, its own if empty. Raises what `KafkaServer` raises.
    """

    def __init__(
        self, patch: str, zookeeper_port: int, chroot: str, schemas: ReleaseSchemas, protocol: str
    ) -> None:
        self.patch, self.zookeeper_port, self.chroot = patch, zookeeper_port, chroot
        self._schemas, self._protocol = schemas, protocol
        self.fakes: dict[int, FakeBroker] = {}
        self.registered: set[int] = set()
        self.is_deposed = False
        self._journal = Journal()
        self._generations: dict[tuple[int, int], str] = {}
        self._asked: list[_Asked] = []
        self._altered: list[AlterAnswer] = []
        self._withheld: list[Received] = []
        self._topics: list[str] = []
        self._changed: list[str] = []

    def __enter__(self) -> JudgedCluster:
        with ExitStack() as stack:
            self._begin(stack)
            self._ends = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ends.close()

    def _begin(self, stack: ExitStack) -> None:
        root = session(self.zookeeper_port, "")
        stack.callback(end, root)
        root.ensure_path(self.chroot)
        self.client: KazooClient = session(self.zookeeper_port, self.chroot)
        stack.callback(end, self.client)
        self.loop = stack.enter_context(BackgroundLoop())
        self.gate = Gate(self.loop, self.zookeeper_port)
        stack.callback(self.gate.close)
        stack.callback(self._end_fakes)
        self._pool = stack.enter_context(ThreadPoolExecutor(1))
        more = {"inter.broker.protocol.version": self._protocol} if self._protocol else {}
        where = f"127.0.0.1:{self.gate.port}{self.chroot}"
        self.kafka = stack.enter_context(KafkaServer(self.patch, where, CONTROLLER, more))
        for name in (MARKER, IDLE):
            create_topic(self.client, name, (CONTROLLER,))
        here = self.kafka.port, self.client, self._schemas
        self._controller = AskedController(self.patch, *here)
        self.barrier = Barrier(self.client, self._journal, self._controller.about_nobody)

    def _end_fakes(self) -> None:
        for fake in self.fakes.values():
            fake.turn_deaf()

    # --- who is there -----------------------------------------------------------------------------

    def fake(self, broker: int) -> FakeBroker:
        """The broker of that id, which listens from now on if it is new."""
        if broker not in self.fakes:
            self.fakes[broker] = FakeBroker(broker, self.loop, self._journal, self._schemas)
        return self.fakes[broker]

    def begin_generation(self, broker: int, czxid: int) -> None:
        """The next generation of a broker is registered, and knows it."""
        earlier = sum(1 for known, _ in self._generations if known == broker)
        name = f"b{broker}g{earlier + 1}"
        self._generations[broker, czxid] = name
        self.registered.add(broker)
        self.fake(broker).live_as(czxid, name)

    def topic_is_there(self, topic: str) -> None:
        """Its znode is among those that are looked at from now on."""
        self._topics.append(topic)

    def isr_was_written(self, topic: str) -> None:
        """The controller will be notified of it, at the end of what is under way."""
        self._changed.append(topic)

    # --- what is asked ----------------------------------------------------------------------------

    def ask_to_shut_down(self, broker: int, stamped: str) -> None:
        """Send a ControlledShutdown, and wait for its answer unless the gate is shut."""
        has_epoch = tuple(map(int, self.patch.split(".")))[:2] >= _KIP_380
        shown = stamped if has_epoch else NO_EPOCH
        version, epoch = (_WITH_EPOCH, self._epoch(shown)) if has_epoch else (_WITHOUT_EPOCH, None)
        answer = self._pool.submit(self._controller.shut_down, broker, version, epoch)
        self._asked.append(_Asked(broker, shown, answer))
        if self.gate.is_open:
            answer.result()

    def ask_for_isr(self, step: AskForIsr) -> None:
        """Send an AlterPartition, and wait for its answer."""
        request = alter_request(step, zookeeper_release(self.patch), self._epoch(step.stamped))
        self._altered.append(alter_answer(request, self._controller.alter(request), step.stamped))

    def wait_for_controller(self, earlier_epoch: int) -> None:
        """Until the next controller has taken over. Raises TooQuietError if none does."""
        wait_until(lambda: self.controller_epoch() > earlier_epoch, "another controller epoch")
        wait_until(self._controller.is_active, "an active controller")

    def controller_epoch(self) -> int:
        """As ZooKeeper has it."""
        return int(self.client.get(EPOCH)[0])

    def _epoch(self, stamped: str) -> int:
        name, _, more = stamped.partition("+")
        known = {generation: epoch for (_, epoch), generation in self._generations.items()}
        return (int(name) if stamped == NO_EPOCH else known[name]) + int(more or 0)

    # --- what is heard ----------------------------------------------------------------------------

    def come_to_rest(self, until: str = "") -> None:
        """Until everything that was set off has arrived; behind a shut gate, all that was queued
        before. `until` is a kind of request of which one about a partition has to come first.

        Raises TooQuietError where something never comes.
        """
        if until:
            self._journal.wait_for(
                lambda received: received.api == until and any(partitions_in(received)),
                f"a {until} about a partition",
                since=self._journal.untaken,
            )
        if not self.gate.is_open:
            for broker in self._hearing():
                self.barrier.reach(broker)
            return
        for asked in self._asked:
            asked.answer.result()
        if self.is_deposed:
            self.barrier.settle_events()
        else:
            changed, self._changed = self._changed, []
            self.barrier.come_to_rest(self._hearing(), changed)
        for fake in self.fakes.values():
            if fake.withholds:
                self._wait_for_one(fake.broker)

    def passage(self, title: str) -> Passage:
        """What was heard since the last one, and what ZooKeeper has now.

        What a broker has not answered yet is told when it does.
        """
        received = [*self._withheld, *self._journal.take()]
        altered, self._altered = self._altered, []
        self._withheld = [one for one in received if self.fakes[one.broker].withholds]
        told = [one for one in received if not self.fakes[one.broker].withholds]
        return Passage(
            title=title,
            controller_epoch=self.controller_epoch(),
            requests=sent_requests(told, self._generations),
            answers=tuple(self._answers()),
            znodes=tuple(self._znodes()),
            altered=tuple(altered),
        )

    def _hearing(self) -> list[int]:
        fakes = (self.fakes[broker] for broker in sorted(self.registered))
        return [fake.broker for fake in fakes if fake.hears and not fake.withholds]

    def _wait_for_one(self, broker: int) -> None:
        def is_its(received: Received) -> bool:
            return received.broker == broker

        if not any(map(is_its, self._withheld)):
            what = f"a request for broker {broker}"
            self._journal.wait_for(is_its, what, since=self._journal.untaken)

    def _answers(self) -> Iterator[ShutdownAnswer]:
        done = [asked for asked in self._asked if asked.answer.done()]
        self._asked = [asked for asked in self._asked if not asked.answer.done()]
        for asked in done:
            yield ShutdownAnswer(asked.broker, asked.stamped, *asked.answer.result())

    def _znodes(self) -> Iterator[StateZnode]:
        found = (state_of(self.client, topic) for topic in sorted(self._topics))
        return (state for state in found if state is not None)
