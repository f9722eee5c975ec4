"""Random scripts of what a few sessions ask ZooKeeper: equal seeds give equal scripts.

Which paths and versions are asked for is chosen beside an engine that follows, so that many
operations succeed and the others fail in every way.
"""

from collections.abc import Iterator
from random import Random

from kiplab.protocol.ids import PartitionEpoch
from kiplab.protocol.zookeeper import ensemble, ensemble_writes
from kiplab.protocol.zookeeper.znodes import TextZnode, parent_path
from tests.judge.zookeeper_server import scripted_engine
from tests.judge.zookeeper_server.scripted_engine import ScriptedEngine

NAMES = ("a", "b", "c")
STEPS = 15
LAPSE_EVERY = 10
"""One script in so many lets a session expire, which takes real time."""


def script_root(seed: int) -> str:
    """Below which path the whole script happens."""
    return f"/script-{seed}"


def script(seed: int) -> tuple[scripted_engine.ScriptStep, ...]:
    """What is asked, one step after the other."""
    random, engine = Random(seed), ScriptedEngine(script_root(seed))
    steps: list[scripted_engine.ScriptStep] = []
    for step in _steps(seed, random, engine):
        engine.answer(step)
        steps.append(step)
    return tuple(steps)


def _steps(
    seed: int, random: Random, engine: ScriptedEngine
) -> Iterator[scripted_engine.ScriptStep]:
    yield scripted_engine.OpenStep(NAMES[0])
    yield scripted_engine.OpenStep(NAMES[1])
    for _ in range(STEPS):
        yield _step(random, engine)
    if seed % LAPSE_EVERY == 0 and engine.open:
        yield scripted_engine.EndStep(
            random.choice(sorted(engine.open)), scripted_engine.HowEnded.LAPSED
        )
        yield _read(random, engine) if engine.open else scripted_engine.OpenStep(NAMES[2])
    yield scripted_engine.HeardStep()


def _step(random: Random, engine: ScriptedEngine) -> scripted_engine.ScriptStep:
    absent = [name for name in NAMES if name not in engine.open]
    if not engine.open or (absent and random.random() < 0.08):
        return scripted_engine.OpenStep(random.choice(absent))
    if engine.ended and random.random() < 0.04:
        return scripted_engine.GhostStep(
            random.choice(sorted(engine.ended)), _there(random, engine)
        )
    chance = random.random()
    if chance < 0.08:
        how = random.choice((scripted_engine.HowEnded.CLOSED, scripted_engine.HowEnded.TAKEN))
        return scripted_engine.EndStep(random.choice(sorted(engine.open)), how)
    return _read(random, engine) if chance < 0.43 else _write(random, engine)


def _read(random: Random, engine: ScriptedEngine) -> scripted_engine.ReadStep:
    who = random.choice(sorted(engine.open))
    kind = random.choice(list(scripted_engine.ReadKind))
    # Whoever asks whether there is something often waits for it.
    missing = kind is scripted_engine.ReadKind.EXISTS and random.random() < 0.5
    path = _new(random, engine) if missing else _there(random, engine, root=True)
    return scripted_engine.ReadStep(who, kind, path, random.random() < 0.9)


def _write(random: Random, engine: ScriptedEngine) -> scripted_engine.WriteStep:
    who = random.choice(sorted(engine.open))
    if random.random() < 0.6:
        return scripted_engine.WriteStep(
            who, (_operation(random, engine, alone=True),), multi=False
        )
    count = random.randint(1, 4)
    operations = [_operation(random, engine, alone=False) for _ in range(count)]
    if random.random() < 0.3:
        operations[:2] = _registration(random, engine)
    return scripted_engine.WriteStep(who, tuple(operations), multi=True)


def _registration(random: Random, engine: ScriptedEngine) -> list[ensemble_writes.Operation]:
    """As a broker registers from 2.2 on (KIP-380)."""
    path = _new(random, engine)
    created = ensemble_writes.Create(path, TextZnode(""), ephemeral=True, counts_children=True)
    return [created, ensemble_writes.SetData(path, TextZnode("x"), _FIRST)]


_FIRST = PartitionEpoch(0)


def _operation(random: Random, engine: ScriptedEngine, *, alone: bool) -> ensemble_writes.Operation:
    chance = random.random()
    if chance < 0.45:
        path = _new(random, engine)
        data = None if alone and random.random() < 0.2 else _text(random)
        sequential = random.random() < 0.2
        return ensemble_writes.Create(
            f"{parent_path(path)}/n-" if sequential else path,
            data,
            ephemeral=random.random() < 0.35,
            sequential=sequential,
            counts_children=True,
        )
    path = _there(random, engine)
    version = _version(random, engine, path)
    if chance < 0.7:
        return ensemble_writes.SetData(path, _text(random), version)
    if chance < 0.9 or alone:
        return ensemble_writes.Delete(path, version)
    return ensemble_writes.CheckVersion(path, version)


def _text(random: Random) -> TextZnode:
    return TextZnode(random.choice("xyz"))


def _version(random: Random, engine: ScriptedEngine, path: str) -> PartitionEpoch:
    found = ensemble.find(engine.ensemble, path)
    right = found.stat.version if found is not None else _FIRST
    return random.choice(
        (ensemble_writes.ANY_VERSION, right, right, PartitionEpoch(random.randint(0, 2)))
    )


def _there(random: Random, engine: ScriptedEngine, *, root: bool = False) -> str:
    """Mostly a path that there is; the script's own root only where nothing can happen to it."""
    known = [z.path for z in engine.ensemble.znodes if z.path.startswith(f"{engine.root}/")]
    if root:
        known.append(engine.root)
    return random.choice(known) if known and random.random() < 0.75 else _new(random, engine)


def _new(random: Random, engine: ScriptedEngine) -> str:
    """A path below one that there is, seldom below one that there is not."""
    above = [z.path for z in engine.ensemble.znodes if z.path.startswith(engine.root)]
    at = random.choice(above) if random.random() < 0.9 else f"{engine.root}/c/c"
    return f"{at}/{random.choice('abc')}"
