"""One play in two columns: where the engine decides, and where a real Kafka does.

That is a real controller, real brokers, or both; all else is the engine's in either column.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from textwrap import wrap
from typing import Any

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.events import Event
from ...engine.history import History
from ...engine.truth import truth
from ...plays.play import Play
from ...plays.runner import do_line, open_stage, run_play
from ...plays.stage import Performed, Stage
from ...plays.transcript import event_lines
from ...plays.verdict import sentence, verdict
from ...protocol import errors, facts, ids
from ...protocol.features import Features
from ..conversation.real_controller import record_texts
from ..zookeeper_era.sequences import Passage
from . import deciding
from .initial_state import first_line, untold
from .judged_step import DecidedStep, begun
from .leader_effect import LEADERS_WORD


class Judges(msgspec.Struct, frozen=True):
    """Which of the nodes are Kafka's own, in its column."""

    decides: bool = True
    """The controller."""
    leads: bool = False
    """Every broker, as far as its Partitions go."""


class ColumnLine(msgspec.Struct, frozen=True):
    """One line of a play, and what followed from it in both columns.

    `step` is its number in every transcript and picture, `play` the line itself; `own` says of each
    sentence of Kafka's column whether that is Kafka's own.
    """

    step: int
    play: str
    engine: tuple[str, ...]
    kafka: tuple[str, ...]
    agree: bool
    own: tuple[bool, ...]

    def report(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "step": self.step,
            "line": self.play,
            "engine": "\n".join(self.engine),
            "kafka": "\n".join(self.kafka),
            "own": list(self.own),
            "agree": self.agree,
        }


