"""The result of a search: the verdict with its bounds, actions never tried, the shortest way."""

from typing import Any

import msgspec

from ...engine.cluster import Cluster
from ...engine.properties import PROPERTIES
from ...plays.play import Play, format_play
from ...protocol.guards import GUARDS, GuardKind
from ...protocol.ids import CONTROLLER
from ..levels.all_levels import level_named
from ..levels.level_table import Action, Level
from ..search_terms import PROVED, REFUTED, Coverage, SearchOutcome

_SAYS_SO = ("841.leader-skips-fenced", "841.leader-skips-shutting-down", "903.leader-epoch")
"""Rules that report when they bar a follower; other rules act without a word."""
_WATCHED = (GuardKind.REFUSAL,)
"""Kinds of guards that report when they act; of others nobody knows whether they were needed."""
AS_FOUND = (
    *("verdict", "violated", "path", "states", "transitions", "depth", "frontier", "stopped"),
)
"""What an answer says as its SearchOutcome does."""


class Vacuity(msgspec.Struct, frozen=True):
    """The actions and guards that had an effect, so that a vacuous proof is seen to be one.

    Every guard that is on, at whatever node, is in one of three: `fired` refused something,
    `silent` never did, and of `unwatched` nobody can say: they act without a word. `taken` counts
    transitions by kind of action; `never` are the kinds without any.
    """

    committed: bool
    fired: tuple[str, ...]
    silent: tuple[str, ...]
    unwatched: tuple[str, ...]
    taken: dict[str, int]
    never: tuple[str, ...]

    @property
    def sentence(self) -> str:
        """One line for people; empty when everything was tried and watched."""
        parts = [] if self.committed else ["nothing was ever committed"]
        parts += [f"no {kind} was possible" for kind in self.never]
        if self.silent:
            parts.append(f"never needed: {', '.join(self.silent)}")
        if self.unwatched:
            parts.append(f"not watched, needed or not: {', '.join(self.unwatched)}")
        return "; ".join(parts)


class Explored(msgspec.Struct, frozen=True):
    """The result of `kiplab.explore`.

    `violated` is the id of the property that broke. `play` shows a shortest counterexample (run it
    with `kiplab.run`), None unless refuted in a step or more. `states` and `transitions` count what
    was found, a transition leading to another state. `frontier` counts the states that an
    unfinished search knew and had not looked at. `predicted` is what was said before it began.
    `engine` is who searched, "step" or "compiled".
    """

    verdict: str
    violated: str | None
    properties: tuple[str, ...]
    bounds: dict[str, int]
    level: str
    features: str
    play: Play | None
    path: tuple[Action, ...]
    states: int
    transitions: int
    depth: int
    frontier: int
    seconds: float
    vacuity: Vacuity
    stopped: str
    predicted: str
    engine: str = "step"

    @property
    def steps(self) -> int | None:
        """The length of a shortest counterexample, None unless refuted."""
        return len(self.path) if self.verdict == REFUTED else None

    @property
    def sentence(self) -> str:
        """The verdict in words, never without its bounds."""
        bounds = level_named(self.level).in_words(self.bounds)
        within = f"Kafka {self.features}, level {self.level}, within {bounds}"
        if self.verdict == PROVED:
            proved = " ".join(PROPERTIES[id].sentence for id in self.properties)
            return (
                f"Proved for these bounds ({within}): {proved}"
                f" All {self.states:,} states were checked."
            )
        if self.violated is not None:
            count = len(self.path)
            way = "as the play begins" if not count else f"in {count} step{'s' * (count != 1)}"
            less = ", and in no fewer" if count else ""
            broken = PROPERTIES[self.violated].sentence.rstrip(".")
            return f"Refuted ({within}): {self.violated} breaks {way}{less}. It says: {broken}."
        return (
            f"Not finished ({within}): {self.stopped}. Nothing broke in {self.states:,} states;"
            f" everything up to {self.depth} steps was checked, and {self.frontier:,} known"
            " states were not."
        )

    def text(self) -> str:
        """The play as text, for a file or `kiplab play`; empty where there is none."""
        return "" if self.play is None else format_play(self.play)

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab explore --json` prints."""
        return {
            "verdict": self.verdict,
            "steps": self.steps,
            "states": self.states,
            "transitions": self.transitions,
            "seconds": round(self.seconds, 3),
            "bounds": self.bounds,
            "property": self.violated,
            "play": self.text() or None,
            "properties": list(self.properties),
            "level": self.level,
            "features": self.features,
            "depth": self.depth,
            "frontier": self.frontier,
            "stopped": self.stopped or None,
            "predicted": self.predicted or None,
            "vacuity": {**msgspec.to_builtins(self.vacuity), "sentence": self.vacuity.sentence},
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return f"<Explored: {self.sentence}>"


def vacuity_of(outcome: SearchOutcome, coverage: Coverage, level: Level, start: Cluster) -> Vacuity:
    """Which guards had something to refuse, and which actions had their turn."""
    features = start.features
    active = features.active(CONTROLLER).union(*(features.active(b.id) for b in start.brokers))
    on = [guard for guard in GUARDS.values() if guard.id in active]
    watched = [g.id for g in on if g.kind in _WATCHED or g.id in _SAYS_SO]
    return Vacuity(
        committed=coverage.committed,
        fired=tuple(id for id in watched if id in coverage.guards),
        silent=tuple(id for id in watched if id not in coverage.guards),
        unwatched=tuple(g.id for g in on if g.id not in watched),
        taken=outcome.taken,
        never=tuple(k.name for k in level.kinds if k.name not in outcome.taken),
    )
