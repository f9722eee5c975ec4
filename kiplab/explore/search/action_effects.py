"""What an action does, worked out by the engine from the parts that it reads and from no others.

Every part begins hidden. What `step` does is tried with what is known to be read; what else it
looks into is shown in the next attempt (hidden_parts.py), until an attempt comes to its end. So an
effect can depend on nothing but the pieces that it is remembered under, whatever a rule reads. What
the observer makes of it is remembered under all that it is shown (observer_views.py).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.moves import Move
from ...engine.step import Step, carried_out
from ..levels import normal_partition as forms
from ..levels.level_table import Action, Level, do
from ..search_terms import Coverage
from .engine_model import note
from .hidden_parts import (
    CONTROLLER,
    FIRST_BROKER,
    OBSERVER,
    HiddenPartError,
    Piece,
    controller_in,
    hides_image,
    life_at,
    place_of,
    without_hidden_image,
)
from .numbered_parts import MemoisedState, NumberedParts, Numbers
from .observer_views import ObservedMove, moment, shows_something, watch
from .partial_clusters import PartialClusters


class Effect(NamedTuple):
    """What an action does: numbers of parts, None where nothing changes.

    `brokers` and `cores` are (place, number): a broker anew, or what becomes of one whose image
    stays. `requests` is (number of the request delivered or -1, numbers of those sent). `observed`
    is what the observer sees of it, None when there is nothing to see.
    """

    controller: int | None
    brokers: tuple[tuple[int, int], ...]
    cores: tuple[tuple[int, int], ...]
    requests: tuple[int, tuple[int, ...]] | None
    observed: int | None


NOTHING = Effect(None, (), (), None, None)
"""The action cannot be done, or comes to nothing."""


class NextRead:
    """The piece that an action reads next, and what is known under each number of it.

    `place` and `table` say where its number is, as NumberedParts.number_of does.
    """

    __slots__ = ("known", "piece", "place", "table")

    def __init__(self, piece: Piece, table: list[int] | None) -> None:
        self.piece, self.place, self.table = piece, place_of(piece), table
        self.known: dict[int, Remembered] = {}


Remembered = NextRead | Effect | None


class Option:
    """Something that can be done in a state, the same in many states.

    `place` is the place of its broker in a state, `request` the number of the request that it
    delivers or -1; `known` is what has been worked out of it.
    """

    __slots__ = ("action", "cost", "known", "place", "rank", "request")

    def __init__(
        self, rank: tuple[int, ...], action: Action, cost: int | None, place: int, request: int
    ) -> None:
        self.rank, self.action, self.cost, self.place = rank, action, cost, place
        self.request = request
        self.known: Remembered = None

    def remember(
        self, state: MemoisedState, parts: NumberedParts, read: list[Piece], effect: Effect
    ) -> None:
        """Keep what the action does, under the pieces that were read, in their order."""
        if not read:
            self.known = effect
            return
        reads = [NextRead(piece, parts.table_of(piece)) for piece in read]
        if self.known is None:
            self.known = reads[0]
        at: Any = self.known
        for piece, following in zip(read, reads[1:], strict=False):
            at = at.known.setdefault(parts.number_of(state, piece), following)
        at.known[parts.number_of(state, read[-1])] = effect


class ActionEffects:
    """Works effects out, and remembers them and what the observer notices."""

    def __init__(self, level: Level, parts: NumberedParts) -> None:
        self.level, self.parts, self.seen = level, parts, Coverage()
        self.partial = PartialClusters(parts)
        self.observed = Numbers()
        self.noticed: dict[tuple[int, ...], tuple[int, tuple[str, ...]]] = {}

    def notice(self, state: MemoisedState, observed: int) -> tuple[int, tuple[str, ...]]:
        """What the observer knows after an action that it saw so, and what broke."""
        view_of = self.parts.view_of
        views = [view_of[n] for n in state[FIRST_BROKER:]]
        key = (observed, state[OBSERVER], state[CONTROLLER], *views)
        known = self.noticed.get(key)
        if known is None:
            known = self.noticed[key] = self._watched(state, self.observed.parts[observed])
        return known

    def work_out(self, state: MemoisedState, option: Option) -> Effect:
        """Let the engine do it with more and more shown, until nothing hidden is looked into."""
        read: list[Piece] = []
        known = option.known
        while isinstance(known, NextRead):
            read.append(known.piece)
            known = known.known.get(self.parts.number_of(state, known.piece))
        while True:
            try:
                effect = self._attempt(state, option, read)
                break
            except HiddenPartError as hidden:
                if hidden.piece in read:
                    raise
                read += self._shown_next(hidden.piece, read)
        option.remember(state, self.parts, read, effect)
        return effect

    def _shown_next(self, piece: Piece, read: list[Piece]) -> list[Piece]:
        """What the controller sends goes to every broker that runs: show that of all at once."""
        if piece >= 0 or CONTROLLER not in read:
            return [piece]
        places = self.parts.places.values()
        return [life_at(p) for p in places if p not in read and life_at(p) not in read]

    def _attempt(self, state: MemoisedState, option: Option, shown: list[Piece]) -> Effect:
        cluster = self.partial.cluster(state, option.request, shown)
        moments: list[ObservedMove] = []

        def noting(before: Cluster, move: Move) -> Step:
            after, events = carried_out(before, move)
            if shows_something(before, after):
                moments.append(moment(cluster, before, after, events))
            return Step(after, tuple(events))

        done = do(self.level, cluster, option.action, noting)
        if done is None:
            return NOTHING
        note(self.seen, done.events)
        came = self.level.kind(option.action.kind).came(done.cluster, option.action)
        return self._effect(state, option, cluster, done.cluster, moments) if came else NOTHING

    def _effect(
        self,
        state: MemoisedState,
        option: Option,
        before: Cluster,
        after: Cluster,
        moments: list[ObservedMove],
    ) -> Effect:
        held = controller_in(after)
        lives = forms.NO_LIVES if held is None else forms.new_lives(held)
        controller: int | None = None
        if held is not None and held is not controller_in(before):
            controller = self.parts.controllers(forms.of_controller(held, lives))
            controller = None if controller == state[CONTROLLER] else controller
        brokers, cores = self._changed(state, before, after, lives)
        requests = self._sent(option, before, after, lives)
        if controller is None and not brokers and not cores and requests is None:
            return NOTHING
        quiet = all(m.quiet for m in moments)
        observed = None if quiet else self.observed(tuple(moments))
        return Effect(controller, brokers, cores, requests, observed)

    def _changed(
        self, state: MemoisedState, before: Cluster, after: Cluster, lives: forms.Lives
    ) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[int, int], ...]]:
        """(brokers, cores) as in Effect."""
        brokers, cores, parts = [], [], self.parts
        pairs = zip(before.brokers, after.brokers, strict=True)
        for place, (was, now) in enumerate(pairs, FIRST_BROKER):
            if now is was:
                continue
            node = forms.of_broker(without_hidden_image(now), lives)
            if hides_image(now) and forms.leads(node):
                if (core := parts.cores(node)) != parts.core_of[state[place]]:
                    cores.append((place, core))
            elif (number := parts.broker(node)) != state[place]:
                brokers.append((place, number))
        return tuple(brokers), tuple(cores)

    def _sent(
        self, option: Option, before: Cluster, after: Cluster, lives: forms.Lives
    ) -> tuple[int, tuple[int, ...]] | None:
        known = {id(m) for m in before.messages}
        new = [m for m in after.messages if m.name.kind == "alter-partition" and id(m) not in known]
        sent = tuple(self.parts.messages(m) for m in forms.of_requests(new, lives))
        return (option.request, sent) if sent or option.request >= 0 else None

    # --- the observer ----------------------------------------------------------------------------

    def _watched(
        self, state: MemoisedState, moments: tuple[ObservedMove, ...]
    ) -> tuple[int, tuple[str, ...]]:
        parts = self.parts
        known = replace(
            parts.start,
            controller=parts.controllers.parts[state[CONTROLLER]],
            observed=parts.observers.parts[state[OBSERVER]],
        )
        views = [parts.views.parts[parts.view_of[n]] for n in state[FIRST_BROKER:]]
        seen = watch(known, moments, views)
        return parts.observers(seen.observed), seen.broken
