"""The memoised model of the level "partition": every effect of the engine is worked out once.

A state is numbers of parts: the controller, the requests in flight, the observer's knowledge, what
is left of the bounds, each broker. What an action does to brokers, controller and requests depends
only on the parts that it reads (READS), and what the observer makes of it only on what an observer
sees. Both are remembered under the numbers of exactly these parts. What is not remembered yet is
done by the engine's own `step` on the whole cluster; nothing here knows a rule of Kafka. What is
worked out a second time must come to the same: else READS is wrong, and the search ends.
tests/explore holds this model to engine_model.py, state by state.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from typing import Any, NamedTuple

from ...engine.cluster import Cluster, Message
from ...engine.events import Delivered, Event, PropertyBroken
from ...engine.properties import EPOCHS_STAY, HIGH_WATERMARK_STAYS
from ...protocol.facts import BecameLeader, Destroyed, HighWatermarkMoved, IsrChanged, LeaderElected
from ...protocol.messages import AlterPartitionRequest
from ...protocol.replica.broker_state import Broker
from ..levels import normal_partition as forms
from ..levels.level_table import Action, AfterAction, Level, do, offered
from ..search_terms import Coverage, ModelState
from .engine_model import broken, note, spent

MemoisedState = tuple[int, ...]
"""(controller, requests, observer, budgets, broker, broker, ...), each the number of a part."""
FIRST_BROKER = 4
READS: dict[str, tuple[str, ...]] = {
    "write": ("node",),
    "fetch": ("node", "leader"),
    "deliver": ("controller", "node"),
    "view": ("controller", "node"),
    "crash": ("node",),
    "start": ("controller", "node"),
    "fence": ("controller", "node"),
    "unfence": ("controller", "node"),
}
"""The parts that each kind of action reads, beside a request that it delivers: `node` is the broker
it is done to, `leader` the one that this broker follows. It changes no other broker."""


class IncompleteReadsError(RuntimeError):
    """READS is wrong: what was remembered of an action is not what the engine does. A bug."""


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


class _Option:
    """Something that can be done in a state, the same in many states.

    `place` is the place of its broker in a state; `effects` is what is known of what it does, under
    the numbers of the parts that it reads.
    """

    __slots__ = ("action", "alone", "cost", "effects", "leader", "place", "rank", "request")

    def __init__(
        self, rank: tuple[int, ...], action: Action, cost: int | None, place: int, request: int
    ) -> None:
        self.rank, self.action, self.cost, self.place = rank, action, cost, place
        self.request = request
        self.leader = "leader" in READS[action.kind]
        self.alone = READS[action.kind] == ("node",)
        self.effects: dict[int, _Effect | None] = {}


class _Effect(NamedTuple):
    """What an action does: numbers of parts, None where nothing changes.

    `requests` is (number of the request delivered or -1, numbers of those sent). `sight` is what
    the observer is told, None when there is nothing to tell.
    """

    controller: int | None
    brokers: tuple[tuple[int, int], ...]
    requests: tuple[int, tuple[int, ...]] | None
    sight: int | None


_UNKNOWN = _Effect(None, (), None, None)
_TOLD = (HighWatermarkMoved, IsrChanged, LeaderElected, BecameLeader, Destroyed)
_LOCAL = (HIGH_WATERMARK_STAYS.id, EPOCHS_STAY.id)
"""Properties of what one node does, whatever the others are like."""


class MemoisedModel:
    """The same states and transitions as EngineModel over the level "partition", sooner."""

    def __init__(self, level: Level, cluster: Cluster, bounds: dict[str, int]) -> None:
        self.level, self.start, self.seen = level, level.admit(cluster), Coverage()
        self.names = tuple(bounds)
        self.places = {b.id: FIRST_BROKER + n for n, b in enumerate(self.start.brokers)}
        self.controllers, self.observers, self.budgets = Numbers(), Numbers(), Numbers()
        self.messages, self.flights, self.brokers = Numbers(), Numbers(), Numbers()
        self.sights, self.views, self.menus = Numbers(), Numbers(), Numbers()
        self.budgets(tuple(bounds.values()))
        self.ranks = {kind.name: rank for rank, kind in enumerate(level.kinds)}
        self.options: dict[tuple[Action, int | None, int], _Option] = {}
        # What has been worked out, under the numbers of the parts that it depends on.
        self.menu_of_broker: dict[int, int] = {}
        self.menu_of_flight: dict[int, int] = {}
        self.whole_menu: dict[tuple[int, ...], tuple[_Option, ...]] = {}
        self.left: dict[int, tuple[int | None, ...]] = {}
        self.flight_after: dict[tuple[int, Any], int] = {}
        self.noticed: dict[tuple[int, ...], tuple[int, tuple[str, ...]]] = {}
        self.late: dict[int, bool] = {}
        self.view_of: list[int] = []
        self.leader_of: list[int] = []
        self.whole_of: MemoisedState = ()
        self.whole = self.start

    def first(self) -> MemoisedState:
        """The start, with every bound untouched."""
        found = forms.parts(self.start)
        return (
            self.controllers(found.controller),
            self._flight(found.requests),
            self.observers(found.observed),
            0,
            *(self._broker(b) for b in found.brokers),
        )

    def _flight(self, requests: Iterable[Message]) -> int:
        ordered = sorted(requests, key=lambda m: m.name)
        return self.flights(tuple(self.messages(m) for m in ordered))

    def _broker(self, node: Broker) -> int:
        number = self.brokers(node)
        if number == len(self.view_of):
            process = node.process
            self.view_of.append(self.views((node.durable, process and process.epoch)))
            followed = [r.leader for r in process.replicas] if process is not None else []
            self.leader_of.append(next((self.places.get(f, 0) for f in followed), 0))
        return number

    def cluster(self, state: ModelState) -> Cluster:
        """The normal form that a state stands for."""
        held, flight, known, _, *nodes = state
        found = forms.Parts(
            controller=self.controllers.parts[held],
            brokers=tuple(self.brokers.parts[b] for b in nodes),
            requests=tuple(self.messages.parts[m] for m in self.flights.parts[flight]),
            observed=self.observers.parts[known],
        )
        late = [
            node.id
            for number, node in zip(nodes, found.brokers, strict=True)
            if self._is_late(held, number, node)
        ]
        return forms.whole(self.start, found, late)

    def _is_late(self, held: int, number: int, node: Broker) -> bool:
        key = number << 32 | held
        known = self.late.get(key)
        if known is None:
            known = self.late[key] = forms.has_news(self.controllers.parts[held], node)
        return known

    def budgets_left(self, state: MemoisedState) -> tuple[int, ...]:
        """What is left of the bounds, in their order."""
        left: tuple[int, ...] = self.budgets.parts[state[3]]
        return left

    # --- what leads on ---------------------------------------------------------------------------

    def successors(
        self, state: MemoisedState
    ) -> Iterator[tuple[Action, MemoisedState, tuple[str, ...]]]:
        """As EngineModel.successors, in the same order."""
        held = state[0]
        left = self._left(state[3])
        for option in self._menu(state):
            budgets = state[3] if option.cost is None else left[option.cost]
            if budgets is None:
                continue
            node = state[option.place]
            if option.alone:
                key = node
            elif option.leader:
                at = self.leader_of[node]
                key = node << 32 | (state[at] + 1 if at else 0)
            else:
                key = node << 32 | held
            effect = option.effects.get(key, _UNKNOWN)
            if effect is _UNKNOWN:
                effect = self._work_out(state, option, key)[0]
            if effect is None:
                continue
            after = list(state)
            after[3] = budgets
            if effect.controller is not None:
                after[0] = effect.controller
            for place, number in effect.brokers:
                after[place] = number
            if effect.requests is not None:
                after[1] = self._after(state[1], effect.requests)
            violated: tuple[str, ...] = ()
            if effect.sight is not None:
                after[2], violated = self._notice(state, option, key, effect.sight)
            yield option.action, tuple(after), violated

    def _left(self, budgets: int) -> tuple[int | None, ...]:
        """What is left after paying once from each bound; None where nothing is."""
        known = self.left.get(budgets)
        if known is None:
            given = self.budgets.parts[budgets]
            paid = (spent(given, self.names, name) for name in self.names)
            known = tuple(None if p is None else self.budgets(p) for p in paid)
            self.left[budgets] = known
        return known

    def _after(self, flight: int, change: tuple[int, tuple[int, ...]]) -> int:
        known = self.flight_after.get((flight, change))
        if known is None:
            delivered, sent = change
            kept = [m for m in self.flights.parts[flight] if m != delivered]
            known = self._flight(self.messages.parts[m] for m in (*kept, *sent))
            self.flight_after[flight, change] = known
        return known

    # --- what is offered -------------------------------------------------------------------------

    def _menu(self, state: MemoisedState) -> tuple[_Option, ...]:
        """The options of a state in the level's order: those of each broker, and of the flight."""
        held = state[0]
        of_broker = self.menu_of_broker
        try:
            key = (
                self.menu_of_flight[state[1]],
                *[of_broker[n << 32 | held] for n in state[FIRST_BROKER:]],
            )
        except KeyError:
            self._learn_menus(state)
            return self._menu(state)
        known = self.whole_menu.get(key)
        if known is None:
            options = [o for number in key for o in self.menus.parts[number]]
            known = self.whole_menu[key] = tuple(sorted(options, key=lambda o: o.rank))
        return known

    def _learn_menus(self, state: MemoisedState) -> None:
        """Ask the level once for each broker's options beside this controller."""
        cluster = self.cluster(state)
        found: dict[int, list[_Option]] = {place: [] for place in (0, *self.places.values())}
        for kind, action in offered(self.level, cluster):
            cost = kind.costs(cluster, action)
            option = self._option(cluster, action, None if cost is None else self.names.index(cost))
            found[0 if action.kind == "deliver" else option.place].append(option)
        self.menu_of_flight[state[1]] = self.menus(tuple(found.pop(0)))
        for place, options in found.items():
            self.menu_of_broker[state[place] << 32 | state[0]] = self.menus(tuple(options))

    def _option(self, cluster: Cluster, action: Action, cost: int | None) -> _Option:
        request = -1
        if action.kind == "deliver":
            name = (action.node, action.life, "alter-partition")
            request = self.messages(next(m for m in cluster.messages if m.name[:3] == name))
        known = self.options.get((action, cost, request))
        if known is None:
            rank = self.ranks[action.kind], action.node, action.life, request
            known = _Option(rank, action, cost, self.places[action.node], request)
            self.options[action, cost, request] = known
        return known

    # --- what the engine says --------------------------------------------------------------------

    def _notice(
        self, state: MemoisedState, option: _Option, key: int, sight: int
    ) -> tuple[int, tuple[str, ...]]:
        view_of = self.view_of
        seen = (sight, state[2], state[0], *[view_of[n] for n in state[FIRST_BROKER:]])
        known = self.noticed.get(seen)
        return self._work_out(state, option, key)[1] if known is None else known

    def _work_out(
        self, state: MemoisedState, option: _Option, key: int
    ) -> tuple[_Effect | None, tuple[int, tuple[str, ...]]]:
        """Let the engine do it, and remember both what it does and what the observer notices."""
        if self.whole_of != state:
            # Several options of one state are often worked out one after the other.
            self.whole_of, self.whole = state, self.cluster(state)
        cluster = self.whole
        done = do(self.level, cluster, option.action)
        nothing: tuple[int, tuple[str, ...]] = (state[2], ())
        if done is not None:
            note(self.seen, done.events)
        if done is None or not self.level.kind(option.action.kind).came(
            done.cluster, option.action
        ):
            _remember(option, key, None)
            return None, nothing
        lives = forms.new_lives(forms.kraft_controller(done.cluster))
        effect = self._effect(state, option, cluster, done, lives)
        _remember(option, key, effect)
        known = self.observers(forms.of_observed(done.cluster.observed, lives))
        noticed = known, broken(done.cluster, done.events)
        if effect is not None and effect.sight is not None:
            views = [self.view_of[n] for n in state[FIRST_BROKER:]]
            self.noticed[(effect.sight, state[2], state[0], *views)] = noticed
        return effect, noticed

    def _effect(
        self,
        state: MemoisedState,
        option: _Option,
        cluster: Cluster,
        done: AfterAction,
        lives: forms.Lives,
    ) -> _Effect | None:
        after = done.cluster
        controller: int | None = None
        if after.controller is not cluster.controller:
            held = forms.kraft_controller(after)
            controller = self.controllers(forms.of_controller(held, lives))
        brokers = []
        for place, was, now in zip(
            self.places.values(), cluster.brokers, after.brokers, strict=True
        ):
            number = state[place]
            if now is not was:
                number = self._broker(forms.of_broker(now, lives))
            if number != state[place]:
                brokers.append((place, number))
        requests = self._sent(option, cluster, after, lives)
        if controller == state[0]:
            controller = None
        if controller is None and not brokers and requests is None:
            return None
        told = tuple(e for e in done.events if _is_told(e))
        view_of = self.view_of
        seen = tuple((p, view_of[n]) for p, n in brokers if view_of[n] != view_of[state[p]])
        quiet = controller is None and not told and not seen
        sight = None if quiet else self.sights((option.request, controller, told, seen))
        return _Effect(controller, tuple(brokers), requests, sight)

    def _sent(
        self, option: _Option, cluster: Cluster, after: Cluster, lives: forms.Lives
    ) -> tuple[int, tuple[int, ...]] | None:
        before = {id(m) for m in cluster.messages}
        new = [
            m for m in after.messages if m.name.kind == "alter-partition" and id(m) not in before
        ]
        sent = tuple(self.messages(m) for m in forms.of_requests(new, lives))
        return (option.request, sent) if sent or option.request >= 0 else None


def _remember(option: _Option, key: int, effect: _Effect | None) -> None:
    """Keep what an action does; what is worked out again is held against what was kept."""
    if option.effects.setdefault(key, effect) != effect:
        kind = option.action.kind
        raise IncompleteReadsError(
            f"{option.action} did something else in another state with the same parts: READS in"
            f" {__name__} leaves out a part that {kind!r} reads"
        )


def _is_told(event: Event) -> bool:
    """Whether the observer asks for such an event, or it says what a node did by itself."""
    if isinstance(event, Delivered):
        return isinstance(event.body, AlterPartitionRequest)
    if isinstance(event, PropertyBroken):
        return event.property in _LOCAL
    return isinstance(event, _TOLD)
