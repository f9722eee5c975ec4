"""What is shown once a question is answered, and when that is.

A prediction is answered when it is locked in; an exercise with the right answer, or with the
attempt that is told which parts are wrong, for then there is nothing left to hold back.
"""

from __future__ import annotations

from collections.abc import Callable

from ..exercises.check_result import SAYS_WHICH
from . import work_on_disk
from .asked import ASKED

_waiting: dict[str, list[Callable[[], None]]] = {}
"""What this kernel does when a question is answered, by the question's id."""


def is_answered(id: str) -> bool:
    """Whether there is an answer to this prediction or exercise, from now or from before."""
    work = work_on_disk.read()
    found = work.exercises.get(id, work_on_disk.Exercise())
    return id in work.predictions or found.done or found.attempts >= SAYS_WHICH


def when_answered(id: str, action: Callable[[], None]) -> None:
    """Call `action` with each attempt until there is an answer, and then for the last time."""
    _waiting.setdefault(id, []).append(action)


def tell(id: str) -> None:
    """Something was answered: do what waits for it."""
    for action in _waiting.get(id, []):
        action()
    if is_answered(id):
        _waiting.pop(id, None)


def awaited(id: str) -> str:
    """What there is to do until it is answered.

    Raises ValueError for the id of nothing that the labs ask.
    """
    asked = next((a for a in ASKED if a.id == id), None)
    if asked is None:
        known = ", ".join(a.id for a in ASKED)
        raise ValueError(f"the labs ask no {id!r}; they ask {known}")
    if not asked.check:
        return "This opens when you lock in your prediction, above."
    attempts = work_on_disk.read().exercises.get(id, work_on_disk.Exercise()).attempts
    so_far = f" So far: {attempts}." if attempts else ""
    return f"This opens with the right answer, above, or with your third attempt.{so_far}"
