"""Exercises of lab 08 on KIP-343: two processes with one broker id, requests in the wrong order,
what became of its ideas, and two timeouts of one silence: after the first one a client writes to
both brokers, and whoever takes it serves.
"""

import re
from functools import cache, partial

from msgspec.structs import replace

from ...plays import library, runner, verdict
from ...plays.stage import Performed, Stage
from ...protocol import facts, features
from ...rows.heartbeat_fates import FATES
from ..exercise_table import Exercise, UnfitError, exercise
from .answers import BLANK, OfExercise, PartsInOrder, Verdict, is_none, letters_among
from .committed import played
from .own_runs import OwnRun, token_of, written_after

RUN = exercise("heartbeats/incarnations").situation
"""Broker 1 is registered with ZooKeeper as incarnation 100, all the while."""
ACCEPTED, REFUSED = "A", "R"


def rulings(stage: Stage) -> list[str]:
    """The controller's answer to each message: ACCEPTED, or REFUSED."""
    return [REFUSED if _refusal(stage, sent) else ACCEPTED for sent in stage.performed]


def answers_in_words() -> str:
    """The controller's answer to each message of RUN, a line for each."""
    lines, stage = [], played(RUN, "")
    for number, sent in enumerate(stage.performed, 1):
        answer, refusal = "accepted", _refusal(stage, sent)
        if refusal is not None:
            here = "; ".join(f"here {c.held}" for c in refusal.compared)
            answer = f"refused, {refusal.error.name}: {here}"
        kind, as_incarnation = sent.statement.words[0], sent.statement.arg("incarnation-id")
        lines.append(f"{number}  {kind} as {as_incarnation}: {answer}")
    return "\n".join(lines)


def _refusal(stage: Stage, sent: Performed) -> facts.Refused | None:
    """How the message of this line is refused; others may be, that come of it."""
    kind = sent.statement.words[0]
    events = (e for e in stage.events_of(sent) if isinstance(e, facts.Refused))
    return next((e for e in events if e.request == kind), None)


@OfExercise
def check_incarnations(entry: Exercise) -> PartsInOrder:
    """A or R for each message of its play, in order: accepted, or refused for its incarnation."""
    stage = played(entry.source, "")
    return PartsInOrder(
        read=letters_among((ACCEPTED, REFUSED), "A or R"),
        true=lambda: rulings(stage),
        token=lambda: token_of(stage),
    )


GUARD = "343.partition-epoch"
WITH_EPOCHS = features.parse_features("kip-343")
"""The rules of the play, and a partition epoch in each IsrChange, as Kafka came to have it."""


@OwnRun
def check_swapped(stage: Stage) -> Verdict:
    """A run of `343-asked-twice` that loses a record by an IsrChange that an epoch would stop."""
    noticed = runner.run_play(stage.play, WITH_EPOCHS)
    if not any(isinstance(e, facts.Refused) and e.guard == GUARD for e in noticed.events):
        return "in order"
    if verdict.verdict(stage) != verdict.LOSS:
        return "kept"
    return "epochs too" if verdict.verdict(noticed) == verdict.LOSS else "lost"


NEVER = "N"
LETTERS_OF_KIPS = {380: "B", 497: "A", 631: "K", None: NEVER}
"""**B**roker epochs, **A**lterIsr, **K**Raft's brokers, and never."""


def letters() -> list[str]:
    """The letter of each idea, in the order of FATES, the table that the ledger is held to."""
    return [LETTERS_OF_KIPS[fate.by] for fate in FATES]


_READ_FATES = letters_among(tuple(LETTERS_OF_KIPS.values()), "B, A, K or N")

check_fates = PartsInOrder(
    read=lambda given: _READ_FATES([NEVER if is_none(part) else part for part in given]),
    true=letters,
    # By the clause, where a wrong answer shows an idea; else by whether it was built.
    keys=lambda place, _, true: (FATES[place].clause, "unbuilt" if true == NEVER else "built"),
)
"""A letter for each of FATES, in order: B, A, K or N."""


