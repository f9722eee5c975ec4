"""The memoised model of the level "partition": every effect of the engine is computed once.

A state is numbers of parts: the controller, the requests in flight, the observer's knowledge, the
rest of the bounds, each broker. The effect of an action on brokers, controller and requests depends
only on the parts that it reads, and the observer's answer only on its own view. Both are remembered
under the numbers of exactly these parts. The engine's own `step` computes what is not remembered
yet. No rule of Kafka is known here, so that every guard holds as it does there. The parts that an
action reads are found by trying (action_effects.py), not declared.
tests/explore compares this model with that of breadth_first.py, state by state.
"""

from collections.abc import Iterator

from ...engine.cluster import Cluster
from ...protocol.replica.broker_state import Broker
from ..levels.level_table import Action, Level
from . import hidden_parts as pieces
from .action_effects import NOTHING, ActionEffects, Option
from .breadth_first import spent
from .hidden_parts import BUDGETS, CONTROLLER, FIRST_BROKER, OBSERVER, REQUESTS, HiddenPartError
from .numbered_parts import Memo, MemoisedState
from .shared_memory import NextStep, OfferedAction, SharedMemory


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
        level = level.within(bounds)
        self.level, self.start, self.bounds = level, level.admit(cluster), tuple(bounds.values())
        self.names = tuple(bounds)
        self.memory = SharedMemory() if memory is None else memory
        self.memory.prepare(level, self.start, self.names)
        self.parts = self.memory.parts
        self.places = [(place, pieces.image_at(place)) for place in self.parts.places.values()]
        self.effects = ActionEffects(level, self.start, self.parts, memory)
        self.coverage = self.effects.coverage
        self.ranks = {kind.name: rank for rank, kind in enumerate(level.kinds)}
        # What has been worked out, under the numbers of the parts that it depends on.
        self.options, self.left = Memo(Option), Memo(self._left)
        self.whole_menu, self.flight_after = Memo(self._whole_menu), Memo(self._after)

    def first(self) -> MemoisedState:
        """The start, with every bound untouched."""
        return self.parts.state_of(self.start, self.bounds)

    # --- what leads on ---------------------------------------------------------------------------

    def successors(
        self, state: MemoisedState
    ) -> Iterator[tuple[Action, MemoisedState, tuple[str, ...]]]:
        """As EngineModel.successors, in the same order."""
        left = self.left[state[BUDGETS]]
        for option in self._menu(state):
            budgets = left[option.cost]
            if budgets is None:
                continue
            # As NumberedParts.number_of; this loop is where a search spends its time.
            node = option.root
            while type(node) is NextStep:
                number, table = state[node.place], node.table
                node = node.following.get(number if table is None else table[number])
            effect = self.effects.work_out(state, option) if node is None else node
            if effect is NOTHING:
                continue
            changes, requests, observed = effect
            after = list(state)
            after[BUDGETS] = budgets
            for place, number in changes:
                after[place] = number
            if requests is not None:
                after[REQUESTS] = self.flight_after[state[REQUESTS], *requests]
            violated: tuple[str, ...] = ()
            if observed is not None:
                after[OBSERVER], violated = self.effects.notice(state, observed)
            yield option.action, tuple(after), violated

    def _left(self, budgets: int) -> tuple[int | None, ...]:
        """What is left after paying once from each bound, None where nothing is; and as it is."""
        budget = self.parts.budgets.parts[budgets]
        paid = (spent(budget, self.names, name) for name in self.names)
        return (*(None if p is None else self.parts.budgets[p] for p in paid), budgets)

    def _after(self, flight: int, delivered: int, sent: tuple[int, ...]) -> int:
        kept = [m for m in self.parts.flights.parts[flight] if m != delivered]
        return self.parts.flight(self.parts.messages.parts[m] for m in (*kept, *sent))

    # --- what is offered -------------------------------------------------------------------------

    def _menu(self, state: MemoisedState) -> tuple[Option, ...]:
        """The options of a state in the level's order: those of each broker, and of the flight."""
        held, of_broker = state[CONTROLLER], self.memory.menu_of_broker
        try:
            key = (
                self.memory.menu_of_flight[state[REQUESTS]],
                *[of_broker[held, state[place], state[image]] for place, image in self.places],
            )
        except KeyError:
            self._learn_menus(state)
            return self._menu(state)
        menu: tuple[Option, ...] = self.whole_menu[key]
        return menu

    def _whole_menu(self, *menus: int) -> tuple[Option, ...]:
        offers = [offer for number in menus for offer in self.memory.menus.parts[number]]
        return tuple([self.options[offer] for offer in sorted(offers, key=lambda o: o.rank)])

    def _learn_menus(self, state: MemoisedState) -> None:
        """Ask the level for each broker's offers beside this controller, everything else hidden.

        A leader's image makes no difference to them, but that a newer one is on its way.
        """
        memory, flight, held = self.memory, state[REQUESTS], state[CONTROLLER]
        if flight not in memory.menu_of_flight:
            partial = self.effects.partial.cluster(state, -1, (REQUESTS,))
            memory.menu_of_flight[flight] = self._menu_in(partial, None)
        for place, image in self.places:
            if (held, state[place], state[image]) in memory.menu_of_broker:
                continue
            late = self.parts.late[held, state[place], state[image]]
            key = held, state[place], late
            if key not in memory.menu_of_late:
                partial = self.effects.partial.to_offer(state, place)
                (nodes, brokers) = self.level.brokers(partial), partial.brokers
                node = next((b for b in nodes if b is brokers[place - FIRST_BROKER]), None)
                memory.menu_of_late[key] = 0 if node is None else self._menu_in(partial, node)
            memory.menu_of_broker[held, state[place], state[image]] = memory.menu_of_late[key]

    def _menu_in(self, cluster: Cluster, node: Broker | None) -> int:
        """The number of what the level offers for a broker, or else for the requests in flight."""
        offers, questions = list[OfferedAction](), self.effects.questions
        questions.clear()
        for kind in self.level.kinds:
            try:
                actions = kind.offered(cluster) if node is None else kind.offers_to(cluster, node)
                offers += [self._offer(cluster, a, kind.cost(cluster, a)) for a in actions]
            except HiddenPartError as hidden:
                raise pieces.UnforeseenError(
                    f"{kind.name}: whether that is offered depends on more than the broker and the"
                    f" controller, or for a request on more than those in flight ({hidden});"
                    f" {__name__} has to remember menus under that, too"
                ) from None
        if questions:
            raise pieces.UnforeseenError(f"what is offered depends on {next(iter(questions))[0]}")
        return self.memory.menus[tuple(offers)]

    def _offer(self, cluster: Cluster, action: Action, cost: str | None) -> OfferedAction:
        request = -1
        if action.kind == "deliver":
            name = (action.node, action.incarnation, "alter-partition")
            request = self.parts.messages[
                next(m for m in cluster.messages if m.name.kind == name[2] and m.name[:3] == name)
            ]
        rank = self.ranks[action.kind], action.node, action.incarnation, request
        paid = -1 if cost is None else self.names.index(cost)
        return OfferedAction(rank, action, paid, self.parts.places[action.node], request)
