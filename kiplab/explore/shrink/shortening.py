"""Ways to make a play shorter or plainer, each kept only if the same property still breaks."""

from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

import msgspec
from msgspec.structs import replace

from ...engine.events import PropertyBroken
from ...plays.play import Play, Statement
from ...plays.play_errors import PlayError
from ...plays.runner import do_line, open_stage
from ...plays.stage import Stage
from ...plays.values import Names, duration

Lines = tuple[Statement, ...]
"""The lines of a play, with its comments and blank lines."""
PAIRS_MAX = 60
"""Lines; of longer plays pairs are not tried."""
SECOND_MS = 1_000
_PATTERNS = ("hold", "release", "deliver", "drop", "time-out", "duplicate", "lose-reply")
_OPTIONAL = {
    **dict.fromkeys(_PATTERNS, ("n", "life", "from", "to")),
    "produce": ("acks", "to"),
    "crash": ("disk",),
    "elect": ("unclean",),
}
"""What a line can do without, by verb: the verb means something plainer then."""


class Goal(msgspec.Struct, frozen=True):
    """`property` breaks; and, unless `excused`, while no fault excuses it."""

    property: str
    excused: bool

    def met(self, stage: Stage) -> bool:
        """Whether a run gets there."""
        if all(id != self.property for id, _ in stage.cluster.broken):
            return False
        return self.excused or not all(_excuses(stage, self.property))


def goal_of(stage: Stage, property: str) -> Goal:
    """The result of a run, as a goal to be met again."""
    return Goal(property, all(_excuses(stage, property)))


def _excuses(stage: Stage, property: str) -> Iterator[bool]:
    """For every time that it broke, whether a fault excused it."""
    for recorded in stage.history.steps:
        for event in recorded.events:
            if isinstance(event, PropertyBroken) and event.property == property:
                observeds = recorded.cluster.observed
                yield any(o.excused for o in observeds if o.partition == event.partition)


class Trial:
    """Runs candidates, and goes on from where they part with the last one that was kept.

    `tries` counts candidates; after `most` of them nothing is tried any more.
    """

    def __init__(self, head: Play, goal: Goal, most: int) -> None:
        self.goal, self.most, self.tries = goal, most, 0
        self._kept: Lines = ()
        self._stages = [open_stage(head)]

    @property
    def spent(self) -> bool:
        """Whether all attempts are used up."""
        return self.tries >= self.most

    def holds(self, lines: Lines) -> bool:
        """Whether `lines` can all be done and meet the goal; then they are kept."""
        if self.spent:
            return False
        self.tries += 1
        shared = next(
            (n for n, (a, b) in enumerate(zip(lines, self._kept, strict=False)) if a != b),
            min(len(lines), len(self._kept)),
        )
        stages = self._stages[: shared + 1]
        try:
            for line, statement in enumerate(lines[shared:], shared + 1):
                stages.append(do_line(stages[-1], statement, line))
        except PlayError:
            # This line needs one of those that were left out.
            return False
        if not self.goal.met(stages[-1]):
            return False
        self._kept, self._stages = lines, stages
        return True


def dropped(trial: Trial, lines: Lines) -> Lines:
    """Without lines: halves of the play first, then ever smaller parts, from its end on."""
    size = max(len(_actions(lines)) // 2, 1)
    while True:
        before = lines
        lines = _without_parts(trial, lines, size)
        if size > 1:
            size //= 2
        elif lines == before:
            return lines


def _without_parts(trial: Trial, lines: Lines, size: int) -> Lines:
    for end in range(len(_actions(lines)), 0, -size):
        candidate = _without(lines, _actions(lines)[max(end - size, 0) : end])
        if trial.holds(candidate):
            lines = candidate
    return lines


def without_pairs(trial: Trial, lines: Lines) -> Lines:
    """Without two lines that need each other, as `crash` and `start` do."""
    places = _actions(lines)
    if len(places) > PAIRS_MAX:
        return lines
    return _first(trial, lines, (_without(lines, pair) for pair in combinations(places, 2)))


def simplified(trial: Trial, lines: Lines) -> Lines:
    """Every line as plain as it can be: one record, a broker that keeps its disk, whole seconds."""
    for index in _actions(lines):
        is_shorter = True
        while is_shorter:
            plainer = (_with(lines, index, s) for s in _simpler(lines[index]))
            after = _first(trial, lines, plainer)
            is_shorter, lines = after != lines, after
    return lines


def joined(trial: Trial, lines: Lines) -> Lines:
    """Time that passes in two lines passes in one."""
    pairs = [p for p in pairwise(_actions(lines)) if all(lines[n].verb == "advance" for n in p)]
    whole = ((a, b, _advance(lines[b], _ms(lines[a]) + _ms(lines[b]))) for a, b in pairs)
    return _first(trial, lines, (_without(_with(lines, b, line), (a,)) for a, b, line in whole))


def moved(trial: Trial, lines: Lines) -> Lines:
    """A line beside others about the same broker, if nothing depends on its place."""
    places = _actions(lines)
    # As near as possible: a line that moves far is harder to find again.
    pairs = ((a, b) for a in places for b in places if a != b)
    near = sorted(pairs, key=lambda pair: (pair[0], abs(pair[0] - pair[1])))
    ways, here = (_moved(lines, a, b) for a, b in near), _turns(lines)
    return _first(trial, lines, (way for way in ways if _turns(way) < here))


def _first(trial: Trial, lines: Lines, candidates: Iterable[Lines]) -> Lines:
    return next((c for c in candidates if trial.holds(c)), lines)


# --- candidates -----------------------------------------------------------------------------------


def _actions(lines: Lines) -> list[int]:
    return [n for n, s in enumerate(lines) if s.verb]


def _without(lines: Lines, places: Iterable[int]) -> Lines:
    gone = set(places)
    return tuple(s for n, s in enumerate(lines) if n not in gone)


def _with(lines: Lines, index: int, statement: Statement) -> Lines:
    return (*lines[:index], statement, *lines[index + 1 :])


def _moved(lines: Lines, index: int, to: int) -> Lines:
    rest = [s for n, s in enumerate(lines) if n != index]
    return (*rest[:to], lines[index], *rest[to:])


def _simpler(statement: Statement) -> Iterator[Statement]:
    if statement.verb == "advance" and (over := _ms(statement) % SECOND_MS):
        down = _ms(statement) - over
        yield _advance(statement, down + SECOND_MS)
        if down:
            yield _advance(statement, down)
    if statement.verb == "catch-up":
        yield replace(statement, verb="fetch")
    if statement.arg("count") not in (None, "1"):
        one = tuple((k, "1" if k == "count" else v) for k, v in statement.args)
        yield replace(statement, args=one)
    for key in _OPTIONAL.get(statement.verb, ()):
        if statement.arg(key) is not None:
            yield replace(statement, args=tuple(a for a in statement.args if a[0] != key))


def _ms(statement: Statement) -> int:
    return duration(statement.words[0], Names())


def _advance(statement: Statement, ms: int) -> Statement:
    duration = f"{ms}ms" if ms % SECOND_MS else f"{ms // SECOND_MS}s"
    return replace(statement, words=(duration,))


def _turns(lines: Lines) -> int:
    """How often a line is about somebody else than the line before it."""
    subjects = [s.arg("from") or (s.words[0] if s.words else "") for s in lines if s.verb]
    return sum(a != b for a, b in pairwise(subjects))
