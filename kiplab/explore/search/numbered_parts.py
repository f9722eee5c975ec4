"""The parts of states at the level "partition", each under a number, and clusters of some of them.

Equal parts have one number. Computed effects are found by numbers, which are compared faster than
parts. What a cluster does not show of a state is hidden (hidden_parts.py).
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from types import MethodType
from typing import Any
from weakref import WeakMethod

from msgspec.structs import replace

from ...engine.cluster import Cluster, Message, MessageName
from ...protocol.ids import CONTROLLER as CONTROLLER_ID
from ...protocol.ids import BrokerId, Count, Incarnation
from ...protocol.messages import KINDS, AlterPartitionRequest, MetadataUpdate
from ...protocol.replica.broker_state import Broker
from ..levels import normal_partition as forms
from ..search_terms import Budgets
from . import hidden_parts as pieces
from .hidden_parts import CONTROLLER, FIRST_BROKER, REQUESTS, image_at, with_image
from .observer_views import view_of

MemoisedState = tuple[int, ...]
"""(controller, requests, observer, budgets, broker, broker, ..., image, image), each the number of
a part; an image is that of the broker as far from the first one as it is from the end."""
NO_IMAGE, NOTHING_KNOWN = range(2)
"""The numbers of no image at all, and of forms.NOTHING_KNOWN."""
Shown = Collection[pieces.StatePiece]
METADATA, REQUEST = KINDS[MetadataUpdate], KINDS[AlterPartitionRequest]


class Numbers(dict[Any, int]):
    """The number of each part, in the order in which they were met, and the `parts` by number."""

    def __init__(self, *parts: Hashable) -> None:
        super().__init__({part: number for number, part in enumerate(parts)})
        self.parts: list[Any] = list(parts)

    def __missing__(self, part: Hashable) -> int:
        number = self[part] = len(self.parts)
        self.parts.append(part)
        return number


class Memo(dict[Any, Any]):
    """What `make` makes of each key, made once. It is kept by a method's owner, without a cycle."""

    def __init__(self, make: Callable[..., Any]) -> None:
        super().__init__()
        self.make = WeakMethod(make) if isinstance(make, MethodType) else lambda: make

    def __missing__(self, key: Any) -> Any:
        make: Any = self.make()
        made = self[key] = make(*key) if type(key) is tuple else make(key)
        return made


class NumberedParts:
    """All parts that have been met by searches from `start`, or from what differs in parts.

    Under the number of a broker `view_of` has the number of what an observer sees of it, and
    `incarnation_of` that of (incarnation, whether it runs). `brokers` are without their images.
    `numbers_of` has those of a broker and its image by what it was before its normal form; `whole`
    the broker that is made of both numbers, caught up with the metadata; and `late` whether an
    image of a controller is under way to it: by the controller's number and these two.
    """

    def __init__(self, start: Cluster) -> None:
        self.ids, self.has_elr = [b.id for b in start.brokers], start.features.has_elr
        self.places = {id: FIRST_BROKER + n for n, id in enumerate(self.ids)}
        self.controllers, self.observers, self.budgets = Numbers(), Numbers(), Numbers()
        self.messages, self.flights, self.brokers = Numbers(), Numbers(), Numbers()
        self.views, self.incarnations = Numbers(), Numbers()
        self.images = Numbers(None, forms.NOTHING_KNOWN)
        self.view_of: list[int] = []
        self.incarnation_of: list[int] = []
        self.numbers_of, self.whole = Memo(self._numbers_of), Memo(self._whole)
        self.late, self.kept = Memo(self._is_late), Memo(self._kept)

    def state_of(self, cluster: Cluster, left: Budgets) -> MemoisedState:
        """The state that stands for a normal form, and for what is left of the bounds."""
        parts = forms.parts(cluster)
        brokers = [self.broker(b) for b in parts.brokers]
        return (
            self.controllers[parts.controller],
            self.flight(parts.requests),
            self.observers[parts.observed],
            self.budgets[left],
            *[broker for broker, _ in brokers],
            *[image for _, image in reversed(brokers)],
        )

    def flight(self, requests: Iterable[Message]) -> int:
        """The number of these requests in flight, in any order."""
        ordered = sorted(requests, key=lambda m: m.name)
        return self.flights[tuple([self.messages[m] for m in ordered])]

    def broker(self, node: Broker) -> tuple[int, int]:
        """The numbers of a broker in normal form, caught up with the metadata, and of its image."""
        number = self.brokers[forms.without_image(node)]
        if number == len(self.view_of):
            self.view_of.append(self.views[view_of(node, has_elr=self.has_elr)])
            self.incarnation_of.append(self.incarnations[node.incarnation, node.up])
        return number, NO_IMAGE if node.process is None else self.images[node.process.image]

    def _numbers_of(self, node: Broker) -> tuple[int, int]:
        return self.broker(forms.of_broker(node, forms.NO_INCARNATIONS))

    def _whole(self, broker: int, image: int) -> Broker:
        node: Broker = self.brokers.parts[broker]
        return node if image <= NOTHING_KNOWN else with_image(node, self.images.parts[image])

    def _is_late(self, held: int, broker: int, image: int) -> bool:
        node = self.brokers.parts[broker]
        if image > NOTHING_KNOWN:
            return bool(image != self.kept[held, node.id])
        return forms.has_news(self.controllers.parts[held], node)

    def _kept(self, held: int, id: BrokerId) -> int:
        return self.images[forms.kept_by_leader(self.controllers.parts[held], id)]

    def number_of(self, state: MemoisedState, piece: Any) -> int:
        """The number under which a StatePiece stands in a state."""
        number: int = state[piece % pieces.INCARNATIONS if piece >= 0 else piece]
        return number if piece < pieces.INCARNATIONS else self.incarnation_of[number]


