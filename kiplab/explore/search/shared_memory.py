"""The shared memory of searches that differ only in their guards, as the cells of a matrix do.

Numbers of parts, menus and effects of actions are kept from one search to the next. An effect is
remembered under the pieces it was computed from and under every question that a rule asked of the
features on the way, in the order of reading; so a search meets only effects of its own rules.
`TracedFeatures` note the questions, and refuse any other access.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise
from typing import Any, NamedTuple, NoReturn

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...protocol.features import Features
from ...protocol.ids import CONTROLLER, BrokerId
from ..levels.level_table import Action, Level
from .hidden_parts import StatePiece, UnforeseenError, is_incarnation, place_of
from .numbered_parts import NumberedParts, Numbers

EFFECTS_MAX = 50_000
"""Effects of earlier searches beyond which a new search begins without them; some 50 MB."""


FeatureQuestion = tuple[str, BrokerId, BrokerId]
"""What a rule asks of the features: whether a guard acts on a node, or a version of requests from a
node to another. (What it is about, the node, the other.)"""
FETCH, ALTER_PARTITION = "fetch version", "alter-partition version"
Dependence = StatePiece | tuple[FeatureQuestion, ...]
"""The pieces that an effect depends on, in order."""


def answer(features: Features, question: FeatureQuestion) -> int:
    """The answer of features to a question."""
    about, node, other = question
    if about == FETCH:
        return features.fetch_version()
    if about == ALTER_PARTITION:
        return features.alter_partition_version(node, other)
    return about in features.active(node)


class TracedFeatures(Features, frozen=True):
    """Features that note in `questions` what is asked of `own`: see `traced`."""

    own: Any = None
    questions: Any = None

    @property  # type: ignore[misc]
    def overrides(self) -> NoReturn:
        """Raises UnforeseenError: only questions may read the switches."""
        raise UnforeseenError(
            "a rule reads the overrides of features, and no question about a guard"
        )

    def active(self, node: BrokerId) -> Any:
        """The guards that act on `node`, to be asked for one by one."""
        return TracedGuards(self.own.active(node), node, self.questions)

    def fetch_version(self) -> int:
        """As Features.fetch_version, noted."""
        return self._noted((FETCH, CONTROLLER, CONTROLLER))

    def alter_partition_version(self, sender: BrokerId, controller: BrokerId = CONTROLLER) -> int:
        """As Features.alter_partition_version, noted."""
        return self._noted((ALTER_PARTITION, sender, controller))

    def _noted(self, question: FeatureQuestion) -> int:
        self.questions[question] = None
        return answer(self.own, question)


def traced(features: Features) -> TracedFeatures:
    """The same features, with nothing asked of them yet."""
    common = features.release, features.metadata_version, features.nodes
    return TracedFeatures(*common, elr=features.elr, own=features, questions={})


class TracedGuards:
    """Guards of which each is asked for by name, and noted."""

    __slots__ = ("_active", "_node", "_questions")

    def __init__(
        self, active: frozenset[str], node: BrokerId, questions: dict[FeatureQuestion, None]
    ) -> None:
        self._active, self._node, self._questions = active, node, questions

    def __contains__(self, guard: str) -> bool:
        self._questions[guard, self._node, CONTROLLER] = None
        return guard in self._active

    def __ge__(self, guards: Iterable[str]) -> bool:
        return all(guard in self for guard in guards)

    def __and__(self, guards: Iterable[str]) -> frozenset[str]:
        return frozenset([guard for guard in guards if guard in self])


# --- what is remembered ---------------------------------------------------------------------------


LIKELY = 24
"""Of so many numbers it is looked at what was read next."""


class NextStep:
    """The step that an action depends on next, and what is known under each number of it.

    `place` and `table` say where the number of a piece is, as NumberedParts.number_of does.
    """

    __slots__ = ("following", "place", "step", "table")

    def __init__(self, step: Dependence, parts: NumberedParts) -> None:
        self.step = step
        piece = 0 if isinstance(step, tuple) else step
        by_place = not is_incarnation(piece)
        self.place = piece if by_place else place_of(piece)
        self.table = None if by_place else parts.incarnation_of
        self.following: dict[int, Any] = {}

    def likely(self) -> Iterator[StatePiece]:
        """The pieces that some have read next whatever the number was: they are shown at once."""
        some = [*islice(self.following.values(), LIKELY)]
        steps = {f.step if type(f) is NextStep else None for f in some}
        if len(some) > 3 and len(steps) == 1 and isinstance(step := steps.pop(), int):
            yield step
            yield from some[0].likely()


class Remembered:
    """The result of an action, under the steps that it was computed with."""

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root: Any = None
        """None, a NextStep, or what it comes to whatever the state."""

    def find(self, number_of: Callable[[Dependence], int]) -> tuple[list[Dependence], Any]:
        """(the steps on the way, known ones and likely ones; what is known there or None)."""
        steps, node, at = list[Dependence](), self.root, None
        while type(node) is NextStep:
            at = node
            steps.append(at.step)
            node = at.following.get(number_of(at.step))
        return (steps if node is not None or at is None else [*steps, *at.likely()]), node

    def keep(
        self,
        steps: Sequence[Dependence],
        number_of: Callable[[Dependence], int],
        parts: NumberedParts,
        outcome: Any,
    ) -> None:
        """Remember an outcome; `steps` begin with what `find` went by."""
        if not steps:
            self.root = outcome
            return
        if self.root is None:
            self.root = NextStep(steps[0], parts)
        at = self.root
        for step, next_step in pairwise(steps):
            number = number_of(step)
            if number not in at.following:
                at.following[number] = NextStep(next_step, parts)
            at = at.following[number]
        at.following[number_of(steps[-1])] = outcome


class OfferedAction(NamedTuple):
    """Something that is offered in states. `rank` is its place in the level's order, `cost` that of
    its bound or -1; `place` is the place of its broker in a state, and `request` the number of the
    request that it delivers or -1.
    """

    rank: tuple[int, ...]
    action: Action
    cost: int
    place: int
    request: int


class ActionOutcome(NamedTuple):
    """The result of an action: its effect, the guards that fired, whether anything committed."""

    effect: Any
    guards: frozenset[str]
    committed: bool


class SharedMemory:
    """The memory that one search leaves to the next of the same level and start, with any guards.

    Under the numbers of parts: what is offered, what an action comes to. `observed` are what
    observers saw of actions.
    """

    def __init__(self) -> None:
        self._scope: Any = None
        self.count = 0
        """Effects that have been worked out."""

    def prepare(self, level: Level, start: Cluster, names: tuple[str, ...]) -> None:
        """Forget everything, unless it is about this very question but for its guards."""
        scope = level, names, _without_parts(start)
        if scope == self._scope and self.count < EFFECTS_MAX:
            return
        self._scope, self.count = scope, 0
        self.parts = NumberedParts(start)
        self.observed, self.menus = Numbers(), Numbers(())
        self.menu_of_broker: dict[tuple[int, int, int], int] = {}
        self.menu_of_late: dict[tuple[int, int, bool], int] = {}
        self.menu_of_flight: dict[int, int] = {}
        self.outcomes = defaultdict[OfferedAction, Remembered](Remembered)
        # What the observer makes of an action; the key is that of ActionEffects.
        self.notices = defaultdict[tuple[int, ...], Remembered](Remembered)


def _without_parts(start: Cluster) -> Cluster:
    """What no action changes, but for the guards that are switched."""
    nobody: Any = None
    bare: Any = tuple(b.id for b in start.brokers)
    return replace(
        start,
        features=replace(start.features, overrides=()),
        controller=nobody,
        brokers=bare,
        messages=(),
        observed=(),
        sent=(),
        broken=(),
    )
