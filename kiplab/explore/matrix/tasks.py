"""A question worked off wherever there is room: here, in a process, on Spark.

What comes back depends on the question alone.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ..search.explore_play import explore_play
from ..search.explored import Explored
from ..search.question import Question


def answer(question: Question, cancel: Callable[[], bool] | None = None) -> Explored:
    """The search, until `cancel` says stop; nobody is told of its progress.

    Raises PlayError or ExploreError as `explore_play` does.
    """
    return explore_play(question, cancel=cancel)


def work_off(payload: bytes) -> bytes:
    """`answer` from JSON to JSON, on one line each.

    Raises as `answer`, and msgspec.ValidationError for what is no Question.
    """
    return msgspec.json.encode(answer(msgspec.json.decode(payload, type=Question)))


def answered(payload: bytes) -> Explored:
    """What `work_off` wrote."""
    return msgspec.json.decode(payload, type=Explored)
