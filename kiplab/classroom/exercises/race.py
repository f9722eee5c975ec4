"""Exercises of lab 04 on KAFKA-14139: the window, the two KIPs, the last replica. Plays know."""

import re
from functools import cache

from ...plays.verdict import lost, refused
from ...protocol.facts import Truncated
from ...runs import Run, run
from .answers import LETTERS, PartsInOrder, is_none, sets_among

RACE, LAST = "kafka-14139", "last-replica"
RELEASES = ("3.2", "3.4", "3.5")
ARRIVALS = {str(n): f"kafka-14139-after-step-{n}" for n in range(1, 6)}
"""The play in which the request arrives after each of the race's first five steps."""
MOMENTS = {"F": "841-by-903-while-fenced", "R": "841-by-903-after-return"}
"""The request arrives while broker 2 is **f**enced, or when it has **r**eturned."""
RULES: dict[str, tuple[str, ...]] = {
    "neither": ("841", "903"),
    "841 only": ("903",),
    "903 only": ("841",),
    "both": (),
}
"""Name of each of the four rule sets: (what is switched off)."""


def _range(part: str) -> str:
    """``"0..99"``, ``"0 - 99"`` and ``"offsets 0 to 99"`` are ``"0-99"``; a number is itself."""
    numbers = re.findall(r"\d+", part)
    return "-".join(numbers) if numbers else part.lower()


# --- the window -----------------------------------------------------------------------------------


@cache
def at_risk() -> tuple[int, int]:
    """[from, to) in steps: when committed records of the race on 3.4 are at risk."""
    spans = run(RACE, kafka="3.4").rows().spans
    return next((s.x0, s.x1) for s in spans if s.lane == "records" and s.value == "at risk")


@cache
def losing(release: str) -> frozenset[str]:
    """The ARRIVALS that lose data on a release."""
    verdicts = {n: run(play, kafka=release).verdict for n, play in ARRIVALS.items()}
    return frozenset(n for n, verdict in verdicts.items() if verdict == "loss")


def _window_parts(given: list[str]) -> list[str | frozenset[str]]:
    return [*map(_range, given[:2]), *sets_among(ARRIVALS, "arrival")(given[2:])]


def _window_keys(
    place: int, mine: str | frozenset[str], true: str | frozenset[str]
) -> tuple[str, ...]:
    if isinstance(mine, str) or isinstance(true, str):
        return ()
    release = RELEASES[place - 2]
    return (f"arrivals {_arrivals_key(release, mine - true, true - mine)}",)


def _arrivals_key(release: str, extra: frozenset[str], missing: frozenset[str]) -> str:
    if extra & {"1", "2"}:
        return "early"
    if missing:
        return "3.2" if release == RELEASES[0] else "missing"
    return "3.5" if release == RELEASES[-1] else "other"


check_window = PartsInOrder(
    read=_window_parts,
    true=lambda: [*map(str, at_risk()), *map(losing, RELEASES)],
    keys=_window_keys,
)
"""Five parts: from and to of the risk in RACE on 3.4, then losing arrivals.

The risk lasts [from, to) in steps; an arrival is a digit of ARRIVALS, ``"-"`` is none of them, and
there is a word for each of RELEASES: ``[6, 8, "345", "5", "-"]`` has the right shape.
"""


# --- two by two -----------------------------------------------------------------------------------


@cache
def losses(rules: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of RULES."""
    runs = {letter: run(play, off=RULES[rules]) for letter, play in MOMENTS.items()}
    return frozenset(letter for letter, played in runs.items() if played.verdict == "loss")


def _cell_keys(place: int, mine: frozenset[str], true: frozenset[str]) -> tuple[str, ...]:
    return tuple(f"{LETTERS[place]} {moment}" for moment in true - mine)


check_two_by_two = PartsInOrder(
    read=sets_among(MOMENTS, "moment"),
    true=lambda: [losses(rules) for rules in RULES],
    keys=_cell_keys,
)
"""Which MOMENTS lose data under each of RULES, in their order: ``"FR"``, ``"-"``."""


# --- the last replica -----------------------------------------------------------------------------


def last_replica(played: Run) -> tuple[str, str, str]:
    """(committed offsets lost, offsets that broker 3 truncates, refusals by KIP-903)."""
    (gone,) = lost(played.stage)
    (cut,) = (e for e in played.events if isinstance(e, Truncated) and e.node == 3)
    stopped = sum(str(r["guard"]).startswith("903.") for r in refused(played.stage))
    return f"{gone['first']}-{gone['last']}", f"{cut.first}-{cut.last}", str(stopped)


def _last_parts(given: list[str]) -> list[str]:
    """``"none"`` is no request at all."""
    refusals = "0" if is_none(given[2]) else _range(given[2])
    return [*map(_range, given[:2]), refusals]


check_last_replica = PartsInOrder(
    read=_last_parts, true=lambda: last_replica(run(LAST)), token=lambda: run(LAST).token
)
"""Three parts about LAST, offsets as ``"0-99"``.

The committed offsets that vanish, those that broker 3 throws away, and how many requests KIP-903
refuses; ``"-"`` and ``"none"`` are no offsets, and 0.
"""
