"""A play of ZooKeeper's time told to a real controller, or beside what one has done before."""

import lzma
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from ...engine import channels, moves
from ...engine.cluster import Cluster, broker
from ...engine.given_situation import Setup
from ...engine.history import Recorded
from ...engine.nodes import ensemble_of
from ...extras import needed_by
from ...plays.header import setup_of
from ...plays.play import Play
from ...plays.runner import run_play
from ...plays.stage import Performed, Stage
from ...protocol.errors import KafkaError
from ...protocol.features import Features, parse_features
from ...protocol.ids import NO_LEADER, BrokerId, broker_list, controller_on
from ...protocol.messages import Request, WatcherEvent
from ...protocol.messages.api_message import ControlRequest
from ...protocol.registrations import topic_of
from ...protocol.zookeeper.ensemble import find
from ...protocol.zookeeper.znodes import CONTROLLER_PATH, ControllerZnode
from ..conversation.kafka_terms import UnspokenError
from ..java_process import DeadKafkaError, java_of_kafka
from ..kafka_jars.judged_releases import MissingKafkaError
from ..side_by_side.deciding import StaleRecordingError
from ..side_by_side.initial_state import untold
from ..side_by_side.two_columns import ColumnLine, Judges, TwoColumns
from ..wire.message_schemas import NoSchemasError
from ..zookeeper_era import sequences
from ..zookeeper_era.asked_controller import VERSIONS_MAX
from ..zookeeper_era.kafka_server import control_schemas
from ..zookeeper_era.sequences import Passage, StateZnode, TooQuietError
from .engine_ear import EngineEar, as_in_the_engine, delivered, newly_gone
from .play_mirror import PlayMirror, written_states
from .played_cluster import PlayedCluster

CONTROL_RECORDINGS = Path(str(files(__package__))) / "recordings"
"""One file for each play, as `heard_plays` reads them."""


class HeardPlay(msgspec.Struct, frozen=True):
    """What a controller of ZooKeeper's time sent and answered in a play, line by line."""

    passages: tuple[Passage, ...]


def heard_plays(play: str) -> dict[str, HeardPlay]:
    """What is recorded of a play with ZooKeeper, by patch release; nothing of another."""
    path = CONTROL_RECORDINGS / f"{play}.json.xz"
    if not path.is_file():
        return {}
    return msgspec.json.decode(lzma.decompress(path.read_bytes()), type=dict[str, HeardPlay])


def play_on_controller(play: Play, features: Features, patch: str) -> TwoColumns:
    """Run a play in the engine, and do the same to a real controller of this patch release.

    Raises PlayError, with the line, for what cannot be done in the engine or cannot be told,
    MissingKafkaError for what the machine lacks, DeadKafkaError for a Kafka that ended by itself or
    does not go on.
    """
    stage, setup = _told_stage(play, features)
    protocol = "" if features == parse_features(features.release) else features.metadata_version
    # Without Java there is no use for 40 MB of jars.
    java_of_kafka()
    try:
        schemas = control_schemas()
    except NoSchemasError as problem:
        raise MissingKafkaError(f"{problem}.", "Remove that folder and try again.") from None
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


def play_on_recording(play: Play, features: Features, passages: tuple[Passage, ...]) -> TwoColumns:
    """The same beside what was heard once. Raises PlayError as `play_on_controller` does, and
    StaleRecordingError where that was another play.
    """
    stage, setup = _told_stage(play, features)
    titles = [performed.statement.text for performed in stage.performed]
    if titles != [passage.title for passage in passages]:
        raise StaleRecordingError(
            f"the recording of {play.name} has other lines than the play by now: make it anew, by"
            " pytest --rewrite tests/judge/test_control_plays.py"
        )
    lines = zip(passages, stage.performed, strict=True)
    moved = (passage for passage, line in lines if line.last != line.first)
    return _columns(stage, setup, _RecordedController(moved))


class _Controller(Protocol):
    """The engine's, a real one, or one that was recorded."""

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """One step of the engine."""

    def passage(self, title: str, cluster: Cluster) -> Passage:
        """What was heard since the last one, and what ZooKeeper has now."""


class _RecordedController:
    def __init__(self, passages: Iterable[Passage]) -> None:
        self._left = iter(passages)

    def follow(self, before: Cluster, recorded: Recorded) -> None:
        """Nothing is done again."""

    def passage(self, _title: str, _cluster: Cluster) -> Passage:
        """The next one."""
        return next(self._left)


def _columns(stage: Stage, setup: Setup, real: _Controller) -> TwoColumns:
    ear, before = EngineEar(setup), stage.history.start
    start, heard = ear.passage("", before).znodes, []
    for performed in stage.performed:
        led: set[str] = set()
        for recorded in stage.history.steps[performed.first : performed.last]:
            led |= _led(before, recorded, ear)
            ear.follow(before, recorded)
            real.follow(before, recorded)
            before = recorded.cluster
        title = performed.statement.text
        if performed.last == performed.first:
            # Of a line that moves nothing there is nothing to be heard.
            mine = theirs = Passage(title, 0)
        else:
            mine, theirs = ear.passage(title, before), real.passage(title, before)
        heard.append(HeardLine(performed, mine, theirs, frozenset(led)))
    return control_columns(stage, start, heard, ear.generations.epochs)


