"""Exercise of lab 04: order the events so that data is lost with KIP-841 on and KIP-903 off.

The engine judges: any order that loses committed records is right.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from ...plays.grammar import parse
from ...plays.play import Play
from ...plays.runner import do_line, open_stage
from ...plays.stage import Performed, Stage
from ...plays.tokens import encode
from ...plays.verdict import lost, refused, verdict
from ...protocol.features import parse_features
from ..exercise_table import UnfitError
from .answers import Verdict, WholeAnswer, demand_order, parts

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

_HINTED = ("asks", "arrives", "starts", "unfenced")
"""Events with a hint of their own where they cannot happen."""
_HEADER = """title Your schedule: KIP-841 on, KIP-903 off
kafka 3.5
off 903
broker 1 epoch=40
broker 2 epoch=41
topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
given next-metadata-offset=56
hold alter-partition from=1
"""


def play_of(answer: Sequence[str]) -> Play:
    """The play whose lines are the events in this order; names of EVENTS or LETTERS."""
    lines = "\n".join(EVENTS[name][1] for name in _names(answer))
    return parse(f"{_HEADER}{lines}\n")


def stage_of(answer: Sequence[str]) -> Stage:
    """The run of that order, up to an event that cannot happen where it stands, if there is one."""
    return _run(play_of(answer))


def _names(answer: object) -> list[str]:
    """Letters as names; words that are neither stay as they are."""
    return [LETTERS.get(word.upper(), word.lower()) for word in parts(answer) if word]


def _run(play: Play, on: str = "") -> Stage:
    """The play; an event that cannot happen ends it, noted rather than refused."""
    features = parse_features("3.5") if on else None
    stage = replace(open_stage(play, features), strict=False)
    for line, statement in enumerate(play.statements, 1):
        stage = do_line(stage, statement, line)
        if stage.performed and stage.performed[-1].not_applicable is not None:
            break
    return stage


@WholeAnswer
def check_order(answer: object) -> Verdict:
    """An order: names of EVENTS or LETTERS, each once. A wrong answer is never an error.

    A point for an order that can happen, one more for an order that loses data.
    """
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
        return _why_safe(stage), {"token": encode(play)}
    (gone, *_) = lost(stage)
    # Not even KIP-903 would have saved the records of the last replica.
    key = "last replica" if verdict(_run(play, on="903")) == "loss" else "lost"
    return key, {"first": gone["first"], "last": gone["last"], "token": encode(play)}


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
    number = names.index(name) + 1
    old_session = "631.one-live-incarnation" in {r["guard"] for r in refused(stage)}
    why = "old session" if old_session else name if name in _HINTED else ""
    values = {"number": number, "event": EVENTS[name][0], "reason": reason}
    return f"impossible {why}".rstrip(), values


def _why_safe(stage: Stage) -> str:
    guards = {r["guard"] for r in refused(stage)}
    if "841.fenced" in guards:
        return "fenced"
    return "leader fenced" if "497.leader-epoch" in guards else "shrunk"