SITUATION = "343-two-leaders"
"""The play whose situation and rules this is about."""
CUT_OFF = ("cut 0 1", "cut 1 2")
DECLARE, FENCE = "declare-inactive 1", "fence-itself 1"
"""The controller's timeout is over; the broker's own is."""
WRITES = ("produce orders-0 count=1 to=1 acks=1", "produce orders-0 count=1 to=2 acks=1")
ON_ITS_WAY_S = exercise("heartbeats/timeouts").values["late"]
"""How long a heartbeat takes to the controller at most; it may take no time at all."""
NEVER_TWO, NEVER_NOBODY, NEITHER = range(3)
"""What is asked for: never two who take records, never nobody who does, and both."""
_TRIED = ((60, 1), (1, 60))
"""Far apart, one way round and the other: what neither pair does, no pair does."""


def orders(
    controller_s: int, broker_s: int, late: int = ON_ITS_WAY_S
) -> frozenset[tuple[str, str]]:
    """The orders in which the two can be over, whatever up to `late` the last heartbeat took.

    At the same moment is either of them.
    """
    possible = set()
    if controller_s <= broker_s:
        possible.add((DECLARE, FENCE))
    if broker_s <= controller_s + late:
        possible.add((FENCE, DECLARE))
    return frozenset(possible)


@cache
def between(order: tuple[str, str]) -> int:
    """How many brokers take records after the first of the two, and before the second."""
    lines = "\n".join([*CUT_OFF, order[0], *WRITES, order[1]])
    written = written_after(library.load(SITUATION), lines)
    # Whoever does not lead takes no record: that is the answer, and no error of the play.
    stage = replace(runner.open_stage(written), strict=False)
    for number, statement in enumerate(written.statements, 1):
        stage = runner.do_line(stage, statement, number)
    return len({e.node for e in stage.events if isinstance(e, facts.Appended)})


def fulfils(wish: int, pair: tuple[int, int], late: int) -> bool:
    """Whether a pair does what is asked for, in every order that there can be."""
    serving = {between(order) for order in orders(*pair, late)}
    two, nobody = 2 in serving, 0 in serving
    return not {NEVER_TWO: two, NEVER_NOBODY: nobody, NEITHER: two or nobody}[wish]


def _pair(part: str) -> tuple[int, int] | None:
    seconds = re.fullmatch(r"\D*(\d{1,6})\D+(\d{1,6})\D*", part)
    return None if seconds is None else (int(seconds[1]), int(seconds[2]))


def _judged_wishes(late: int, words: list[str]) -> list[object]:
    """True for a wish that is fulfilled, else the answer: a pair, None for no answer."""
    judged: list[object] = []
    for wish, word in enumerate(words):
        pair = _pair(word)
        if pair is None and word != BLANK and not is_none(word):
            form = "the controller's seconds, then the broker's, like 12 15, or - for none"
            raise UnfitError(f"This is no pair: {word[:20]!r}. Give {form}.")
        fulfilled = fulfils(wish, pair, late) if pair else _pair(_possible(wish, late)) is None
        judged.append(word if word == BLANK else fulfilled or pair)
    return judged


def _possible(wish: int, late: int) -> str:
    """A pair that fulfils a wish, as it is written."""
    return next((f"{p[0]}/{p[1]}" for p in _TRIED if fulfils(wish, p, late)), "-")


def _keys(late: int, wish: int, pair: tuple[int, int] | None, _true: bool) -> tuple[str, ...]:
    """What is behind a wish that a pair does not fulfil, where it is not the wish itself."""
    if pair is None:
        return ("no order",)
    return ("close",) if len(orders(*pair, late)) > 1 and wish != NEITHER else ()


@OfExercise
def check_timeouts(entry: Exercise) -> PartsInOrder:
    """A pair of timeouts for each wish, in seconds: ``["9 18", "18 9", "-"]``.

    The controller's comes first, which runs from the arrival of the last heartbeat; then the
    broker's, which runs from the moment when it was sent. ``-`` says that there is no such pair.
    """
    late = entry.values["late"]
    return PartsInOrder(
        read=partial(_judged_wishes, late),
        true=lambda: [True] * 3,
        keys=partial(_keys, late),
        solved=lambda: [_possible(wish, late) for wish in range(3)],
    )