def _led(before: Cluster, recorded: Recorded, ear: EngineEar) -> set[str]:
    """Topics whose state was written, and not by the controller."""
    message = delivered(before, recorded)
    if message is not None and message.receiver == controller_on(ear.controller_id):
        return set()
    return {topic_of(state.partition) for state, _ in written_states(before, recorded.cluster)}


# --- what cannot be told, each with the reason ----------------------------------------------------


def _told_stage(play: Play, features: Features) -> tuple[Stage, Setup]:
    """The engine's run. Raises PlayError, with the line, for what cannot be told."""
    stage, setup = run_play(play, features), setup_of(play, features)
    problem = _why_initial_state_untold(setup)
    if problem is not None:
        raise untold(play, _first_topic(play), problem)
    controller, before = EngineEar(setup).controller_id, stage.history.start
    for recorded in stage.history.steps:
        why = _why_step_untold(before, recorded, controller)
        if why is not None:
            raise untold(play, recorded.line, why)
        before = recorded.cluster
    return stage, setup


def _first_topic(play: Play) -> int:
    return next((n for n, line in enumerate(play.statements, 1) if line.verb == "topic"), 1)


_OWN_BROKER = "broker {} is the real controller's own, and stays up, registered and on its release"
_LOST = moves.Drop | moves.TimeOut | moves.Duplicate | moves.LoseReply
_UNTOLD: dict[type, str] = {
    moves.UpgradeMetadata: "inter.broker.protocol.version is read when the real broker starts",
    moves.Configure: "a topic's settings stay what they are beside a real controller",
    moves.HeartbeatTimeout: "no release has the heartbeats of KIP-343",
    moves.Race: "two requests cannot be made to meet inside a real process",
    moves.Advance: "the real controller's clock cannot be moved",
}
"""Moves that are done in the engine alone."""


def _why_initial_state_untold(setup: Setup) -> str | None:
    """Why no cluster with a real controller begins so; None where one does."""
    for partition in setup.partitions:
        if partition.name != f"{topic_of(partition.name)}-0":
            return "each topic has one partition there, number 0"
        if partition.adding or partition.removing:
            return "no partition is being reassigned there"
        if partition.partition_epoch > VERSIONS_MAX:
            return f"its znode would be written more than {VERSIONS_MAX} times"
    return None


def _why_step_untold(before: Cluster, recorded: Recorded, controller: BrokerId) -> str | None:
    """Why a step cannot be done to a real controller on that broker; None where it can."""
    move = recorded.move
    if type(move) in _UNTOLD:
        return _UNTOLD[type(move)]
    if isinstance(move, moves.Upgrade) and move.node in (None, controller):
        return _OWN_BROKER.format(controller)
    if isinstance(move, moves.RawRequest):
        is_control = isinstance(move.body, ControlRequest)
        return (
            "it is a request by hand to a broker, and brokers are the engine's"
            if is_control
            else None
        )
    if isinstance(move, _LOST) and _is_controllers(before, move, controller):
        return "between real nodes no message is lost, or sent twice, by hand"
    if _is_other(before, controller) or _is_other(recorded.cluster, controller):
        return f"only broker {controller}'s controller is real, and another one would take over"
    own = broker(recorded.cluster, controller)
    is_down = own is None or own.process is None
    if is_down or controller in newly_gone(before, recorded.cluster):
        return _OWN_BROKER.format(controller)
    return None


def _is_controllers(before: Cluster, move: _LOST, controller: BrokerId) -> bool:
    """A broker's request that is lost on its way has never been there; all else would be missed."""
    message = channels.find(before, move.message)
    if message is None:
        return False
    if isinstance(message.body, Request) and message.receiver == controller_on(controller):
        return isinstance(move, moves.LoseReply)
    ends = message.receiver, message.name.sender
    return controller_on(controller) in ends or isinstance(message.body, WatcherEvent)


def _is_other(cluster: Cluster, controller: BrokerId) -> bool:
    znode = find(ensemble_of(cluster), CONTROLLER_PATH)
    named = znode.data if znode is not None else None
    return isinstance(named, ControllerZnode) and named.broker != controller


Epochs = Mapping[str, int]
"""The broker epoch, in the play, of each generation such as ``"b1g2"``."""


class HeardLine(NamedTuple):
    """What was sent and answered in a line, by the engine's and by the real one; topics whose state
    leaders have written in it.
    """

    performed: Performed
    engine: Passage
    real: Passage
    led: frozenset[str]


