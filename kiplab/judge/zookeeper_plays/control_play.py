"""A play of ZooKeeper's time told to a real controller, or beside what one has done before."""

from msgspec.structs import replace

from ...engine.cluster import Cluster
from ...engine.given_situation import Setup
from ...engine.history import Recorded
from ...extras import needed_by
from ...plays.header import setup_of
from ...plays.play import Play
from ...plays.runner import run_play
from ...plays.stage import Performed, Stage
from ...protocol.features import Features, parse_features
from ...protocol.ids import controller_on
from ...protocol.registrations import topic_of
from ..conversation.kafka_terms import UnspokenError
from ..java_process.child_jvm import DeadKafkaError, java_of_kafka
from ..kafka_jars.missing_kafka import MissingKafkaError
from ..side_by_side.deciding import StaleRecordingError
from ..side_by_side.initial_state import untold
from ..wire.message_schemas import NoSchemasError, ReleaseSchemas
from ..zookeeper_era.kafka_server import control_schemas
from ..zookeeper_era.sequences import Passage
from ..zookeeper_era.waiting import TooQuietError
from .control_columns import ControlColumns
from .engine_ear import EngineEar, delivered
from .play_mirror import PlayMirror, written_states
from .played_cluster import PlayedCluster
from .untold_steps import why_initial_state_untold, why_step_untold


def play_on_controller(play: Play, features: Features, patch: str) -> ControlColumns:
    """Run a play in the engine, and do the same to a real controller of this patch release.

    Raises PlayError, with the line, for what cannot be done in the engine or cannot be told,
    MissingKafkaError for what the machine lacks, DeadKafkaError for a Kafka that ended by itself or
    does not go on.
    """
    stage, setup = told_stage(play, features)
    protocol = "" if features == parse_features(features.release) else features.metadata_version
    # Without Java there is no use for 40 MB of jars.
    java_of_kafka()
    schemas = _schemas()
    with needed_by("a fake broker in ZooKeeper"):
        from kazoo.exceptions import KazooException
        from kazoo.handlers.threading import KazooTimeoutError
    try:
        with PlayedCluster(patch, setup, protocol, schemas) as cluster:
            if cluster.znodes() != EngineEar(setup).passage("", stage.history.start).znodes:
                raise untold(play, _first_topic(play), "a controller that takes over changes it")
            return _columns(stage, setup, PlayMirror(cluster))
    except (TooQuietError, OSError, UnspokenError, KazooException, KazooTimeoutError) as problem:
        raise DeadKafkaError(f"Kafka {patch} does not go on: {problem}") from None


def _schemas() -> ReleaseSchemas:
    try:
        return control_schemas()
    except NoSchemasError as problem:
        raise MissingKafkaError(f"{problem}.", "Remove that folder and try again.") from None


def play_on_recording(
    play: Play, features: Features, passages: tuple[Passage, ...]
) -> ControlColumns:
    """The same beside what was heard once. Raises PlayError as `play_on_controller` does, and
    StaleRecordingError where that was another play.
    """
    stage, setup = told_stage(play, features)
    titles = [performed.statement.text for performed in stage.performed]
    if titles != [passage.title for passage in passages]:
        raise StaleRecordingError(
            f"the recording of {play.name} has other lines than the play by now: make it anew, by"
            " pytest --rewrite tests/judge/test_control_plays.py"
        )
    columns = _columns(stage, setup, None)
    return replace(columns, heard=passages)


def told_stage(play: Play, features: Features) -> tuple[Stage, Setup]:
    """The engine's run. Raises PlayError, with the line, for what cannot be told."""
    stage, setup = run_play(play, features), setup_of(play, features)
    problem = why_initial_state_untold(setup)
    if problem is not None:
        raise untold(play, _first_topic(play), problem)
    ear, before = EngineEar(setup), stage.history.start
    for recorded in stage.history.steps:
        why = why_step_untold(before, recorded, ear.controller_id)
        if why is not None:
            raise untold(play, recorded.line, why)
        before = recorded.cluster
    return stage, setup


def _first_topic(play: Play) -> int:
    return next((n for n, said in enumerate(play.statements, 1) if said.verb == "topic"), 1)


def _columns(stage: Stage, setup: Setup, mirror: PlayMirror | None) -> ControlColumns:
    ear, before = EngineEar(setup), stage.history.start
    start = ear.passage("", before).znodes
    told: list[Passage] = []
    heard: list[Passage] = []
    led: list[tuple[str, ...]] = []
    for performed in stage.performed:
        written: set[str] = set()
        for recorded in stage.history.steps[performed.first : performed.last]:
            written |= _led(before, recorded, ear)
            ear.hear(before, recorded)
            if mirror is not None:
                mirror.follow(before, recorded)
            before = recorded.cluster
        told.append(_passage(performed, ear, before))
        heard.append(told[-1] if mirror is None else _passage(performed, mirror, before))
        led.append(tuple(sorted(written)))
    epochs = ear.generations.epochs
    return ControlColumns(stage, start, tuple(told), tuple(heard), tuple(led), epochs)


def _passage(performed: Performed, ear: EngineEar | PlayMirror, cluster: Cluster) -> Passage:
    """Of a line that moves nothing there is nothing to be heard."""
    title = performed.statement.text
    if performed.last == performed.first:
        return Passage(title, 0)
    return ear.passage(title, cluster)


def _led(before: Cluster, recorded: Recorded, ear: EngineEar) -> set[str]:
    """Topics whose state was written, and not by the controller."""
    message = delivered(before, recorded)
    if message is not None and message.receiver == controller_on(ear.controller_id):
        return set()
    return {topic_of(state.partition) for state, _ in written_states(before, recorded.cluster)}
