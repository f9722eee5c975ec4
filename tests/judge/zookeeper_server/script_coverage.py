"""What scripts have tried: operations, reads, errors, endings of sessions, and what watches say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

from kiplab.protocol.zookeeper.ensemble_writes import Operation, ZooKeeperError
from kiplab.protocol.zookeeper.znodes import WatchEventType
from tests.judge.zookeeper_server.script_steps import (
    EndStep,
    HowEnded,
    ReadKind,
    ReadStep,
    ScriptAnswer,
    ScriptStep,
    WriteStep,
)

MULTI = "multi"
TO_TRY = (
    *(kind.__name__ for kind in get_args(Operation)),
    MULTI,
    *(kind.value for kind in ReadKind),
    *(error.value for error in ZooKeeperError if error is not ZooKeeperError.NONE),
    *(how.value for how in HowEnded),
    *(event.value for event in WatchEventType),
)
"""Whatever there is."""


def tried(
    answered: Iterable[tuple[ScriptStep, ScriptAnswer]],
    heard: Mapping[str, Iterable[tuple[str, str]]],
) -> Counter[str]:
    """How often one script has tried each; `heard` is what its last sessions heard."""
    found = Counter(name for step, answer in answered for name in _tried(step, answer))
    return found + Counter(event for events in heard.values() for event, _ in events)


def untried(found: Mapping[str, int]) -> list[str]:
    """What no script has tried."""
    return [name for name in TO_TRY if not found.get(name)]


def tried_table(found: Mapping[str, int]) -> list[str]:
    """One line for each, with how often."""
    return [f"{name:<26} {found.get(name, 0):>7,}" for name in TO_TRY]


def _tried(step: ScriptStep, answer: ScriptAnswer) -> Iterator[str]:
    if isinstance(step, WriteStep):
        yield from (type(operation).__name__ for operation in step.operations)
        if step.multi:
            yield MULTI
    if isinstance(step, ReadStep):
        yield step.kind.value
    if isinstance(step, EndStep):
        yield step.how.value
        yield from (event for event, _ in answer[1])
    elif answer[0] in _ERRORS:
        yield answer[0]


_ERRORS = frozenset(error.value for error in ZooKeeperError)
