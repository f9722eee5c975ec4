"""What a script of ZooKeeper's consists of, and what is compared of an answer."""

from enum import StrEnum
from typing import Any

import msgspec

from kiplab.protocol.zookeeper.ensemble_writes import Operation


class HowEnded(StrEnum):
    """How a session ends: its process closes it, another client takes it over and closes it, or
    nobody is heard of for so long that it expires."""

    CLOSED = "closed"
    TAKEN = "taken"
    LAPSED = "lapsed"


class ReadKind(StrEnum):
    """The three reads that may leave a watch."""

    GET = "get"
    CHILDREN = "children"
    EXISTS = "exists"


class OpenStep(msgspec.Struct, frozen=True):
    """A session opens under this name."""

    who: str


class EndStep(msgspec.Struct, frozen=True):
    """A session ends."""

    who: str
    how: HowEnded


class WriteStep(msgspec.Struct, frozen=True):
    """Operations, as one multi or one alone."""

    who: str
    operations: tuple[Operation, ...]
    multi: bool


class ReadStep(msgspec.Struct, frozen=True):
    """One read."""

    who: str
    kind: ReadKind
    path: str
    watch: bool


class GhostStep(msgspec.Struct, frozen=True):
    """Whoever had a session that has ended comes back with its id."""

    who: str
    path: str


class HeardStep(msgspec.Struct, frozen=True):
    """What the watches of each session that is open have said, as the last step of a script."""

    who: str = "everybody"


ScriptStep = OpenStep | EndStep | WriteStep | ReadStep | GhostStep | HeardStep

ScriptAnswer = tuple[Any, ...]
"""What was said, and last the zxid that the script has come to, counted from its beginning."""
