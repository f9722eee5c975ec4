"""What a controller is asked for in the course of a play, and what a real one makes of it."""

from __future__ import annotations

from typing import Protocol

import msgspec

from ...engine.cluster import Cluster
from ...protocol.ids import BrokerId
from ...protocol.kraft.records import Record
from ...protocol.messages import Request, Response
from .renaming import Renaming


class RequestAsked(msgspec.Struct, frozen=True, tag="asked"):
    """A broker or a client sends a request."""

    request: Request


class SessionOver(msgspec.Struct, frozen=True, tag="session-over"):
    """Nothing is heard of a broker until its session is over; of every other broker there is."""

    broker: BrokerId


class TakeOver(msgspec.Struct, frozen=True, tag="take-over"):
    """Another controller becomes active."""


class VersionRaised(msgspec.Struct, frozen=True, tag="version-raised"):
    """The metadata version is to be another one."""

    metadata_version: str


ControllerQuestion = RequestAsked | SessionOver | TakeOver | VersionRaised


class Written(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One record of Kafka's own metadata log, in the play's numbers.

    `kafka_offset` is where it is in Kafka's log. `record` is None for what the engine keeps no
    record of: `name` says what it is.
    """

    offset: int
    kafka_offset: int
    name: str
    version: int
    record: Record | None = None
    beyond: str = ""
    """What only Kafka has in it."""


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of a question. `response` is None where nobody waits for one; `refused` says why
    an operator was refused.
    """

    question: ControllerQuestion
    response: Response | None = None
    written: tuple[Written, ...] = ()
    refused: str = ""


class UnaskableError(Exception):
    """A real controller, or leader, cannot be told this; the message says why."""

    def __init__(self, why: str, who: str = "controller") -> None:
        super().__init__(why)
        self.who = who


class DecidingKafka(Protocol):
    """A real controller, or what one has said before."""

    @property
    def renaming(self) -> Renaming:
        """What is called otherwise in its log."""

    def decide(self, question: ControllerQuestion, cluster: Cluster, expected: int) -> Decision:
        """What it makes of a question, `cluster` being what has come of its decisions so far.

        `expected` is how many records the engine would write: so many are waited for.
        Raises UnaskableError for a question that no real controller can be asked.
        """
