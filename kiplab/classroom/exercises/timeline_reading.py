"""The exercises of lab 00: six questions that one timeline answers, and a request accepted."""

from functools import cache, partial

from ...engine.cluster import Cluster
from ...engine.nodes import is_up
from ...plays.stage import Stage
from ...plays.verdict import refused
from ...protocol.ids import BrokerId
from ...rows.columns import Rows
from ...runs import run
from ..exercise_table import LETTERS, Exercise
from .answers import OfExercise, PartsInOrder, Verdict, moments
from .committed import state_of
from .own_runs import OwnRun

_DEAD = BrokerId(3)


def _plain(text: str) -> str:
    """``"{1, 2}"``, ``"1,2"`` and ``"broker 1 2"`` are one answer."""
    bare = text.lower().replace("broker", "").replace("step", "").replace("_", " ")
    return " ".join(bare.translate(str.maketrans("{}[](),", "       ")).split())


def _leader(rows: Rows, x: int) -> str:
    spans = (s for s in rows.spans if s.track == "role" and s.value == "leader")
    return next((s.lane for s in spans if s.x0 <= x < s.x1), "nobody")


@cache
def _readings(play: str, twice: int, kafka: str | None) -> list[tuple[str, str]]:
    """Each answer as the rows have it, and a tempting wrong one. None is written down here.

    `twice` is the broker that starts again.
    """
    rows = run(play, kafka=kafka).rows()
    (name,) = rows.meta.partitions
    late = max(rows.messages, key=lambda m: (m.x_arrived or m.x_sent) - m.x_sent)
    pairs = [
        (_leader(rows, rows.meta.end - 1), _leader(rows, 0)),
        tuple(rows.value("partition", "ISR", x, name) for x in (5, 4)),
        (str(late.x_arrived), str(late.x_sent)),
        (late.error, "INELIGIBLE_REPLICA"),
        tuple(rows.value("partition", "partition epoch", x, name) for x in (9, 8)),
        tuple(rows.value(f"broker {twice}", "uptime", x) for x in (8, 0)),
    ]
    return [(_plain(right), _plain(tempting)) for right, tempting in pairs]


@OfExercise
def check_reading(entry: Exercise) -> PartsInOrder:
    """Six answers, as text or numbers, about the timeline of a release."""
    readings = partial(_readings, entry.source, entry.values["c"])
    return PartsInOrder(
        read=lambda given: [_plain(part) for part in given],
        true=lambda kafka: [right for right, _ in readings(kafka)],
        keys=lambda place, mine, _true, kafka: (
            (f"{LETTERS[place]} tempting",) if mine == readings(kafka)[place][1] else ()
        ),
        solved=lambda kafka: [right.replace(" ", "_").upper() for right, _ in readings(kafka)],
        token=lambda kafka: run(entry.source, kafka=kafka).token,
    )


@OwnRun
def check_accepted(stage: Stage) -> Verdict:
    """A run in which a request that names broker 3, which is dead by then, is accepted."""
    joined = _joined(stage)
    if joined:
        return "alive" if all(is_up(cluster, _DEAD) for cluster in joined) else "dead"
    requests = (r for r in refused(stage) if r["request"] == "alter-partition")
    errors = ", ".join(dict.fromkeys(str(r["error"]) for r in requests))
    return ("refused", {"errors": errors}) if errors else "not asked"


def _joined(stage: Stage) -> list[Cluster]:
    """The situation after each line by which broker 2 joined broker 3 in the ISR."""
    before, joined = set(state_of(stage.history.start).isr), []
    for _, cluster in moments(stage):
        isr = set(state_of(cluster).isr)
        if 2 in isr - before and 3 in isr & before:
            joined.append(cluster)
        before = isr
    return joined
