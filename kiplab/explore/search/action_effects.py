"""The effect of an action, computed by the engine from the parts that it reads and from no others.

`step` is tried until all of these are shown (hidden_parts.py). So an effect depends on nothing but
the pieces that it is remembered under, for any rule. The observer's part of it is remembered under
everything that the observer gets (observer_views.py).
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.moves import Move
from ...engine.step import Step, carried_out
from ...protocol.replica.broker_state import Broker
from ..levels import normal_partition as forms
from ..levels.level_table import Level, do
from ..search_terms import Coverage
from . import hidden_parts as pieces
from . import shared_memory
from .breadth_first import note
from .hidden_parts import CONTROLLER, FIRST_BROKER, OBSERVER, StatePiece
from .numbered_parts import Memo, MemoisedState, NumberedParts, Numbers, PartialClusters
from .observer_views import ObservedMove, moment, shows_something, watch
from .shared_memory import SharedMemory


class Effect(NamedTuple):
    """The effect of an action.

    `changes` are (place in a state, number of the part that stands there now). `requests` is
    (number of the request delivered or -1, numbers of those sent). `observed` is what the observer
    sees of it. The last two are None when there is nothing of the kind.
    """

    changes: tuple[tuple[int, int], ...]
    requests: tuple[int, tuple[int, ...]] | None
    observed: int | None


NOTHING = Effect((), None, None)
"""The action cannot be done, or comes to nothing."""


class Option(shared_memory.Remembered):
    """An offer in one search, with its remembered effects under that search's rules."""

    __slots__ = ("action", "cost", "offer", "place", "request")

    def __init__(self, offer: shared_memory.OfferedAction) -> None:
        super().__init__()
        self.offer = offer
        _, self.action, self.cost, self.place, self.request = offer

    def remember(
        self, state: MemoisedState, parts: NumberedParts, read: Sequence[StatePiece], effect: Effect
    ) -> None:
        """Keep what the action does, under the pieces that were read, in their order."""
        self.keep(read, lambda piece: parts.number_of(state, piece), parts, effect)


