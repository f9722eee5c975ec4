"""What a `Lab` is showing: a play's lines, the features, a position. A value, without widgets."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ..plays.grammar import VERBS, check
from ..plays.header import features_of, names_of
from ..plays.play import Play, Statement
from ..plays.runner import do_line, open_stage
from ..plays.stage import Stage
from ..protocol.features import Features


class Session(msgspec.Struct, frozen=True):
    """`stages` has one stage per line of `lines`, after the one before any; `at` is the position."""

    play: Play
    features: Features
    lines: tuple[Statement, ...]
    stages: tuple[Stage, ...]
    at: int = 0

    @property
    def stage(self) -> Stage:
        """The run up to the position."""
        return self.stages[self.at]

    @property
    def whole(self) -> Stage:
        """The run up to its last line."""
        return self.stages[-1]

    @property
    def changed(self) -> bool:
        """Whether the lines are no longer those of the play."""
        return self.lines != body_of(self.play)


def body_of(play: Play) -> tuple[Statement, ...]:
    """The lines that do something: no header, no comments, no expectations."""
    return tuple(
        s for s in play.statements if s.verb and s.verb != "expect" and not VERBS[s.verb].header
    )


def open_session(play: Play, features: Features | None = None) -> Session:
    """The play, run to its end and seen from its beginning."""
    used = features_of(play) if features is None else features
    lines = body_of(play)
    return Session(play, used, lines, _performed(play, used, lines))


def seek(session: Session, at: int) -> Session:
    """Another position, held between the first and the last."""
    return replace(session, at=max(0, min(at, len(session.lines))))


def inject(session: Session, statement: Statement) -> Session:
    """One line done by hand at the position; the lines after it are dropped: a fork.

    Raises PlayError with the reason when it cannot be done; the session given is as it was.
    """
    check(statement, names_of(session.play), True)
    stage = replace(session.stage, strict=True)
    after = do_line(stage, statement, session.at + 1)
    lines = (*session.lines[: session.at], statement)
    stages = (*session.stages[: session.at + 1], after)
    return Session(session.play, session.features, lines, stages, len(lines))


def under(session: Session, features: Features) -> Session:
    """The same lines under other features, seen from the same position."""
    stages = _performed(session.play, features, session.lines)
    return Session(session.play, features, session.lines, stages, session.at)


def reset(session: Session) -> Session:
    """The play's own lines again, from the beginning."""
    return open_session(session.play, session.features)


def _performed(play: Play, features: Features, lines: tuple[Statement, ...]) -> tuple[Stage, ...]:
    # Not strict: under other features, or after a fork, a line may have lost its object.
    stages = [replace(open_stage(play, features), strict=False)]
    for number, line in enumerate(lines, 1):
        stages.append(do_line(stages[-1], line, number))
    return tuple(stages)
