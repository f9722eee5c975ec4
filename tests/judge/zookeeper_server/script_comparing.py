"""Scripts told to the engine and to a real ZooKeeper, step by step, until they part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tests.judge.zookeeper_server.kazoo_sessions import KazooSession
from tests.judge.zookeeper_server.script_coverage import tried
from tests.judge.zookeeper_server.script_steps import ScriptAnswer, ScriptStep, text_of_step
from tests.judge.zookeeper_server.scripted_engine import ScriptedEngine
from tests.judge.zookeeper_server.scripted_zookeeper import ScriptedZooKeeper
from tests.judge.zookeeper_server.zookeeper_scripts import script, script_root

EngineMaker = Callable[[str], ScriptedEngine]


class ScriptParting(NamedTuple):
    """Where the two part: the steps so far, and what each said to the last of them."""

    seed: int
    steps: tuple[ScriptStep, ...]
    zookeeper: object
    engine: object


class ComparedScript(NamedTuple):
    """One script, asked until its end or until the two parted: how much, and what it tried."""

    steps: int
    tried: Counter[str]
    parting: ScriptParting | None


def compared(
    address: str, seeds: Sequence[int], engine: EngineMaker = ScriptedEngine
) -> Iterator[ComparedScript]:
    """The scripts of these seeds, one after the other, told to the server at `address`.

    Raises DeadKafkaError if the server does not answer, MissingExtraError without kazoo.
    """
    beside = KazooSession(address)
    try:
        for seed in seeds:
            root = script_root(seed)
            zookeeper = ScriptedZooKeeper(address, beside, root)
            try:
                yield _compared(seed, zookeeper, engine(root))
            finally:
                zookeeper.close()
    finally:
        beside.close()


def _compared(seed: int, zookeeper: ScriptedZooKeeper, engine: ScriptedEngine) -> ComparedScript:
    steps = script(seed)
    answered: list[tuple[ScriptStep, ScriptAnswer]] = []
    for place, step in enumerate(steps, start=1):
        real, ours = zookeeper.answer(step), engine.answer(step)
        answered.append((step, real))
        if real != ours:
            return ComparedScript(
                place, tried(answered, {}), ScriptParting(seed, steps[:place], real, ours)
            )
    told, noted = zookeeper.heard(), engine.heard()
    parting = None if told == noted else ScriptParting(seed, steps, told, noted)
    return ComparedScript(len(steps), tried(answered, told), parting)


def parting_text(parting: ScriptParting) -> str:
    """The script as far as it went, and both answers."""
    lines = [f"script {parting.seed} parts after {len(parting.steps)} steps:"]
    lines += [f"  {text_of_step(step)}" for step in parting.steps]
    return "\n".join(
        [*lines, f"  ZooKeeper says {parting.zookeeper}", f"  the engine says {parting.engine}"]
    )
