"""The exercises of labs 00 and 01: six questions that a timeline answers; when is a record
committed, when acknowledged, and when is it lost?
"""

from functools import cache, partial

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster, broker
from ...engine.nodes import is_up
from ...engine.truth import partition_of
from ...plays import grammar, runner, verdict
from ...plays.stage import Stage
from ...protocol.ids import BrokerId
from ...protocol.registrations import PartitionRegistration
from ...protocol.replica.broker_state import log_of, replica_of
from ...rows.columns import Rows
from ...runs import run
from ..exercise_table import LETTERS, Exercise, exercise
from .answers import OfExercise, PartsInOrder, TrueStatements, Verdict, moments
from .own_runs import OwnRun

PARTITION, STALE = "orders-0", "isr-stale-member"
END = 110
"""Where the log ends after the ten records that the exercises ask about."""


class LeaderView(msgspec.Struct, frozen=True):
    """What a leader sees: where its log ends, its high watermark `mark`, how far enough brokers
    `copied`. `too_few` says that the ISR is smaller than min.insync.replicas.
    """

    end: int
    mark: int
    copied: int
    too_few: bool


def view(cluster: Cluster) -> LeaderView | None:
    """The view of the leader, or None while there is none that runs and knows it."""
    state = partition_of(cluster, PARTITION)
    node = broker(cluster, state.leader) if state is not None else None
    replica = replica_of(node, PARTITION) if node is not None else None
    if node is None or replica is None or replica.leading is None:
        return None
    end, least = log_of(node, PARTITION).end, replica.min_insync_replicas
    ends = sorted([end, *(r.end for r in replica.leading.remotes)], reverse=True)
    too_few = len(replica.leading.isr_state.maximal) < least
    return LeaderView(end, replica.high_watermark, ends[min(least, len(ends)) - 1], too_few)


def committed(stage: Stage, end: int = END) -> bool:
    """Whether a leader's high watermark ever reached `end`."""
    views = (view(cluster) for _, cluster in moments(stage))
    return any(leader.mark >= end for leader in views if leader)


def acknowledged(stage: Stage, end: int = END) -> bool:
    """Whether the records up to `end` are acknowledged.

    acks=1: as soon as the leader has them. acks=all: when the high watermark is there, and the ISR
    is not smaller than min.insync.replicas (else it gets NOT_ENOUGH_REPLICAS_AFTER_APPEND).
    """
    acks_all = True
    for performed, cluster in moments(stage):
        if performed.statement.verb == "produce":
            acks_all = performed.statement.arg("acks") != "1"
        leader = view(cluster)
        if leader is None or (acks_all and leader.too_few):
            continue
        if (leader.mark if acks_all else leader.end) >= end:
            return True
    return False


def state_of(cluster: Cluster) -> PartitionRegistration:
    """PARTITION as the controller has it."""
    state = partition_of(cluster, PARTITION)
    assert state is not None, "every one of these plays has this partition"
    return state


@TrueStatements
def check_acknowledged(kafka: str | None) -> list[str]:
    """What is true of M1 in the play STALE: ``"AC"`` names two."""
    one, every = (_stale_member(acks, kafka) for acks in ("1", "all"))
    facts = (acknowledged(one), committed(one), acknowledged(every), committed(every))
    return [letter for letter, fact in zip("ABCD", facts, strict=True) if fact]


def _stale_member(acks: str, kafka: str | None) -> Stage:
    stage, more = run(STALE, kafka=kafka).stage, {"produce": (("acks", acks),)}
    lines = (replace(s, args=(*s.args, *more.get(s.verb, ()))) for s in stage.play.statements)
    return runner.run_play(replace(stage.play, statements=tuple(lines)), stage.features)


SCHEDULES = tuple(exercise("isr/schedules").plays)
"""Each begins with three brokers in the ISR, min.insync.replicas 2, and 100 committed records."""


def schedule(letter: str, entry: Exercise | None = None) -> Stage:
    """The run of one of SCHEDULES: of the text, or of a student's exercise."""
    text = (entry or exercise("isr/schedules")).play(letter, letter=letter)
    return played(text, f"schedule {letter}")


@cache
def played(text: str, name: str) -> Stage:
    return runner.run_play(grammar.parse(text, name))


@OfExercise
def check_schedules(entry: Exercise) -> TrueStatements:
    """Which SCHEDULES end with the ten records committed: ``"AB"`` names two of them."""
    end = entry.values["log"] + entry.values["count"]
    stages = ((letter, schedule(letter, entry)) for letter in SCHEDULES)
    return TrueStatements(lambda: [letter for letter, stage in stages if committed(stage, end)])


@cache
def _views(play: str, kafka: str | None) -> list[tuple[str, LeaderView]]:
    """Each line of a play, and what the leader, which never dies there, sees then."""
    steps = moments(run(play, kafka=kafka).stage)
    views = ((performed.statement.text, view(cluster)) for performed, cluster in steps)
    return [(text, leader) for text, leader in views if leader is not None]


def _mark_keys(play: str, place: int, mine: str, _true: str, kafka: str | None) -> tuple[str, ...]:
    texts, views = zip(*_views(play, kafka)[: place + 1], strict=True)
    here = views[-1]
    beyond = mine.isdecimal() and int(mine) > here.end
    # The high watermark if it waits while the ISR is too small: where it was before that.
    waiting = next((view.mark for view in reversed(views) if not view.too_few), views[0].mark)
    fits = {
        "alone": beyond and texts[-1].startswith("produce") and here.too_few,
        f"beyond {here.end}": beyond,
        "enough copies": mine == str(here.copied) and here.copied > here.mark,
        "written": mine == str(here.end),
        "held": here.too_few and mine == str(waiting),
        "unmoved": len(views) > 1 and mine == str(views[-2].mark) and here.end == views[-2].end,
    }
    return tuple(key for key, fit in fits.items() if fit)


@OfExercise
def check_high_watermark(entry: Exercise) -> PartsInOrder:
    """The leader's high watermark after each step of its play, on a release."""
    return PartsInOrder(
        true=lambda kafka: [str(leader.mark) for _, leader in _views(entry.source, kafka)],
        keys=partial(_mark_keys, entry.source),
        name=lambda place: f"step {place + 1} ({_views(entry.source, None)[place][0]})",
        token=lambda kafka: run(entry.source, kafka=kafka).token,
    )


@OwnRun
def check_lose_acknowledged(stage: Stage) -> Verdict:
    """A run of its play that loses ten records acknowledged by all, and one disk at most."""
    produced = (p.statement for p in stage.performed if p.statement.verb == "produce")
    if any(s.arg("acks") == "1" for s in produced) or not acknowledged(stage):
        return "not acknowledged"
    disks = sum(p.statement.arg("disk") == "replaced" for p in stage.performed)
    if any(item["first"] < END and item["last"] >= END - 10 for item in verdict.lost(stage)):
        return "one disk" if disks <= 1 else ("many disks", {"disks": disks})
    return "kept, a disk lost" if disks else "kept"


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
        return "alive" if all(is_up(cluster, BrokerId(3)) for cluster in joined) else "dead"
    requests = (r for r in verdict.refused(stage) if r["request"] == "alter-partition")
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
