"""Clusters of which only some parts are shown, for an attempt at an action."""

from collections.abc import Collection, Iterator
from typing import Any

from msgspec.structs import replace

from ...engine.cluster import Cluster, MessageName
from ...protocol.ids import CONTROLLER as CONTROLLER_ID
from ...protocol.ids import BrokerId, Count, Incarnation
from ...protocol.messages import KINDS, AlterPartitionRequest, MetadataUpdate
from ...protocol.replica.broker_state import Broker
from ..levels import normal_partition as forms
from .hidden_parts import (
    CONTROLLER,
    FIRST_BROKER,
    REQUESTS,
    HiddenBroker,
    HiddenMessage,
    HiddenName,
    PartialCluster,
    StatePiece,
    UndatedImage,
    image_at,
    image_hidden_at,
    incarnation_at,
)
from .numbered_parts import MemoisedState, NumberedParts

Shown = Collection[StatePiece]
UNKNOWN_LIFE = -1
METADATA, REQUEST = KINDS[MetadataUpdate], KINDS[AlterPartitionRequest]


class PartialClusters:
    """Makes clusters of numbered parts. What hides a part is made once and used again."""

    def __init__(self, parts: NumberedParts, start: Cluster) -> None:
        self.parts = parts
        fields = {name: getattr(start, name) for name in start.__struct_fields__}
        self.template = PartialCluster(**{**fields, "controller": None, "observed": ()})
        self.ids = [b.id for b in start.brokers]
        self.hidden: dict[tuple[int, int], HiddenBroker] = {}
        self.undated: dict[int, Broker] = {}
        self.imageless: dict[tuple[int, int], Broker] = {}
        self.behind: dict[int, Broker] = {}
        self.requests = HiddenMessage(
            HiddenName(REQUEST, REQUESTS), CONTROLLER_ID, AlterPartitionRequest.api.lane, REQUESTS
        )
        self.flights: dict[tuple[int, tuple[int, ...] | None], tuple[tuple[Any, ...], Any]] = {}
        places = tuple(enumerate(self.ids, FIRST_BROKER))
        self.undecided = tuple(_image(p, CONTROLLER, id) for p, id in places)
        self.of_hidden_brokers = tuple(_image(p, p, id) for p, id in places)
        self.of_hidden_images = tuple(_image(p, image_at(p), id) for p, id in places)

    def cluster(self, state: MemoisedState, request: int, shown: Shown) -> Cluster:
        """The cluster that `state` stands for, with the pieces `shown`, and with the request of
        this number, if any.

        An image on its way is shown with its controller and its broker: they tell whether there is
        one.
        """
        held = state[CONTROLLER] if CONTROLLER in shown else None
        places = range(FIRST_BROKER, len(state))
        brokers: Any = tuple([self._broker(p, state, held, shown) for p in places])
        requests, sent = self._requests(state, request, shown)
        images = self.undecided if held is None else self._images(state, held, shown)
        return replace(
            self.template,
            controller=None if held is None else self.parts.controllers.parts[held],
            brokers=brokers,
            messages=(*requests, *images),
            sent=sent,
        )

    def _broker(self, place: int, state: MemoisedState, held: int | None, shown: Shown) -> Any:
        number = state[place]
        if place in shown:
            if not self._is_whole(number, place, shown):
                return self._imageless(self.parts.core_of[number], place)
            if held is None:
                return self._undated(number)
            return self._dated(number, self.parts.is_late(held, number))
        incarnation = (
            self.parts.incarnation_of[number] if incarnation_at(place) in shown else UNKNOWN_LIFE
        )
        known = self.hidden.get((place, incarnation))
        if known is None:
            lived = (
                None if incarnation == UNKNOWN_LIFE else self.parts.incarnations.parts[incarnation]
            )
            known = HiddenBroker(self.ids[place - FIRST_BROKER], place, lived)
            self.hidden[place, incarnation] = known
        return known

    def to_offer_in(self, state: MemoisedState, start: Cluster) -> Cluster:
        """The cluster of a state as a level's menu may see it: without the images of leaders."""
        whole = self.parts.cluster(start, state)
        kept = [
            self._imageless(self.parts.core_of[number], place) if forms.keeps_image(node) else node
            for place, (number, node) in enumerate(
                zip(state[FIRST_BROKER:], whole.brokers, strict=True), FIRST_BROKER
            )
        ]
        return replace(whole, brokers=tuple(kept))

    def _is_whole(self, number: int, place: int, shown: Shown) -> bool:
        """Whether a broker that is shown has nothing hidden: only a leader keeps an image."""
        return image_at(place) in shown or not forms.keeps_image(self.parts.brokers.parts[number])

    def _imageless(self, core: int, place: int) -> Broker:
        known = self.imageless.get((core, place))
        if known is None:
            node = self.parts.cores.parts[core]
            hidden = image_hidden_at(place)
            known = replace(node, process=replace(node.process, image=hidden))
            self.imageless[core, place] = known
        return known

    def _undated(self, number: int) -> Broker:
        known = self.undated.get(number)
        if known is None:
            known = self.undated[number] = undated(self.parts.brokers.parts[number])
        return known

    def _dated(self, number: int, late: bool) -> Broker:
        node: Broker = self.parts.brokers.parts[number]
        if not late:
            return node
        known = self.behind.get(number)
        if known is None:
            known = self.behind[number] = forms.behind(node)
        return known

    def _requests(
        self, state: MemoisedState, request: int, shown: Shown
    ) -> tuple[tuple[Any, ...], Any]:
        """The one that is delivered comes first, so that whoever looks for it finds it at once.
        Beside them the counters of names: no other message will have one of theirs, or an image's.
        """
        flight = self.parts.flights.parts[state[REQUESTS]] if REQUESTS in shown else None
        known = self.flights.get((request, flight))
        if known is None:
            others = () if flight is None else [m for m in flight if m != request]
            first = () if request < 0 else (request,)
            found = tuple(self.parts.messages.parts[m] for m in (*first, *others))
            sent = _image_name(FIRST_BROKER + len(self.ids)), *forms.counters(found)
            known = (found if flight is not None else (*found, self.requests)), sent
            self.flights[request, flight] = known
        return known

    def _images(self, state: MemoisedState, held: int, shown: Shown) -> Iterator[Any]:
        for place in range(FIRST_BROKER, len(state)):
            if place not in shown:
                yield self.of_hidden_brokers[place - FIRST_BROKER]
            elif not self._is_whole(state[place], place, shown):
                yield self.of_hidden_images[place - FIRST_BROKER]
            elif self.parts.is_late(held, state[place]):
                node = self.parts.brokers.parts[state[place]]
                (found,) = forms.images(self.parts.controllers.parts[held], (node,))
                yield replace(found, name=_image_name(place))


def undated(node: Broker) -> Broker:
    """`node` with metadata of which it is not known whether it is the newest."""
    process = node.process
    if process is None or process.image is None:
        return node
    known = process.image
    image = UndatedImage(
        offset=known.offset, registrations=known.registrations, partitions=known.partitions
    )
    return replace(node, process=replace(process, image=image))


def _image(place: int, hidden: int, to: BrokerId) -> HiddenMessage:
    """An image that may be under way to the broker at `place`: the part at `hidden` tells."""
    return HiddenMessage(_image_name(place), to, MetadataUpdate.api.lane, hidden)


def _image_name(place: int) -> MessageName:
    return MessageName(CONTROLLER_ID, Incarnation(0), METADATA, Count(place))
