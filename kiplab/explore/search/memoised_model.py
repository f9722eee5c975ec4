"""The memoised model of the level "partition": every effect of the engine is worked out once.

A state is numbers of parts: the controller, the requests in flight, the observer's knowledge, what
is left of the bounds, each broker. What an action does to brokers, controller and requests depends
only on the parts that it reads, and what the observer makes of it only on what an observer sees.
Both are remembered under the numbers of exactly these parts. What is not remembered yet is done by
the engine's own `step`; nothing here knows a rule of Kafka, so that every guard holds as it does
there. Which parts an action reads nobody says: they are found out (action_effects.py).
tests/explore holds this model to engine_model.py, state by state.
"""

from collections.abc import Iterator
from typing import Any

from ...engine.cluster import Cluster
from ..levels.level_table import Action, Level, offered
from ..search_terms import ModelState
from .action_effects import NOTHING, ActionEffects, Option
from .engine_model import spent
from .hidden_parts import (
    BUDGETS,
    CONTROLLER,
    FIRST_BROKER,
    OBSERVER,
    REQUESTS,
    HiddenPartError,
)
from .numbered_parts import MemoisedState
from .shared_memory import NextStep, OfferedAction, SharedMemory


class UnforeseenOfferError(RuntimeError):
    """What is offered to a broker hangs on more than on it and the controller. A bug."""


