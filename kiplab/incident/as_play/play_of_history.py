"""Write a play whose run leaves the records of a partition's history.

The engine judges each line as it is written: a line stays if its records are the next ones of the
log. Where none does, the play ends, and what the engine wrote instead is told.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ...engine.truth import partition_of
from ...plays.play import LINES_MAX, Play, Statement, format_play, split
from ...plays.play_errors import PlayError
from ...plays.runner import extended, open_stage
from ...plays.stage import Stage
from ...protocol.registrations import LeaderRecoveryState
from ..records import UNKNOWN
from ..states import LogEvent, PartitionKey, PartitionState
from .compared_records import Said, Target, targets_of, written_by_engine
from .header_of_history import RECORDS, header_of
from .lines_for_records import Lines, Situation, traffic, tries

SHORT_MS = 1_000
"""A member that joins sooner after it was unfenced may have been asked for before (KAFKA-14139)."""


class NotWritten(msgspec.Struct, frozen=True):
    """The record of the log that no line makes the engine write, and what it wrote instead."""

    offset: int
    record: str
    line: str
    instead: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """What is told."""
        if not self.line:
            return f"At offset {self.offset} the log has {self.record}: no play has a line for it."
        wrote = "; ".join(self.instead) or "no record"
        return (
            f"At offset {self.offset} the log has {self.record}."
            f" After `{self.line}` the engine writes {wrote}."
        )


class PlayOfHistory(msgspec.Struct, frozen=True):
    """`text` is the play; `records` of the `of` records of the log are what its run writes, in
    order. `failed` is the first one that it does not; None where it writes them all.
    """

    text: str
    records: int
    of: int
    failed: NotWritten | None = None


class NoHistoryError(ValueError):
    """The events do not show the partition: there is nothing to write a play of."""


def as_play(
    events: Iterable[LogEvent], key: PartitionKey | None = None, *, disk: str = "tail-lost"
) -> PlayOfHistory:
    """A play of one partition, by default that of the first event which has one.

    `disk` is what a process that dies takes along, as in a play: ``kept``, ``tail-lost``,
    ``replaced``. Raises NoHistoryError where no event shows the partition.
    """
    kept = tuple(events)
    known = (n for n, e in enumerate(kept) if e.after and key in (None, e.after.key))
    at = next(known, None)
    if at is None or (first := kept[at].after) is None:
        raise NoHistoryError("no event shows the partition")
    targets = targets_of(kept[at + 1 :], first.key)
    header = tuple(header_of(kept[at], targets))
    written = _begun(kept[at], first, header, targets, disk)
    while written.failed is None and written.done < len(targets):
        written = _next(written)
    text = _text(written, kept[at])
    return PlayOfHistory(text, written.done, len(targets), written.failed)


# --- writing ------------------------------------------------------------------------------------


class _Group(msgspec.Struct, frozen=True):
    """Lines that wrote targets from `first` on, and the run before them."""

    before: Stage
    lines: Lines
    first: int
    comment: str = ""


class _Written(msgspec.Struct, frozen=True):
    """A play so far: `done` targets are written, and the partition stands as in `state`."""

    header: tuple[Statement, ...]
    stage: Stage
    state: PartitionState
    start: PartitionState
    targets: tuple[Target, ...]
    disk: str
    controller_epoch: int
    groups: tuple[_Group, ...] = ()
    done: int = 0
    skipped: int = 0
    """Changes that the engine has no word for, of a partition epoch each."""
    failed: NotWritten | None = None


def _begun(
    first: LogEvent,
    state: PartitionState,
    header: tuple[Statement, ...],
    targets: tuple[Target, ...],
    disk: str,
) -> _Written:
    stage = open_stage(Play(header, state.name))
    epoch = first.cluster.controller_epoch
    written = _Written(header, stage, state, state, targets, disk, epoch)
    return _with_traffic(written)


def _next(written: _Written) -> _Written:
    target = written.targets[written.done]
    epoch = target.event.cluster.controller_epoch
    if epoch != written.controller_epoch:
        is_new = UNKNOWN not in (epoch, written.controller_epoch)
        written = replace(written, controller_epoch=epoch)
        if is_new:
            return _done(written, ("fail-over",), 0, f"controller epoch {epoch}")
    if _says_nothing(target):
        skipped = written.skipped + (target.said.record == "PartitionChangeRecord")
        comment = "directories only, which the engine does not have"
        return replace(_done(written, (), 1, comment), skipped=skipped)
    raced, best = _raced(written), None
    if raced is not written:
        return raced
    todo = written.targets[written.done :]
    now = Situation(todo, written.stage.cluster, written.state, written.disk)
    for lines in tries(now):
        said, stage = _said_after(written, written.stage, lines)
        fits = 0 if stage is None else _fitting(said, todo, lines)
        if stage is not None and fits and _same_state(written, stage, todo[fits - 1]):
            return _with_traffic(_done(written, lines, fits))
        if stage is not None and best is None:
            best = lines, said
    return replace(written, failed=_failure(target, best))


def _says_nothing(target: Target) -> bool:
    """Whether a change sets directories only: the engine has none."""
    changes = target.said.record == "PartitionChangeRecord"
    return changes and not target.said.fields and "directories" in target.event.record.fields


def _said_after(
    written: _Written, stage: Stage, lines: Lines
) -> tuple[tuple[Said, ...], Stage | None]:
    """What the engine writes, and the run after it; None where a line cannot be done."""
    at = stage.history.at
    try:
        for line in lines:
            stage = extended(stage, split(line).statements[0])
    except (PlayError, ValueError):
        return (), None
    events = (e for step in stage.history.steps[at:] for e in step.events)
    return tuple(written_by_engine(events, written.start.name, written.start.topic)), stage


def _fitting(said: Sequence[Said], todo: Sequence[Target], lines: Lines) -> int:
    """How many targets are written; 0 if something else is."""
    silent = any(line.startswith("upgrade ") for line in lines)
    at = 0
    for one in said:
        if silent and at < len(todo) and todo[at].is_silent:
            silent, at = False, at + 1
        if at == len(todo) or todo[at].said != one:
            return 0
        at += 1
    return at + (silent and at < len(todo) and todo[at].is_silent)


def _same_state(written: _Written, stage: Stage, last: Target) -> bool:
    """Whether leader, ISR and epochs are those of the log: a gap in it makes them differ."""
    expected = last.event.after
    state = partition_of(stage.cluster, written.start.name)
    if expected is None or state is None or expected.key != written.start.key:
        return True
    return (
        (state.leader, state.isr, state.leader_epoch, state.elr, state.last_known)
        == (expected.leader, expected.isr, expected.leader_epoch, expected.elr, expected.last_known)
        and (state.recovery is LeaderRecoveryState.RECOVERING) == expected.recovering
        and state.partition_epoch + written.skipped == expected.partition_epoch
    )


def _done(written: _Written, lines: Lines, records: int, comment: str = "") -> _Written:
    targets = written.targets[written.done : written.done + records]
    _, stage = _said_after(written, written.stage, lines)
    states = [t.event.after for t in targets if t.event.after]
    offsets = [t.event.record.offset for t in targets]
    group = _Group(written.stage, lines, written.done, comment or _offsets(offsets))
    return replace(
        written,
        stage=stage or written.stage,
        state=states[-1] if states else written.state,
        groups=(*written.groups, group),
        done=written.done + records,
    )


def _offsets(offsets: Sequence[int]) -> str:
    if len(offsets) > 1:
        return f"offsets {offsets[0]} to {offsets[-1]}"
    return f"offset {offsets[0]}" if offsets else ""


def _failure(target: Target, best: tuple[Lines, tuple[Said, ...]] | None) -> NotWritten:
    lines, said = best or ((), ())
    offset = target.event.record.offset
    return NotWritten(offset, str(target.said), "; ".join(lines), tuple(map(str, said)))


def _with_traffic(written: _Written) -> _Written:
    """Committed records after each change that let nobody in, where that writes nothing else.

    Who has just joined is left as it is: the log tells that the leader took it for caught up.
    """
    last = written.groups[-1].first if written.groups else None
    if last is not None:
        changed = [t.event for t in written.targets[last : written.done] if t.event.after]
        before = next((e.before for e in changed if e.before), written.state)
        same = (before.leader, before.isr) == (written.state.leader, written.state.isr)
        if not changed or same or not {*written.state.isr} <= {*before.isr}:
            return written
    lines = traffic(written.state)
    said, stage = _said_after(written, written.stage, lines)
    if said or stage is None or not lines:
        return written
    return _done(written, lines, 0)


# --- the race -------------------------------------------------------------------------------------


def _raced(written: _Written) -> _Written:
    """The leader asked for a member while that was another process, and the controller answers
    now: the run is taken back to where that process still lived.
    """
    found = _quick_join(written)
    if found is None:
        return written
    broker, leader, at = found
    back = written.groups[at]
    kept = tuple(line for group in written.groups[at:] for line in group.lines)
    hold = f"hold alter-partition from={leader}", f"catch-up {broker}"
    release = (f"release alter-partition from={leader}",)
    said, stage = _said_after(written, back.before, (*hold, *kept, *release))
    todo = written.targets[back.first : written.done + 1]
    if stage is None or said != tuple(t.said for t in todo if not t.is_silent):
        return written
    held = _Group(back.before, hold, back.first, "asked for here, answered later: assumed")
    _, before = _said_after(written, back.before, (*hold, *kept))
    if before is None:
        return written
    groups = (*written.groups[:at], held, *written.groups[at:])
    return _done(replace(written, stage=before, groups=groups), release, 1)


def _quick_join(written: _Written) -> tuple[int, int, int] | None:
    """(who joins, the leader, the group in which its last process ended); None if nobody does."""
    event = written.targets[written.done].event
    if event.before is None or event.after is None or event.before.leader != event.after.leader:
        return None
    joined = [b for b in event.after.isr if b not in event.before.isr]
    if len(joined) != 1 or not _is_short(written, joined[0], event.record.time):
        return None
    for at in reversed(range(len(written.groups))):
        group = written.groups[at]
        if any(line.startswith(f"crash {joined[0]} ") for line in group.lines):
            state = partition_of(group.before.cluster, written.start.name)
            led = state is not None and state.leader_epoch == event.after.leader_epoch
            return (joined[0], event.after.leader, at) if led else None
    return None


def _is_short(written: _Written, broker: int, time: int) -> bool:
    done = written.targets[: written.done]
    unfenced = [t.event.record.time for t in done if t.said.broker == broker]
    if not unfenced or UNKNOWN in (time, unfenced[-1]):
        return False
    return 0 <= time - unfenced[-1] < SHORT_MS


# --- text -----------------------------------------------------------------------------------------


def _text(written: _Written, first: LogEvent) -> str:
    state, last = written.start, first.record.offset
    if written.done:
        last = written.targets[written.done - 1].event.record.offset
    title = f"title {state.name} of a metadata log, offsets {first.record.offset} to {last}"
    lines: list[Statement] = [split(title).statements[0]]
    lines += [Statement(comment=text) for text in _assumptions(written, first)]
    lines += [*written.header, Statement()]
    for group in written.groups:
        lines += _commented(group)
    if written.failed is not None:
        lines.append(Statement(comment=f"Here the play ends. {written.failed.sentence}"))
    return format_play(Play(tuple(lines[:LINES_MAX])))


def _commented(group: _Group) -> list[Statement]:
    statements = [split(line).statements[0] for line in group.lines]
    if not statements:
        return [Statement(comment=group.comment)] if group.comment else []
    first = replace(statements[0], comment=group.comment or None)
    return [first, *statements[1:]]


def _assumptions(written: _Written, first: LogEvent) -> Iterator[str]:
    yield "A metadata log has no messages. What the logs of the brokers hold is assumed here:"
    yield f"each leader takes {RECORDS} records after each change, and the whole ISR has them;"
    yield f"a process that did not stop in order died, and its disk is {written.disk}."
    if any(s.words[0].startswith("led-by-") for s in written.header if s.verb == "topic"):
        yield "A broker whose controlled shutdown has two steps leads another partition: led-by-ID."
    if not any(life.release for life in first.cluster.lives.values()):
        yield "No record names a release of Kafka: it is the first of the metadata version."
    yield "Offsets of the metadata log stand behind the lines; those of the engine are others."
