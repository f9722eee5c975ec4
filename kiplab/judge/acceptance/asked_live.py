"""Every case put to a real broker, now."""

from __future__ import annotations

from collections.abc import Iterable

from ..wire.message_schemas import ReleaseSchemas
from ..zookeeper_era.control_schemas import control_schemas
from ..zookeeper_server.zookeeper_process import ZooKeeperProcess
from .acceptance_cases import acceptance_cases
from .acceptance_recordings import RecordedAcceptance, cases_mark
from .accepting_broker import AcceptingBroker
from .asked_brokers import AskedBroker, asked_broker
from .checkpoint_story import checkpoint_story
from .control_questions import AcceptanceCase, ControlAnswer
from .live_session import live_session


def asked_live(name: str) -> RecordedAcceptance:
    """All that ``"2.2.2"``, or another of `ASKED`, answers beside a ZooKeeper of our own.

    Raises MissingKafkaError, MissingExtraError or DeadKafkaError where none can be asked,
    UnaskedBrokerError for a broker that is not asked.
    """
    asked, schemas = asked_broker(name), control_schemas()
    with ZooKeeperProcess() as zookeeper:
        port = int(zookeeper.addresses[0].rpartition(":")[2])
        return RecordedAcceptance(
            kafka=name,
            versions=asked.versions,
            cases=cases_mark(),
            answers=answers_of(asked, port, schemas, acceptance_cases()),
            checkpoint=checkpoint_story(asked, port, schemas),
        )


def answers_of(
    asked: AskedBroker,
    zookeeper_port: int,
    schemas: ReleaseSchemas,
    cases: Iterable[AcceptanceCase],
) -> dict[str, tuple[ControlAnswer, ...]]:
    """What one broker answers in these cases. Raises what `live_session` raises."""
    chroot = f"asked-{asked.patch}"
    with live_session(asked.patch, zookeeper_port, chroot, asked.settings) as session:
        broker = AcceptingBroker(session, asked.versions, schemas)
        try:
            return {case.name: broker.answers_to(case) for case in cases}
        finally:
            broker.close()