class ActionEffects:
    """Works effects out, and remembers them and what the observer notices."""

    def __init__(
        self, level: Level, start: Cluster, parts: NumberedParts, shared: SharedMemory | None
    ) -> None:
        self.level, self.start, self.parts, self.shared = level, start, parts, shared
        self.coverage, self.questions = Coverage(), dict[shared_memory.FeatureQuestion, None]()
        # What this search's features say to questions that earlier ones asked.
        self.answers = Memo(self._answers)
        if shared is not None:
            features = shared_memory.traced(start.features)
            start, self.questions = replace(start, features=features), features.questions
        self.traced_start = start
        self.partial = PartialClusters(parts, start)
        self.first_image = FIRST_BROKER + len(parts.ids)
        self.observed = Numbers() if shared is None else shared.observed
        # What the observer makes of what it saw, under all that it is shown beside; for one state.
        self.noticed: dict[tuple[int, ...], dict[int, tuple[int, tuple[str, ...]]]] = {}
        self.noticing: MemoisedState = ()

    def notice(self, state: MemoisedState, observed: int) -> tuple[int, tuple[str, ...]]:
        """What the observer knows after an action that it saw so, and what broke."""
        if state is not self.noticing:
            view_of = self.parts.view_of
            views = [view_of[n] for n in state[FIRST_BROKER : self.first_image]]
            self.shown = (state[OBSERVER], state[CONTROLLER], *views)
            self.noticing, self.noticed_here = state, self.noticed.setdefault(self.shown, {})
        noticed = self.noticed_here.get(observed)
        if noticed is None:
            noticed = self._noticed(state, (observed, *self.shown))
            self.noticed_here[observed] = noticed
        return noticed

    def _noticed(self, state: MemoisedState, key: tuple[int, ...]) -> tuple[int, tuple[str, ...]]:
        moments = self.observed.parts[key[0]]
        if self.shared is None:
            return self._watched(state, moments)
        kept = self.shared.notices[key]
        steps, watched = kept.find(self.answers.__getitem__)
        if watched is None:
            self.questions.clear()
            watched = self._watched(state, moments)
            kept.keep([*steps, *self._new(steps)], self.answers.__getitem__, self.parts, watched)
        return watched  # type: ignore[no-any-return]

    def _answers(self, *questions: shared_memory.FeatureQuestion) -> tuple[int, ...]:
        return tuple([shared_memory.answer(self.start.features, q) for q in questions])

    def work_out(self, state: MemoisedState, option: Option) -> Effect:
        """What an action does: as an earlier search has found, or as the engine does it now."""
        parts = self.parts

        def number_of(step: shared_memory.Dependence) -> Any:
            return self.answers[step] if type(step) is tuple else parts.number_of(state, step)

        kept = option if self.shared is None else self.shared.outcomes[option.offer]
        steps, outcome = kept.find(number_of)
        if outcome is None:
            outcome = self._tried(state, option, steps)
            if self.shared is not None:
                self.shared.count += 1
                kept.keep(steps, number_of, parts, outcome)
        self.coverage.guards |= outcome.guards
        self.coverage.committed |= outcome.committed
        read = [step for step in steps if not isinstance(step, tuple)]
        option.remember(state, parts, read, outcome.effect)
        effect: Effect = outcome.effect
        return effect

    def _tried(
        self, state: MemoisedState, option: Option, steps: list[shared_memory.Dependence]
    ) -> shared_memory.ActionOutcome:
        """Let the engine do it with more and more shown; what it reads is added to `steps`."""
        shown = [step for step in steps if not isinstance(step, tuple)]
        coverage, effect = Coverage(), None
        while effect is None:
            self.questions.clear()
            more: list[StatePiece] = []
            try:
                effect = self._attempt(state, option, shown, coverage)
            except pieces.HiddenPartError as hidden:
                if hidden.piece in shown:
                    raise
                more = self._shown_next(hidden.piece, shown)
            steps += [*self._new(steps), *more]
            shown += more
        return shared_memory.ActionOutcome(effect, frozenset(coverage.guards), coverage.committed)

    def _new(self, steps: list[shared_memory.Dependence]) -> list[shared_memory.Dependence]:
        """What was asked of the features, as one more step if it is not among `steps` already."""
        before = {q for step in steps if isinstance(step, tuple) for q in step}
        questions = tuple([q for q in self.questions if q not in before])
        return [questions] if questions else []

    def _shown_next(self, piece: StatePiece, read: list[StatePiece]) -> list[StatePiece]:
        """What the controller sends goes to every broker that runs: show that of all at once."""
        if not pieces.is_incarnation(piece) or CONTROLLER not in read:
            return [piece]
        places = [p for p in self.parts.places.values() if p not in read]
        return [i for i in map(pieces.incarnation_at, places) if i not in read]

    def _attempt(
        self, state: MemoisedState, option: Option, shown: list[StatePiece], coverage: Coverage
    ) -> Effect:
        start = self.partial.cluster(state, option.request, shown)
        moments: list[ObservedMove] = []

        def noting(cluster: Cluster, move: Move, *, checked: bool = False) -> Step:
            after, events = carried_out(cluster, move, checked=checked)
            if shows_something(cluster, after):
                moments.append(moment(start, cluster, after, events))
            return Step(after, tuple(events))

        done = do(self.level, start, option.action, noting)
        if done is None:
            return NOTHING
        note(coverage, done.events)
        return self._effect(state, option, start, done.cluster, moments) if done.came else NOTHING

    def _effect(
        self,
        state: MemoisedState,
        option: Option,
        before: Cluster,
        after: Cluster,
        moments: list[ObservedMove],
    ) -> Effect:
        held, changes = pieces.controller_in(after), list[tuple[int, int]]()
        incarnations = forms.NO_INCARNATIONS
        if held is not None and held is not pieces.controller_in(before):
            incarnations = forms.new_incarnations(held)
            controller = self.parts.controllers[forms.of_controller(held, incarnations)]
            changes += [(CONTROLLER, controller)] * (controller != state[CONTROLLER])
        pairs = zip(before.brokers, after.brokers, strict=True)
        for place, (was, now) in enumerate(pairs, FIRST_BROKER):
            if now is not was:
                changes += self._changed(state, place, was, now, incarnations)
        requests = self._sent(option, before, after, incarnations)
        if not changes and requests is None:
            return NOTHING
        quiet = all(m.quiet for m in moments)
        return Effect(tuple(changes), requests, None if quiet else self.observed[tuple(moments)])

    def _changed(
        self,
        state: MemoisedState,
        place: int,
        was: Broker,
        now: Broker,
        incarnations: forms.Incarnations,
    ) -> Iterator[tuple[int, int]]:
        hidden = pieces.hides_image(now)
        node = pieces.with_image(now, None) if hidden else now
        number, image = (
            self.parts.broker(forms.of_broker(node, incarnations))
            if incarnations
            else self.parts.numbers_of[node]
        )
        if number != state[place]:
            yield place, number
        # One that was hidden is another in other states, so that this one is always a change there.
        stays = hidden and forms.leads(now)
        if not stays and (pieces.hides_image(was) or image != state[pieces.image_at(place)]):
            yield pieces.image_at(place), image

    def _sent(
        self, option: Option, before: Cluster, after: Cluster, incarnations: forms.Incarnations
    ) -> tuple[int, tuple[int, ...]] | None:
        ids_before = {id(m) for m in before.messages}
        new = (m for m in after.messages if id(m) not in ids_before)
        sent = tuple(self.parts.messages[m] for m in forms.of_requests(new, incarnations))
        return (option.request, sent) if sent or option.request >= 0 else None

    # --- the observer ----------------------------------------------------------------------------

    def _watched(
        self, state: MemoisedState, moments: tuple[ObservedMove, ...]
    ) -> tuple[int, tuple[str, ...]]:
        parts = self.parts
        cluster = replace(
            self.traced_start,
            controller=parts.controllers.parts[state[CONTROLLER]],
            observed=parts.observers.parts[state[OBSERVER]],
        )
        numbers = state[FIRST_BROKER : self.first_image]
        views = [parts.views.parts[parts.view_of[n]] for n in numbers]
        observed, broken = watch(cluster, moments, views)
        return parts.observers[observed], broken
