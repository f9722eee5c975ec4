"""A rule: a pure function of one event, with its name, its number and what it looks for."""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, NamedTuple

import msgspec

from ..records import UNKNOWN, Moment
from ..states import NO_LEADER, ClusterState, LogEvent, PartitionState
from .finding import Finding, FindingKind
from .finding_words import duration_ms, lasted


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


class Change(NamedTuple):
    """A record about a partition that is there before and after it."""

    event: LogEvent
    before: PartitionState
    after: PartitionState
    thresholds: Thresholds

    @property
    def offset(self) -> int:
        """Of the record."""
        return self.event.record.offset

    @property
    def elected(self) -> int:
        """The broker that became leader; NO_LEADER where none did or the leader stays."""
        return NO_LEADER if self.after.leader == self.before.leader else self.after.leader


Judge = Callable[[LogEvent, Thresholds], Iterator[Finding]]
JudgeOfEnd = Callable[[EndOfLog], Iterator[Finding]]


class Rule(msgspec.Struct, frozen=True):
    """`kind` is the usual one of its findings. `at_end` tells what is not over with the log."""

    name: str
    id: str
    kind: FindingKind
    looks_for: str
    judge: Judge
    at_end: JudgeOfEnd | None

    def __call__(self, event: LogEvent, thresholds: Thresholds = USUAL) -> Iterator[Finding]:
        """What it finds in one event."""
        return self.judge(event, thresholds)

    def finding(
        self, at: LogEvent, sentence: str, since: Moment | None = None, **more: Any
    ) -> Finding:
        """A finding of this rule; with `since` it lasted from there to the event.

        Its `event` is the offset of the fence, unfencing, controlled shutdown or registration with
        which the record was written, else that of the record itself.
        """
        fields: dict[str, Any] = {
            "partitions": (at.partition.name,) if at.partition else (),
            "until": at.record.offset if since else None,
            "evidence": (at.record,),
            "event": at.record.offset if at.cause == UNKNOWN else at.cause,
        }
        return self.open_finding(since or at.record.moment, sentence, **fields | more)

    def open_finding(self, since: Moment, sentence: str, **more: Any) -> Finding:
        """A finding of what began at `since` and is still so at the end of the log."""
        fields: dict[str, Any] = {"kind": self.kind, "event": since.offset, **more}
        return Finding(
            rule=self.name, sentence=sentence, offset=since.offset, time=since.time, **fields
        )


def rule(id: str, kind: FindingKind, at_end: JudgeOfEnd | None = None) -> Callable[[Judge], Rule]:
    """Makes a rule of a function: it is called after it, and looks for what its docstring says."""

    def made(judge: Judge) -> Rule:
        name, looks_for = judge.__name__.replace("_", "-"), " ".join((judge.__doc__ or "").split())
        return Rule(name, id, kind, looks_for, judge, at_end)

    return made


def change_rule(
    id: str, kind: FindingKind, at_end: JudgeOfEnd | None = None
) -> Callable[[Callable[[Change], Iterator[Finding]]], Rule]:
    """The same for a function of a change of a partition."""

    def made(judge: Callable[[Change], Iterator[Finding]]) -> Rule:
        @wraps(judge)
        def of_event(event: LogEvent, thresholds: Thresholds) -> Iterator[Finding]:
            if event.before is not None and event.after is not None:
                yield from judge(Change(event, event.before, event.after, thresholds))

        return rule(id, kind, at_end)(of_event)

    return made


def lasting_rule(
    id: str, kind: FindingKind, since: str, longer_ms: Callable[[Thresholds, bool], int]
) -> Callable[[Callable[[PartitionState, ClusterState], str]], Rule]:
    """The same for words about a state of a partition that lasts from the moment `since` on for
    more than `longer_ms`, which is told whether the log ends before the state does.
    """

    def made(words: Callable[[PartitionState, ClusterState], str]) -> Rule:
        @wraps(words)
        def of_event(event: LogEvent, thresholds: Thresholds) -> Iterator[Finding]:
            was, until = event.before, event.record.moment
            began = ended(event, since)
            if was and began and (duration_ms(began, until) or 0) > longer_ms(thresholds, False):
                when = f"from {began.offset} to {until.offset}, {lasted(began, until)}"
                yield made_rule.finding(event, words(was, event.cluster).format(when), began)

        def of_end(end: EndOfLog) -> Iterator[Finding]:
            for state, began in open_since(end, since, longer_ms(end.thresholds, True)):
                when = f"since {began.offset}, {lasted(began, end.last)}, and so at the end"
                said = words(state, end.cluster).format(when)
                yield made_rule.open_finding(began, said, partitions=(state.name,))

        made_rule = rule(id, kind, of_end)(of_event)
        return made_rule

    return made


def ended(event: LogEvent, since: str) -> Moment | None:
    """Where what `since` names had begun, if the record ends it."""
    began: Moment | None = getattr(event.before, since, None)
    return None if event.after is not None and getattr(event.after, since) else began


def open_since(
    end: EndOfLog, since: str, longer_ms: int = -1
) -> Iterator[tuple[PartitionState, Moment]]:
    """Partitions for which it is still so at the end; with -1 also where no time is known."""
    for state in end.partitions:
        began: Moment | None = getattr(state, since)
        if began and (longer_ms < 0 or (duration_ms(began, end.last) or 0) > longer_ms):
            yield state, began
