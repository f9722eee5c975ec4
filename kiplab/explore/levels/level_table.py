"""Levels: how finely a search divides events, and how often each action may happen.

A level is a menu of actions. An action is a few moves of the engine done at once. After them all
messages flow that the level does not hold in flight, as in a play with `hold` lines.
"""

from collections.abc import Callable, Iterable, Mapping

import msgspec

from ...engine import properties
from ...engine.channels import blocker
from ...engine.cluster import Cluster, Message, broker
from ...engine.events import Event
from ...engine.impossible_moves import why_not
from ...engine.moves import Deliver, Move
from ...engine.step import Step, step
from ...protocol.ids import BrokerId
from ...protocol.replica.broker_state import Broker

CAN_DATA_BE_LOST = (properties.NO_COMMITTED_RECORD_LOST.id, properties.ELECTABLE_HOLDS_COMMITTED.id)
"""The question of most levels: whether a committed record is, or could now be, lost."""


class Action(msgspec.Struct, frozen=True, cache_hash=True):
    """An action, and the broker that it is done to.

    For messages: a message of kind `what`, sent by `node` of the incarnation `incarnation` (as the
    level counts them) to `to`. Nothing here depends on how messages and epochs are numbered, so
    that an action means the same in a normal form and in a replay.
    """

    kind: str
    node: BrokerId
    what: str = ""
    incarnation: int = 0
    to: BrokerId | None = None


class Bound(msgspec.Struct, frozen=True):
    """The limit of an action: the default, and the counted thing, in words (one, many).

    `first` and `further` are how many times more states the first of it makes, and every further
    one, as measured on three brokers (search/size_prediction.py). One that is `optional` is part of
    a question only where it is asked for.
    """

    name: str
    default: int
    one: str
    many: str
    first: float
    further: float
    optional: bool = False


class Pace(msgspec.Struct, frozen=True):
    """What a state costs whoever searches; slower machines take longer. `ending` ends the sentence.

    Rules of thumb below `certain` need no measurement: that many states are a matter of seconds. A
    search within smaller bounds that knows more than `cheap` states is not cheap any more. `margin`
    is how far from a prediction the truth has been found, as a factor.
    """

    states_per_s: int
    state_bytes: int
    ending: str
    certain: int = 100_000
    cheap: int = 1_500
    margin: str = "three"


class Kind(msgspec.Struct, frozen=True):
    """A kind of action.

    It is for each of the level's brokers that `fits`; one that is not for brokers has `offered`,
    which lists it for a cluster, in an order that depends on nothing else. `moves` are what it does
    there, and `then` what it does after everything has flowed. `costs` names the bound that it uses
    up, with `of_running` only for a broker that runs. `came` judges the outcome: False means that
    the action came to nothing. `again` is what it goes on with, as often as there is something.
    """

    name: str
    moves: Callable[[Cluster, Action], tuple[Move, ...]]
    fits: Callable[[Cluster, Broker], bool] | None = None
    offered: Callable[[Cluster], Iterable[Action]] = lambda _cluster: ()
    costs: str | None = None
    of_running: bool = False
    came: Callable[[Cluster, Action], bool] = lambda _cluster, _action: True
    then: Callable[[Cluster, Action], tuple[Move, ...]] | None = None
    again: Callable[[Cluster, Action], tuple[Move, ...]] | None = None

    def offers_to(self, cluster: Cluster, node: Broker) -> tuple[Action, ...]:
        """The action of this kind that is for a broker, if any."""
        fits = self.fits is not None and self.fits(cluster, node)
        return (Action(self.name, node.id),) if fits else ()

    def cost(self, cluster: Cluster, action: Action) -> str | None:
        """The bound that an action uses up. Ending the session of a running broker is a fault."""
        if not self.of_running:
            return self.costs
        node = broker(cluster, action.node)
        return self.costs if node is not None and node.process is not None else None


