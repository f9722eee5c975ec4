"""`kiplab.real`: a play with a real controller and real leaders deciding, beside the engine."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...machine.lacking import LackingError
from ...plays import library
from ...plays.header import features_of, setup_of
from ...plays.play import Play
from ...plays.verdict import verdict
from ...protocol.features import Features, UnknownFeatureError, parse_features
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import Mode
from ...runs import Run
from ..controller.controller_process import ControllerProcess
from ..conversation.real_controller import RealController
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.jar_cache import have_jars, have_jars_of_zookeeper_era
from ..kafka_jars.judged_releases import (
    MEGABYTES,
    ZOOKEEPER_PATCHES,
    UnjudgedReleaseError,
    patch_release,
    zookeeper_release,
)
from ..kafka_jars.missing_kafka import MissingKafkaError
from ..partition.partition_judging import partition_releases
from ..wire.message_schemas import NoSchemasError
from ..zookeeper_plays.control_columns import ControlColumns
from ..zookeeper_plays.control_play import play_on_controller, play_on_recording
from ..zookeeper_plays.control_recordings import CONTROL_RECORDINGS
from ..zookeeper_plays.played_cluster import first_controller
from .columns_text import WIDEST, columns_text
from .live_kafka import LiveKafka
from .live_leaders import LiveLeaders
from .recorded_kafka import FOLDER, PlayRecording, RecordedKafka, recordings_of
from .recorded_leaders import LeaderAnswer, RecordedLeaders
from .rehearsal import why_untold
from .renaming import Renaming
from .scene import untold
from .two_columns import Judges, RealNodes, TwoColumns, play_in_two_columns

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

LIVE, RECORDED = "live", "recorded"
JUDGES = {
    "both": Judges(decides=True, leads=True),
    "controller": Judges(decides=True),
    "leader": Judges(decides=False, leads=True),
}
"""Who is Kafka's own, by the words of ``--judge``: both, unless somebody asks for one alone."""
_NOT_DRIVEN = "The Partition of this release is not driven."
_BROKERS_ARE_NOT_RUN = "the brokers of a play with ZooKeeper are the engine's: judge the controller"
_REST = "the network, disks, followers' fetchers and clients are the engine's."


class Chosen(NamedTuple):
    """What is to be run: `patch` is the release of Kafka that decides, `judges` what of it."""

    play: Play
    features: Features
    patch: str
    judges: Judges
    why: str = ""
    """Why brokers are the engine's."""


