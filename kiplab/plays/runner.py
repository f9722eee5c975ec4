"""Running a play: the stage before the first line, each line, the stage after the last."""

from msgspec.structs import replace

from ..engine.events import NotApplicable
from ..engine.history import History
from ..engine.setup import cluster_of
from ..protocol.features import Features
from .expect import judge
from .grammar import VERBS
from .header import features_of, setup_of
from .play import Play, Statement
from .play_errors import PlayError
from .stage import Performed, Stage
from .verbs import Impossible, NotMeantError, perform

SILENT = ("hold", "release", "expect")
"""Verbs that move nothing by themselves; without a move they take no place on the x axis."""


def open_stage(play: Play, features: Features | None = None) -> Stage:
    """The stage before the first line, under the play's own features or others."""
    own = features_of(play)
    used = own if features is None else features
    return Stage(
        play=play,
        features=used,
        history=History(cluster_of(setup_of(play, used))),
        strict=used == own,
        manual=play.first("manual") is not None,
    )


def run_play(play: Play, features: Features | None = None) -> Stage:
    """The whole play. A line that cannot be done is an error in the play's own feature set only.

    Raises PlayError with the line's place and the reason.
    """
    stage = open_stage(play, features)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
    return stage


def do_line(stage: Stage, statement: Statement, line: int) -> Stage:
    """One line more. Header lines, comments and blank lines change nothing.

    Raises PlayError when a strict play asks for what cannot be done now.
    """
    if not statement.verb or VERBS[statement.verb].header:
        return stage
    if statement.verb == "expect":
        return replace(stage, expectations=(*stage.expectations, judge(stage, statement, line)))
    first, moment = len(stage.history.steps), stage.moment
    missing: NotApplicable | None = None
    try:
        after = perform(stage, statement, line)
    except (*Impossible, NotMeantError) as problem:
        if stage.strict and not isinstance(problem, NotMeantError):
            error = PlayError(f"{statement.text!r} cannot be done now: {problem}")
            raise error.at(file=stage.play.name, line=line) from None
        after = stage
        missing = NotApplicable(text=statement.text, reason=str(problem))
    last = len(after.history.steps)
    if last > first or statement.verb not in SILENT:
        moment += 1
    done = Performed(line, statement, first, last, moment, missing)
    return replace(after, performed=(*after.performed, done))


def extended(stage: Stage, statement: Statement) -> Stage:
    """A line added by hand at the end of the play, and done; a strict stage raises PlayError."""
    play = replace(stage.play, statements=(*stage.play.statements, statement))
    return do_line(replace(stage, play=play), statement, len(play.statements))
