"""`kiplab.real`: a play with a real controller and real leaders deciding, beside the engine."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ...machine import LackingError
from ...plays import library
from ...plays.header import setup_of
from ...plays.play import Play
from ...plays.verdict import verdict
from ...protocol.features import parse_features
from ...runs import Run
from ..java_process import DeadKafkaError
from ..kafka_jars import jar_cache
from ..kafka_jars.judged_releases import MEGABYTES, MissingKafkaError
from ..zookeeper_plays.control_columns import ControlColumns
from ..zookeeper_plays.control_play import play_on_controller, play_on_recording
from ..zookeeper_plays.engine_ear import first_controller
from .chosen import BOTH, CONTROLLER_ALONE, Chosen, chosen, live_columns, told_leaders
from .columns_text import WIDEST, AnyColumns, columns_text
from .recorded_columns import columns_of, heard_plays, shipped_columns

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LIVE, RECORDED = "live", "recorded"
_REST = "the network, disks, followers' fetchers and clients are the engine's."


class RealRun:
    """One play twice: the engine decides in one column, a real Kafka in the other.

    `kafka` is the patch release that decided, `source` ``"live"`` or ``"recorded"``, and `note`
    says why it is a recording; empty for a live run. Nothing about it changes any more.
    """

    def __init__(
        self, both: AnyColumns, patch: str, source: str, *, note: str = "", why: str = ""
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
        if isinstance(self.both, ControlColumns) and not self.agree:
            return {"engine": verdict(self.both.engine), "kafka": "unknown"}
        return {"engine": verdict(self.both.engine), "kafka": verdict(self.both.kafka)}

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
        """What is to be known beforehand: is it recorded, who decides, what is called otherwise."""
        initial = 0 if isinstance(self.both, ControlColumns) else self.both.scene_records
        begun = f"{initial} records of Kafka's log come before the first line." if initial else ""
        parts = (self.note, self.who_decides, *self.both.renaming.sentences, begun)
        return tuple(filter(None, parts))

    @property
    def who_decides(self) -> str:
        """What is Kafka's own, and what the engine's, in one sentence."""
        judges = self.both.judges
        if isinstance(self.both, ControlColumns):
            return self._who_decides_with_zookeeper(self.both)
        if judges.leads and judges.decides:
            own, rest = "are the controller and every broker's Partitions", ""
        elif judges.leads:
            own, rest = "are every broker's Partitions", "the controller, "
        else:
            own, rest = "is the controller", "brokers, "
        text = f"Apache Kafka {self.kafka}'s own {own}; {rest}{_REST}"
        return f"{text} {self.why}".strip()

    def _who_decides_with_zookeeper(self, both: ControlColumns) -> str:
        node = first_controller(setup_of(both.engine.play, both.engine.features))
        return (
            f"Apache Kafka {self.kafka}'s own is the controller, on broker {node}: what the other"
            " brokers get from it and are answered by it is compared, and what ZooKeeper has then;"
            " those brokers, with their logs and their high watermark checkpoints, and clients are"
            " the engine's."
        )

    def report(self) -> dict[str, Any]:
        """Plain values: what `kiplab real --json` prints."""
        return {
            "play": self.both.engine.play.name,
            "kafka": self.kafka,
            "features": self.both.engine.features.label(),
            "source": self.source,
            "note": self.note,
            "agree": self.agree,
            "verdict": self.verdict,
            "judge": {"controller": self._judge(True), "leader": self._judge(False)},
            "renaming": list(self.both.renaming.sentences),
            "lines": [
                {
                    "step": line.step,
                    "line": line.play,
                    "engine": "\n".join(line.engine),
                    "kafka": "\n".join(line.kafka),
                    "own": list(line.own),
                    "agree": line.agree,
                }
                for line in self.both.lines
            ],
            "requests": self.both.requests,
            "records": self.both.records,
            "turns": self.both.turns,
        }

    def _judge(self, controller: bool) -> str:
        judges = self.both.judges
        return "kafka" if (judges.decides if controller else judges.leads) else "engine"

    def text(self, *, width: int = WIDEST) -> str:
        """Both columns side by side, in lines of about `width` characters."""
        return columns_text(self.both, self.names, self.notes, width)

    def timeline(self, **options: Any) -> Figure:
        """The twin: the engine above, Kafka below; with ZooKeeper the one run that there is.
        Options, and errors, as of `kiplab.twin`.

        Raises MissingExtraError without plotly.
        """
        from ...figures.timeline.twin import twin

        if isinstance(self.both, ControlColumns):
            # Brokers are the engine's: there is one run to draw.
            return self.runs[0].timeline(**options)
        mine, theirs = (run.rows() for run in self.runs)
        # What is recorded, and what is called otherwise, is said above both.
        heading = " ".join([*filter(None, [mine.meta.question]), *self.notes])
        mine = replace(mine, meta=replace(mine.meta, question=heading))
        return twin(mine, theirs, **{"called": self.names} | options)

    def _repr_mimebundle_(self, **_: Any) -> Any:
        """The twin, and the columns where no figure is shown."""
        return self.timeline()._repr_mimebundle_()

    def __repr__(self) -> str:
        together = "agree" if self.agree else "part"
        name = self.both.engine.play.name
        return f"<{name!r}: the engine and {self.names[1]} {together}>"


def real(
    play: str | Path | Play,
    *,
    kafka: str | None = None,
    live: bool | None = None,
    fetch: bool = False,
    judge: str | None = None,
) -> RealRun:
    """Run a play given by name, file, token or value with a real Kafka deciding: its controller,
    and for every broker its own ``kafka.cluster.Partition``; with `judge` ``"controller"`` or
    ``"leader"`` only one of them. All else is the engine's. Where a line cannot be told to a real
    broker, and nobody has said ``"both"``, brokers are the engine's, and the notes say why.

    `kafka` is a release, ``"3.4"``, or one of its patch releases, ``"3.4.1"``, perhaps with a
    metadata version (``"3.5/3.4-IV0"``); without it the play's own. A play with ZooKeeper has
    releases of its own (``"zk-2.2"``, ``"2.2.2"``), and only the controller is Kafka's there. It
    runs live if that release is in the cache, or may be fetched, or if nothing is recorded of the
    play; where it cannot, its recording is shown, which says why. With `live` it is a live run or
    an error, fetched if need be; with False the recording is shown.

    Raises PlayError for a play that cannot be told to a real Kafka, UnknownFeatureError for
    another release or judge, MissingKafkaError for what the machine lacks, DeadKafkaError for a
    Kafka that ended by itself.
    """
    what = chosen(play, kafka, BOTH if judge is None else judge)
    recorded = _recorded(what, asked_for=judge is not None)
    if live is False and recorded is None:
        told_leaders(what, asked_for=judge is not None)
        raise MissingKafkaError(
            f"Nothing is recorded of {what.play.name} on Kafka {what.patch}.",
            "Only plays that come with kiplab are recorded: ask for a live run.",
        )
    if live or recorded is None:
        return _live(what, asked_for=judge is not None)
    if live is False:
        return _noted(recorded, "It was asked for as recorded.")
    have = jar_cache.have_jars_of_zookeeper_era if what.with_zookeeper else jar_cache.have_jars
    if not fetch and not have(what.patch):
        how = f"live=True fetches it (about {MEGABYTES} MB)"
        return _noted(recorded, f"Kafka {what.patch} is not here: {how}.")
    try:
        return _live(what, asked_for=judge is not None)
    except (LackingError, DeadKafkaError) as why:
        return _noted(recorded, why.sentence if isinstance(why, LackingError) else f"{why}.")


def _live(what: Chosen, *, asked_for: bool) -> RealRun:
    """Raises as `real` does."""
    if what.with_zookeeper:
        return RealRun(play_on_controller(what.play, what.features, what.patch), what.patch, LIVE)
    what = told_leaders(what, asked_for=asked_for)
    return RealRun(live_columns(what), what.patch, LIVE, why=what.why)


def _noted(recorded: RealRun, why: str) -> RealRun:
    note = f"Recorded from Kafka {recorded.kafka}, not run now. {why}"
    return RealRun(recorded.both, recorded.kafka, RECORDED, note=note, why=recorded.why)


def _recorded(what: Chosen, *, asked_for: bool) -> RealRun | None:
    """Of plays that come with kiplab, at the latest metadata version of a release."""
    name = what.play.name
    if name not in library.names() or library.load(name) != what.play:
        return None
    if what.features != parse_features(what.features.release):
        return None
    if what.with_zookeeper:
        heard = heard_plays(name).get(what.patch)
        if heard is None:
            return None
        columns = play_on_recording(what.play, what.features, heard.passages)
        return RealRun(columns, what.patch, RECORDED)
    kept = shipped_columns().get(name, {}).get(what.patch)
    if kept is None:
        return None
    if kept.why and what.judges.leads and not asked_for:
        what = what._replace(judge=CONTROLLER_ALONE, why=kept.why)
    column = kept.columns.get(what.judge)
    if column is None:
        return None
    return RealRun(columns_of(what, column), what.patch, RECORDED, why=what.why)


def terminal_width() -> int:
    """How many characters a line of this terminal has."""
    return shutil.get_terminal_size((120, 40)).columns
