"""Random scripts of what a few sessions ask ZooKeeper: equal seeds give equal scripts.

Which paths and versions are asked for is chosen beside an engine that follows, so that many
operations succeed and the others fail in every way.
"""

from collections.abc import Iterator

from kiplab.protocol.ids import PartitionEpoch
from kiplab.protocol.zookeeper import ensemble, ensemble_writes
from kiplab.protocol.zookeeper.znodes import TextZnode, parent_path

from ..skeleton.generating import Dice
from . import scripted_engine as steps

NAMES = ("a", "b", "c")
STEPS = 15
LAPSE_EVERY = 10
"""One script in so many lets a session expire, which takes real time."""
_FIRST = PartitionEpoch(0)


def script_root(seed: int) -> str:
    """Below which path the whole script happens."""
    return f"/script-{seed}"


def script(seed: int) -> tuple[steps.ScriptStep, ...]:
    """What is asked, one step after the other."""
    return tuple(_Script(seed).done())


class _Script:
    def __init__(self, seed: int) -> None:
        self._dice, self._lapses = Dice(seed), seed % LAPSE_EVERY == 0
        self._engine = steps.ScriptedEngine(script_root(seed))

    def done(self) -> Iterator[steps.ScriptStep]:
        """Each is done by the engine before the next is chosen."""
        for step in self._chosen():
            self._engine.answer(step)
            yield step

    def _chosen(self) -> Iterator[steps.ScriptStep]:
        yield from map(steps.OpenStep, NAMES[:2])
        for _ in range(STEPS):
            yield self._step()
        if self._lapses and self._engine.open:
            yield steps.EndStep(self._somebody(), steps.HowEnded.LAPSED)
            yield self._read() if self._engine.open else steps.OpenStep(NAMES[2])
        yield steps.HeardStep()

    def _step(self) -> steps.ScriptStep:
        dice, engine = self._dice, self._engine
        absent = [name for name in NAMES if name not in engine.open]
        if not engine.open or (absent and dice.random() < 0.08):
            return steps.OpenStep(dice.choice(absent))
        if engine.ended and dice.random() < 0.04:
            return steps.GhostStep(dice.choice(sorted(engine.ended)), self._there())
        chance = dice.random()
        if chance < 0.08:
            how = dice.choice((steps.HowEnded.CLOSED, steps.HowEnded.TAKEN))
            return steps.EndStep(self._somebody(), how)
        return self._read() if chance < 0.43 else self._write()

    def _somebody(self) -> str:
        """Whose session is open."""
        return self._dice.choice(sorted(self._engine.open))

    def _read(self) -> steps.ReadStep:
        who, kind = self._somebody(), self._dice.choice(list(steps.ReadKind))
        # Whoever asks whether there is something often waits for it.
        missing = kind is steps.ReadKind.EXISTS and self._dice.random() < 0.5
        path = self._new() if missing else self._there(root=True)
        return steps.ReadStep(who, kind, path, self._dice.random() < 0.9)

    def _write(self) -> steps.WriteStep:
        who = self._somebody()
        if self._dice.random() < 0.6:
            return steps.WriteStep(who, (self._operation(alone=True),), multi=False)
        count = self._dice.randint(1, 4)
        operations = [self._operation(alone=False) for _ in range(count)]
        if self._dice.random() < 0.3:
            operations[:2] = self._registration()
        return steps.WriteStep(who, tuple(operations), multi=True)

    def _registration(self) -> list[ensemble_writes.Operation]:
        """As a broker registers from 2.2 on (KIP-380)."""
        path = self._new()
        created = ensemble_writes.Create(path, TextZnode(""), ephemeral=True, counts_children=True)
        return [created, ensemble_writes.SetData(path, TextZnode("x"), _FIRST)]

    def _operation(self, *, alone: bool) -> ensemble_writes.Operation:
        chance = self._dice.random()
        if chance < 0.45:
            path = self._new()
            data = None if alone and self._dice.random() < 0.2 else self._text()
            sequential = self._dice.random() < 0.2
            return ensemble_writes.Create(
                f"{parent_path(path)}/n-" if sequential else path,
                data,
                ephemeral=self._dice.random() < 0.35,
                sequential=sequential,
                counts_children=True,
            )
        path = self._there()
        version = self._version(path)
        if chance < 0.7:
            return ensemble_writes.SetData(path, self._text(), version)
        if chance < 0.9 or alone:
            return ensemble_writes.Delete(path, version)
        return ensemble_writes.CheckVersion(path, version)

    def _text(self) -> TextZnode:
        return TextZnode(self._dice.choice("xyz"))

    def _version(self, path: str) -> PartitionEpoch:
        znode = ensemble.find(self._engine.ensemble, path)
        right = znode.stat.version if znode is not None else _FIRST
        other = PartitionEpoch(self._dice.randint(0, 2))
        return self._dice.choice((ensemble_writes.ANY_VERSION, right, right, other))

    def _there(self, *, root: bool = False) -> str:
        """Mostly a path that there is; the own root only where nothing can happen to it."""
        own, znodes = self._engine.root, self._engine.ensemble.znodes
        paths = [z.path for z in znodes if z.path.startswith(f"{own}/")] + [own] * root
        return self._dice.choice(paths) if paths and self._dice.random() < 0.75 else self._new()

    def _new(self) -> str:
        """A path below one that there is, seldom below one that there is not."""
        own, znodes = self._engine.root, self._engine.ensemble.znodes
        above = [z.path for z in znodes if z.path.startswith(own)]
        at = self._dice.choice(above) if self._dice.random() < 0.9 else f"{own}/c/c"
        return f"{at}/{self._dice.choice('abc')}"
