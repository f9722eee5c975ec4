"""Hidden parts of a cluster: reading one ends the attempt, with its name.

An action is tried on a cluster whose parts are hidden. Reading a hidden part raises HiddenPartError
with its name; the next attempt shows that part as well. When an attempt comes to its end, the shown
parts are those that the action reads, and no list has to name them. Hidden parts only show what
never changes: a broker's id, the receiver of messages of a kind, their lane.
One question goes unnoticed: how many messages of a kind that the level holds are in flight. No rule
gets the messages in flight (tests/explore/test_what_actions_read.py), and channels don't count.
"""

from typing import Any, NoReturn

from msgspec.structs import replace

from ...engine.cluster import Cluster, MessageName
from ...protocol.ids import BrokerId, Count, Incarnation, MetadataOffset
from ...protocol.kraft.controller_state import Controller
from ...protocol.messages import MetadataUpdate
from ...protocol.replica.broker_state import Broker

CONTROLLER, REQUESTS, OBSERVER, BUDGETS, FIRST_BROKER = range(5)
"""The places of the parts in a state. The brokers follow, each without the metadata that it has
applied (its image); and after them their images, that of the first broker last."""
StatePiece = int
"""What can be shown by itself: a part, by its place in a state (that of an image counts from the
end); or of the broker at a place its incarnation and whether it runs (incarnation_at)."""
INCARNATIONS = 1_000
"""Pieces from here on are incarnations; no play has so many brokers."""


def incarnation_at(place: int) -> StatePiece:
    """The incarnation of the broker at `place`, and whether it runs."""
    return place + INCARNATIONS


def image_at(place: int) -> StatePiece:
    """The metadata that the broker at `place` has applied."""
    return FIRST_BROKER - 1 - place


def is_incarnation(piece: StatePiece) -> bool:
    """Whether a piece is what `incarnation_at` says."""
    return piece >= INCARNATIONS


def place_of(piece: StatePiece) -> int:
    """The place in a state of the broker that a piece belongs to; of another part its own."""
    if is_incarnation(piece):
        return piece - INCARNATIONS
    return piece if piece >= 0 else image_at(piece)


class HiddenPartError(Exception):
    """Something read this piece."""

    def __init__(self, piece: StatePiece) -> None:
        super().__init__(f"the piece {piece} is hidden, and something reads it")
        self.piece = piece


class UnforeseenError(RuntimeError):
    """Something is read under which nothing is remembered. A bug."""


class Hidden:
    """Something unknown: only reading it raises HiddenPartError, not being handed it."""

    __slots__ = ("_piece",)

    def __init__(self, piece: StatePiece) -> None:
        self._piece = piece

    def _read(self, *_: object) -> NoReturn:
        """Raises HiddenPartError, as everything does that reads it."""
        raise HiddenPartError(self._piece)

    __getattr__ = __iter__ = __len__ = __getitem__ = __contains__ = __hash__ = _read

    def __eq__(self, _other: object) -> bool:
        """Raises HiddenPartError."""
        return self._read()


class HiddenBroker(Hidden):
    """A broker of which only the id is known, or also `living`: its incarnation, if it runs."""

    __slots__ = ("id", "incarnation", "up")

    def __init__(self, id: BrokerId, place: int, living: tuple[Incarnation, bool] | None) -> None:
        super().__init__(place)
        self.id = id
        if living is not None:
            self.incarnation, self.up = living

    def __getattr__(self, *name: object) -> NoReturn:
        """Raises HiddenPartError, of the incarnation where that is enough."""
        enough = name in (("incarnation",), ("up",))
        raise HiddenPartError(incarnation_at(self._piece) if enough else self._piece)


class HiddenName(Hidden):
    """The name of messages of which only the kind is known."""

    __slots__ = ("kind",)

    def __init__(self, kind: str, piece: StatePiece) -> None:
        super().__init__(piece)
        self.kind = kind

    def __eq__(self, other: object) -> bool:
        """Unequal to names of other kinds. Raises HiddenPartError for what the kind cannot say."""
        if isinstance(other, MessageName) and other.kind != self.kind:
            return False
        return self._read()

    __hash__ = Hidden._read


class HiddenMessage(Hidden):
    """Messages that may be in flight: their kind, and to whom and on which lane such ones go."""

    __slots__ = ("connection", "lane", "name", "receiver")

    def __init__(
        self, name: HiddenName | MessageName, receiver: BrokerId, lane: str, piece: StatePiece
    ) -> None:
        super().__init__(piece)
        self.name, self.receiver, self.lane = name, receiver, lane
        self.connection = Count(0)


class PartialCluster(Cluster, frozen=True):
    """A cluster whose controller may be hidden, and without the knowledge of the observer. It is
    for the moves themselves: the observer gets another one.
    """

    @property  # type: ignore[misc]
    def controller(self) -> Controller:
        """The controller. Raises HiddenPartError while it is hidden."""
        held = controller_in(self)
        if held is None:
            raise HiddenPartError(CONTROLLER)
        return held

    @property  # type: ignore[misc]
    def observed(self) -> NoReturn:
        """Raises UnforeseenError."""
        raise UnforeseenError("a rule reads what the observer knows, which no node can know")


_CONTROLLER: Any = Cluster.__dict__["controller"]


def controller_in(cluster: Cluster) -> Controller | None:
    """The controller, or None where it is hidden."""
    controller: Controller | None = _CONTROLLER.__get__(cluster)
    return controller


class UndatedImage(MetadataUpdate, frozen=True):
    """Metadata of a broker while the controller is hidden: it may be the newest, or not."""

    @property  # type: ignore[misc]
    def offset(self) -> NoReturn:
        """Raises HiddenPartError: the controller's metadata decides."""
        raise HiddenPartError(CONTROLLER)


class HiddenImage(MetadataUpdate, frozen=True):
    """Metadata of a leader of which nothing is known; `image_hidden_at` makes it."""

    @property  # type: ignore[misc]
    def offset(self) -> NoReturn:
        """Raises HiddenPartError."""
        self.registrations[0]
        raise AssertionError

    def __eq__(self, _other: object) -> bool:
        """Raises HiddenPartError."""
        return self.offset

    def __hash__(self) -> int:
        """Raises HiddenPartError."""
        return self.offset


def image_hidden_at(place: int) -> HiddenImage:
    """In place of the image that the broker at `place` keeps."""
    entries: Any = Hidden(image_at(place))
    return HiddenImage(offset=MetadataOffset(0), registrations=entries, partitions=entries)


def hides_image(node: Broker) -> bool:
    """Whether the image of `node` is hidden."""
    return node.process is not None and type(node.process.image) is HiddenImage


def with_image(node: Broker, image: MetadataUpdate | None) -> Broker:
    """`node`, which runs, with another image or none."""
    assert node.process is not None
    return replace(node, process=replace(node.process, image=image))
