"""Write a play whose run leaves the records of a partition's history.

The engine judges each line as it is written: lines stay if their records are the next ones of the
log. Where none do, the play ends, and what the engine wrote instead is told.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from ...engine.history import History
from ...engine.truth import partition_of, registration_of, session_lasts
from ...plays.play import LINES_MAX, Play, Statement, format_play, split
from ...plays.play_errors import PlayError
from ...plays.runner import extended, open_stage
from ...plays.stage import MOVES_MAX, Stage
from ...protocol.ids import NO_LEADER
from ...protocol.kraft import records
from ..log_items import UNKNOWN
from ..states import LogEvent, PartitionKey, PartitionState
from .compared_records import RecordTarget, targets_of, written_by_engine
from .lines_for_records import RECORDS, SHORT_MS, PlayLines, Situation, header_of, tries
from .numbered_directories import numbers_of

_SPARE = 100
"""So many lines and moves are left for the header and for what one record takes."""


class PlayOfHistory(msgspec.Struct, frozen=True):
    """`text` is the play. Of the `of` records of the log its run writes the first `records`;
    `failed` tells the next one, and what the engine does instead, "" where it writes them all.
    """

    text: str
    records: int
    of: int
    failed: str = ""


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
            states = [e.after for e in kept[at:] if e.after and e.after.key == event.after.key]
            numbers = numbers_of(kept[at:], states)
            targets = targets_of(kept[at + 1 :], states, numbers)
            header = tuple(header_of(event, event.after, targets, numbers))
            stage = open_stage(split("\n".join(header)))
            written = _Written(event, event.after, targets, disk, header, stage)
            written = _with_traffic(written, None)
            while not written.failed and written.done < len(targets):
                written = _next(written)
            return PlayOfHistory(_text(written), written.done, len(targets), written.failed)
    raise NoHistoryError("no event shows the partition")


class _LineGroup(msgspec.Struct, frozen=True):
    """Lines, the run before them, and how many targets are written there."""

    before: Stage
    done: int
    lines: PlayLines
    comment: str = ""


class _Written(msgspec.Struct, frozen=True):
    """A play so far, of `start` after the event `first`: the first `done` targets are written."""

    first: LogEvent
    start: PartitionState
    targets: tuple[RecordTarget, ...]
    disk: str
    header: PlayLines
    stage: Stage
    groups: tuple[_LineGroup, ...] = ()
    done: int = 0
    moves: int = 0
    failed: str = ""

    @property
    def state(self) -> PartitionState:
        """The partition in the log before the next target."""
        return next((t.after for t in reversed(self.targets[: self.done]) if t.after), self.start)

    def run(self, stage: Stage, lines: PlayLines) -> tuple[list[str], Stage | None]:
        """What the engine writes, and the run after it; None where a line cannot be done."""
        at = stage.history.at
        try:
            for line in lines:
                stage = extended(stage, split(line).statements[0])
        except PlayError:
            return [], None
        events = (event for step in stage.history.steps[at:] for event in step.events)
        return [*written_by_engine(events, self.start.name)], stage

    def grown(self, stage: Stage, lines: PlayLines, count: int, comment: str = "") -> "_Written":
        """With more lines, which write `count` targets, and after which the run is at `stage`."""
        offsets = [t.event.record.offset for t in self.targets[self.done :][:count]]
        which = " to ".join(map(str, dict.fromkeys((*offsets[:1], *offsets[-1:]))))
        comment = f"offset {which} {comment}".strip() if offsets else comment
        groups = (*self.groups, _LineGroup(self.stage, self.done, lines, comment))
        moves = self.moves + stage.history.at
        # What was done is in the groups: a history that grows is slow to add to.
        stage = replace(stage, history=History(stage.cluster), performed=())
        return replace(self, stage=stage, groups=groups, done=self.done + count, moves=moves)


def _next(written: _Written) -> _Written:
    lines_left = LINES_MAX - sum(len(group.lines) for group in written.groups)
    if min(lines_left, MOVES_MAX - written.moves) < _SPARE:
        most = f"a play has at most {LINES_MAX} lines and {MOVES_MAX} moves"
        failed = f"The log goes on, and {most}: let it begin later, with --from."
        return replace(written, failed=failed)
    target, before = written.targets[written.done], written.state
    begun, stage = _begun(written, target)
    if not begun and (raced := _raced(written)) is not None:
        return raced
    todo, best = written.targets[written.done :], "the language of plays has no line for it"
    for lines in tries(Situation(todo, stage.cluster, before, written.disk)):
        wrote, after = written.run(stage, lines)
        count = 0 if after is None else _fitting(wrote, todo, lines)
        if after is not None and count and _is_same(after, todo[:count]):
            told = "and a fence that the log has not" * (f"expire {target.broker}" in begun)
            return _with_traffic(written.grown(after, (*begun, *lines), count, told), before)
        if after is not None and " writes " not in best:
            instead = "; ".join(wrote) or "no record"
            best = f"after `{'; '.join(lines)}` the engine writes {instead}"
    offset = target.event.record.offset
    there = f"At offset {offset} the log has {target.text or 'a feature level'}"
    later = f" Let it begin later, with --from {offset}." * any(t.after for t in todo)
    return replace(written, failed=f"{there}; {best}.{later}")


def _begun(written: _Written, target: RecordTarget) -> tuple[PlayLines, Stage]:
    """The run under the controller that wrote a record. From 4.0 on it fences the last process of a
    broker again when its session is over, but not if the next one registers before it checks that.
    """
    last = written.targets[written.done - 1].event if written.done else written.first
    epochs = {last.cluster.controller_epoch, target.event.cluster.controller_epoch}
    lines: PlayLines = ("fail-over",) if len(epochs - {UNKNOWN}) > 1 else ()
    if isinstance(target.content, records.RegisterBrokerRecord):
        cluster, id = written.stage.cluster, target.content.broker
        registered = registration_of(cluster, id)
        if registered is not None and registered.fenced and session_lasts(cluster, id):
            lines = (*lines, f"expire {id}")
    return lines, written.run(written.stage, lines)[1] or written.stage


def _fitting(wrote: list[str], todo: Sequence[RecordTarget], lines: PlayLines) -> int:
    """How many targets are written by lines that wrote that; 0 if they are not the next ones.

    Of a feature's level the engine writes no record: it counts with what stands around it.
    """
    changes = lines[0].startswith("upgrade ") if lines else False
    silent = [n for n, t in enumerate(todo[: len(wrote) + 1]) if t.content is None][:changes]
    count = len(wrote) + len(silent)
    return count if wrote == [t.text for n, t in enumerate(todo[:count]) if n not in silent] else 0


def _is_same(stage: Stage, done: Sequence[RecordTarget]) -> bool:
    """Whether ISR and leader epoch are those of the log: a gap in it makes them differ."""
    after = next((t.after for t in reversed(done) if t.after), None)
    now = after and partition_of(stage.cluster, after.name)
    return not (after and now) or (now.isr, now.leader_epoch) == (after.isr, after.leader_epoch)


def _with_traffic(written: _Written, before: PartitionState | None) -> _Written:
    """Committed records where the leader or the ISR changed, if they write nothing else.

    After somebody joined there are none: as far as the log tells, the leader took it for caught
    up, and a fetch would mend what it lacks.
    """
    state, same = written.state, before is not None and before.leader == written.state.leader
    if state.leader == NO_LEADER or (before and same and not {*state.isr} < {*before.isr}):
        return written
    followers = (f"catch-up {b}" for b in state.isr if b != state.leader)
    lines = f"produce {state.name} count={RECORDS}", *followers
    wrote, stage = written.run(written.stage, lines)
    return written if wrote or stage is None else written.grown(stage, lines, 0)


def _raced(written: _Written) -> _Written | None:
    """The leader asked for a member while that was another process, and the controller answers
    now (KAFKA-14139): the run is taken back to where that process still lived.
    """
    found = _quick_join(written)
    if found is None:
        return None
    joins, leader, back = found
    begun = written.groups[back]
    hold = f"hold alter-partition from={leader}", f"catch-up {joins}"
    kept = tuple(line for group in written.groups[back:] for line in group.lines)
    release = (f"release alter-partition from={leader}",)
    wrote, stage = written.run(begun.before, (*hold, *kept))
    more, after = written.run(stage, release) if stage is not None else ([], None)
    todo = [t.text for t in written.targets[begun.done : written.done + 1] if t.text]
    if stage is None or after is None or [*wrote, *more] != todo:
        return None
    asked = _LineGroup(begun.before, begun.done, hold, "assumed: asked for here, answered later")
    groups = (*written.groups[:back], asked, *written.groups[back:])
    return replace(written, stage=stage, groups=groups).grown(after, release, 1)


def _quick_join(written: _Written) -> tuple[int, int, int] | None:
    """(who joins, the leader, the group in which its last process died) of a member that joins too
    soon after it was unfenced to have fetched everything; None if it is not so.
    """
    target, before = written.targets[written.done], written.state
    joins = [b for b in target.after.isr if b not in before.isr] if target.after else []
    if len(joins) != 1 or target.after is None or target.after.leader != before.leader:
        return None
    done = (t.event.record.time for t in written.targets[: written.done] if t.broker == joins[0])
    times = [*done, target.event.record.time][-2:]
    if len(times) < 2 or UNKNOWN in times or times[1] - times[0] > SHORT_MS:
        return None
    dies = f"crash {joins[0]} disk={written.disk}"
    died = [n for n, group in enumerate(written.groups) if dies in group.lines]
    return (joins[0], before.leader, died[-1]) if died else None


def _text(written: _Written) -> str:
    done = (t.event for t in written.targets[: written.done])
    offsets = [event.record.offset for event in (written.first, *done)]
    title = f"title {written.start.name} of a metadata log, offsets {offsets[0]} to {offsets[-1]}"
    assumed = [Statement(comment=text) for text in _assumptions(written)]
    lines = [*split(title).statements, *assumed, *split("\n".join(written.header)).statements]
    for group in written.groups:
        first, *rest = split("\n".join(group.lines)).statements
        lines += [replace(first, comment=group.comment or None), *rest]
    if written.failed:
        lines.append(Statement(comment=f"Here the play ends. {written.failed}"))
    return format_play(Play(tuple(lines)))


def _assumptions(written: _Written) -> Iterator[str]:
    yield "A metadata log has no messages. What the logs of the brokers hold is assumed here:"
    yield f"each leader takes {RECORDS} records after each change, and the whole ISR has them;"
    yield f"a process that did not stop in order died, and its disk is {written.disk}."
    crashes = sum(line.startswith("crash ") for group in written.groups for line in group.lines)
    yield f"`kiplab explore FILE --bound crashes={crashes or 1}` searches on from the header."
    if any(" led-by-" in line for line in written.header):
        yield "A broker whose controlled shutdown has two steps leads another partition, led-by-ID:"
        yield "leave its line out for `kiplab explore`, which covers one partition."
    if not any(incarnation.release for incarnation in written.first.cluster.incarnations.values()):
        yield "No record names a release of Kafka: it is the first of the metadata version."
    yield "Offsets of the metadata log stand behind the lines; those of the engine are others."
