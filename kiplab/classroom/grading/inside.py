"""The process of one submission: ``python -m kiplab.classroom.grading.inside KIND SECONDS``.

What was handed in is its standard input. It works in its own folder, and answers with lines of
JSON. Work is judged by kiplab's own checks; a notebook runs as it is, and what it says of itself is
believed by nobody: the work file that it leaves is judged by the next process.
"""

import ast
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from ...extras import MissingExtraError, install
from ..exercise_table import EXERCISES, exercise
from ..work_on_disk import ANSWER_MAX, UNREADABLE, Work
from .limited_process import Said, can_be_held, enter

JUDGE, NOTEBOOK, PLAY = "judge", "notebook", "play"


def main(kind: str, seconds: str) -> None:
    """Load what is needed, take the limits, and only then look at what was handed in."""
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nothing = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(nothing, stream)
    does, needs = _KINDS[kind]
    try:
        import_module(needs)
    except ImportError as missing:
        _say(report, {"unread": f"{missing}; {install('lab')} mends it"})
        return
    held = can_be_held() and enter(Path.cwd(), int(seconds))
    _say(report, {"files_held": held})
    for line in does(sys.stdin.buffer.read()):
        _say(report, line)
    os._exit(0)  # whatever threads a notebook has left


def _say(report: Any, line: Said) -> None:
    report.write(f"{msgspec.json.encode(line).decode()}\n")
    report.flush()


def points_of(id: str, answer: str, seed: str, points: int) -> int | None:
    """The points of a kept answer; None where it cannot be judged again: its end is cut off, or it
    is what Python calls an object.

    An answer that was a list, or a run with a number, is kept as text. Of the ways to read that
    text, one that earns what the file says counts; else the first that is an answer. What is none
    earns nothing: no attempt of that kind is ever kept.
    """
    if len(answer) >= ANSWER_MAX or re.search(r"<[\w.]+ .*>", answer):
        return None
    earned = []
    for reading in _readings(answer):
        try:
            judged = exercise(id, seed).judge(reading)
        except MissingExtraError:
            return None
        except Exception:  # whatever a check does with what nobody could type into a lab
            continue
        earned += [judged.points] if judged.attempted else []
    return points if points in earned else next(iter(earned), 0)


def _readings(answer: str) -> Iterator[object]:
    yield answer
    if ", " in answer:
        yield answer.split(", ")
        yield answer.rsplit(", ", 1)
    with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
        yield ast.literal_eval(answer)


def _judge(content: bytes) -> Iterator[Said]:
    """{id, points}: of each exercise the points of each kept attempt, None for one not judged."""
    work = msgspec.json.decode(content, type=Work)
    known = {entry.id for entry in EXERCISES if entry.check}
    points = cache(points_of)
    for id, kept in work.exercises.items():
        if id in known:
            earned = [points(id, tried.answer, work.seed, tried.points) for tried in kept.tries]
            yield {"id": id, "points": earned}


def _notebook(content: bytes) -> Iterator[Said]:
    """{failed, why} of each cell that ends in an error; its code cells run in order."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    try:
        cells = msgspec.json.decode(content)["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except (KeyError, TypeError, *UNREADABLE):
        yield {"unread": "it is no notebook"}
        return
    settings = Config()
    settings.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=settings)
    with suppress(Exception):
        shell.run_line_magic("load_ext", "kiplab.classroom.jupyter_hooks")
    sys.path.insert(0, "")
    for number, source in enumerate(code, 1):
        result = shell.run_cell(source, store_history=False)
        problem = result.error_before_exec or result.error_in_exec
        if problem is not None:
            yield {"failed": number, "why": f"{type(problem).__name__}: {problem}"[:200]}


def _play(content: bytes) -> Iterator[Said]:
    """{verdict}: how the play comes out, and how many of its expectations hold."""
    from ...plays import grammar, runner, verdict
    from ...plays.play_errors import PlayError
    from ...protocol.features import UnknownFeatureError

    try:
        stage = runner.run_play(grammar.parse(content.decode("utf-8", "replace"), "handed-in"))
    except (PlayError, UnknownFeatureError) as problem:
        yield {"unread": f"it cannot be played: {problem}"}
        return
    held = verdict.expectations(stage)
    counts = ", ".join(f"{count} expectations {how}" for how, count in held.items() if count)
    yield {"verdict": f"{verdict.verdict(stage)}{f'; {counts}' if counts else ''}"}


_KINDS: dict[str, tuple[Callable[[bytes], Iterator[Said]], str]] = {
    JUDGE: (_judge, "kiplab.classroom.exercises.own_runs"),
    NOTEBOOK: (_notebook, "IPython.core.interactiveshell"),
    PLAY: (_play, "kiplab.plays.verdict"),
}
"""What each kind of process does, and the module that brings most of what that needs."""

if __name__ == "__main__":
    main(*sys.argv[1:])
