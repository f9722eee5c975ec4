"""A rule: a pure function of one event, with its name, its number and what it looks for."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import msgspec

from ..log_items import OffsetAndTime
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
    """The last states. `partitions` are those whose topics are still there. What is so since the
    `first` moment may have begun before it.
    """

    cluster: ClusterState
    partitions: Iterable[PartitionState]
    last: OffsetAndTime
    thresholds: Thresholds = USUAL
    first: OffsetAndTime | None = None


LEADER, EPOCH, ISR, JOIN, ELR, BACK, OVER, BROKER, SILENCE = (1 << bit for bit in range(9))
"""What rules ask for, and `deeds` tells of an event: another leader; a new leader epoch under the
same one; another ISR; a new member of it; a partition with an ELR or a last known leader; one with
members that an unclean election passed over; an end of what may last; a record about a broker; one
after a silence.
"""


def deeds(event: LogEvent) -> int:
    """Which of them an event has. Most events of a log have few, so that few rules are asked."""
    was, now = event.before, event.after
    did = BROKER * (event.incarnation is not None) | SILENCE * (event.cluster.previous is not None)
    if was is None or now is None:
        return did if was is None else did | OVER
    if was.leaderless_since or was.recovering_since or was.below_since:
        did |= OVER
    if now.leader != was.leader:
        did |= LEADER
    elif now.leader_epoch != was.leader_epoch:
        did |= EPOCH
    if now.isr != was.isr:
        did |= ISR
        for broker in now.isr:  # A set or a generator takes three times as long.
            if broker not in was.isr:
                did |= JOIN
    if was.elr or was.last_known or now.last_known:
        did |= ELR
    return did | BACK if was.passed_over else did


class LoggedChange(msgspec.Struct, frozen=True, gc=False):
    """A record about a partition that is there before and after it. `elected` is NO_LEADER where
    nobody became leader; `joins` enter the ISR because the leader before has asked for it.
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


def change_of(event: LogEvent, thresholds: Thresholds) -> LoggedChange:
    """The change of a partition that an event is."""
    before, after = event.before, event.after
    assert before is not None
    assert after is not None
    elected = NO_LEADER if after.leader == before.leader else after.leader
    # The join that ends a reassignment may elect in the same record.
    is_asked = elected == NO_LEADER or before.ends_reassignment(after)
    if NO_LEADER in (before.leader, after.leader) or not is_asked or after.isr == before.isr:
        return LoggedChange(event, before, after, thresholds, elected)
    joins = tuple(broker for broker in after.isr if broker not in before.isr)
    return LoggedChange(event, before, after, thresholds, elected, joins)


Judge = Callable[[LogEvent, Thresholds], Iterator[Finding]]
JudgeOfChange = Callable[[LoggedChange], Iterator[Finding]]
JudgeOfEnd = Callable[[EndOfLog], Iterator[Finding]]
LastingWords = Callable[[PartitionState, ClusterState], str]
"""A sentence with braces where it says how long."""


class FindingRule(msgspec.Struct, frozen=True):
    """`kind` is the usual one of its findings. It judges events, or changes of partitions alone,
    that have one of the deeds `asks_for`; `at_end` tells what is not over with the log.
    """

    name: str
    id: str
    kind: FindingKind
    asks_for: int
    looks_for: str
    of_event: Judge | None = None
    of_change: JudgeOfChange | None = None
    at_end: JudgeOfEnd | None = None

    def finding(
        self, at: LogEvent, sentence: str, since: OffsetAndTime | None = None, **more: Any
    ) -> Finding:
        """A finding of this rule; with `since` it lasted from there to the event."""
        fields: dict[str, Any] = {
            "partitions": (at.partition.name,) if at.partition else (),
            "until": at.record.offset if since else None,
            "evidence": (at.record,),
            "event": at.origin,
        }
        return self.open_finding(since or at.record.moment, sentence, **fields | more)

    def open_finding(self, since: OffsetAndTime, sentence: str, **more: Any) -> Finding:
        """A finding of what began at `since` and is still so at the end of the log."""
        fields: dict[str, Any] = {"kind": self.kind, "event": since.offset, **more}
        place = since.offset, since.time
        return Finding(self.name, fields.pop("kind"), sentence, *place, **fields)


def _made(function: Any, id: str, kind: FindingKind, asks_for: int, **judges: Any) -> FindingRule:
    """A rule is called after its function, and looks for what the docstring of it says."""
    name, looks_for = function.__name__.replace("_", "-"), " ".join(function.__doc__.split())
    return FindingRule(name, id, kind, asks_for, looks_for, **judges)


def rule(
    *row: Any, at_end: JudgeOfEnd | None = None, of: str = "of_event"
) -> Callable[[Any], FindingRule]:
    """Makes a rule of a function of an event. A row is (id, kind, deeds that it asks for)."""
    return lambda judge: _made(judge, *row, at_end=at_end, **{of: judge})


change_rule = partial(rule, of="of_change")
"""Makes one of a function of a change of a partition."""


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

        made_rule = _made(words, id, kind, OVER, of_event=of_event, at_end=of_end)
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
