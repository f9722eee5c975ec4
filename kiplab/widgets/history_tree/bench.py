"""One line of history as a frozen value: the lines done so far, one stop per step, a position.

Every change gives a new value, so a change that fails leaves the old one as it was.
"""

import msgspec
from msgspec.structs import replace

from ...plays.grammar import check
from ...plays.header import features_of, names_of
from ...plays.play import Play, Statement, split
from ...plays.play_errors import PlayError
from ...plays.runner import do_line, extended, open_stage
from ...plays.stage import Stage
from ...protocol.features import Features


class Stop(msgspec.Struct, frozen=True):
    """The stage at one step, and how many of the play's lines led there.

    Lines that move nothing (``hold``, ``expect``) belong to the step before them.
    """

    stage: Stage
    lines: int


class Bench(msgspec.Struct, frozen=True):
    """`own` is the play as it was opened, `play` what it has become; `stops` has one stop per
    step, the first before anything moved; `at` is the step one stands on.
    """

    own: Play
    play: Play
    features: Features
    stops: tuple[Stop, ...]
    at: int = 0

    @property
    def here(self) -> Stage:
        """The stage where one stands."""
        return self.stops[self.at].stage

    @property
    def whole(self) -> Stage:
        """The stage after the last step."""
        return self.stops[-1].stage

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.stops) - 1


def open_bench(play: Play, features: Features | None = None) -> Bench:
    """`play` under `features` (None for its own), standing before the first step.

    A line that cannot be done becomes "not applicable", whatever the features.
    """
    used = features_of(play) if features is None else features
    return Bench(play, play, used, _stops(play, used))


def seek(bench: Bench, at: int) -> Bench:
    """The same, seen from step `at`; held between the first step and the last."""
    return replace(bench, at=max(0, min(at, bench.last)))


def act(bench: Bench, statement: Statement) -> Bench:
    """One line more where one stands; the steps after it are left out.

    Raises PlayError, saying why, for a line that cannot be done there.
    """
    stop = bench.stops[bench.at]
    play = replace(bench.play, statements=bench.play.statements[: stop.lines])
    stage = replace(extended(replace(stop.stage, play=play, strict=True), statement), strict=False)
    moved = stage.moment > stop.stage.moment
    kept = bench.stops[: bench.at + 1] if moved else bench.stops[: bench.at]
    stops = (*kept, Stop(stage, len(stage.play.statements)))
    return replace(bench, play=stage.play, stops=stops, at=len(stops) - 1)


def rerun(bench: Bench, features: Features) -> Bench:
    """The same lines under other features, standing where one stood."""
    played = replace(bench, features=features, stops=_stops(bench.play, features))
    return seek(played, bench.at)


def without_last(bench: Bench) -> Bench:
    """Without the last line, standing where one stood if that step is still there."""
    play = replace(bench.play, statements=bench.play.statements[:-1])
    *earlier, before, last = bench.stops
    if before.lines == last.lines - 1:
        stage = before.stage
        stops = (
            *earlier,
            before if stage.play == play else replace(before, stage=replace(stage, play=play)),
        )
    else:
        # The line moved nothing and shared its step with others.
        stops = _stops(play, bench.features)
    return seek(replace(bench, play=play, stops=stops), bench.at)


def read_line(bench: Bench, text: str) -> Statement:
    """The line of a play that somebody wrote. Raises PlayError for one that cannot be read."""
    play = split(text)
    if len(play.statements) != 1 or not play.statements[0].verb:
        raise PlayError("there is no line to do", expected="write one, such as: crash 2")
    check(play.statements[0], names_of(bench.own), started=True)
    return play.statements[0]


def as_played(bench: Bench) -> Stage:
    """The whole run, its play without the lines that were not applicable: it replays anywhere."""
    stage = bench.whole
    left_out = {p.line for p in stage.performed if p.not_applicable is not None}
    kept = (s for n, s in enumerate(bench.play.statements, 1) if n not in left_out)
    return replace(stage, play=replace(bench.play, statements=tuple(kept)))


def _stops(play: Play, features: Features) -> tuple[Stop, ...]:
    stage = replace(open_stage(play, features), strict=False)
    stops = [Stop(stage, 0)]
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
        if stage.moment > stops[-1].stage.moment:
            stops.append(Stop(stage, line))
        else:
            stops[-1] = Stop(stage, line)
    return tuple(stops)
