"""Alternatives that KIP-903 rejected, beside its choice: their failures, or costs if they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ...engine.truth import truth
from ...extras import needed_by
from ...plays.play import Play, format_play
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...protocol.facts import Refused
from ...protocol.features import switched
from ...protocol.guards import GUARDS, GuardKind, named
from ..levels.all_levels import level_named
from ..levels.level_table import ExploreError
from ..search import limits as outside
from ..search.explored import Explored
from ..search.limits import MEMORY_MB
from ..search.question import question_about, situation
from ..search_terms import PROVED, REFUTED
from .cells import FOUND
from .guard_matrix import DEFAULT_KAFKA, PENDING
from .processes import announce, answers, processes_and_memory

if TYPE_CHECKING:
    import pandas as pd

INSTEAD_OF = "903"
COST_PLAY = "903-bump-leader-epochs"
"""A broker that was never in the ISR comes back, while metadata is slow to reach one that is."""
_IN_ITS_PLACE = (GuardKind.ALTERNATIVE,)
"""Kinds of guards of which those of KIP-903 are tried in its place."""
_FETCH_GUARDS = ("320.fenced-fetch", "320.unknown-fetch")


class Cost(msgspec.Struct, frozen=True):
    """The costs of one reference play: fetches that leaders refuse, leader epochs that are used up.

    Every refused fetch is a round in which a replica that did nothing wrong got no records.
    """

    refused_fetches: int
    leader_epochs: int


class Alternative(msgspec.Struct, frozen=True):
    """One way to know which incarnation of a broker a request means; `guard` None is no way."""

    name: str
    guard: str | None
    clause: str
    verdict: str
    violated: str | None
    steps: int | None
    states: int
    play: Play | None
    features: str
    cost: Cost

    @property
    def sentence(self) -> str:
        """What breaks, or that it holds and what it costs."""
        if self.verdict == REFUTED:
            return f"{self.name}: {self.violated} breaks in {self.steps} steps."
        if self.verdict != PROVED:
            return f"{self.name}: not finished after {self.states:,} states."
        fetches, epochs = self.cost.refused_fetches, self.cost.leader_epochs
        if not fetches and not epochs:
            return f"{self.name}: it holds, and costs neither a leader epoch nor a refused fetch."
        return (
            f"{self.name}: it holds, and costs {epochs} leader epoch{'s' * (epochs != 1)} and"
            f" {fetches} refused fetch{'es' * (fetches != 1)}: replication to a replica that did"
            " nothing stops until it has received the new epoch."
        )


class Alternatives(msgspec.Struct, frozen=True):
    """The result of `alternatives`: `rows` begin with nothing at all and with KIP-903 itself."""

    rows: tuple[Alternative, ...]
    within: str
    measured: str

    @property
    def sentences(self) -> list[str]:
        """The bounds, then one sentence per row."""
        first = f"Kafka {self.rows[0].features} and what takes the place of KIP-903, {self.within}."
        costs = f"{first} Costs as measured in the play {self.measured}."
        return [costs, *(row.sentence for row in self.rows)]

    def table(self) -> pd.DataFrame:
        """A row per way: way, verdict, steps, states, refused fetches, leader epochs, sentence."""
        with needed_by("a table"):
            import pandas as pd

        rows = (
            (r.name, r.verdict, r.steps, r.states, *msgspec.structs.astuple(r.cost), r.sentence)
            for r in self.rows
        )
        costs = ("refused fetches", "leader epochs")
        return pd.DataFrame(rows, columns=["way", "verdict", "steps", "states", *costs, "sentence"])

    def report(self) -> dict[str, Any]:
        """Plain values."""
        rows = [
            {
                **msgspec.structs.asdict(row),
                "play": None if row.play is None else format_play(row.play),
                "cost": msgspec.structs.asdict(row.cost),
                "sentence": row.sentence,
            }
            for row in self.rows
        ]
        return {"alternatives": rows, "within": self.within, "measured": self.measured}

    def __repr__(self) -> str:
        return "\n".join(self.sentences)


def alternatives(
    play: str | Path | Play = "isr-two-of-three",
    *,
    kafka: str = DEFAULT_KAFKA,
    as_specified: bool = True,
    level: str = "partition",
    property: str | tuple[str, ...] | None = None,
    cost_play: str | Path | Play = COST_PLAY,
    seconds: float | None = None,
    memory_mb: int = MEMORY_MB,
    processes: int | None = None,
    progress: Callable[[int, int], object] | None = None,
    say: Callable[[str], object] | None = None,
    **bounds: int,
) -> Alternatives:
    """Without KIP-903, with it, and with each alternative it rejected in its place.

    Every row is a search, as in `kiplab.matrix` (`processes`, `memory_mb`, `progress` and `say`
    too), and the cost of running `cost_play` under the same rules. Raises as `kiplab.explore`.
    """
    play_found, features = situation(play, kafka)
    measured, _ = situation(cost_play)
    base = switched(features, INSTEAD_OF, False)
    base = switched(base, PENDING, True) if as_specified else base
    ways = _ways()
    crew, each_mb = processes_and_memory(processes, memory_mb, len(ways))
    question = question_about(
        play_found,
        base,
        level=level,
        property=property,
        bounds=bounds,
        seconds=seconds,
        memory_mb=each_mb,
    )
    questions = [
        replace(question, features=base if guard is None else switched(base, guard, True))
        for _, guard, _ in ways
    ]
    announce("rows", questions, crew, say or outside.say)
    exploreds = answers(questions, processes=crew, progress=progress or outside.of_cells("rows"))
    return Alternatives(
        rows=tuple(
            _row(way, one, cost_of(run_play(measured, asked.features)))
            for way, asked, one in zip(ways, questions, exploreds, strict=True)
        ),
        within=f"level {level}, within {level_named(level).in_words(question.bounds)}",
        measured=measured.name,
    )


def _ways() -> list[tuple[str, str | None, str]]:
    """(name, guard to be switched on, what it says)."""
    chosen = {GUARDS[id].kip for id in named(INSTEAD_OF)}
    rejected = [g for g in GUARDS.values() if g.kind in _IN_ITS_PLACE and g.kip in chosen]
    return [
        ("nothing", None, "No check compares the incarnation of a broker."),
        ("KIP-903", INSTEAD_OF, "A proposed ISR has the broker epochs of the last fetches."),
        *((g.id, g.id, g.clause) for g in rejected),
    ]


def _row(way: tuple[str, str | None, str], one: Explored | None, cost: Cost) -> Alternative:
    if one is None:
        raise ExploreError(
            f"the process that searched {way[0]} is gone, probably for want of memory; give it"
            " smaller bounds, or memory_mb="
        )
    return Alternative(*way, **{field: getattr(one, field) for field in FOUND}, cost=cost)


def cost_of(stage: Stage) -> Cost:
    """What a run cost those that replicate, over all its partitions."""
    refused = [e for e in stage.events if isinstance(e, Refused) and e.guard in _FETCH_GUARDS]
    before = {p.name: p.leader_epoch for p in truth(stage.history.start).partitions}
    after = truth(stage.cluster).partitions
    return Cost(len(refused), sum(p.leader_epoch - before.get(p.name, 0) for p in after))
