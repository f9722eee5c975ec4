"""Exercises of lab 04 on KAFKA-14139: the window, the two KIPs, the last replica. Plays know."""

import re
from functools import cache

from ...plays.verdict import lost, refused
from ...protocol.facts import Truncated
from ...runs import Run, run
from .answers import STILL_OPEN, Idea, PartsInOrder, ideas, is_none, sets_among

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


_WINDOW_PARTS = ("from", "to", *(f"arrivals on {release}" for release in RELEASES))
_SPAN = ideas("""
from 1: a proposed member counts as a member
   At step 1 broker 2 is proposed. Who may be elected, before the controller has decided?
from 2: a lost disk puts committed records at risk at once
   Broker 2 was out of the ISR when it lost its disk. Could it have been elected?
from 5: an empty broker is a danger as soon as it is alive
   Alive is not enough. Only a member of the ISR is elected cleanly.
from 7: the risk begins when the leader dies
   At step 7 it is too late. From which step on could a crash of broker 1 have hurt?
to 7: records are lost when the leader dies
   A dead leader comes back with its log. What decides that its log does not count?
to 11: records are lost when the last copy is thrown away
   Broker 1 throws them away because somebody else leads without them. Since when?
other:
   Read the strip committed records: where does *at risk* begin and end?
""")
_ARRIVALS = ideas("""
early: a dead broker that was let in stays in
   Accepted so early, broker 2 is in the ISR when it is fenced. What does that write?
3.2: fencing always bumps the partition epoch
   Broker 2 was out of the ISR when it was fenced. Was there anything to write?
missing: KIP-841 keeps a broker out once it has been fenced
   KIP-841 asks whether broker 2 is fenced when the request arrives. After step 5?
3.5: an old request looks the same to a new incarnation
   On 3.5 the request names the incarnation of broker 2 that it means.
other: a rule of 3.3 needs the broker epochs of 3.5
   At which of these moments is broker 2 fenced? That is what KIP-841 looks at.
""")


def _window_parts(given: list[str]) -> list[str | frozenset[str]]:
    return [*map(_range, given[:2]), *sets_among(ARRIVALS, "arrival")(given[2:])]


def _window_idea(place: int, mine: str | frozenset[str], true: str | frozenset[str]) -> Idea:
    part = _WINDOW_PARTS[place]
    if isinstance(true, str):
        return _SPAN.get(f"{part} {mine}", _SPAN["other"])
    if isinstance(mine, str):
        return STILL_OPEN
    return _ARRIVALS[_arrivals_key(part.split()[-1], mine - true, true - mine)]


def _arrivals_key(release: str, extra: frozenset[str], missing: frozenset[str]) -> str:
    if extra & {"1", "2"}:
        return "early"
    if missing:
        return "3.2" if release == RELEASES[0] else "missing"
    return "3.5" if release == RELEASES[-1] else "other"


check_window = PartsInOrder(
    of=5,
    form="parts: from, to, and the arrivals for 3.2, 3.4 and 3.5",
    read=_window_parts,
    true=lambda: [*map(str, at_risk()), *map(losing, RELEASES)],
    idea=_window_idea,
    part=_WINDOW_PARTS.__getitem__,
    group=(*["from and to"] * 2, *["the arrivals"] * 3).__getitem__,
    praise="From its acceptance to the election: that is the window, and 3.5 has closed it.",
    open_is_wrong=True,
)
"""Five parts: from and to of the risk in RACE on 3.4, then losing arrivals.

The risk lasts [from, to) in steps; an arrival is a digit of ARRIVALS, ``"-"`` is none of them, and
there is a word for each of RELEASES: ``[6, 8, "345", "5", "-"]`` has the right shape.
"""


# --- two by two -----------------------------------------------------------------------------------

_RULE_SETS = tuple(RULES)
_CELLS = ideas("""
903 only F: KIP-903 makes KIP-841 superfluous
   While broker 2 is fenced it has not registered again. Which epoch is on record?
841 only R: KIP-841 keeps a broker out once it has been fenced
   KIP-841 asks whether broker 2 is fenced *now*. Is it, when it has returned?
neither: fencing always bumps the partition epoch
   Which epoch of the partition moves when a broker outside the ISR is fenced?
both: two rules leave the holes of both
   At F one rule answers, at R the other. Which?
other:
   Take the two moments one by one: what does this rule compare, and what is on record?
""")


@cache
def losses(rules: str) -> frozenset[str]:
    """The MOMENTS that lose data under one of RULES."""
    runs = {letter: run(play, off=RULES[rules]) for letter, play in MOMENTS.items()}
    return frozenset(letter for letter, played in runs.items() if played.verdict == "loss")


def _cell_idea(place: int, mine: frozenset[str], true: frozenset[str]) -> Idea:
    rules = _RULE_SETS[place]
    keys = [f"{rules} {moment}" for moment in true - mine] + [rules]
    return next((_CELLS[key] for key in keys if key in _CELLS), _CELLS["other"])


check_two_by_two = PartsInOrder(
    of=len(RULES),
    form="words, one for each set of rules",
    read=sets_among(MOMENTS, "moment"),
    true=lambda: [losses(rules) for rules in RULES],
    idea=_cell_idea,
    part=_RULE_SETS.__getitem__,
    group=[f"KIP-903 {'off' if '903' in off else 'on'}" for off in RULES.values()].__getitem__,
    praise="Each closes a hole that the other leaves open.",
)
"""Which MOMENTS lose data under each of RULES, in their order: ``"FR"``, ``"-"``."""


# --- the last replica -----------------------------------------------------------------------------

_LAST_PARTS = ("offsets lost", "offsets thrown away", "refusals")
_LAST = ideas("""
1 80-99: what another replica still has is not lost
   Broker 3 has 0-79, but it does not lead. What does the leader have?
1 0-100: a log that ends at 100 has a record at offset 100
   The log end is where the next record goes.
2 0-80: a log that ends at 80 has a record at offset 80
   The log end is where the next record goes.
2 80-99: a follower keeps what the leader has lost
   Broker 3 never had these. A follower cuts its log back to where the two logs part.
3 1: KIP-903 looks at every broker that comes back
   KIP-903 compares epochs in AlterPartition. Did anybody ask to change the ISR?
offsets:
   Look at the line LOST, and at the line ✂.
refusals:
   Count the refusals (⊘).
""")


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
    of=3,
    form="parts: offsets, offsets, and a number",
    read=_last_parts,
    true=lambda: last_replica(run(LAST)),
    idea=lambda place, mine, _true: _LAST.get(
        f"{place + 1} {mine}", _LAST["offsets" if place < 2 else "refusals"]
    ),
    part=_LAST_PARTS.__getitem__,
    group=("the offsets", "the offsets", "the refusals").__getitem__,
    praise="All that was committed is gone, and no request was ever wrong.",
    token=lambda: run(LAST).token,
    open_is_wrong=True,
)
"""Three parts about LAST, offsets as ``"0-99"``.

The committed offsets that vanish, those that broker 3 throws away, and how many requests KIP-903
refuses; ``"-"`` and ``"none"`` are no offsets, and 0.
"""
