"""One line of history as a frozen value: the lines done so far, one frame per step, a position.

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


class Frame(msgspec.Struct, frozen=True):
    """The stage at one step, and how many of the play's lines led there.

    Lines that move nothing (``hold``, ``expect``) belong to the step before them.
    """

    stage: Stage
    lines: int


class Playback(msgspec.Struct, frozen=True):
    """`own` is the play as it was opened, `play` what it has become; `frames` has one frame per
    step, the first before anything moved; `at` is the step one stands on.
    """

    own: Play
    play: Play
    features: Features
    frames: tuple[Frame, ...]
    at: int = 0

    @property
    def here(self) -> Stage:
        return self.frames[self.at].stage

    @property
    def whole(self) -> Stage:
        return self.frames[-1].stage

    @property
    def last(self) -> int:
        return len(self.frames) - 1


def open_playback(play: Play, features: Features | None = None) -> Playback:
    """`play` under `features` (None for its own), standing before the first step.

    A line that cannot be done becomes "not applicable", whatever the features.
    """
    used = features_of(play) if features is None else features
    return Playback(play, play, used, _frames(play, used))


def seek(playback: Playback, at: int) -> Playback:
    """The same, seen from step `at`; held between the first step and the last."""
    return replace(playback, at=max(0, min(at, playback.last)))


def act(playback: Playback, statement: Statement) -> Playback:
    """One line more here, without the steps after. Raises PlayError where it cannot be done."""
    frame = playback.frames[playback.at]
    play = replace(playback.play, statements=playback.play.statements[: frame.lines])
    stage = replace(extended(replace(frame.stage, play=play, strict=True), statement), strict=False)
    moved = stage.moment > frame.stage.moment
    kept = playback.frames[: playback.at + 1] if moved else playback.frames[: playback.at]
    frames = (*kept, Frame(stage, len(stage.play.statements)))
    return replace(playback, play=stage.play, frames=frames, at=len(frames) - 1)


def rerun(playback: Playback, features: Features) -> Playback:
    """The same lines under other features, standing where one stood."""
    played = replace(playback, features=features, frames=_frames(playback.play, features))
    return seek(played, playback.at)


def without_last(playback: Playback) -> Playback:
    """Without the last line, standing where one stood if that step is still there."""
    play = replace(playback.play, statements=playback.play.statements[:-1])
    *earlier, last = playback.frames
    if not earlier or earlier[-1].lines != last.lines - 1:
        # The line moved nothing and shared its step with others.
        frames = _frames(play, playback.features)
    elif earlier[-1].stage.play == play:
        frames = tuple(earlier)
    else:
        *earlier, before = earlier
        frames = (*earlier, replace(before, stage=replace(before.stage, play=play)))
    return seek(replace(playback, play=play, frames=frames), playback.at)


def read_line(playback: Playback, text: str) -> Statement:
    """The line of a play that somebody wrote. Raises PlayError for one that cannot be read."""
    play = split(text)
    if len(play.statements) != 1 or not play.statements[0].verb:
        raise PlayError("there is no line to do", expected="write one, such as: crash 2")
    check(play.statements[0], names_of(playback.own), started=True)
    return play.statements[0]


def as_played(playback: Playback) -> Stage:
    """The whole run, its play without the lines that were not applicable: it replays anywhere."""
    stage = playback.whole
    left_out = {p.line for p in stage.performed if p.not_applicable is not None}
    kept = (s for n, s in enumerate(playback.play.statements, 1) if n not in left_out)
    return replace(stage, play=replace(playback.play, statements=tuple(kept)))


def _frames(play: Play, features: Features) -> tuple[Frame, ...]:
    stage = replace(open_stage(play, features), strict=False)
    frames = [Frame(stage, 0)]
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
        if stage.moment == frames[-1].stage.moment:
            frames.pop()
        frames.append(Frame(stage, line))
    return tuple(frames)
