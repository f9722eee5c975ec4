"""A path of actions as a play: `hold` lines, then every action as the lines that do the same."""

from collections.abc import Iterable

from msgspec.structs import replace

from ...engine import moves
from ...engine.channels import find
from ...plays import grammar, rule_lines, verbs
from ...plays.move_lines import statement_of
from ...plays.play import Play, Statement, format_play
from ...plays.runner import do_line, extended, open_stage
from ...plays.stage import Stage, matching
from ...plays.values import node_word
from ...protocol.features import Features
from ..levels.action_kinds import NEW
from ..levels.level_table import Action, Level
from ..levels.normal_recovery import READER

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
    lines = (*situation(play, features), *more, Statement(), *holds)
    stage = open_stage(Play(lines, f"{play.name}-explored"))
    for line, statement in enumerate(lines, 1):
        stage = do_line(stage, statement, line)
    for kind, receiver in level.passes(stage.cluster):
        passes = Statement("release", (kind,), (("to", node_word(receiver)),))
        stage = extended(stage, passes)
    return stage


def situation(play: Play, features: Features) -> tuple[Statement, ...]:
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