def control_columns(
    engine: Stage, start: tuple[StateZnode, ...], heard: list[HeardLine], epochs: Epochs
) -> TwoColumns:
    """Both, line by line of a play; `start` is what ZooKeeper has before."""
    mine, theirs, lines = start, start, []
    for line in heard:
        lines.append(_line(line, (mine, theirs), epochs))
        mine, theirs = line.engine.znodes or mine, line.real.znodes or theirs
    real = tuple(line.real for line in heard)
    # One sentence of the controller's own for each state of a partition that it wrote.
    sentences = (pair for line in lines for pair in zip(line.kafka, line.own, strict=True))
    return TwoColumns(
        engine=engine,
        kafka=engine,
        judges=Judges(decides=True),
        lines=tuple(lines),
        heard=real,
        requests=sum(len(p.requests) + len(p.answers) + len(p.altered) for p in real),
        records=sum(is_own and text.startswith("ZooKeeper:") for text, is_own in sentences),
    )


def _line(
    line: HeardLine, earlier: tuple[tuple[StateZnode, ...], tuple[StateZnode, ...]], epochs: Epochs
) -> ColumnLine:
    engine, kafka = (
        (*_in_words(passage, epochs), *(_znode(z) for z in passage.znodes if z not in before))
        for passage, before in zip((line.engine, line.real), earlier, strict=True)
    )
    led = tuple(f"ZooKeeper: {topic}-0 " for topic in line.led)
    return ColumnLine(
        step=line.performed.moment,
        play=line.performed.statement.text,
        engine=engine,
        kafka=kafka,
        agree=_as_compared(line.engine) == _as_compared(line.real),
        own=tuple(not sentence.startswith(led) for sentence in kafka),
    )


def _as_compared(passage: Passage) -> Passage:
    """A passage without what the two differ in by nature: a play has no topic by which a request
    with every partition is told from others, and its partitions are compared one by one.
    """
    same = as_in_the_engine(passage)
    return replace(same, requests=tuple(replace(sent, full=False) for sent in same.requests))


# --- in words -------------------------------------------------------------------------------------


def _in_words(passage: Passage, epochs: Epochs) -> Iterator[str]:
    """One sentence for each request and each answer."""
    yield from (_request(sent, epochs) for sent in passage.requests)
    for answer in passage.answers:
        left = ", ".join(f"{topic}-0" for topic in answer.remaining)
        still = f", it still leads {left}" if left else ""
        asks = f"broker {answer.broker} asks for its shutdown{_with(answer.stamped, epochs)}"
        yield f"{asks}: {_error(answer.error)}{still}"
    for altered in passage.altered:
        results = "; ".join(map(_altered, altered.partitions))
        asks = f"broker {altered.broker} asks for another ISR{_with(altered.stamped, epochs)}"
        yield f"{asks}: {_error(altered.error) if altered.error else results}"


def _znode(znode: StateZnode) -> str:
    """``ZooKeeper: L-0 leader 2 ISR {2} leader epoch 4 version 7``."""
    return f"ZooKeeper: {_state(znode)}"


def _request(sent: sequences.SentRequest, epochs: Epochs) -> str:
    what = "; ".join([*map(_state, sent.partitions), *map(_stopped, sent.stopped)])
    live = f"; live {broker_list(sent.live)}" if sent.live else ""
    error = f"; it answers {_error(sent.answer)}" if sent.answer else ""
    other = sent.stamped not in (sequences.NO_EPOCH, sent.generation)
    now = f" (it has {epochs[sent.generation]})" if other else ""
    stamp = f"{_with(sent.stamped, epochs, 'for')}{now}"
    head = f"broker {sent.broker} gets {sent.api} v{sent.version}{stamp}"
    controller = f"controller epoch {sent.controller_epoch}"
    return f"{head}, {controller}: {what or 'no partition'}{live}{error}"


def _with(stamped: str, epochs: Epochs, word: str = "with") -> str:
    if stamped == sequences.NO_EPOCH:
        return " without a broker epoch"
    return f" {word} broker epoch {epochs.get(stamped, stamped)}"


def _altered(result: sequences.AlteredPartition) -> str:
    return f"{result.topic}-0 {_error(result.error)}" if result.error else _state(result)


def _stopped(replica: sequences.StoppedReplica) -> str:
    epoch = "" if replica.leader_epoch is None else f" of leader epoch {replica.leader_epoch}"
    return f"{replica.topic}-0{epoch}{' and delete it' if replica.delete else ''}"


def _state(state: StateZnode | sequences.SentPartition | sequences.AlteredPartition) -> str:
    who = "none" if state.leader == NO_LEADER else str(state.leader)
    epochs = f"leader epoch {state.leader_epoch} version {state.zk_version}"
    recovering = " RECOVERING" if state.leader_recovery_state else ""
    return f"{state.topic}-0 leader {who} ISR {broker_list(state.isr)} {epochs}{recovering}"


def _error(code: int) -> str:
    named = {error.value: error.name for error in KafkaError}
    return named.get(code, f"error {code}")
