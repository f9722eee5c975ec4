"""Big questions in pieces: cells or bounds, one search a task, on Spark or without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ...plays.play import Play
from ..levels.all_levels import level_named
from ..levels.level_table import ExploreError
from ..search import announcements
from ..search.explored import Explored
from ..search.limits import MEMORY_MB
from ..search.question import Question, question_about, situation
from .processes import MaybeExplored, answers, processes_and_memory
from .tasks import answer, answered, work_off

SCHEMA = "explored binary"


def sweep(
    play: str | Path | Play,
    bounds: Sequence[Mapping[str, int]],
    *,
    kafka: str | None = None,
    on: str | tuple[str, ...] = (),
    off: str | tuple[str, ...] = (),
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    seconds: float | None = None,
    states: int | None = None,
    memory_mb: int = MEMORY_MB,
    spark: bool = False,
    master: str | None = None,
    processes: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    say: Callable[[str], object] | None = None,
) -> list[Explored]:
    """One question within several bounds: ``sweep("isr-two-of-three", [{"writes": 2}, ...])``.

    The results stand in the order of `bounds`, and are those of `kiplab.explore` for each. With
    `spark` every search is a task of its own, on `master` or this machine; else `processes`
    searches run at a time (by default one per core), all together within `memory_mb`. What will be
    long is announced, and progress shown, as by `kiplab.matrix`. Raises as `kiplab.explore`.
    """
    crew, each_mb = (
        (1, memory_mb) if spark else processes_and_memory(processes, memory_mb, len(bounds))
    )
    found, features = situation(play, kafka, on, off)
    questions = [
        question_about(
            found,
            features,
            level=level,
            property=property,
            bounds=within,
            seconds=seconds,
            states=states,
            memory_mb=each_mb,
        )
        for within in bounds
    ]
    for question in questions:
        tried = try_out(question)
        if tried.predicted:
            words = level_named(level).in_words(tried.bounds)
            (say or announcements.say)(f"within {words}: {tried.predicted}")
    if spark:
        return on_spark(questions, master=master)
    told = answers(questions, processes=crew, told=progress or announcements.of_cells("searches"))
    return [_there(one, question) for one, question in zip(told, questions, strict=True)]


def _there(one: MaybeExplored, question: Question) -> Explored:
    if one is None:
        raise ExploreError(
            f"the process that searched within {question.bounds} is gone, probably for want of"
            " memory; give it smaller bounds, or memory_mb="
        )
    return one


def try_out(question: Question) -> Explored:
    """The search, cancelled as it begins: what is wrong with an question is said here, before it
    travels, and `predicted` is what is to be expected of it."""
    return answer(question, lambda: True)


def announcement(what: str, count: int, crew: int, predicted: str) -> str:
    """A prediction for each of many searches, `crew` of them at a time."""
    return f"{count} {what}, {crew} at a time; where nothing breaks, for each: {predicted}"


def on_spark(
    questions: Sequence[Question], *, master: str | None = None, progress: bool | None = None
) -> list[Explored]:
    """The answers, one question a task. Raises SparkUnavailable without Spark."""
    from ...spark import run_blocks

    payloads = [msgspec.json.encode(question) for question in questions]
    table = run_blocks(
        task,
        payloads,
        schema=SCHEMA,
        master=master,
        partitions=max(len(payloads), 1),
        progress=progress,
    )
    return [answered(row) for row in table["explored"].to_pylist()]


def task(payload: bytes) -> list[dict[str, Any]]:
    """One question as a block of kiplab.spark: a row with its answer."""
    return [{"explored": work_off(payload)}]
