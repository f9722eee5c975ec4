"""From any failing run to a locally minimal play of the same situation.

Three passes take turns until none finds anything: drop lines (in halves, in ever smaller parts, one
by one, in pairs), simplify a line, move a line so that lines about one broker are together. After
every change one question counts: does the same property still break, and is it as little excused as
before? The order of the attempts depends on the play alone.
"""

from itertools import pairwise
from pathlib import Path
from typing import Any, Protocol

import msgspec

from ...engine.properties import NO_COMMITTED_RECORD_LOST, PROPERTIES
from ...plays import grammar, header, library, rule_lines
from ...plays.play import Play, Statement, format_play
from ...plays.play_errors import PlayError, nearest
from ...plays.runner import run_play
from ...plays.stage import Stage
from ..levels.level_table import ExploreError
from .shortening import Lines, Trial, dropped, goal_of, joined, moved, simplified, without_pairs

TRIES_MAX = 5_000
"""Attempts; each runs a part of the play again."""


class HasStage(Protocol):
    """A `kiplab.run(...)`."""

    @property
    def stage(self) -> Stage: ...


class Minimised(msgspec.Struct, frozen=True):
    """`play` breaks the property `violated` and says so at its end; it runs under its own rules.

    `dropped` counts the lines that were not needed, `lines` those that are left (without header,
    comments and `expect`), `tries` the attempts. `minimal` says that no single line can be dropped;
    it is False only where `tries` were not enough to find out.
    """

    play: Play
    violated: str
    dropped: int
    lines: int
    tries: int
    minimal: bool

    def text(self) -> str:
        """The play as text, for a file or `kiplab play`."""
        return format_play(self.play)

    @property
    def sentence(self) -> str:
        """The result, in words."""
        taken = f"{self.lines} line{'s' * (self.lines != 1)} of {self.lines + self.dropped}"
        kept = f"{taken} are enough to break {self.violated}"
        if not self.minimal:
            return f"{kept}; {self.tries:,} attempts were not enough to search for fewer."
        return f"{kept}, and none of them can be left out ({self.tries:,} attempts)."

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab minimise --json` prints."""
        return {
            "play": self.text(),
            "property": self.violated,
            "lines": self.lines,
            "dropped": self.dropped,
            "tries": self.tries,
            "minimal": self.minimal,
            "sentence": self.sentence,
        }

    def __repr__(self) -> str:
        return f"<Minimised: {self.sentence}>"


def minimise(
    run: HasStage | Stage | Play | str | Path,
    property: str | None = None,
    *,
    tries: int = TRIES_MAX,
) -> Minimised:
    """The shortest play that this finds from `run`: a run, a play, or its name, file or token.

    `property` is the id of what is to go on breaking; None means lost records, or else what broke
    first. Header, question and comments are kept; where the run has other rules than its play, the
    new play has those of the run. Raises PlayError where nothing breaks, ExploreError for a
    property that there is none of.
    """
    stage = _stage(run)
    wanted = _property(stage, property)
    head, body = _parts(stage)
    trial = Trial(head, goal_of(stage, wanted), tries)
    if not trial.holds(body):
        raise PlayError(
            f"{wanted} does not break when {stage.play.name!r} is run again",
            expected="a play that depends on nothing but its lines",
        )
    left = _least(trial, body)
    lines = sum(1 for s in left if s.verb)
    return Minimised(
        play=_written(head, left, wanted),
        violated=wanted,
        dropped=sum(1 for s in stage.play.statements if _is_action(s)) - lines,
        lines=lines,
        tries=trial.tries,
        minimal=not trial.spent,
    )


def _stage(run: HasStage | Stage | Play | str | Path) -> Stage:
    if isinstance(run, Stage):
        return run
    if isinstance(run, Play):
        return run_play(run)
    if isinstance(run, str | Path):
        return run_play(*library.find(run))
    return run.stage


def _property(stage: Stage, property: str | None) -> str:
    broken = list(dict.fromkeys(id for id, _ in stage.cluster.broken))
    if property is not None and property not in PROPERTIES:
        raise ExploreError(f"there is no property {property!r}; {nearest(property, PROPERTIES)}")
    if not broken or (property is not None and property not in broken):
        what = f"{', '.join(broken)} broke" if broken else "nothing breaks"
        raise PlayError(
            f"{stage.play.name or 'the play'}: {what} on Kafka {stage.features.label()}",
            expected=f"a run that breaks {property or 'a property'}",
        )
    if property is not None:
        return property
    loss = NO_COMMITTED_RECORD_LOST.id
    return loss if loss in broken else broken[0]


# --- a play in parts ------------------------------------------------------------------------------


def _is_action(statement: Statement) -> bool:
    verb = statement.verb
    return bool(verb) and not (grammar.VERBS[verb].header or verb == "expect")


def _parts(stage: Stage) -> tuple[Play, Lines]:
    """(the header as a play of its own, the lines that did something and comments)."""
    statements = stage.play.statements
    first = next((n for n, s in enumerate(statements) if _is_action(s)), len(statements))
    did_nothing = {p.line for p in stage.performed if p.not_applicable is not None}
    body = tuple(
        s
        for line, s in enumerate(statements[first:], first + 1)
        if (_is_action(s) or not s.verb) and line not in did_nothing
    )
    head = tuple(s for s in statements[:first] if s.verb != "expect")
    if header.features_of(stage.play) != stage.features:
        head = rule_lines.under_rules(head, stage.features)
    return Play(head, stage.play.name), body


def _written(head: Play, body: Lines, property: str) -> Play:
    expects = [Statement("expect", ("property", property, "broken"))]
    if property == NO_COMMITTED_RECORD_LOST.id:
        expects.append(Statement("expect", (), (("verdict", "loss"),)))
    blank = Statement()
    lines = pairwise((blank, *head.statements, blank, *body, *expects))
    # Without blank lines that have nothing between them any more.
    tidy = tuple(line for before, line in lines if not before == line == blank)
    return grammar.parse(format_play(Play(tidy, head.name)), head.name)


# --- the passes -----------------------------------------------------------------------------------


def _least(trial: Trial, body: Lines) -> Lines:
    """What is left when no pass finds anything any more. A round ends where it began: with a look
    at every single line, so that none of those that are left can be dropped.
    """
    while True:
        before = body
        for shorter in (dropped, without_pairs, simplified, joined, moved):
            body = shorter(trial, body)
        if body == before or trial.spent:
            return body
