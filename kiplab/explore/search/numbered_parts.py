"""The parts of states at the level "partition", each under a number: equal parts have one.

What was worked out once is found again by numbers, which are compared sooner than parts.
"""

from collections.abc import Hashable, Iterable
from typing import Any

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message
from ...protocol.replica.broker_state import Broker
from ..levels import normal_partition as forms
from ..search_terms import ModelState
from .hidden_parts import FIRST_BROKER, StatePiece, place_of
from .observer_views import view_of

MemoisedState = tuple[int, ...]
"""(controller, requests, observer, budgets, broker, broker, ...), each the number of a part."""


class Numbers:
    """Parts and their numbers, in the order in which they were met."""

    def __init__(self) -> None:
        self.of: dict[Any, int] = {}
        self.parts: list[Any] = []

    def __call__(self, part: Hashable) -> int:
        number = self.of.get(part)
        if number is None:
            number = self.of[part] = len(self.parts)
            self.parts.append(part)
        return number


class NumberedParts:
    """All parts that have been met by searches from `start`, or from what differs in parts.

    Under the number of a broker `view_of` has the number of what an observer sees of it, and
    `incarnation_of`, `image_of` and `core_of` those of what is read of it by itself: (incarnation,
    whether it runs), the metadata that it has applied, and the rest.
    """

    def __init__(self, start: Cluster) -> None:
        self.places = {b.id: FIRST_BROKER + n for n, b in enumerate(start.brokers)}
        self.controllers, self.observers, self.budgets = Numbers(), Numbers(), Numbers()
        self.messages, self.flights, self.brokers = Numbers(), Numbers(), Numbers()
        self.views, self.incarnations = Numbers(), Numbers()
        self.cores, self.images = Numbers(), Numbers()
        self.view_of: list[int] = []
        self.incarnation_of: list[int] = []
        self.core_of: list[int] = []
        self.image_of: list[int] = []
        self._late: dict[int, bool] = {}
        self._joined: dict[int, int] = {}

    def first(self, start: Cluster, bounds: tuple[int, ...]) -> MemoisedState:
        """The state of `start`, with every bound untouched."""
        found = forms.parts(start)
        return (
            self.controllers(found.controller),
            self.flight(found.requests),
            self.observers(found.observed),
            self.budgets(bounds),
            *(self.broker(b) for b in found.brokers),
        )

    def flight(self, requests: Iterable[Message]) -> int:
        """The number of these requests in flight, whatever their order."""
        ordered = sorted(requests, key=lambda m: m.name)
        return self.flights(tuple(self.messages(m) for m in ordered))

    def requests(self, flight: int) -> tuple[Message, ...]:
        """The requests in flight that have this number."""
        return tuple(self.messages.parts[m] for m in self.flights.parts[flight])

    def broker(self, node: Broker) -> int:
        """The number of a broker in normal form, caught up with the metadata."""
        number = self.brokers(node)
        if number == len(self.view_of):
            process = node.process
            self.view_of.append(self.views(view_of(node)))
            self.incarnation_of.append(self.incarnations((node.incarnation, node.up)))
            self.core_of.append(self.cores(forms.without_image(node)))
            self.image_of.append(self.images(None if process is None else process.image))
        return number

    def joined(self, core: int, image: int) -> int:
        """The number of the broker that is made of these."""
        key = core << 32 | image
        known = self._joined.get(key)
        if known is None:
            node = self.cores.parts[core]
            process = replace(node.process, image=self.images.parts[image])
            known = self._joined[key] = self.broker(replace(node, process=process))
        return known

    def number_of(self, state: MemoisedState, piece: Any) -> int:
        """The number under which a StatePiece stands in a state."""
        table, number = self.table_of(piece), state[place_of(piece)]
        return number if table is None else table[number]

    def table_of(self, piece: StatePiece) -> list[int] | None:
        """What has the number of a piece under that of its broker; None for other parts."""
        if piece < 0:
            return self.incarnation_of
        if piece < FIRST_BROKER:
            return None
        return self.core_of if piece == place_of(piece) else self.image_of

    def is_late(self, held: int, number: int) -> bool:
        """Whether an image of this controller is under way to this broker."""
        key = number << 32 | held
        known = self._late.get(key)
        if known is None:
            node = self.brokers.parts[number]
            known = self._late[key] = forms.has_news(self.controllers.parts[held], node)
        return known

    def cluster(self, start: Cluster, state: ModelState) -> Cluster:
        """The normal form that a state stands for, in a search that begins with `start`."""
        held, flight, known, _, *nodes = state
        brokers = tuple([self.brokers.parts[n] for n in nodes])
        found = forms.Parts(
            controller=self.controllers.parts[held],
            brokers=brokers,
            requests=self.requests(flight),
            observed=self.observers.parts[known],
        )
        pairs = zip(nodes, brokers, strict=True)
        return forms.whole(start, found, [b.id for n, b in pairs if self.is_late(held, n)])