class Level(msgspec.Struct, frozen=True, kw_only=True):
    """A menu of kinds of actions, for `brokers`; `holds` are the kinds of messages that stay in
    flight, but for those that `passes` lists: (kind, receiver), the same throughout a search.

    `smallest` is how many states there are where nothing of that happens, on three brokers, and
    `pace` that of the engine's own search.
    `normal` is the representative of all clusters that no action of this level can tell apart;
    `admit` refuses plays that the level cannot speak of, with PlayError. `asks` are the properties
    that are asked for unless others are; `blind` those of which nothing can come out here, because
    no action could break them; `unasked` guards that no rule asks for here, and why: with one
    switched by hand a proof would say nothing about it.
    """

    name: str
    sentence: str
    kinds: tuple[Kind, ...]
    brokers: Callable[[Cluster], Iterable[Broker]]
    holds: tuple[str, ...]
    bounds: tuple[Bound, ...]
    smallest: int
    pace: Pace
    normal: Callable[[Cluster], Cluster]
    admit: Callable[[Cluster], Cluster]
    asks: tuple[str, ...]
    blind: tuple[str, ...]
    unasked: Mapping[str, str] = {}
    passes: Callable[[Cluster], tuple[tuple[str, BrokerId], ...]] = lambda _cluster: ()

    def kind(self, name: str) -> Kind:
        """The kind of this name; an Action names one of its own level."""
        return next(k for k in self.kinds if k.name == name)

    def with_defaults(self, bounds: Mapping[str, int]) -> dict[str, int]:
        """Every bound of the level, but optional ones that are not asked for.

        Raises ExploreError for one that it lacks, or an odd value.
        """
        defaults = {b.name: b.default for b in self.bounds}
        for name, value in bounds.items():
            if name not in defaults:
                listed = ", ".join(f"{b.name} ({b.default} by default)" for b in self.bounds)
                raise ExploreError(
                    f"level {self.name} has no bound {brief(name)!r}; it has {listed}"
                )
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= BOUND_MAX:
                raise ExploreError(f"bound {name} is {quoted(value)}; expected 0 to {BOUND_MAX}")
        asked = {name: bounds.get(name, default) for name, default in defaults.items()}
        return {b.name: asked[b.name] for b in self.bounds if asked[b.name] or not b.optional}

    def within(self, bounds: Mapping[str, int]) -> "Level":
        """The level without the actions that use up what is no bound of the question."""
        kinds = tuple(k for k in self.kinds if k.costs is None or k.costs in bounds)
        return self if kinds == self.kinds else msgspec.structs.replace(self, kinds=kinds)

    def in_words(self, bounds: Mapping[str, int]) -> str:
        """``"1 record written, 2 crashes that lose a disk"``, and what may not happen at all."""
        parts = [
            f"{bounds[b.name]} {b.one if bounds[b.name] == 1 else b.many}"
            for b in self.bounds
            if b.name in bounds
        ]
        return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else parts[0]


BOUND_MAX = 15
"""More of anything than this is out of reach, and out of the compiled search's words."""


class ExploreError(ValueError):
    """A level, bound, property or limit that does not exist; the message lists what does."""


def quoted(value: object) -> str:
    """A value for a sentence; Python itself refuses to write very large integers."""
    if isinstance(value, int) and value.bit_length() > 64:
        return "a number of more than 19 digits"
    return brief(repr(value))


def brief(text: str) -> str:
    """Text for a sentence, cut where it has no end."""
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}..."


SHOWN_MAX = 30
"""Characters of the input that a message repeats."""


class AfterAction(msgspec.Struct, frozen=True):
    """The cluster after an action, and all that followed from it. Where the action came to nothing
    (Kind.came), the events say why; the cluster is of no use."""

    cluster: Cluster
    events: tuple[Event, ...]
    came: bool


Stepping = Callable[..., Step]
"""`step`, or what does the same and takes notes."""


def do(
    level: Level, cluster: Cluster, action: Action, stepping: Stepping = step
) -> AfterAction | None:
    """The engine's own steps for one action; None where it cannot be done."""
    kind, events = level.kind(action.kind), list[Event]()
    done_moves = kind.moves(cluster, action)
    if not done_moves or why_not(cluster, done_moves[0]) is not None:
        return None
    after = _flow(level, cluster, done_moves, events, stepping, checked=True)
    came = kind.came(after, action)
    if kind.then is not None and came:
        after = _flow(level, after, kind.then(after, action), events, stepping)
    while kind.again is not None and (more := kind.again(after, action)):
        after = _flow(level, after, more, events, stepping)
    return AfterAction(after, tuple(events), came)


def _flow(
    level: Level,
    cluster: Cluster,
    moves: tuple[Move, ...],
    events: list[Event],
    stepping: Stepping,
    *,
    checked: bool = False,
) -> Cluster:
    """Moves and what follows from them; `checked`, nothing is in the way of the first move."""
    for number, move in enumerate(moves):
        done = stepping(cluster, move, checked=checked and not number)
        cluster = done.cluster
        events += done.events
    passes = level.passes(cluster)
    while (ready := _ready(cluster, level.holds, passes)) is not None:
        # `_ready` has asked all that `why_not` would, but where a link is cut.
        done = stepping(cluster, Deliver(ready.name), checked=not cluster.cut)
        cluster = done.cluster
        events += done.events
    return cluster


def _ready(
    cluster: Cluster, holds: tuple[str, ...], passes: tuple[tuple[str, BrokerId], ...]
) -> Message | None:
    for message in cluster.messages:
        kind = message.name.kind
        flows = kind not in holds or (kind, message.receiver) in passes
        if flows and blocker(cluster, message) is None:
            return message
    return None


def offered(level: Level, cluster: Cluster) -> Iterable[tuple[Kind, Action]]:
    """Every action that the menu offers, always in the same order."""
    brokers = tuple(level.brokers(cluster))
    for kind in level.kinds:
        for action in kind.offered(cluster):
            yield kind, action
        for node in brokers:
            for action in kind.offers_to(cluster, node):
                yield kind, action
