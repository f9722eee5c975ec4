"""Write a play whose run leaves the records of a partition's history.

The engine judges each line as it is written: lines stay if their records are the next ones of the
log. Where none do, the play ends, and what the engine wrote instead is told.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ...engine.truth import partition_of
from ...plays.play import LINES_MAX, Play, Statement, format_play, split
from ...plays.play_errors import PlayError
from ...plays.runner import extended, open_stage
from ...plays.stage import Stage
from ..records import UNKNOWN
from ..states import LogEvent, PartitionKey, PartitionState
from .compared_records import RecordContent, Target, targets_of, written_by_engine
from .header_of_history import RECORDS, header_of
from .lines_for_records import SHORT_MS, PlayLines, Situation, traffic, tries


class NotWritten(msgspec.Struct, frozen=True):
    """The record of the log that no line makes the engine write; what `line` makes it write."""

    offset: int
    record: str
    line: str
    instead: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """What is told."""
        there = f"At offset {self.offset} the log has {self.record}."
        wrote = "; ".join(self.instead) or "no record"
        tried = f"After `{self.line}` the engine writes {wrote}."
        return f"{there} {tried if self.line else 'The language of plays has no line for it.'}"


class PlayOfHistory(msgspec.Struct, frozen=True):
    """`text` is the play. Of the `of` records of the log its run writes the first `records`;
    `failed` is the next one, None where it writes them all.
    """

    text: str
    records: int
    of: int
    failed: NotWritten | None = None


class NoHistoryError(ValueError):
    """No event shows the partition: there is nothing to write a play of."""


def as_play(
    events: Iterable[LogEvent], key: PartitionKey | None = None, *, disk: str = "tail-lost"
) -> PlayOfHistory:
    """A play of one partition, by default that of the first event which has one.

    `disk` is what a process that dies takes along, as in a play: ``kept``, ``tail-lost`` or
    ``replaced``. Raises NoHistoryError where no event shows the partition.
    """
    kept = tuple(events)
    for at, event in enumerate(kept):
        if event.after is not None and key in (None, event.after.key):
            targets = targets_of(kept[at + 1 :], event.after.key)
            header = tuple(header_of(event, event.after, targets))
            stage = open_stage(split("\n".join(header)))
            written = _Written(event, event.after, targets, disk, header, stage)
            return _finished(_with_traffic(written, None))
    raise NoHistoryError("no event shows the partition")


class _Group(msgspec.Struct, frozen=True):
    """PlayLines, the run before them, and how many targets are written there."""

    before: Stage
    done: int
    lines: PlayLines
    comment: str = ""


class _Written(msgspec.Struct, frozen=True):
    """A play so far, of `start` after the event `first`: the first `done` targets are written."""

    first: LogEvent
    start: PartitionState
    targets: tuple[Target, ...]
    disk: str
    header: PlayLines
    stage: Stage
    groups: tuple[_Group, ...] = ()
    done: int = 0
    failed: NotWritten | None = None

    @property
    def state(self) -> PartitionState:
        """The partition in the log before the next target."""
        states = (t.after for t in reversed(self.targets[: self.done]))
        return next((state for state in states if state), self.start)

    @property
    def controller_epoch(self) -> int:
        """That of the target written last."""
        last = self.targets[self.done - 1].event if self.done else self.first
        return last.cluster.controller_epoch

    def run(self, stage: Stage, lines: PlayLines) -> tuple[tuple[RecordContent, ...], Stage | None]:
        """What the engine writes, and the run after it; None where a line cannot be done."""
        at = stage.history.at
        try:
            for line in lines:
                stage = extended(stage, split(line).statements[0])
        except PlayError:
            return (), None
        events = (event for step in stage.history.steps[at:] for event in step.events)
        return tuple(written_by_engine(events, self.start)), stage

    def with_group(
        self, stage: Stage, lines: PlayLines, records: int, comment: str = ""
    ) -> "_Written":
        """With more lines, after which the run stands at `stage`."""
        offsets = [t.event.record.offset for t in self.targets[self.done :][:records]]
        which = " to ".join(map(str, dict.fromkeys((*offsets[:1], *offsets[-1:]))))
        said = " ".join(word for word in (f"offset {which}" * bool(which), comment) if word)
        group = _Group(self.stage, self.done, lines, said)
        done = self.done + records
        return replace(self, stage=stage, groups=(*self.groups, group), done=done)


def _finished(written: _Written) -> PlayOfHistory:
    while written.failed is None and written.done < len(written.targets):
        written = _next(written)
    return PlayOfHistory(_text(written), written.done, len(written.targets), written.failed)


def _next(written: _Written) -> _Written:
    target, before = written.targets[written.done], written.state
    if target.is_directories:
        return written.with_group(written.stage, (), 1, "directories, which the engine has not")
    epochs = written.controller_epoch, target.event.cluster.controller_epoch
    began: PlayLines = ("fail-over",) if len({*epochs}) > 1 and UNKNOWN not in epochs else ()
    _, stage = written.run(written.stage, began)
    raced = _raced(written) if stage is not None and not began else None
    if raced is not None or stage is None:
        return raced or written
    todo, best = written.targets[written.done :], NotWritten(-1, "", "", ())
    for lines in tries(Situation(todo, stage.cluster, before, written.disk)):
        said, after = written.run(stage, lines)
        fits = 0 if after is None else _fitting(said, todo, lines)
        if after is not None and fits and _is_same(written, after, todo[:fits]):
            grown = written.with_group(after, (*began, *lines), fits)
            return _with_traffic(grown, before)
        if after is not None and not best.line:
            best = NotWritten(-1, "", "; ".join(lines), tuple(map(str, said)))
    offset = target.event.record.offset
    return replace(written, failed=replace(best, offset=offset, record=str(target.content)))


def _fitting(said: Sequence[RecordContent], todo: Sequence[Target], lines: PlayLines) -> int:
    """How many targets are written by lines that wrote `said`; 0 if they are not the next ones.

    Of a feature's level the engine writes no record: it counts with what stands around it.
    """
    changes = any(line.startswith("upgrade ") for line in lines)
    silent = [n for n, t in enumerate(todo[: len(said) + 1]) if t.is_silent][:changes]
    expected = [t.content for n, t in enumerate(todo[: len(said) + len(silent)]) if n not in silent]
    return len(said) + len(silent) if list(said) == expected else 0


def _is_same(written: _Written, stage: Stage, done: Sequence[Target]) -> bool:
    """Whether leader, ISR and epochs are those of the log: a gap in it makes them differ."""
    after = next((t.after for t in reversed(done) if t.after), None)
    state = partition_of(stage.cluster, written.start.name)
    if after is None or state is None:
        return True
    left_out = sum(t.is_directories for t in written.targets[: written.done])
    epochs = state.leader_epoch, state.partition_epoch + left_out
    rest = state.leader, state.isr, bool(state.recovery), {*state.elr}, state.last_known
    return (
        epochs == (after.leader_epoch, after.partition_epoch)
        and rest == (after.leader, after.isr, after.recovering, {*after.elr}, after.last_known)
    )  # fmt: skip


def _with_traffic(written: _Written, before: PartitionState | None) -> _Written:
    """Committed records where the leader or the ISR changed, if they write nothing else.

    After somebody joined there are none: as far as the log tells, the leader took it for caught
    up, and a fetch would mend what it lacks.
    """
    state = written.state
    same = before is not None and before.leader == state.leader
    if before is not None and same and not {*state.isr} < {*before.isr}:
        return written
    lines = traffic(state)
    said, stage = written.run(written.stage, lines)
    return written.with_group(stage, lines, 0) if lines and stage and not said else written


# --- the race -------------------------------------------------------------------------------------


def _raced(written: _Written) -> _Written | None:
    """The leader asked for a member while that was another process, and the controller answers
    now (KAFKA-14139): the run is taken back to where that process still lived.
    """
    found = _quick_join(written)
    if found is None:
        return None
    joins, leader, back = found
    hold = f"hold alter-partition from={leader}", f"catch-up {joins}"
    kept = tuple(line for group in written.groups[back:] for line in group.lines)
    release = (f"release alter-partition from={leader}",)
    begun = written.groups[back]
    said, stage = written.run(begun.before, (*hold, *kept))
    more, after = written.run(stage, release) if stage is not None else ((), None)
    todo = [t.content for t in written.targets[begun.done : written.done + 1] if not t.is_silent]
    if stage is None or after is None or [*said, *more] != todo:
        return None
    asked = _Group(begun.before, begun.done, hold, "assumed: asked for here, answered later")
    groups = (*written.groups[:back], asked, *written.groups[back:])
    return replace(written, stage=stage, groups=groups).with_group(after, release, 1)


def _quick_join(written: _Written) -> tuple[int, int, int] | None:
    """(who joins, the leader, the group in which its last process died) of a member that joins too
    soon after it was unfenced to have fetched everything; None if it is not so.
    """
    event, after = written.targets[written.done].event, written.targets[written.done].after
    joins = [b for b in after.isr if b not in written.state.isr] if after else []
    if len(joins) != 1 or after is None or after.leader != written.state.leader:
        return None
    done = written.targets[: written.done]
    unfenced = next((t for t in reversed(done) if t.content.broker == joins[0]), None)
    times = event.record.time, UNKNOWN if unfenced is None else unfenced.event.record.time
    if UNKNOWN in times or times[0] - times[1] > SHORT_MS:
        return None
    dies = f"crash {joins[0]} disk={written.disk}"
    died = [n for n, group in enumerate(written.groups) if dies in group.lines]
    return (joins[0], after.leader, died[-1]) if died else None


# --- text -----------------------------------------------------------------------------------------


def _text(written: _Written) -> str:
    done = (t.event for t in written.targets[: written.done])
    offsets = [event.record.offset for event in (written.first, *done)]
    title = f"title {written.start.name} of a metadata log, offsets {offsets[0]} to {offsets[-1]}"
    said = [Statement(comment=text) for text in _assumptions(written)]
    lines = [*split(title).statements, *said, *split("\n".join(written.header)).statements]
    for group in written.groups:
        first, *rest = split("\n".join(group.lines)).statements if group.lines else (Statement(),)
        lines += [replace(first, comment=group.comment or None), *rest]
    if written.failed is not None:
        lines.append(Statement(comment=f"Here the play ends. {written.failed.sentence}"))
    return format_play(Play(tuple(lines[:LINES_MAX])))


def _assumptions(written: _Written) -> Iterator[str]:
    yield "A metadata log has no messages. What the logs of the brokers hold is assumed here:"
    yield f"each leader takes {RECORDS} records after each change, and the whole ISR has them;"
    yield f"a process that did not stop in order died, and its disk is {written.disk}."
    if any(" led-by-" in line for line in written.header):
        yield "A broker whose controlled shutdown has two steps leads another partition: led-by-ID."
    if not any(life.release for life in written.first.cluster.lives.values()):
        yield "No record names a release of Kafka: it is the first of the metadata version."
    yield "Offsets of the metadata log stand behind the lines; those of the engine are others."
