"""From a situation in which two controllers differ to a short one in which they still do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from tests.judge.zookeeper.random_situations import SituationTurn, turns_of
from tests.judge.zookeeper.situations import (
    AskToShutDown,
    BounceAtOnce,
    EndSession,
    JudgedSituation,
    RegisterBroker,
    TurnDeaf,
    WithholdAnswers,
)

_NEEDS_A_SESSION = (BounceAtOnce, EndSession, TurnDeaf, WithholdAnswers)


def shortest_situation(
    situation: JudgedSituation, differs: Callable[[JudgedSituation], bool]
) -> JudgedSituation:
    """Leave out one turn after the other, the last first, as long as it still `differs`."""
    turns = turns_of(situation)
    for place in reversed(range(len(turns))):
        fewer = _of(situation, [*turns[:place], *turns[place + 1 :]])
        if is_possible(fewer) and differs(fewer):
            situation, turns = fewer, turns_of(fewer)
    return situation


def is_possible(situation: JudgedSituation) -> bool:
    """Whether nobody registers twice or goes twice, and every epoch was somebody's."""
    registered = set(situation.brokers)
    generations = dict.fromkeys(situation.brokers, 1)
    for step in situation.steps:
        if isinstance(step, _NEEDS_A_SESSION) and step.broker not in registered:
            return False
        if isinstance(step, RegisterBroker) and step.broker in registered:
            return False
        if isinstance(step, AskToShutDown) and not _is_known(step, generations):
            return False
        if isinstance(step, EndSession):
            registered.discard(step.broker)
        if isinstance(step, RegisterBroker | BounceAtOnce):
            registered.add(step.broker)
            generations[step.broker] = generations.get(step.broker, 0) + 1
    return True


def _is_known(step: AskToShutDown, generations: dict[int, int]) -> bool:
    named = step.stamped.partition("+")[0].partition("g")[2]
    return not named or int(named) <= generations.get(step.broker, 0)


def _of(situation: JudgedSituation, turns: Sequence[SituationTurn]) -> JudgedSituation:
    return replace(situation, steps=tuple(step for turn in turns for step in turn))
