"""A rule: a pure function of one event, with its name, its number and what it looks for."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from ..log_items import UNKNOWN, OffsetAndTime
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
    last: OffsetAndTime
    thresholds: Thresholds = USUAL


class LoggedChange(NamedTuple):
    """A record about a partition that is there before and after it. `elected` is NO_LEADER where
    nobody became leader; `joins` enter the ISR of a leader that stays, and that has asked for it.
    """

    event: LogEvent
    before: PartitionState
    after: PartitionState
    thresholds: Thresholds
    elected: int = NO_LEADER
    joins: tuple[int, ...] = ()

    @property
    def offset(self) -> int:
        """Of the record."""
        return self.event.record.offset


def change_of(event: LogEvent, thresholds: Thresholds) -> LoggedChange | None:
    """The change of a partition that an event is, if it is one."""
    before, after = event.before, event.after
    if before is None or after is None:
        return None
    if after.leader != before.leader or after.leader == NO_LEADER or after.isr == before.isr:
        elected = NO_LEADER if after.leader == before.leader else after.leader
        return LoggedChange(event, before, after, thresholds, elected)
    joins = tuple(broker for broker in after.isr if broker not in before.isr)
    return LoggedChange(event, before, after, thresholds, joins=joins)


Judge = Callable[[LogEvent, Thresholds], Iterator[Finding]]
JudgeOfChange = Callable[[LoggedChange], Iterator[Finding]]
JudgeOfEnd = Callable[[EndOfLog], Iterator[Finding]]
LastingWords = Callable[[PartitionState, ClusterState], str]
"""A sentence with braces where it says how long."""


class FindingRule(msgspec.Struct, frozen=True, kw_only=True):
    """`kind` is the usual one of its findings. It judges events, or changes of partitions alone;
    `at_end` tells what is not over with the log.
    """

    name: str
    id: str
    kind: FindingKind
    looks_for: str
    of_event: Judge | None = None
    of_change: JudgeOfChange | None = None
    at_end: JudgeOfEnd | None = None

    def finding(
        self, at: LogEvent, sentence: str, since: OffsetAndTime | None = None, **more: Any
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

    def open_finding(self, since: OffsetAndTime, sentence: str, **more: Any) -> Finding:
        """A finding of what began at `since` and is still so at the end of the log."""
        fields: dict[str, Any] = {"kind": self.kind, "event": since.offset, **more}
        return Finding(
            rule=self.name, sentence=sentence, offset=since.offset, time=since.time, **fields
        )


def _made(function: Callable[..., Any], **fields: Any) -> FindingRule:
    """A rule is called after its function, and looks for what the docstring of it says."""
    looks_for = " ".join((function.__doc__ or "").split())
    return FindingRule(name=function.__name__.replace("_", "-"), looks_for=looks_for, **fields)


def rule(
    id: str, kind: FindingKind, at_end: JudgeOfEnd | None = None
) -> Callable[[Judge], FindingRule]:
    """Makes a rule of a function of an event."""
    return lambda judge: _made(judge, id=id, kind=kind, of_event=judge, at_end=at_end)


def change_rule(
    id: str, kind: FindingKind, at_end: JudgeOfEnd | None = None
) -> Callable[[JudgeOfChange], FindingRule]:
    """Makes one of a function of a change of a partition."""
    return lambda judge: _made(judge, id=id, kind=kind, of_change=judge, at_end=at_end)


def lasting_rule(
    id: str, kind: FindingKind, since: str, longer_ms: Callable[[Thresholds, bool], int]
) -> Callable[[LastingWords], FindingRule]:
    """Makes one of words about a state of a partition, which lasts from the moment `since` on for
    more than `longer_ms`; that is asked with whether the log ends before the state does.
    """

    def made(words: LastingWords) -> FindingRule:
        def of_event(event: LogEvent, thresholds: Thresholds) -> Iterator[Finding]:
            was, began = event.before, ended(event, since)
            if was is None or began is None:
                return
            until = event.record.moment
            if (duration_ms(began, until) or 0) > longer_ms(thresholds, False):
                when = f"from {began.offset} to {until.offset}, {lasted(began, until)}"
                yield made_rule.finding(event, words(was, event.cluster).format(when), began)

        def of_end(end: EndOfLog) -> Iterator[Finding]:
            for state, began in open_since(end, since, longer_ms(end.thresholds, True)):
                when = f"since {began.offset}, {lasted(began, end.last)}, and so at the end"
                said = words(state, end.cluster).format(when)
                yield made_rule.open_finding(began, said, partitions=(state.name,))

        made_rule = _made(words, id=id, kind=kind, of_event=of_event, at_end=of_end)
        return made_rule

    return made


def ended(event: LogEvent, since: str) -> OffsetAndTime | None:
    """Where what `since` names had begun, if the record ends it."""
    began: OffsetAndTime | None = getattr(event.before, since, None)
    return began if began and getattr(event.after, since, None) is None else None


def open_since(
    end: EndOfLog, since: str, longer_ms: int = -1
) -> Iterator[tuple[PartitionState, OffsetAndTime]]:
    """Partitions for which it is still so at the end; with -1 also where no time is known."""
    for state in end.partitions:
        began: OffsetAndTime | None = getattr(state, since)
        if began and (longer_ms < 0 or (duration_ms(began, end.last) or 0) > longer_ms):
            yield state, began
