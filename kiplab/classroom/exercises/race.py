"""Exercises of lab 04 on KAFKA-14139: the window, the two KIPs, five moments, the last replica, and
the order of events that loses data with KIP-841 on and KIP-903 off: any one that does is right.
"""

import re
from collections.abc import Sequence
from functools import cache

from msgspec.structs import replace

from ...plays import grammar, library, runner
from ...plays.play import Play
from ...plays.stage import Performed, Stage
from ...plays.verdict import SAFE, lost, refused, verdict
from ...protocol.facts import Refused, Truncated
from ...protocol.features import Features, parse_features
from ...runs import Run, run
from ..exercise_table import Exercise, UnfitError, exercise
from . import answers
from .answers import PartsInOrder, Verdict, WholeAnswer, demand_order, is_none, parts, sets_among

RACE = "kafka-14139"
RELEASES = ("3.2", "3.4", "3.5")
ARRIVALS = {str(n): f"kafka-14139-after-step-{n}" for n in range(1, 6)}
"""The play in which the request arrives after each of the race's first five steps."""
MOMENTS = {"F": "841-by-903-while-fenced", "R": "841-by-903-after-return"}
"""The request arrives while broker 2 is **f**enced, or when it has **r**eturned."""
_ALONE = {"841 only": ("903",), "903 only": ("841",)}
RULES: dict[str, tuple[str, ...]] = {"neither": ("841", "903"), **_ALONE, "both": ()}
"""Name of each of the four rule sets: (what is switched off)."""


def _range(part: str) -> str:
    """``"0..99"``, ``"0 - 99"`` and ``"offsets 0 to 99"`` are ``"0-99"``; a number is itself."""
    numbers = re.findall(r"\d+", part)
    return "-".join(numbers) if numbers else part.lower()


@cache
def at_risk() -> tuple[int, int]:
    """[from, to) in steps: when committed records of the race on 3.4 are at risk."""
    spans = run(RACE, kafka="3.4").rows().spans
    return next((s.x0, s.x1) for s in spans if s.lane == "records" and s.value == "at risk")


@cache
def losing(release: str) -> frozenset[str]:
    """The ARRIVALS that lose data on a release."""
    runs = ((n, run(play, kafka=release)) for n, play in ARRIVALS.items())
    return frozenset(n for n, played in runs if played.verdict == "loss")


def _window_keys(
    place: int, mine: str | frozenset[str], true: str | frozenset[str]
) -> tuple[str, ...]:
    if isinstance(mine, str) or isinstance(true, str):
        return ()
    release = RELEASES[place - 2]
    if (mine - true) & {"1", "2"}:
        return ("arrivals early",)
    if true - mine:
        return ("arrivals 3.2" if release == RELEASES[0] else "arrivals missing",)
    return ("arrivals 3.5" if release == RELEASES[-1] else "arrivals other",)


check_window = PartsInOrder(
    read=lambda words: [*map(_range, words[:2]), *sets_among(ARRIVALS, "arrival")(words[2:])],
    true=lambda: [*map(str, at_risk()), *map(losing, RELEASES)],
    keys=_window_keys,
)
"""Five parts: from and to of the risk in RACE on 3.4, then losing arrivals.

The risk lasts [from, to) in steps; an arrival is a digit of ARRIVALS, ``"-"`` is none of them, and
there is a word for each of RELEASES: ``[6, 8, "345", "5", "-"]`` has the right shape.
"""


