"""The counts of a class, as text for a terminal."""

from collections.abc import Iterable, Iterator, Sequence
from textwrap import wrap

from ...rows.columns import plural
from ..exercises.check_result import LINE
from .class_counts import (
    OTHER_LAB,
    ClassCounts,
    ExerciseCount,
    MisconceptionCount,
    PredictionCount,
    WrittenCount,
)
from .handed_in import LeftOut

BAR = 24
"""Characters of the bar of a whole class."""
_EXERCISE = "  {:<46}{:>9}{:>9}{:>9}{:>9}"
_HEADS = ("exercise", "tried", "solved", "at once", "attempts")


def class_text(counts: ClassCounts, left_out: Sequence[LeftOut], *, names: bool) -> str:
    """A table per lab: each prediction's choices, each exercise, the ideas behind wrong answers.

    Which choice comes true is not in it: it may be seen before the discussion.
    """
    lines = [*wrap(summary(counts), LINE)]
    for sentence in not_counted(left_out, names=names):
        lines += wrap(sentence, LINE, subsequent_indent="  ")
    for lab in counts.labs():
        predictions, exercises = counts.of_lab(lab)
        lines += ["", heading_of(lab)]
        for prediction in predictions:
            lines += _prediction(prediction, counts.students, names)
        lines += _exercises([e for e in exercises if e.tried], names)
        for asked in (w for w in counts.written if w.lab == lab and w.answered):
            lines += _written(asked, counts.students, names)
        left = nobody_yet(predictions, exercises)
        lines += [f"  {line}" for line in wrap(left, LINE - 2)]
    return "\n".join(lines) + "\n"


def summary(counts: ClassCounts) -> str:
    """How many students, and the labs that none of them has begun."""
    sentence = f"{plural(counts.students, 'student')}."
    untouched = counts.untouched()
    if untouched:
        sentence += f" Nothing yet from lab{'s' * (len(untouched) > 1)} {', '.join(untouched)}."
    return sentence


def not_counted(left_out: Sequence[LeftOut], *, names: bool) -> list[str]:
    """What is left out, a line each; their number alone without names: a file's is a student's."""
    if names:
        return [f"Not counted: {left.file}: {left.why}" for left in left_out]
    return [f"Not counted, or not wholly: {plural(len(left_out), 'file')}."] if left_out else []


def heading_of(lab: str) -> str:
    return "Asked in no lab of this kiplab" if lab == OTHER_LAB else f"Lab {lab}"


def nobody_yet(predictions: Iterable[PredictionCount], exercises: Iterable[ExerciseCount]) -> str:
    """Those without any answer, as a sentence; empty if there are none."""
    titles = [p.title for p in predictions if not p.answered]
    titles += [e.title for e in exercises if not e.tried]
    return f"Nobody has answered yet: {'; '.join(titles)}." if titles else ""


def most_frequent(
    exercises: Iterable[ExerciseCount],
) -> list[tuple[MisconceptionCount, ExerciseCount]]:
    """The ideas behind wrong answers to these, with the exercise, the most frequent in front."""
    listed = [(idea, entry) for entry in exercises for idea in entry.misconceptions]
    return sorted(listed, key=lambda pair: (-pair[0].first, -pair[0].ever))


def unexplained(exercises: Iterable[ExerciseCount]) -> str:
    """How many first attempts were wrong without a known idea behind them; empty if none was."""
    listed = [f"{e.title} ({e.unexplained})" for e in exercises if e.unexplained]
    return f"Wrong at first, with no known idea behind it: {'; '.join(listed)}." if listed else ""


def _prediction(entry: PredictionCount, students: int, names: bool) -> Iterator[str]:
    if not entry.answered:
        return
    yield ""
    yield f"  {entry.title}: {entry.answered} of {students} have locked a choice in"
    yield from (f"  {line}" for line in wrap(entry.question, LINE - 2))
    for choice in entry.choices:
        bar = "█" * round(BAR * choice.students / entry.answered)
        first, *more = wrap(choice.choice, LINE - BAR - 14) or [""]
        yield f"    {choice.letter or '-':2}{choice.students:4}  {bar:<{BAR}}  {first}"
        yield from (f"{'':{BAR + 14}}{line}" for line in more)
        if names and choice.who:
            yield from _who(choice.who)


def _written(asked: WrittenCount, students: int, names: bool) -> Iterator[str]:
    """How many have written, and what, where names are shown: their own words are not anonymous."""
    yield ""
    head = f"To discuss: {asked.question} {asked.answered} of {students} have written."
    yield from (f"  {line}" for line in wrap(head, LINE - 2))
    for name, text in asked.who.items() if names else ():
        yield from wrap(f"{name}: {text}", LINE, initial_indent="    ", subsequent_indent="      ")


def _exercises(exercises: list[ExerciseCount], names: bool) -> Iterator[str]:
    if not exercises:
        return
    yield ""
    yield _EXERCISE.format(*_HEADS)
    for entry in exercises:
        title = entry.title if len(entry.title) <= 46 else f"{entry.title[:45]}…"
        counts = (entry.tried, entry.solved, entry.at_once, entry.attempts)
        yield _EXERCISE.format(title, *counts)
        if names and entry.unsolved:
            yield from _who(("not solved yet:", ", ".join(entry.unsolved)), " ")
    yield from _misconceptions(exercises, names)


def _misconceptions(exercises: list[ExerciseCount], names: bool) -> Iterator[str]:
    listed = most_frequent(exercises)
    sentence = unexplained(exercises)
    if listed or sentence:
        yield ""
        yield "  Ideas behind wrong answers: students who had them at first, and at any attempt"
    for idea, entry in listed:
        first, *more = wrap(f"{idea.misconception} ({entry.title})", LINE - 16)
        yield f"  {idea.first:6}{idea.ever:6}  {first}"
        yield from (f"{'':16}{line}" for line in more)
        if names and idea.who:
            yield from _who(idea.who)
    yield from (f"  {line}" for line in wrap(sentence, LINE - 2))


def _who(names: Iterable[str], between: str = ", ") -> list[str]:
    return [f"{'':16}{line}" for line in wrap(between.join(names), LINE - 16)]