class RealSide(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How much of a run was Kafka's own: `requests` that a real controller answered, `records` that
    it wrote meanwhile, `turns` that real brokers took.

    `renaming` is what is called otherwise there, `scene_records` are in its log before the first
    line, and `own_records` names those that the engine has none of.
    """

    renaming: deciding.Renaming = deciding.Renaming()
    scene_records: int = 0
    requests: int = 0
    records: int = 0
    turns: int = 0
    own_records: tuple[str, ...] = ()


class TwoColumns(RealSide, frozen=True, kw_only=True):
    """Both runs of a play, with every line that does something; `judges` says who is Kafka's own.

    `passages` is what a real controller of ZooKeeper's time sent and answered, line by line: beside
    it there is one run, with the engine's brokers.
    """

    engine: Stage
    kafka: Stage
    judges: Judges
    lines: tuple[ColumnLine, ...] = ()
    passages: tuple[Passage, ...] | None = None

    @property
    def agree(self) -> bool:
        """Whether the columns say the same, line by line."""
        return all(line.agree for line in self.lines)


def compared(engine: Stage, kafka: Stage, judges: Judges, side: RealSide) -> TwoColumns:
    """The columns of two runs; `side` is what of the second was Kafka's own."""
    own = {name: getattr(side, name) for name in RealSide.__struct_fields__}
    both = TwoColumns(engine=engine, kafka=kafka, judges=judges, **own)
    pairs = zip(engine.performed, kafka.performed, strict=True)
    return replace(both, lines=tuple(_line(both, *pair) for pair in pairs))


def play_in_two_columns(
    play: Play, features: Features, nodes_for: Callable[[Cluster], deciding.RealNodes]
) -> TwoColumns:
    """Run a play in both; `nodes_for` gives the real nodes of a cluster that begins so. Raises
    PlayError, with the line, for what cannot be done, or be told to a real controller or leader.
    """
    engine, opened = run_play(play, features), open_stage(play, features)
    kafka, leaders = nodes_for(opened.cluster)
    decisions: list[deciding.Decision] = []

    def ask(question: deciding.ControllerQuestion, cluster: Cluster, expected: int) -> Any:
        assert kafka is not None
        decisions.append(kafka.decide(question, cluster, expected))
        return decisions[-1]

    try:
        start = begun(opened.cluster, leaders) if leaders is not None else opened.cluster
    except deciding.UnaskableError as why:
        # Only a log can be too long for real brokers: the header's first line of a topic says it.
        raise untold(play, first_line(play, "topic"), str(why), why.who) from None
    history = History(start, doing=DecidedStep(ask if kafka is not None else None, leaders))
    stage = replace(opened, history=history, strict=False)
    for line, statement in enumerate(play.statements, 1):
        # What is expected is held against the engine.
        if statement.verb != "expect":
            try:
                stage = do_line(stage, statement, line)
            except deciding.UnaskableError as why:
                raise untold(play, line, str(why), why.who) from None
    of_the_engine = deciding.RequestAsked | deciding.SessionOver
    others = (made for made in decisions if not isinstance(made.question, of_the_engine))
    own_records = {w.name for made in others for w in made.written if w.record is None}
    side = RealSide(
        renaming=kafka.renaming if kafka is not None else deciding.Renaming(),
        scene_records=kafka.scene_records if kafka is not None else 0,
        requests=sum(isinstance(made.question, deciding.RequestAsked) for made in decisions),
        records=sum(len(made.written) for made in decisions),
        turns=leaders.turns if leaders is not None else 0,
        own_records=tuple(sorted(own_records)),
    )
    return compared(engine, stage, Judges(kafka is not None, leaders is not None), side)


# --- whose own ------------------------------------------------------------------------------------

_CONTROLLERS = facts.RecordWritten | facts.Replayed
_LEADER_REFUSES = ("fetch", "produce", "delete-records")


def is_kafkas_own(event: Event, judges: Judges) -> bool:
    """Whether Kafka has said or done it, in its column, and not the engine in its stead."""
    if isinstance(event, facts.Refused):
        is_request = event.request in _LEADER_REFUSES
        return judges.decides if event.node == ids.CONTROLLER else judges.leads and is_request
    if isinstance(event, _CONTROLLERS):
        return judges.decides
    is_of_leader = isinstance(event, LEADERS_WORD) and not isinstance(event, facts.NotProposed)
    return judges.leads and is_of_leader


# --- one line -------------------------------------------------------------------------------------


def _line(both: TwoColumns, mine: Performed, theirs: Performed) -> ColumnLine:
    engine, kafka = both.engine, both.kafka
    agree = _same(engine.events_of(mine), kafka.events_of(theirs), both)
    sentences = tuple(_told(kafka, theirs))
    return ColumnLine(
        step=mine.moment,
        play=mine.statement.text,
        engine=tuple(sentence for _, sentence in _told(engine, mine)),
        kafka=tuple(sentence for _, sentence in sentences),
        agree=agree and _state(engine, mine) == _state(kafka, theirs),
        own=tuple(is_kafkas_own(event, both.judges) for event, _ in sentences),
    )


def _told(stage: Stage, performed: Performed) -> Iterator[tuple[Event, str]]:
    """What a transcript says of a line, and every metadata record; and the event that says so."""
    sentences = dict(event_lines(stage, performed))
    for id, event in stage.named_events_of(performed):
        if isinstance(event, facts.RecordWritten):
            yield event, f"@{event.offset} {event.text}"
        elif id in sentences:
            yield event, sentences[id]


def _state(stage: Stage, performed: Performed) -> Any:
    """What the controller holds for true after a line, and each broker of its partitions."""
    steps = stage.history.steps
    cluster = steps[performed.last - 1].cluster if performed.last else stage.history.start
    image = truth(cluster)
    brokers = []
    for node in cluster.brokers:
        process = node.process
        played = process and (process.replicas, process.items, process.in_flight)
        brokers.append((node.id, node.incarnation, node.durable, played))
    return image.registrations, image.partitions, image.next_offset, brokers


def _same(mine: tuple[Event, ...], theirs: tuple[Event, ...], both: TwoColumns) -> bool:
    """Records in their order, as far as that means anything; all else whatever its order."""
    records = [[e for e in side if isinstance(e, facts.RecordWritten)] for side in (mine, theirs)]
    written = [record_texts(e for e in s if e.record not in both.own_records) for s in records]
    counted = [Counter(_comparable(side, both.judges)) for side in (mine, theirs)]
    return written[0] == written[1] and counted[0] == counted[1]


def _comparable(events: tuple[Event, ...], judges: Judges) -> Iterator[Event]:
    """What Kafka can say as well: no answer names the check that failed, or the partition over
    which a controller resigned; nobody says that it did, or why a leader asks for nobody.
    """
    for event in events:
        if judges.leads and isinstance(event, facts.NotProposed):
            continue
        if isinstance(event, facts.Refused):
            whole = event.error is errors.KafkaError.UNKNOWN_SERVER_ERROR
            partition = None if whole else event.partition
            yield replace(event, guard=None, compared=(), partition=partition)
        elif not isinstance(event, facts.RecordWritten | facts.ControllerResigned):
            yield event


# --- as text --------------------------------------------------------------------------------------

NARROWEST, WIDEST = 80, 180
"""Characters of a line of text."""
OWN = "●"
"""Before what is Kafka's own, in its column."""
_GAP, _INDENT = " │ ", "     "


def columns_text(both: TwoColumns, names: tuple[str, str], notes: Sequence[str], width: int) -> str:
    """The play in lines of about `width` characters, under `notes`; `names` head the columns."""
    room = (max(NARROWEST, min(width, WIDEST)) - len(_INDENT) - len(_GAP)) // 2
    legend = f"{OWN} marks what Kafka itself has said or done, in its column."
    lines = [both.engine.play.title, *notes, legend, "", *_beside([names[0]], [names[1]], room)]
    lines.append(_INDENT + "─" * room + "─┼─" + "─" * room)
    for line in both.lines:
        lines.append(f"{line.step:>3}  {line.play}{'' if line.agree else '   ≠ here they part'}")
        pairs = zip(line.kafka, line.own, strict=True)
        marked = [f"{OWN if own else ' '} {sentence}" for sentence, own in pairs]
        lines += _beside(line.engine, marked, room)
    return "\n".join([*lines, "", *_ending(both), ""])


def _beside(left: Sequence[str], right: Sequence[str], room: int) -> Iterator[str]:
    for pair in zip_longest(left, right, fillvalue=""):
        wrapped = (wrap(text, room, subsequent_indent="    ") for text in pair)
        for mine, theirs in zip_longest(*wrapped, fillvalue=""):
            yield f"{_INDENT}{mine:<{room}}{_GAP}{theirs}".rstrip()


def _ending(both: TwoColumns) -> Iterator[str]:
    counts = []
    if both.judges.decides:
        written = "records" if both.passages is None else "states of partitions"
        counts += [f"{both.requests} requests", f"{both.records} {written}"]
    if both.judges.leads:
        counts.append(f"{both.turns} turns of brokers")
    engine, kafka = (f"{verdict(s)}: {sentence(s)}" for s in (both.engine, both.kafka))
    if both.agree:
        yield f"They agree ({', '.join(counts)}). {kafka}"
        return
    parted = next(line for line in both.lines if not line.agree)
    yield f"They part at step {parted.step}, {parted.play!r} ({', '.join(counts)})."
    yield f"the engine: {engine}"
    unknown = "unknown: brokers go on as beside the engine's controller."
    yield f"Kafka: {kafka if both.passages is None else unknown}"
