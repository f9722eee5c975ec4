"""Answers to every exercise, out of answers.toml, and what is to be said of them."""

from pathlib import Path
from typing import Any

import msgspec

from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.exercises.check_result import Checked


class Wrong(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A wrong answer, its points and the idea behind it; parts of the message and of the hint."""

    answer: Any
    points: int
    idea: str | None = None
    says: str = ""
    hint: str = ""


class Unfit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is no answer, and a part of the message."""

    answer: Any
    says: str


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of one exercise, as answers.toml describes it."""

    right: Any
    spelled: tuple[Any, ...] = ()
    wrong: tuple[Wrong, ...] = ()
    unfit: tuple[Unfit, ...] = ()
    attempts: tuple[Any, ...] = ()

    def whole(self, answer: Any) -> Any:
        """An answer; one that says by places what is changed, put into the right one."""
        if not isinstance(answer, dict) or isinstance(self.right, dict):
            return answer
        return [answer.get(str(place), part) for place, part in enumerate(self.right)]


ANSWERS = msgspec.toml.decode(
    Path(__file__).with_name("answers.toml").read_bytes(), type=dict[str, Answers]
)


def judged(id: str, answer: object, kafka: str | None = None) -> Checked:
    """All that there is to say about an answer, or about what it changes in the right one."""
    return exercise(id).judge(ANSWERS[id].whole(answer), kafka)
