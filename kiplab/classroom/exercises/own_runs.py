"""Exercises with a play of one's own: from a Lab, a run, a token, or its events as text."""

from collections.abc import Callable, Iterable, Sized
from itertools import islice

import msgspec
from msgspec.structs import replace

from ...plays import grammar, header, library, play_errors, runner
from ...plays.play import LINES_MAX, Play, Statement, format_play
from ...plays.stage import Stage
from ...protocol.features import UnknownFeatureError
from ...runs import Run
from ..exercise_table import Exercise, UnfitError
from .answers import BLANK, AskedRelease, Verdict
from .check_result import Checked

FORMS = "a Lab, its run, a token, or the events of a play with ; between"
_NOT_THE_SITUATION = ("", "title", "question", "kafka", "metadata", "off", "on", "manual", "expect")
_NEVER = ("send ", "upgrade ")
"""Lines that no answer may have: a request that no broker sent, and other rules on the way."""


class OwnRun(msgspec.Struct, frozen=True):
    """A run in the situation, and under the rules, of a play; `judged` says which outcome it is."""

    judged: Callable[[Stage], Verdict]

    def __call__(self, exercise: Exercise, answer: object, _release: AskedRelease) -> Checked:
        """The events of the run, with its token. Raises UnfitError for what is no answer."""
        stage = own_run(answer, library.load(exercise.begins), exercise.forbidden)
        return exercise.outcome(self.judged(stage), token=token_of(stage))


def own_run(answer: object, own: Play, forbidden: tuple[str, ...] = ()) -> Stage:
    """The run that the answer is, in the situation and under the rules of the play `own`.

    Raises UnfitError, which says in a sentence why an answer is no such run.
    """
    nothing = answer is None or answer is ... or (isinstance(answer, Sized) and not len(answer))
    if nothing or (isinstance(answer, str) and answer.strip() in ("", BLANK)):
        raise UnfitError(f"Not answered yet: give {FORMS}.")
    try:
        stage = _stage(answer, own)
    except (play_errors.PlayError, UnknownFeatureError) as problem:
        raise UnfitError(f"This cannot be played: {problem}.") from None
    if stage is None:
        raise UnfitError(f"Give {FORMS}. This is of type {type(answer).__name__}.")
    _demand_fit(stage, own, forbidden)
    return stage


def done(stage: Stage) -> list[Statement]:
    """The lines of a run that did what they say."""
    return [p.statement for p in stage.performed if p.not_applicable is None]


def token_of(stage: Stage) -> str:
    """The run in one line, without what could not be done."""
    left_out = {p.line for p in stage.performed if p.not_applicable is not None}
    lines = (s for n, s in enumerate(stage.play.statements, 1) if n not in left_out)
    return library.encode(replace(stage.play, statements=tuple(lines)), stage.features)


def header_of(play: Play) -> tuple[Statement, ...]:
    """The lines that say where a play begins."""
    headers = {verb for verb, about in grammar.VERBS.items() if about.header}
    return tuple(s for s in play.statements if s.verb in headers)


def written_after(play: Play, lines: str) -> Play:
    """Lines in the situation of `play`."""
    return grammar.parse(f"{format_play(replace(play, statements=header_of(play)))}{lines}\n")


def situation(play: Play) -> tuple[Statement, ...]:
    """The lines that say where a play begins, without its words and its rules."""
    bare = (replace(s, comment=None) for s in header_of(play) if s.verb not in _NOT_THE_SITUATION)
    return tuple(sorted(bare, key=lambda s: s.text))


def _stage(answer: object, own: Play) -> Stage | None:
    """The run of an answer of any form; None for a form that there is none of."""
    run = answer if isinstance(answer, Run) else getattr(answer, "run", None)
    if isinstance(run, Run):
        return run.stage
    if isinstance(answer, str) and library.is_token(answer):
        play, features = library.find(answer)
        return runner.run_play(play, features)
    if isinstance(answer, str):
        return _written(answer.replace(";", "\n"), own)
    if isinstance(answer, Iterable) and not isinstance(answer, bytes):
        return _written("\n".join(str(line) for line in islice(answer, LINES_MAX)), own)
    return None


def _written(lines: str, own: Play) -> Stage:
    """Lines in the situation of `own`. Raises PlayError, counting from the first of `lines`."""
    try:
        return runner.run_play(written_after(own, lines))
    except play_errors.PlayError as problem:
        number = max(problem.line - len(header_of(own)), 1)
        text = f"line {number}: {problem.problem}"
        raise play_errors.PlayError(text, expected=problem.expected) from None


def _demand_fit(stage: Stage, own: Play, forbidden: tuple[str, ...]) -> None:
    """Raises UnfitError for a run that is no answer to the exercise."""
    if situation(stage.play) != situation(own):
        raise UnfitError(f"This begins in another situation. Begin with the play {own.name}.")
    if stage.features != header.features_of(own):
        raise UnfitError(f"Leave the rules as they are: Kafka {header.features_of(own).label()}.")
    for line in done(stage):
        if line.text.startswith((*_NEVER, *forbidden)):
            raise UnfitError(f"Do it without: {line.text}")
