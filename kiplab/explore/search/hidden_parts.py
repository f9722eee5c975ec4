"""Parts of a cluster that nobody has looked at yet: whoever does ends the attempt, by name.

An action is tried on a cluster whose parts are hidden. Whatever looks into a hidden part raises
HiddenPartError, which says which; the next attempt shows that part as well. When an attempt comes
to its end, the parts that were shown are what the action reads, and no list has to say so. Hidden
parts only show what never changes: who a broker is, to whom messages of a kind go, on which lane.
One question goes unnoticed: how many messages of a kind that the level holds are in flight. No rule
is given the messages in flight (tests/explore/test_what_actions_read.py), and channels don't count.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ...engine.cluster import Cluster, MessageName
from ...protocol.ids import BrokerId, Count, Incarnation
from ...protocol.kraft.controller_state import Controller
from ...protocol.messages import MetadataUpdate

CONTROLLER, REQUESTS, OBSERVER, BUDGETS, FIRST_BROKER = range(5)
"""The places of the parts in a state."""


class HiddenPartError(Exception):
    """Something looked into the part at this place; at `-place`, at whether that broker runs."""

    def __init__(self, place: int) -> None:
        super().__init__(f"the part at {place} is hidden, and something looks into it")
        self.place = place


class ForbiddenPartError(RuntimeError):
    """A rule looked at what no rule may depend on. A bug of that rule."""


class PartialCluster(Cluster, frozen=True):
    """A cluster whose controller may be hidden, and without the knowledge of the observer.

    It is for the moves themselves: whoever observes looks at another one.
    """

    @property  # type: ignore[misc]
    def controller(self) -> Controller:
        """The controller. Raises HiddenPartError while it is hidden."""
        found = controller_in(self)
        if found is None:
            raise HiddenPartError(CONTROLLER)
        return found

    @property  # type: ignore[misc]
    def observed(self) -> NoReturn:
        """Raises ForbiddenPartError."""
        raise ForbiddenPartError("a rule looks at what the observer knows, which no node can know")


_CONTROLLER: Any = Cluster.__dict__["controller"]


def controller_in(cluster: Cluster) -> Controller | None:
    """The controller, or None where it is hidden."""
    found: Controller | None = _CONTROLLER.__get__(cluster)
    return found


class HiddenBroker:
    """A broker of which only the id is known, or also whether it runs, and in which life."""

    __slots__ = ("_life", "_place", "id")

    def __init__(self, id: BrokerId, place: int, life: tuple[Incarnation, bool] | None) -> None:
        self.id, self._place, self._life = id, place, life

    @property
    def incarnation(self) -> Incarnation:
        """How many processes it has had. Raises HiddenPartError while its life is hidden."""
        return self._shown()[0]

    @property
    def up(self) -> bool:
        """Whether a process runs. Raises HiddenPartError while its life is hidden."""
        return self._shown()[1]

    def _shown(self) -> tuple[Incarnation, bool]:
        if self._life is None:
            raise HiddenPartError(-self._place)
        return self._life

    def __getattr__(self, _name: str) -> NoReturn:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)

    def __eq__(self, _other: object) -> bool:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)

    def __hash__(self) -> int:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)


class HiddenName:
    """The name of messages of which only the kind is known."""

    __slots__ = ("_place", "kind")

    def __init__(self, kind: str, place: int) -> None:
        self.kind, self._place = kind, place

    def __getattr__(self, _name: str) -> NoReturn:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)

    def __getitem__(self, _at: object) -> NoReturn:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)

    def __eq__(self, other: object) -> bool:
        """Unequal to names of other kinds. Raises HiddenPartError for what the kind cannot say."""
        if isinstance(other, MessageName) and other.kind != self.kind:
            return False
        raise HiddenPartError(self._place)

    def __hash__(self) -> int:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)


class HiddenMessage:
    """Messages that may be in flight: their kind, and to whom and on which lane such ones go."""

    __slots__ = ("_place", "connection", "lane", "name", "receiver")

    def __init__(
        self, name: HiddenName | MessageName, receiver: BrokerId, lane: str, place: int
    ) -> None:
        self.name, self.receiver, self.lane, self._place = name, receiver, lane, place
        self.connection = Count(0)

    def __getattr__(self, _name: str) -> NoReturn:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)

    def __eq__(self, _other: object) -> bool:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)

    def __hash__(self) -> int:
        """Raises HiddenPartError, as everything does that looks into it."""
        raise HiddenPartError(self._place)


class UndatedImage(MetadataUpdate, frozen=True):
    """Metadata of a broker while the controller is hidden: it may be the newest, or not."""

    @property  # type: ignore[misc]
    def offset(self) -> NoReturn:
        """Raises HiddenPartError: the controller's metadata decides."""
        raise HiddenPartError(CONTROLLER)
