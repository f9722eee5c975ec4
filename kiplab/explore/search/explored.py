"""The result of a search: the verdict with its bounds, actions never tried, the shortest way.

Its path is told as a play: `hold` lines, then every action as the lines that do the same.
"""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import find
from ...engine.cluster import Cluster
from ...engine.properties import PROPERTIES
from ...plays import grammar, rule_lines, verbs
from ...plays.move_lines import statement_of
from ...plays.play import Play, Statement, format_play
from ...plays.runner import do_line, extended, open_stage
from ...plays.stage import Stage, matching
from ...plays.values import node_word
from ...protocol.features import Features
from ...protocol.guards import GUARDS, GuardKind
from ...protocol.ids import CONTROLLER
from ..levels.action_kinds import NEW
from ..levels.all_levels import level_named
from ..levels.level_table import Action, Level
from ..levels.normal_recovery import READER
from ..search_terms import PROVED, REFUTED, Coverage, SearchOutcome

_SAYS_SO = ("841.leader-skips-fenced", "841.leader-skips-shutting-down", "903.leader-epoch")
"""Rules that report when they bar a follower; other rules act without a word."""
_WATCHED = (GuardKind.REFUSAL,)
"""Kinds of guards that report when they act; of others nobody knows whether they were needed."""
AS_FOUND = ["verdict", "violated", "path", "states", "transitions", "depth", "frontier", "stopped"]
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


# --- the path as a play ---------------------------------------------------------------------------

_SITUATION = ("question", "controller", "broker", "topic", "replica", "consumer", "given")


def play_of(
    play: Play, features: Features, level: Level, path: tuple[Action, ...], property: str
) -> Play:
    """The situation of `play` under `features`, and `path` from there to where `property` breaks.

    It runs as any other play, and goes through the same states.
    """
    stage = held_stage(play, features, level, readers(play, path))
    for action in path:
        stage = done_by_lines(stage, level, action)
    expected = Statement("expect", ("property", property, "broken"))
    title = Statement("title", tuple(f"{play.title}: {len(path)} steps to trouble".split()))
    whole = Play((title, *stage.play.statements, expected), stage.play.name)
    return grammar.parse(format_play(whole), whole.name)


def readers(play: Play, path: tuple[Action, ...]) -> tuple[Statement, ...]:
    """A line for each consumer of a path that the play does not know."""
    topic = next(s.words[0] for s in play.statements if s.verb == "topic")
    count = sum((action.kind, action.what) == ("read", NEW) for action in path)
    names = (f"{READER}{number}" for number in range(1, count + 1))
    return tuple(Statement("consumer", (f"{topic}-0",), (("name", name),)) for name in names)


def held_stage(
    play: Play, features: Features, level: Level, more: tuple[Statement, ...] = ()
) -> Stage:
    """The stage before the first action, with the lines `more` at the end of its situation: what
    the level leaves in flight is held, but for what it lets pass."""
    holds = (Statement("hold", (kind,)) for kind in level.holds)
    lines = (*situation_lines(play, features), *more, Statement(), *holds)
    stage = open_stage(Play(lines, f"{play.name}-explored"))
    for line, statement in enumerate(lines, 1):
        stage = do_line(stage, statement, line)
    for kind, receiver in level.passes(stage.cluster):
        passes = Statement("release", (kind,), (("to", node_word(receiver)),))
        stage = extended(stage, passes)
    return stage


def situation_lines(play: Play, features: Features) -> tuple[Statement, ...]:
    """The situation at the start of `play`, under `features`, and without a clock."""
    kept = (_without_clock(s) for s in play.statements if s.verb in _SITUATION)
    return rule_lines.under_rules(kept, features)


def _without_clock(statement: Statement) -> Statement:
    """Only a clock has a controller balance leaders."""
    args = tuple(arg for arg in statement.args if arg[0] != "auto-leader-rebalance")
    return replace(statement, args=args, comment=None)


def done_by_lines(stage: Stage, level: Level, action: Action) -> Stage:
    """One action more, line by line."""
    kind = level.kind(action.kind)
    stage = _with_lines(stage, kind.moves(stage.cluster, action))
    if kind.then is not None:
        stage = _with_lines(stage, kind.then(stage.cluster, action))
    while kind.again is not None and (more := kind.again(stage.cluster, action)):
        stage = _with_lines(stage, more)
    return stage


def _with_lines(stage: Stage, performed: Iterable[moves.Move]) -> Stage:
    wanted = tuple(performed)
    assert wanted, "an action of a path can be done where the path leads"
    if [type(m) for m in wanted] == [moves.FinishRecovery, moves.Fire]:
        return extended(stage, Statement("unfence", statement_of(wanted[0]).words))
    for move in wanted:
        stage = extended(stage, _line(stage, move))
    return stage


def _line(stage: Stage, move: moves.Move) -> Statement:
    """The shortest line that does this move here."""
    whole = statement_of(move)
    if not isinstance(move, moves.AboutMessage):
        return whole
    message = find(stage.cluster, move.message)
    assert message is not None
    words = dict(whole.args)
    ends = {"from": ("from", words["from"]), "to": ("to", node_word(message.receiver))}
    near = ("from",) if move.message.sender >= 0 else ("to",)
    for keys in (near, ("from", "to")):
        short = Statement(whole.verb, whole.words, tuple(ends[k] for k in keys))
        if matching(stage, verbs.pattern_of(short)) is message:
            comment = "a newer image is on its way" if isinstance(move, moves.Drop) else None
            return replace(short, comment=comment)
    return whole