class MemoisedModel:
    """The same states and transitions as EngineModel over the level "partition", sooner.

    With a `memory` it begins with what earlier searches left there, and leaves its own.
    """

    def __init__(
        self,
        level: Level,
        cluster: Cluster,
        bounds: dict[str, int],
        memory: SharedMemory | None = None,
    ) -> None:
        self.level, self.start, self.bounds = level, level.admit(cluster), tuple(bounds.values())
        self.names = tuple(bounds)
        self.memory = SharedMemory() if memory is None else memory
        self.memory.prepare(level, self.start, self.names)
        self.parts = self.memory.parts
        self.effects = ActionEffects(level, self.start, self.parts, memory)
        self.seen = self.effects.seen
        self.ranks = {kind.name: rank for rank, kind in enumerate(level.kinds)}
        self.options: dict[OfferedAction, Option] = {}
        # What has been worked out, under the numbers of the parts that it depends on.
        self.whole_menu: dict[tuple[int, ...], tuple[Option, ...]] = {}
        self.left: dict[int, tuple[int | None, ...]] = {}
        self.flight_after: dict[tuple[int, tuple[int, tuple[int, ...]]], int] = {}

    def first(self) -> MemoisedState:
        """The start, with every bound untouched."""
        return self.parts.first(self.start, self.bounds)

    def cluster(self, state: ModelState) -> Cluster:
        """The normal form that a state stands for."""
        return self.parts.cluster(self.start, state)

    # --- what leads on ---------------------------------------------------------------------------

    def successors(
        self, state: MemoisedState
    ) -> Iterator[tuple[Action, MemoisedState, tuple[str, ...]]]:
        """As EngineModel.successors, in the same order."""
        left = self._left(state[BUDGETS])
        image_of = self.parts.image_of
        for option in self._menu(state):
            budgets = state[BUDGETS] if option.cost is None else left[option.cost]
            if budgets is None:
                continue
            # As NumberedParts.number_of; this loop is where a search spends its time.
            known = option.root
            while type(known) is NextStep:
                number, table = state[known.place], known.table
                known = known.known.get(number if table is None else table[number])
            effect = self.effects.work_out(state, option) if known is None else known
            if effect is NOTHING:
                continue
            after = list(state)
            after[BUDGETS] = budgets
            if effect.controller is not None:
                after[CONTROLLER] = effect.controller
            for place, number in effect.brokers:
                after[place] = number
            for place, core in effect.cores:
                after[place] = self.parts.joined(core, image_of[state[place]])
            if effect.requests is not None:
                after[REQUESTS] = self._after(state[REQUESTS], effect.requests)
            violated: tuple[str, ...] = ()
            if effect.observed is not None:
                after[OBSERVER], violated = self.effects.notice(state, effect.observed)
            yield option.action, tuple(after), violated

    def _left(self, budgets: int) -> tuple[int | None, ...]:
        """What is left after paying once from each bound; None where nothing is."""
        known = self.left.get(budgets)
        if known is None:
            given = self.parts.budgets.parts[budgets]
            paid = (spent(given, self.names, name) for name in self.names)
            known = tuple(None if p is None else self.parts.budgets(p) for p in paid)
            self.left[budgets] = known
        return known

    def _after(self, flight: int, change: tuple[int, tuple[int, ...]]) -> int:
        known = self.flight_after.get((flight, change))
        if known is None:
            delivered, sent = change
            kept = [m for m in self.parts.flights.parts[flight] if m != delivered]
            known = self.parts.flight(self.parts.messages.parts[m] for m in (*kept, *sent))
            self.flight_after[flight, change] = known
        return known

    # --- what is offered -------------------------------------------------------------------------

    def _menu(self, state: MemoisedState) -> tuple[Option, ...]:
        """The options of a state in the level's order: those of each broker, and of the flight."""
        held, memory = state[CONTROLLER], self.memory
        of_broker = memory.menu_of_broker
        try:
            key = (
                memory.menu_of_flight[state[REQUESTS]],
                *[of_broker[n << 32 | held] for n in state[FIRST_BROKER:]],
            )
        except KeyError:
            self._learn_menus(state)
            return self._menu(state)
        known = self.whole_menu.get(key)
        if known is None:
            offers = [o for number in key for o in memory.menus.parts[number]]
            offers.sort(key=lambda offer: offer.rank)
            known = self.whole_menu[key] = tuple([self._option(offer) for offer in offers])
        return known

    def _option(self, offer: OfferedAction) -> Option:
        known = self.options.get(offer)
        if known is None:
            known = self.options[offer] = Option(offer)
        return known

    def _learn_menus(self, state: MemoisedState) -> None:
        """Ask the level once for each broker's offers beside this controller.

        A leader's image makes no difference to them, but that a newer one is on its way.
        """
        held, parts, memory = state[CONTROLLER], self.parts, self.memory
        of_broker = memory.menu_of_broker
        keys = {
            place: (parts.core_of[number], parts.is_late(held, number), held)
            for place, number in enumerate(state[FIRST_BROKER:], FIRST_BROKER)
        }
        if state[REQUESTS] not in memory.menu_of_flight or not of_broker.keys() >= {*keys.values()}:
            offers = self._offers(state)
            self._keep(memory.menu_of_flight, state[REQUESTS], offers[0])
            for place, key in keys.items():
                self._keep(of_broker, key, offers[place])
        for place, key in keys.items():
            of_broker[state[place] << 32 | held] = of_broker[key]

    def _offers(self, state: MemoisedState) -> dict[int, list[OfferedAction]]:
        """What the level offers, by the place of the broker; 0 for the requests in flight."""
        offers: dict[int, list[OfferedAction]] = {
            place: [] for place in (0, *self.parts.places.values())
        }
        cluster, asked = self.effects.to_offer_in(state), self.effects.asked
        asked.clear()
        try:
            for kind, action in offered(self.level, cluster):
                offer = self._offer(cluster, action, kind.cost(cluster, action))
                offers[0 if action.kind == "deliver" else offer.place].append(offer)
        except HiddenPartError as hidden:
            raise UnforeseenOfferError(f"what is offered depends on an image: {hidden}") from None
        if asked:
            raise UnforeseenOfferError(f"what is offered depends on {next(iter(asked))[0]}")
        return offers

    def _keep(self, menus: dict[Any, int], key: Any, offers: list[OfferedAction]) -> None:
        """Whatever is learnt again, because another broker was new, has to be as it was."""
        menu = self.memory.menus(tuple(offers))
        known = menus.setdefault(key, menu)
        if known != menu:
            kinds = {o.action.kind for o in {*offers} ^ {*self.memory.menus.parts[known]}}
            raise UnforeseenOfferError(
                f"{', '.join(sorted(kinds))}: whether that is offered depends on more than the"
                f" broker and the controller, or for a request on more than those in flight;"
                f" {__name__} has to remember menus under that, too"
            )

    def _offer(self, cluster: Cluster, action: Action, cost: str | None) -> OfferedAction:
        request = -1
        if action.kind == "deliver":
            name = (action.node, action.incarnation, "alter-partition")
            request = self.parts.messages(next(m for m in cluster.messages if m.name[:3] == name))
        rank = self.ranks[action.kind], action.node, action.incarnation, request
        paid = None if cost is None else self.names.index(cost)
        return OfferedAction(rank, action, paid, self.parts.places[action.node], request)