@cache
def losses(rules: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of RULES."""
    runs = ((letter, run(play, off=RULES[rules])) for letter, play in MOMENTS.items())
    return frozenset(letter for letter, played in runs if played.verdict == "loss")


check_two_by_two = PartsInOrder(
    read=sets_among(MOMENTS, "moment"),
    true=lambda: [losses(rules) for rules in RULES],
    keys=lambda place, mine, true: tuple(f"{'ABCD'[place]} {moment}" for moment in true - mine),
)
"""Which MOMENTS lose data under each of RULES, in their order: ``"FR"``, ``"-"``."""


WINDOWS = exercise("kafka-14139/five-moments").letters
"""The play in which the request arrives at each of KIP-903's moments."""
REFUSES = {"841.shutting-down": "S", "841.fenced": "F", "903.controller-epoch": "E"}


@cache
def fate(play: str) -> str:
    """What becomes of the first request that arrives: **v**alid, **u**ndone or harmful (**l**oss),
    by whether broker 2 is the one that caught up; or the letter of the rule that refuses it.
    """
    played = run(play)
    stage = played.stage
    arrives = next(p for p in stage.performed if p.statement.verb == "deliver")
    refusals = [e.guard for e in stage.events_of(arrives) if isinstance(e, Refused)]
    if refusals:
        return REFUSES[str(refusals[0])]
    if played.rows().value("broker 2", "uptime", arrives.moment):
        return "V"
    return "U" if verdict(stage) == SAFE else "L"


check_moments = PartsInOrder(
    read=answers.letters_among(("V", "U", "L", *REFUSES.values()), "V U L S F E"),
    true=lambda: [fate(play) for play in WINDOWS.values()],
)
"""What becomes of the request at each of WINDOWS: ``"VUSFE"`` has the right shape."""


def last_replica(played: Run) -> tuple[str, str, str]:
    """(committed offsets lost, offsets that broker 3 truncates, refusals by KIP-903)."""
    (gone,) = lost(played.stage)
    (cut,) = (e for e in played.events if isinstance(e, Truncated) and e.node == 3)
    stopped = sum(str(r["guard"]).startswith("903.") for r in refused(played.stage))
    return f"{gone['first']}-{gone['last']}", f"{cut.first}-{cut.last}", str(stopped)


@answers.OfExercise
def check_last_replica(entry: Exercise) -> PartsInOrder:
    """Three parts about its play, offsets as ``"0-99"``.

    The committed offsets that vanish, those that broker 3 throws away, and how many requests
    KIP-903 refuses; ``"-"`` and ``"none"`` are no offsets, and 0.
    """
    played = run(entry.source)
    return PartsInOrder(
        # "none" is no request at all.
        read=lambda p: [*map(_range, p[:2]), "0" if is_none(p[2]) else _range(p[2])],
        true=lambda: last_replica(played),
        token=lambda: played.token,
    )


EVENTS: dict[str, tuple[str, str]] = {
    "asks": ("2 has caught up, and 1 asks the controller to add it", "fetch 2"),
    "arrives": ("1's request arrives at the controller", "deliver alter-partition from=1"),
    "crashes": ("2 crashes, and its disk is replaced", "crash 2 disk=replaced"),
    "starts": ("2 starts again and registers", "start 2"),
    "expires": ("2's session expires: the controller fences it", "expire 2"),
    "unfenced": ("2 is unfenced", "unfence 2"),
    "leader crashes": ("1 crashes, and keeps its log", "crash 1"),
    "leader expires": ("1's session expires: the controller fences it", "expire 1"),
}
"""Name of each event: (what happens, the line of a play). This order cannot even happen."""
LETTERS = dict(zip("ABCDEFGH", EVENTS, strict=True))
"""A letter for each name, so that an answer can be one word: ``"HGFEDCBA"``."""


def play_of(answer: Sequence[str]) -> Play:
    """The play whose lines are the events in this order; names of EVENTS or LETTERS."""
    lines = "\n".join(EVENTS[name][1] for name in _names(answer))
    return grammar.parse(f"{exercise('kafka-14139/order').situation}{lines}\n")


def stage_of(answer: Sequence[str]) -> Stage:
    """The run of that order, up to an event that cannot happen where it stands, if there is one."""
    return _run(play_of(answer))


def _names(answer: object) -> list[str]:
    """Letters as names; words that are neither stay as they are."""
    return [LETTERS.get(word.upper(), word.lower()) for word in parts(answer) if word]


def _run(play: Play, features: Features | None = None) -> Stage:
    """The play; an event that cannot happen ends it, noted rather than refused."""
    stage = replace(runner.open_stage(play, features), strict=False)
    for line, statement in enumerate(play.statements, 1):
        stage = runner.do_line(stage, statement, line)
        if stage.performed and stage.performed[-1].not_applicable is not None:
            break
    return stage


@WholeAnswer
def check_order(answer: object) -> Verdict:
    """An order that loses data: names of EVENTS or LETTERS, each once. Else raises UnfitError."""
    names = _names(answer)
    demand_order(answer, names, "eight letters or names, in the order of the events")
    if sorted(names) != sorted(EVENTS):
        raise UnfitError(_misnamed(names))
    play = play_of(names)
    stage = _run(play)
    broken = next((p for p in stage.performed if p.not_applicable is not None), None)
    if broken is not None:
        return _impossible(names, broken, stage)
    if not lost(stage):
        guards = {r["guard"] for r in refused(stage)}
        leader = "leader fenced" if "497.leader-epoch" in guards else "shrunk"
        return "fenced" if "841.fenced" in guards else leader, {"token": library.encode(play)}
    (gone, *_) = lost(stage)
    # Not even KIP-903 would have saved the records of the last replica.
    newer = verdict(_run(play, parse_features("3.5")))
    key = "last replica" if newer == "loss" else "lost"
    return key, {"first": gone["first"], "last": gone["last"], "token": library.encode(play)}


def _misnamed(names: list[str]) -> str:
    unknown = [name[:20] for name in names if name not in EVENTS]
    missing = [name for name in EVENTS if name not in names]
    twice = [name for name in EVENTS if names.count(name) > 1]
    kinds = (("there is no event", unknown), ("missing", missing), ("more than once", twice))
    wrong = "; ".join(f"{what}: {', '.join(which[:8])}" for what, which in kinds if which)
    return f"Use each of the eight events once ({', '.join(EVENTS)}). Here, {wrong}."


def _impossible(names: list[str], broken: Performed, stage: Stage) -> Verdict:
    name = next(n for n in names if EVENTS[n][1] == broken.statement.text)
    reason = broken.not_applicable.reason if broken.not_applicable else ""
    old_session = "631.one-live-incarnation" in {r["guard"] for r in refused(stage)}
    key = f"impossible {'old session' if old_session else name}"
    values = {"number": names.index(name) + 1, "event": EVENTS[name][0], "reason": reason}
    hinted = key in exercise("kafka-14139/order").outcomes
    return key if hinted else "impossible", values
