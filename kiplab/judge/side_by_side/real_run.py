"""`kiplab.real`: a play with a real controller and real leaders deciding, beside the engine."""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ...engine.events import Event
from ...machine import LackingError
from ...plays import header, library, runner
from ...plays.play import Play
from ...plays.verdict import verdict
from ...runs import Run
from ..java_process import DeadKafkaError
from ..kafka_jars import jar_cache
from ..zookeeper_plays.control_play import play_on_controller, play_on_recording, recorded_passages
from ..zookeeper_plays.engine_ear import first_controller
from .chosen import BOTH, CONTROLLER_ALONE, Chosen, chosen, live_columns, possible_leaders
from .deciding import StaleRecordingError
from .two_columns import WIDEST, RealSide, TwoColumns, columns_text, compared

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LIVE, RECORDED = "live", "recorded"
_REST = "the network, disks, followers' fetchers and clients are the engine's."
_OTHERS = (
    "its requests and replies to the other brokers are compared, and the znodes after each line;"
    " those brokers, with their logs and their high watermark checkpoints, and clients are"
    " the engine's."
)


class RealRun:
    """One play twice: the engine decides in one column, a real Kafka in the other.

    `kafka` is the patch release that decided, `source` ``"live"`` or ``"recorded"``, and `note`
    says why it is a recording; empty for a live run. Nothing about it changes any more.
    """

    def __init__(
        self, both: TwoColumns, patch: str, source: str, *, note: str = "", why: str = ""
    ) -> None:
        self.both = both
        self.kafka, self.source, self.note, self.why = patch, source, note, why

    @property
    def agree(self) -> bool:
        """Whether both columns say the same, line by line."""
        return self.both.agree

    @property
    def verdict(self) -> dict[str, str]:
        """``{"engine": "loss", "kafka": "loss"}``. Beside a controller of ZooKeeper's time that has
        parted from the engine's the second is ``"unknown"``: the play does not go on there.
        """
        unknown = self.both.passages is not None and not self.agree
        kafka = "unknown" if unknown else verdict(self.both.kafka)
        return {"engine": verdict(self.both.engine), "kafka": kafka}

    @property
    def runs(self) -> tuple[Run, Run]:
        """(where the engine decides, where Kafka does)."""
        return Run(self.both.engine), Run(self.both.kafka)

    @property
    def names(self) -> tuple[str, str]:
        """What the columns are called: ``("engine", "Apache Kafka 3.4.1")``."""
        text = f"Apache Kafka {self.kafka}"
        return "engine", text if self.source == LIVE else f"{text}, {RECORDED}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the run: is it recorded, who decides, which names differ."""
        initial = self.both.scene_records
        begun = f"{initial} records of Kafka's log come before the first line." if initial else ""
        parts = (self.note, self.who_decides, *self.both.renaming.sentences, begun)
        return tuple(filter(None, parts))

    @property
    def who_decides(self) -> str:
        """What is Kafka's own, and what the engine's, in one sentence."""
        judges, engine = self.both.judges, self.both.engine
        if self.both.passages is not None:
            node = first_controller(header.setup_of(engine.play, engine.features))
            return f"Apache Kafka {self.kafka}'s own is the controller, on broker {node}: {_OTHERS}"
        own = "is the controller; brokers, "
        if judges.leads:
            own = "are every broker's Partitions; the controller, "
            if judges.decides:
                own = "are the controller and every broker's Partitions; "
        return f"Apache Kafka {self.kafka}'s own {own}{_REST} {self.why}".strip()

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab real --json` prints."""
        both, judges = self.both, self.both.judges
        return {
            "play": both.engine.play.name,
            "kafka": self.kafka,
            "features": both.engine.features.label(),
            "source": self.source,
            "note": self.note,
            "agree": self.agree,
            "verdict": self.verdict,
            "judge": {
                "controller": "kafka" if judges.decides else "engine",
                "leader": "kafka" if judges.leads else "engine",
            },
            "renaming": list(both.renaming.sentences),
            "lines": [line.report() for line in both.lines],
            "requests": both.requests,
            "records": both.records,
            "turns": both.turns,
        }

    def text(self, *, width: int = WIDEST) -> str:
        """Both columns side by side, in lines of about `width` characters."""
        return columns_text(self.both, self.names, self.notes, width)

    def timeline(self, **options: Any) -> Figure:
        """The twin: the engine above, Kafka below; with ZooKeeper the one run that there is.
        Options, and errors, as of `kiplab.twin`; MissingExtraError without plotly.
        """
        from ...figures.timeline.whole_runs import twin

        if self.both.passages is not None:
            # Brokers are the engine's: there is one run to draw.
            return self.runs[0].timeline(**options)
        mine, theirs = (run.rows() for run in self.runs)
        # That it is recorded, and which names differ, stands above both.
        heading = " ".join([*filter(None, [mine.meta.question]), *self.notes])
        mine = replace(mine, meta=replace(mine.meta, question=heading))
        return twin(mine, theirs, **{"called": self.names} | options)

    def _repr_mimebundle_(self, **_: Any) -> Any:
        """The twin, and the columns where no figure is shown."""
        return self.timeline()._repr_mimebundle_()

    def __repr__(self) -> str:
        together, name = "agree" if self.agree else "part", self.both.engine.play.name
        return f"<{name!r}: the engine and {self.names[1]} {together}>"


def real(
    play: str | Path | Play,
    *,
    kafka: str | None = None,
    live: bool | None = None,
    fetch: bool = False,
    judge: str | None = None,
    elr: int | None = None,
) -> RealRun:
    """Run a play given by name, file, token or value with a real Kafka deciding: its controller,
    and for every broker its own ``kafka.cluster.Partition``; with `judge` ``"controller"`` or
    ``"leader"`` only one of them. All else is the engine's. Where a line cannot be told to a real
    broker, and nobody has said ``"both"``, brokers are the engine's, and the notes say why.

    `kafka` is a release, ``"3.4"``, or one of its patch releases, ``"3.4.1"``, perhaps with a
    metadata version (``"3.5/3.4-IV0"``); without it the play's own. `elr` is 1 with eligible
    leader replicas (KIP-966), 0 without, and None as the play has it. A play with ZooKeeper has
    releases of its own (``"zk-2.2"``, ``"2.2.2"``), and only the controller is Kafka's there. It
    runs live if that release is in the cache, or may be fetched, or if nothing is recorded of the
    play; where it cannot, its recording is shown, which says why. With `live` it is a live run or
    an error, fetched if need be; with False the recording is shown. Raises PlayError for a play
    that cannot be told to a real Kafka, UnknownFeatureError for another release or judge,
    MissingKafkaError for what the machine lacks, DeadKafkaError for a Kafka that ended by itself.
    """
    what = chosen(play, kafka, BOTH if judge is None else judge, elr)
    asked_for = judge is not None
    recorded = _recorded(what, asked_for=asked_for)
    if live is False and recorded is None:
        possible_leaders(what, asked_for=asked_for)
        nothing = f"Nothing is recorded of {what.play.name} on Kafka {what.patch}."
        mend = (
            "Only plays that come with kiplab are recorded, at the latest metadata version of a"
            " release and with `elr` as the play has it: ask for a live run."
        )
        raise jar_cache.MissingKafkaError(nothing, mend)
    if live or recorded is None:
        return _live(what, asked_for=asked_for)
    if live is False:
        why = "It was asked for as recorded."
    elif not (fetch or jar_cache.have_jars(what.patch, with_zookeeper=what.with_zookeeper)):
        how = f"live=True fetches it (about {jar_cache.MEGABYTES} MB)"
        why = f"Kafka {what.patch} is not here: {how}."
    else:
        try:
            return _live(what, asked_for=asked_for)
        except (LackingError, DeadKafkaError) as problem:
            why = problem.sentence if isinstance(problem, LackingError) else f"{problem}."
    recorded.note = f"Recorded from Kafka {recorded.kafka}, not run now. {why}"
    return recorded


def _live(what: Chosen, *, asked_for: bool) -> RealRun:
    """Raises as `real` does."""
    if what.with_zookeeper:
        return RealRun(play_on_controller(what.play, what.features, what.patch), what.patch, LIVE)
    what = possible_leaders(what, asked_for=asked_for)
    return RealRun(live_columns(what), what.patch, LIVE, why=what.why)


# --- what is recorded -----------------------------------------------------------------------------
# Only what agreed with the engine line by line is shipped: of each move the events are kept where
# Kafka's are not to the letter the engine's. `make judge-record` writes it, of answers that are
# stored beside the tests.

RECORDED_COLUMNS = Path(str(files(__package__))) / "recorded_columns.json.xz"
"""Of every play, by its name."""


class RecordedColumn(RealSide, frozen=True, kw_only=True):
    """Kafka's column of a play of so many `moves`: what followed from a move, by its number."""

    moves: int
    events: dict[int, tuple[Event, ...]]


class RecordedPlay(msgspec.Struct, frozen=True, omit_defaults=True):
    """One play on one patch release: a column for each word of ``--judge`` that can be asked.

    `why` says why brokers are the engine's, where no real one can be told the play.
    """

    columns: dict[str, RecordedColumn]
    why: str = ""


@cache
def shipped_columns() -> Mapping[str, Mapping[str, RecordedPlay]]:
    """All there are, by the name of the play, and by patch release."""
    shipped = dict[str, dict[str, RecordedPlay]]
    return msgspec.json.decode(lzma.decompress(RECORDED_COLUMNS.read_bytes()), type=shipped)


def columns_of(what: Chosen, recorded: RecordedColumn) -> TwoColumns:
    """Both columns. Raises StaleRecordingError where the play has other moves by now."""
    engine = runner.run_play(what.play, what.features)
    steps = engine.history.steps
    if len(steps) != recorded.moves:
        raise StaleRecordingError(
            f"{what.play.name} has other moves than were recorded: `make judge-record`"
        )
    heard = (replace(s, events=recorded.events.get(n, s.events)) for n, s in enumerate(steps))
    history = replace(engine.history, steps=tuple(heard))
    kafka = replace(engine, history=history, strict=False)
    return compared(engine, kafka, what.judges, recorded)


def _recorded(what: Chosen, *, asked_for: bool) -> RealRun | None:
    """Of plays that come with kiplab, with the features that a release alone asks for."""
    name = what.play.name
    is_shipped = name in library.names() and library.load(name) == what.play
    if not is_shipped or what.features != chosen(name, what.patch, what.judge).features:
        return None
    if what.with_zookeeper:
        recorded = recorded_passages(name).get(what.patch)
        if recorded is None:
            return None
        columns = play_on_recording(what.play, what.features, recorded.passages)
        return RealRun(columns, what.patch, RECORDED)
    shipped = shipped_columns().get(name, {}).get(what.patch, RecordedPlay({}))
    if shipped.why and what.judges.leads and not asked_for:
        what = what._replace(judge=CONTROLLER_ALONE, why=shipped.why)
    column = shipped.columns.get(what.judge)
    if column is None:
        return None
    return RealRun(columns_of(what, column), what.patch, RECORDED, why=what.why)
