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
from .answers import Idea, UnfitError, WholeAnswer, demand_answer, demand_order, ideas, parts
from .check_result import Checked

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
POINTS = 2
"""One for an order that can happen, one more for an order that loses data."""

_HEADER = """title Your schedule: KIP-841 on, KIP-903 off
kafka 3.5
off 903
broker 1 epoch=40
broker 2 epoch=41
topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
given next-metadata-offset=56
hold alter-partition from=1
"""
_IMPOSSIBLE = ideas("""
old session: a broker that starts again is at once the broker that Kafka knows
   While the old session lasts, the new process is turned away (DUPLICATE_BROKER_REGISTRATION).
   What ends a session?
asks:
   2 has to be alive to fetch, and 1 to lead.
arrives:
   A request can only arrive after it was sent.
starts:
   A process that runs cannot be started.
unfenced:
   A broker crashes, starts and registers before it is unfenced.
""")
_SAFE = ideas("""
fenced: a late request is dangerous while the broker it names is fenced
   The request arrived while 2 was fenced, and KIP-841 refused it. When is 2 no longer fenced, and
   still not the broker that caught up?
shrunk: fencing always bumps the partition epoch, so a request from before it is dead
   Look at the partition epoch. Here 2 was in the ISR when it was fenced: it left the ISR, and that
   bumped the epoch. What if it is fenced before the request arrives?
leader fenced: a request is as good as its sender was when it was sent
   Fencing the leader moved the leader epoch, and its old request was refused (FENCED_LEADER_EPOCH).
   Let the request arrive while 1 still leads.
""")


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


def _judged(answer: object) -> Checked:
    names = _names(answer)
    wanted = "eight letters or names, in the order of the events"
    demand_order(answer, wanted)
    demand_answer(names, wanted)
    if sorted(names) != sorted(EVENTS):
        raise UnfitError(_misnamed(names))
    play = play_of(names)
    stage, token = _run(play), encode(play)
    broken = next((p for p in stage.performed if p.not_applicable is not None), None)
    if broken is not None:
        return _impossible(names, broken, stage)
    if lost(stage):
        return Checked(points=POINTS, of=POINTS, message=_success(play, stage), token=token)
    idea, hint = _SAFE[_why_safe(stage)]
    message = "This can happen, and nothing is lost."
    return Checked(points=1, of=POINTS, message=message, hint=hint, misconception=idea, token=token)


def _misnamed(names: list[str]) -> str:
    unknown = [name[:20] for name in names if name not in EVENTS]
    missing = [name for name in EVENTS if name not in names]
    twice = [name for name in EVENTS if names.count(name) > 1]
    kinds = (("there is no event", unknown), ("missing", missing), ("more than once", twice))
    wrong = "; ".join(f"{what}: {', '.join(which[:8])}" for what, which in kinds if which)
    return f"Use each of the eight events once ({', '.join(EVENTS)}). Here, {wrong}."


def _success(play: Play, stage: Stage) -> str:
    first, last = lost(stage)[0]["first"], lost(stage)[0]["last"]
    message = f"Offsets {first} to {last} were committed, and they are gone."
    if verdict(_run(play, on="903")) == "loss":
        return (
            f"{message} Not even KIP-903 would have saved them: 2 was the last member of the ISR"
            " when it came back empty. That is the problem of the last replica, in the exercise"
            " just before this one."
        )
    return f"{message} With KIP-903 on, the same order loses nothing."


def _impossible(names: list[str], broken: Performed, stage: Stage) -> Checked:
    name = next(n for n in names if EVENTS[n][1] == broken.statement.text)
    reason = broken.not_applicable.reason if broken.not_applicable else ""
    number = names.index(name) + 1
    message = f"Event {number} cannot happen there. “{EVENTS[name][0]}”: {reason}."
    idea, hint = _why_impossible(name, stage)
    return Checked(points=0, of=POINTS, message=message, hint=hint, misconception=idea)


def _why_impossible(name: str, stage: Stage) -> Idea:
    if "631.one-live-incarnation" in {r["guard"] for r in refused(stage)}:
        return _IMPOSSIBLE["old session"]
    return _IMPOSSIBLE.get(name, ("", ""))


def _why_safe(stage: Stage) -> str:
    guards = {r["guard"] for r in refused(stage)}
    if "841.fenced" in guards:
        return "fenced"
    return "leader fenced" if "497.leader-epoch" in guards else "shrunk"


check_order = WholeAnswer(of=POINTS, judged=_judged)
"""An order: names of EVENTS or LETTERS, each once. A wrong answer is never an error."""
