"""Every case put to a real broker, now."""

from __future__ import annotations

from collections.abc import Iterable

from ..wire.message_schemas import ReleaseSchemas
from ..zookeeper_era.control_schemas import control_schemas
from ..zookeeper_server.zookeeper_process import ZooKeeperProcess
from .acceptance_cases import acceptance_cases
from .acceptance_recordings import RecordedAcceptance, cases_mark, versions_of
from .accepting_broker import AcceptingBroker
from .checkpoint_story import checkpoint_story
from .control_bodies import SpokenVersions
from .control_questions import AcceptanceCase, ControlAnswer
from .live_session import live_session


def asked_live(patch: str) -> RecordedAcceptance:
    """All that a broker of this patch release answers, beside a ZooKeeper of our own.

    Raises MissingKafkaError, MissingExtraError or DeadKafkaError where none can be asked,
    UnrecordedAcceptanceError for a release that is not asked.
    """
    versions, schemas = versions_of(patch), control_schemas()
    with ZooKeeperProcess() as zookeeper:
        port = int(zookeeper.addresses[0].rpartition(":")[2])
        return RecordedAcceptance(
            kafka=patch,
            versions=versions,
            cases=cases_mark(),
            answers=answers_of(patch, versions, port, schemas, acceptance_cases()),
            checkpoint=checkpoint_story(patch, versions, port, schemas),
        )


def answers_of(
    patch: str,
    versions: SpokenVersions,
    zookeeper_port: int,
    schemas: ReleaseSchemas,
    cases: Iterable[AcceptanceCase],
) -> dict[str, tuple[ControlAnswer, ...]]:
    """What one broker answers in each case. Raises what `live_session` raises."""
    with live_session(patch, zookeeper_port, f"asked-{patch}") as session:
        broker = AcceptingBroker(session, versions, schemas)
        try:
            return {case.name: broker.answers_to(case) for case in cases}
        finally:
            broker.close()
