"""A rule: a pure function of one event, with its name, its number and what it looks for."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

import msgspec

from ..records import UNKNOWN, Moment
from ..states import ClusterState, LogEvent, PartitionState
from .finding import Finding, FindingKind

RuleSubject = Literal["partition", "broker", "log"]
"""The events that a rule is asked about: those of a partition, those of a broker, or all."""


class Thresholds(msgspec.Struct, frozen=True):
    """What a reader may ask for. `every` tells also what the releases exclude (F4)."""

    leaderless_ms: int = 1000
    """An election takes some milliseconds: clients that try again for a second notice nothing."""
    every: bool = False


USUAL = Thresholds()


class EndOfLog(msgspec.Struct, frozen=True):
    """The last states. `partitions` are those whose topics are still there."""

    cluster: ClusterState
    partitions: Iterable[PartitionState]
    last: Moment
    thresholds: Thresholds = USUAL


Judge = Callable[[LogEvent, Thresholds], Iterator[Finding]]
JudgeOfEnd = Callable[[EndOfLog], Iterator[Finding]]


class Rule(msgspec.Struct, frozen=True):
    """`kind` is the usual one of its findings. `at_end` tells what is not over with the log."""

    name: str
    id: str
    kind: FindingKind
    looks_for: str
    subject: RuleSubject
    judge: Judge
    at_end: JudgeOfEnd | None = None

    def __call__(self, event: LogEvent, thresholds: Thresholds = USUAL) -> Iterator[Finding]:
        """What it finds in one event."""
        return self.judge(event, thresholds)

    def finding(
        self, event: LogEvent, sentence: str, since: Moment | None = None, **more: Any
    ) -> Finding:
        """A finding of this rule; with `since` it lasted from there to the event.

        Its `event` is the offset of the fence, unfencing, controlled shutdown or registration with
        which the record was written, else that of the record itself.
        """
        fields: dict[str, Any] = {
            "kind": self.kind,
            "partitions": (event.partition.name,) if event.partition else (),
            "until": event.record.offset if since else None,
            "evidence": (event.record,),
            "event": event.record.offset if event.cause == UNKNOWN else event.cause,
        }
        return self._from(since or event.record.moment, sentence, fields | more)

    def open_finding(
        self, since: Moment, sentence: str, partition: PartitionState | None = None, **more: Any
    ) -> Finding:
        """A finding of what began at `since` and is still so at the end of the log."""
        fields: dict[str, Any] = {
            "kind": self.kind,
            "partitions": (partition.name,) if partition else (),
            "event": since.offset,
        }
        return self._from(since, sentence, fields | more)

    def _from(self, begin: Moment, sentence: str, fields: dict[str, Any]) -> Finding:
        return Finding(
            rule=self.name, sentence=sentence, offset=begin.offset, time=begin.time, **fields
        )


def rule(
    id: str, kind: FindingKind, subject: RuleSubject = "partition", at_end: JudgeOfEnd | None = None
) -> Callable[[Judge], Rule]:
    """Makes a rule of a function: it is called after it, and looks for what its docstring says."""

    def made(judge: Judge) -> Rule:
        looks_for = " ".join((judge.__doc__ or "").split())
        name = judge.__name__.replace("_", "-")
        return Rule(name, id, kind, looks_for, subject, judge, at_end)

    return made
