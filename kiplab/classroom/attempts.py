"""An answer to an exercise from a lab: it is judged as ever, and the attempt is kept.

The checks keep nothing; they are in `exercises/`. They return the whole feedback about an answer,
and this file shows it little by little, attempt by attempt. Held back cells open once the question
is answered: a prediction when it is locked in; an exercise with the right answer, or with the third
different one, which shows which parts are wrong: then nothing is left to hold back. A class may
say otherwise (`class_file`): points, hints and the run of a prediction never wait for that. An
instructor who sets KIPLAB_OPEN opens everything.
"""

import os
from collections.abc import Callable

from msgspec.structs import replace

from ..plays.play import Play
from . import class_file, work_on_disk
from .exercise_table import Exercise, exercise
from .exercises.check_result import SAYS_WHICH, Checked

OPEN = "KIPLAB_OPEN"
"""The variable that opens what waits for an answer; the one that names a class."""
_waiting: dict[str, list[Callable[[], None]]] = {}
"""What this kernel does when a question is answered, by the question's id."""
passed: set[tuple[str, str]] = set()
"""What readers came past in this kernel: (question, heading)."""
_following: dict[str, Callable[[], None]] = {}
"""What it does with whatever is answered, by what follows."""


def check(id: str, answer: object, *, kafka: str | None = None) -> Checked:
    """Judge an answer to the exercise `id`, and keep the attempt.

    Under another release (``kafka="3.7"``), where the answer depends on it, it is an experiment:
    not kept, and told as much about as the next attempt would be. No answer yet is no attempt, and
    the same answer once more is none either. Raises ExerciseIdError, a ValueError, for the id of no
    exercise, MissingExtraError where a package is missing, ValueError for a release where the
    answer does not depend on it.
    """
    asked = own_exercise(id)
    checked = replace(asked.judge(answer, kafka), yours=asked.notice)
    if kafka is not None:
        return checked.at_attempt(_so_far(id).different + 1, is_shut=_opening(id) == "shut")
    if not checked.attempted:
        return checked
    said = (checked.points, checked.hint, checked.misconception)
    kept = _kept(id, work_on_disk.Try(_as_text(answer, checked), *said), checked.of)
    answered(id)
    told = checked.at_attempt(_so_far(id).different, is_shut=_opening(id) == "shut")
    return replace(told, kept=kept)


def current_seed() -> str:
    """Whose numbers the exercises have here: what is kept, or else of the class and the name."""
    work, here = work_on_disk.read(), class_file.current()
    return here.seed_for(work) if here else work.seed


def own_exercise(id: str) -> Exercise:
    """The exercise `id` with the numbers of whoever works here. Raises ExerciseIdError."""
    return exercise(id, current_seed())


def variant(id: str) -> Play:
    """The play that the exercise `id` is about, with the student's numbers where these vary.

    `kiplab.run` and `kiplab.Lab` take it. Raises ExerciseIdError, a ValueError, for the id of no
    exercise, or of one that is not about one play.
    """
    return own_exercise(id).own_play


def _so_far(id: str) -> work_on_disk.ExerciseWork:
    return work_on_disk.read().exercises.get(id, work_on_disk.ExerciseWork())


def _kept(id: str, tried: work_on_disk.Try, of: int) -> str:
    """Keep an attempt, and say so, or why not."""
    aside, before = work_on_disk.damaged_files(), _so_far(id)
    undated = tuple(replace(attempt, at="") for attempt in before.tries[-1:])
    if undated == (tried,) and not work_on_disk.unwritten():
        return f"(The same answer as before: it stays attempt {before.attempts}.)"
    seed = current_seed()
    try:
        now = work_on_disk.note(id, tried, of)
        work_on_disk.keep_seed(seed)
    except OSError as problem:
        return f"This cannot be {work_on_disk.nowhere(problem)}. {work_on_disk.remedy()}"
    text = f"Kept as attempt {now.attempts}; your best so far: {now.best}/{now.of}."
    return f"({text}{work_on_disk.set_aside_since(aside)})"


def _as_text(answer: object, checked: Checked) -> str:
    """The answer as text that can be judged again: what was typed, or else the run that it is.

    Parts are joined by commas where these tell them apart; else they are written as Python does.
    """
    if isinstance(answer, str):
        text = answer
    elif isinstance(answer, list | tuple):
        # For a Lab or its run the token of the run.
        are = ((part, isinstance(part, str | int | float | list | tuple)) for part in answer)
        parts = [part if is_plain else checked.token or part for part, is_plain in are]
        plain = all(isinstance(part, str | int | float) and ", " not in str(part) for part in parts)
        text = ", ".join(map(str, parts)) if plain else repr(parts)
    else:
        has_parts = isinstance(answer, dict | set | frozenset)
        text = repr(answer) if has_parts else checked.token or repr(answer)
    return text[: work_on_disk.ANSWER_MAX]


def is_answered(id: str) -> bool:
    """Whether there is an answer to this prediction or exercise, from now or from before."""
    so_far = _so_far(id)
    locked = id in work_on_disk.read().predictions
    tried = so_far.done or so_far.different >= SAYS_WHICH
    return locked or tried or bool(os.environ.get(OPEN))


def _opening(id: str) -> class_file.Opening:
    here = class_file.current()
    if here is None or os.environ.get(OPEN):
        return "earned"
    return here.opening(id, work_on_disk.now())


def is_open(id: str) -> bool:
    """Whether what explains a question is shown: when it is answered, unless a class has it shut,
    or has an exercise open for everybody. A prediction is worth most before one knows.
    """
    opening = _opening(id)
    for_all = opening == "free" and exercise(id).check
    return opening != "shut" and (bool(for_all) or is_answered(id))


def when_answered(id: str, action: Callable[[], None]) -> None:
    """Call `action` with each attempt until there is an answer, and then for the last time."""
    _waiting.setdefault(id, []).append(action)


def answered(id: str) -> None:
    """Something was answered: do what waits for it."""
    for action in _waiting.get(id, []):
        action()
    if is_answered(id):
        _waiting.pop(id, None)
    _went_on()


def follow(name: str, action: Callable[[], None]) -> None:
    """Call `action` with everything that is answered, in place of the last one of that name."""
    _following[name] = action


def pass_by(id: str, heading: str) -> None:
    """Note that a reader who has answered `id` came past what is under that heading."""
    if (id, heading) not in passed:
        passed.add((id, heading))
        _went_on()


def _went_on() -> None:
    for action in _following.values():
        action()


def awaited(id: str) -> str:
    """What to do until it is answered. Raises ExerciseIdError for an id that no lab asks."""
    if not exercise(id).check and not is_answered(id):
        return "This opens when you lock in your prediction, above."
    here = class_file.current()
    if here is not None and _opening(id) == "shut":
        return here.shut_words(id)
    different = _so_far(id).different
    so_far = f" So far: {different}." if different else ""
    return f"This opens with the right answer, above, or with your third different one.{so_far}"