class PartialClusters:
    """Makes clusters of numbered parts. What hides a part is made once and used again."""

    def __init__(self, parts: NumberedParts, start: Cluster) -> None:
        self.parts, self.ids = parts, parts.ids
        fields = {name: getattr(start, name) for name in start.__struct_fields__}
        self.template = pieces.PartialCluster(**{**fields, "controller": None, "observed": ()})
        self.hidden, self.imageless = Memo(self._hidden), Memo(self._imageless)
        self.undated = Memo(lambda *numbers: undated(parts.whole[numbers]))
        self.behind = Memo(lambda *numbers: forms.behind(parts.whole[numbers]))
        self.flights, self.news = Memo(self._requests), Memo(self._news)
        lane, name = AlterPartitionRequest.api.lane, pieces.HiddenName(REQUEST, REQUESTS)
        self.requests = pieces.HiddenMessage(name, CONTROLLER_ID, lane, REQUESTS)
        places = parts.places.items()
        self.undecided = tuple(_image(p, CONTROLLER, id) for id, p in places)
        self.of_hidden_brokers = {p: _image(p, p, id) for id, p in places}
        self.of_hidden_images = {p: _image(p, image_at(p), id) for id, p in places}

    def cluster(self, state: MemoisedState, request: int, shown: Shown) -> Cluster:
        """The cluster that `state` stands for, with the pieces `shown`, and with the request of
        this number, if any.

        An image on its way is shown with its controller and its broker: they tell whether there is
        one.
        """
        held = state[CONTROLLER] if CONTROLLER in shown else None
        places = self.parts.places.values()
        brokers: Any = tuple([self._broker(p, state, held, shown) for p in places])
        requests, sent = self.flights[request, state[REQUESTS] if REQUESTS in shown else None]
        images = self.undecided if held is None else self._images(state, held, shown)
        return replace(
            self.template,
            controller=None if held is None else self.parts.controllers.parts[held],
            brokers=brokers,
            messages=(*requests, *images),
            sent=sent,
        )

    def to_offer(self, state: MemoisedState, place: int) -> Cluster:
        """The cluster of a state as a level's menu may see it for the broker at `place`: this one
        without the image that it keeps, whether one is under way to it, and the controller.
        """
        held, partial = state[CONTROLLER], self.cluster(state, -1, (place, CONTROLLER))
        images: list[Any] = [m for p, m in self.of_hidden_brokers.items() if p != place]
        if self.parts.late[held, state[place], state[image_at(place)]]:
            images.append(self.news[held, place, state[place]])
        return replace(partial, messages=(self.requests, *images))

    def _broker(self, place: int, state: MemoisedState, held: int | None, shown: Shown) -> Any:
        number = state[place]
        if place not in shown:
            is_shown = place + pieces.INCARNATIONS in shown
            return self.hidden[place, self.parts.incarnation_of[number] if is_shown else None]
        image = state[image_at(place)]
        if image > NOTHING_KNOWN and image_at(place) not in shown:
            # Only a leader keeps an image.
            return self.imageless[number, place]
        if held is None:
            return self.undated[number, image]
        late = self.parts.late[held, number, image]
        return (self.behind if late else self.parts.whole)[number, image]

    def _hidden(self, place: int, incarnation: int | None) -> pieces.HiddenBroker:
        incarnations = None if incarnation is None else self.parts.incarnations.parts[incarnation]
        return pieces.HiddenBroker(self.ids[place - FIRST_BROKER], place, incarnations)

    def _imageless(self, number: int, place: int) -> Broker:
        return with_image(self.parts.brokers.parts[number], pieces.image_hidden_at(place))

    def _requests(self, request: int, flight: int | None) -> tuple[tuple[Any, ...], Any]:
        """The one that is delivered comes first, so that whoever looks for it finds it at once.
        Beside them the counters of names: no other message will have one of theirs, or an image's.
        """
        others = () if flight is None else self.parts.flights.parts[flight]
        first = () if request < 0 else (request,)
        numbers = (*first, *[m for m in others if m != request])
        requests = tuple(self.parts.messages.parts[m] for m in numbers)
        sent = _image_name(FIRST_BROKER + len(self.ids)), *forms.counters(requests)
        return (requests if flight is not None else (*requests, self.requests)), sent

    def _images(self, state: MemoisedState, held: int, shown: Shown) -> Iterator[Any]:
        for place in self.parts.places.values():
            image = state[image_at(place)]
            if place not in shown:
                yield self.of_hidden_brokers[place]
            elif image > NOTHING_KNOWN and image_at(place) not in shown:
                yield self.of_hidden_images[place]
            elif self.parts.late[held, state[place], image]:
                yield self.news[held, place, state[place]]

    def _news(self, held: int, place: int, broker: int) -> Message:
        node = self.parts.brokers.parts[broker]
        (message,) = forms.images(self.parts.controllers.parts[held], (node,))
        return replace(message, name=_image_name(place))


def undated(node: Broker) -> Broker:
    """`node` with metadata of which it is not known whether it is the newest."""
    process = node.process
    if process is None or process.image is None:
        return node
    fields = {name: getattr(process.image, name) for name in ("registrations", "partitions")}
    return with_image(node, pieces.UndatedImage(offset=process.image.offset, **fields))


def _image(place: int, piece: pieces.StatePiece, to: BrokerId) -> pieces.HiddenMessage:
    """An image that may be under way to the broker at `place`: the part at `piece` tells."""
    return pieces.HiddenMessage(_image_name(place), to, MetadataUpdate.api.lane, piece)


def _image_name(place: int) -> MessageName:
    return MessageName(CONTROLLER_ID, Incarnation(0), METADATA, Count(place))