class RealRun:
    """One play twice: the engine decides in one column, a real Kafka in the other.

    `kafka` is the patch release that decided, `source` ``"live"`` or ``"recorded"``, and `note`
    says why it is a recording; empty for a live run. `recording` is what Kafka said. Nothing about
    it changes any more.
    """

    def __init__(
        self,
        both: TwoColumns | ControlColumns,
        patch: str,
        source: str,
        recording: PlayRecording,
        *,
        note: str,
        why: str,
    ) -> None:
        self.both = both
        self.kafka, self.source, self.note = patch, source, note
        self.recording, self._why = recording, why

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
        said = f"Apache Kafka {self.kafka}"
        return "engine", said if self.source == LIVE else f"{said}, {RECORDED}"

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known beforehand: is it recorded, who decides, what is called otherwise."""
        scene = self.recording.scene_records
        begun = f"{scene} records of Kafka's log come before the first line." if scene else ""
        said = (self.note, self.who_decides, *self.both.renaming.sentences, begun)
        return tuple(filter(None, said))

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
        said = f"Apache Kafka {self.kafka}'s own {own}; {rest}{_REST}"
        return f"{said} {self._why}".strip()

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
    chosen = _told(
        _chosen(play, kafka, "both" if judge is None else judge), asked_for=judge is not None
    )
    recording = _recording_of(chosen)
    if recording is None and live is False:
        raise MissingKafkaError(
            f"Nothing is recorded of {chosen.play.name} on Kafka {chosen.patch}.",
            "Only plays that come with kiplab are recorded: ask for a live run.",
        )
    if live or recording is None:
        return _live(chosen)
    if live is False:
        return _recorded(chosen, recording, "It was asked for as recorded.")
    have = have_jars_of_zookeeper_era if _with_zookeeper(chosen) else have_jars
    if not fetch and not have(chosen.patch):
        how = f"live=True fetches it (about {MEGABYTES} MB)"
        return _recorded(chosen, recording, f"Kafka {chosen.patch} is not here: {how}.")
    try:
        return _live(chosen)
    except (LackingError, DeadKafkaError) as why:
        sentence = why.sentence if isinstance(why, LackingError) else f"{why}."
        return _recorded(chosen, recording, sentence)


def _told(chosen: Chosen, *, asked_for: bool) -> Chosen:
    """The same, and where brokers cannot be told a line, and nobody asked for them, without them.

    Raises PlayError, with the line, where somebody did.
    """
    untold_line = why_untold(chosen.play, chosen.features) if chosen.judges.leads else None
    if untold_line is None:
        return chosen
    if asked_for:
        raise untold_line
    return chosen._replace(judges=JUDGES["controller"], why=str(untold_line))


def _live(chosen: Chosen) -> RealRun:
    """Raises as `real` does."""
    if _with_zookeeper(chosen):
        columns = play_on_controller(chosen.play, chosen.features, chosen.patch)
        return RealRun(columns, chosen.patch, LIVE, _heard(columns), note="", why="")
    controllers: list[LiveKafka] = []
    with ExitStack() as stack:
        leaders = _live_leaders(chosen, stack)
        kafka = _live_controller(chosen, stack)

        def begun(start: Cluster) -> RealNodes:
            if leaders is not None:
                leaders.begin(start)
            if kafka is None:
                return RealNodes(None, leaders)
            controllers.append(LiveKafka(kafka, chosen.play, start))
            return RealNodes(controllers[0], leaders)

        try:
            both = play_in_two_columns(chosen.play, chosen.features, begun)
        except OSError as problem:
            raise DeadKafkaError(f"Kafka {chosen.patch} does not answer: {problem}") from None
        answers = leaders.answers if leaders is not None else []
    scene = controllers[0].scene_records if controllers else 0
    kept = _kept(both, scene, answers)
    return RealRun(both, chosen.patch, LIVE, kept, note="", why=chosen.why)


def _live_leaders(chosen: Chosen, stack: ExitStack) -> LiveLeaders | None:
    if not chosen.judges.leads:
        return None
    return stack.enter_context(LiveLeaders(chosen.features.release, chosen.patch))


def _live_controller(chosen: Chosen, stack: ExitStack) -> RealController | None:
    if not chosen.judges.decides:
        return None
    version = chosen.features.metadata_version
    process = stack.enter_context(ControllerProcess(chosen.patch, version))
    try:
        return stack.enter_context(closing(RealController(process)))
    except NoSchemasError as problem:
        raise MissingKafkaError(f"{problem}.", f"Remove {process.jars} and try again.") from None
    except OSError as problem:
        raise DeadKafkaError(f"Kafka {chosen.patch} does not answer: {problem}") from None


def _recorded(chosen: Chosen, recording: PlayRecording, note: str) -> RealRun:
    said = f"Recorded from Kafka {chosen.patch}, not run now. {note}"
    if _with_zookeeper(chosen):
        columns = play_on_recording(chosen.play, chosen.features, recording.passages)
        return RealRun(columns, chosen.patch, RECORDED, recording, note=said, why="")
    judges = chosen.judges

    def begun(start: Cluster) -> RealNodes:
        leaders = RecordedLeaders(recording.leaders, start) if judges.leads else None
        return RealNodes(RecordedKafka(recording) if judges.decides else None, leaders)

    both = play_in_two_columns(chosen.play, chosen.features, begun)
    scene = recording.scene_records if judges.decides else 0
    kept = _kept(both, scene, recording.leaders)
    return RealRun(both, chosen.patch, RECORDED, kept, note=said, why=chosen.why)


def _kept(both: TwoColumns, scene: int, leaders: Sequence[LeaderAnswer]) -> PlayRecording:
    return PlayRecording(both.renaming, scene, both.decisions, tuple(leaders))


def _heard(columns: ControlColumns) -> PlayRecording:
    return PlayRecording(Renaming(), 0, (), passages=columns.heard)


def _recording_of(chosen: Chosen) -> PlayRecording | None:
    """Of plays that come with kiplab, at the latest metadata version of a release."""
    name, release = chosen.play.name, chosen.features.release
    if name not in library.names() or library.load(name) != chosen.play:
        return None
    if chosen.features != parse_features(release):
        return None
    folder = CONTROL_RECORDINGS if _with_zookeeper(chosen) else FOLDER
    return recordings_of(name, folder).get(chosen.patch)


# --- which play, under which rules ----------------------------------------------------------------


def _chosen(play: str | Path | Play, kafka: str | None, judge: str) -> Chosen:
    if judge not in JUDGES:
        raise UnknownFeatureError(f"no judge {judge!r}: there are {', '.join(JUDGES)}")
    found, shared = (play, None) if isinstance(play, Play) else library.find(play)
    if features_of(found).mode is Mode.ZOOKEEPER:
        return _chosen_with_zookeeper(found, shared or features_of(found), kafka, judge)
    if kafka is None:
        features = features_of(found) if shared is None else shared
        if features.overrides:
            raise untold(found, _switching(found), "name a release: none has this switched by hand")
        release = features.release_of(CONTROLLER)
        return Chosen(found, features, _patch(release), *_judges(release, judge))
    name, slash, metadata_version = kafka.partition("/")
    patch = _patch(name)
    release = patch.rpartition(".")[0]
    features = parse_features(f"{release}{slash}{metadata_version}")
    return Chosen(found, features, patch, *_judges(release, judge))


def _chosen_with_zookeeper(play: Play, features: Features, kafka: str | None, judge: str) -> Chosen:
    """Raises UnknownFeatureError for a release, or a judge, that there is none of."""
    if judge == "leader":
        raise UnknownFeatureError(_BROKERS_ARE_NOT_RUN)
    if kafka is not None:
        name, slash, protocol = kafka.partition("/")
        features = parse_features(f"{_zookeeper_release(name)}{slash}{protocol}")
    elif features.overrides:
        raise untold(play, _switching(play), "name a release: none has this switched by hand")
    own = BrokerId(first_controller(setup_of(play, features)))
    release = _zookeeper_release(features.release_of(own))
    return Chosen(play, features, ZOOKEEPER_PATCHES[release], JUDGES["controller"])


def _zookeeper_release(name: str) -> str:
    try:
        return zookeeper_release(name)
    except UnjudgedReleaseError as unknown:
        raise UnknownFeatureError(str(unknown)) from None


def _with_zookeeper(chosen: Chosen) -> bool:
    return chosen.features.mode is Mode.ZOOKEEPER


def _judges(release: str, judge: str) -> tuple[Judges, str]:
    """Who is Kafka's own, and why brokers are not where they should be.

    Raises UnknownFeatureError where only leaders are asked for, and that release has none.
    """
    asked = JUDGES[judge]
    if release in partition_releases() or not asked.leads:
        return asked, ""
    if not asked.decides:
        there = ", ".join(partition_releases())
        raise UnknownFeatureError(f"the Partition of Kafka {release} is not run; there are {there}")
    return JUDGES["controller"], _NOT_DRIVEN


def _patch(name: str) -> str:
    try:
        return patch_release(name)
    except UnjudgedReleaseError as unknown:
        raise UnknownFeatureError(str(unknown)) from None


def _switching(play: Play) -> int:
    """The line of the header that switches a rule; the first line if a token does."""
    lines = (n for n, said in enumerate(play.statements, 1) if said.verb in ("off", "on"))
    return next(lines, 1)


def terminal_width() -> int:
    """How many characters a line of this terminal has."""
    return shutil.get_terminal_size((120, 40)).columns
