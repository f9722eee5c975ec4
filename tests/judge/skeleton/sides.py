"""Two sides that do the same turns, one after the other, until they part."""

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, Protocol, TypeVar

from kiplab.judge.partition.observed_broker import Parting as Parting
from kiplab.judge.partition.observed_broker import field_partings as field_partings

TurnT = TypeVar("TurnT")
AnswerT = TypeVar("AnswerT")
TurnIn = TypeVar("TurnIn", contravariant=True)
AnswerOut = TypeVar("AnswerOut", covariant=True)
AnswerBoth = TypeVar("AnswerBoth")


class Side(Protocol[TurnIn, AnswerOut]):
    """The real side, live or recorded."""

    def answer(self, turn: TurnIn, /) -> AnswerOut:
        """What the turn came to."""


class EngineSide(Protocol[TurnIn, AnswerBoth]):
    """The engine's side."""

    def answer(self, turn: TurnIn, real: AnswerBoth, /) -> AnswerBoth:
        """What the turn came to; of `real` it takes only what real software leaves open."""


Compare = Callable[[AnswerT, AnswerT], Iterable[Parting]]
"""Takes the real answer, then the engine's."""


class Done(NamedTuple, Generic[TurnT, AnswerT]):
    """A turn and both answers to it."""

    turn: TurnT
    real: AnswerT
    engine: AnswerT
    partings: tuple[Parting, ...]


class Run(Generic[TurnT, AnswerT]):
    """Both sides do the same turns, kept in `done`. They part in the last of it, if at all."""

    def __init__(
        self,
        real: Side[TurnT, AnswerT],
        engine: EngineSide[TurnT, AnswerT],
        compare: Compare[AnswerT],
    ) -> None:
        self.real, self.engine = real, engine
        self._compare = compare
        self.done: list[Done[TurnT, AnswerT]] = []

    @property
    def parted(self) -> bool:
        """Whether the two sides differ by now."""
        return bool(self.done) and bool(self.done[-1].partings)

    @property
    def last(self) -> Done[TurnT, AnswerT] | None:
        """The turn in which the two part, or None if they agree."""
        return self.done[-1] if self.parted else None

    def difference(self, name: str) -> str:
        """The turn in which the two part, and how; empty if they agree. `name` is the run's."""
        if not self.parted:
            return ""
        partings = (f"#   {parting}" for parting in self.done[-1].partings)
        return "\n".join([f"# {name}, turn {len(self.done)}: {self.done[-1].turn}", *partings])

    def do(self, turn: TurnT) -> bool:
        """Do one more turn, unless they have parted; whether they still agree."""
        if self.parted:
            return False
        real = self.real.answer(turn)
        mine = self.engine.answer(turn, real)
        self.done.append(Done(turn, real, mine, tuple(self._compare(real, mine))))
        return not self.parted

    def follow(self, turns: Iterable[TurnT]) -> Done[TurnT, AnswerT] | None:
        """Do these turns up to the one in which the two part, which is returned."""
        for turn in turns:
            if not self.do(turn):
                break
        return self.last


class Recorded(Generic[TurnT, AnswerT]):
    """A real side that gives the answers that were recorded, in their order."""

    def __init__(self, answers: Iterable[AnswerT]) -> None:
        self._left = iter(answers)

    def answer(self, _turn: TurnT, /) -> AnswerT:
        return next(self._left)
