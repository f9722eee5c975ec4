"""A play of ZooKeeper mode with a real controller, live or recorded.

It has two columns: the engine's controller with its requests and answers, and a real one. Broker
epochs are those of the play.
"""

import lzma
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...engine import channels, history, moves, nodes
from ...engine.cluster import Cluster, broker
from ...engine.setup import Setup
from ...extras import needed_by
from ...plays.header import setup_of
from ...plays.play import Play
from ...plays.runner import run_play
from ...plays.stage import Stage
from ...protocol.errors import KafkaError
from ...protocol.features import Features, parse_features
from ...protocol.ids import NO_LEADER, BrokerId, broker_list, controller_on
from ...protocol.messages import Request, WatcherEvent, api_message
from ...protocol.registrations import topic_of
from ...protocol.zookeeper.ensemble import controller_named
from ..conversation.kafka_terms import UnspokenError
from ..java_process import DeadKafkaError
from ..kafka_jars.jar_cache import MissingKafkaError
from ..side_by_side.deciding import StaleRecordingError
from ..side_by_side.initial_state import first_line, untold
from ..side_by_side.two_columns import ColumnLine, Judges, TwoColumns
from ..wire.metadata_log import NoSchemasError
from ..zookeeper_era import asked_controller, kafka_server, sequences
from ..zookeeper_era.sequences import Passage, StateZnode, TooQuietError
from .engine_ear import EngineEar, as_in_the_engine, delivered, newly_gone
from .played_cluster import PlayedCluster, written_states

CONTROL_RECORDINGS = Path(str(files(__package__))) / "recordings"
"""One file for each play, as `recorded_passages` reads them."""


class ControlPassages(msgspec.Struct, frozen=True):
    """What a controller of ZooKeeper's time sent and answered in a play, line by line."""

    passages: tuple[Passage, ...]


def recorded_passages(play: str) -> dict[str, ControlPassages]:
    """What is recorded of a play with ZooKeeper, by patch release; nothing of another."""
    path = CONTROL_RECORDINGS / f"{play}.json.xz"
    if not path.is_file():
        return {}
    return msgspec.json.decode(lzma.decompress(path.read_bytes()), type=dict[str, ControlPassages])


def play_on_controller(play: Play, features: Features, patch: str) -> TwoColumns:
    """Run a play in the engine, and do the same to a real controller of this patch release. Raises
    PlayError, with the line, for what cannot be done or told, MissingKafkaError for what the
    machine lacks, DeadKafkaError for a Kafka that does not go on.
    """
    stage, setup = _told_stage(play, features)
    protocol = "" if features == parse_features(features.release) else features.metadata_version
    try:
        schemas = kafka_server.control_schemas()
    except NoSchemasError as problem:
        raise MissingKafkaError(f"{problem}.", "Remove that folder and try again.") from None
    with needed_by("a fake broker in ZooKeeper"):
        from kazoo.exceptions import KazooException
        from kazoo.handlers.threading import KazooTimeoutError
    try:
        with PlayedCluster(patch, setup, protocol, schemas) as cluster:
            if cluster.znodes() != EngineEar(setup).passage("", stage.history.start).znodes:
                why = "a controller that takes over changes it"
                raise untold(play, first_line(play, "topic"), why)
            return _columns(stage, setup, cluster.follow, cluster.passage)
    except (TooQuietError, OSError, UnspokenError, KazooException, KazooTimeoutError) as problem:
        raise DeadKafkaError(f"Kafka {patch} does not go on: {problem}") from None


def play_on_recording(play: Play, features: Features, passages: tuple[Passage, ...]) -> TwoColumns:
    """The same beside a recording. Raises as `play_on_controller`, and StaleRecordingError."""
    stage, setup = _told_stage(play, features)
    titles = [performed.statement.text for performed in stage.performed]
    if titles != [passage.title for passage in passages]:
        anew = "make it anew, by pytest --rewrite tests/judge/test_control_plays.py"
        raise StaleRecordingError(
            f"the recording of {play.name} has other lines than the play by now: {anew}"
        )
    lines = zip(passages, stage.performed, strict=True)
    moved = (passage for passage, line in lines if line.last != line.first)
    return _columns(stage, setup, lambda *_: None, lambda *_: next(moved))


def _columns(
    stage: Stage,
    setup: Setup,
    follow: Callable[[Cluster, history.Recorded], None],
    passage: Callable[[str, Cluster], Passage],
) -> TwoColumns:
    """What the engine's controller sent and answered beside the real one, line by line: that is
    told each step by `follow`, and of each line that moves something it has a `passage`.
    """
    ear, before = EngineEar(setup), stage.history.start
    mine = theirs = ear.passage("", before).znodes
    lines, passages = [], []
    for performed in stage.performed:
        title = performed.statement.text
        steps = stage.history.steps[performed.first : performed.last]
        led = tuple(_led(before, steps, ear.controller_id))
        for recorded in steps:
            ear.follow(before, recorded)
            follow(before, recorded)
            before = recorded.cluster
        # A line that moves nothing sends nothing.
        engine = kafka = Passage(title, 0)
        if steps:
            engine, kafka = ear.passage(title, before), passage(title, before)
        words = _Words(ear.generations.epochs)
        sentences = words.of(kafka, theirs)
        line = ColumnLine(
            step=performed.moment,
            play=title,
            engine=words.of(engine, mine),
            kafka=sentences,
            agree=_as_compared(engine) == _as_compared(kafka),
            own=tuple(not sentence.startswith(led) for sentence in sentences),
        )
        lines.append(line)
        passages.append(kafka)
        mine, theirs = engine.znodes or mine, kafka.znodes or theirs
    both = (pair for line in lines for pair in zip(line.kafka, line.own, strict=True))
    return TwoColumns(
        engine=stage,
        kafka=stage,
        judges=Judges(decides=True),
        lines=tuple(lines),
        passages=tuple(passages),
        requests=sum(len(p.requests) + len(p.answers) + len(p.altered) for p in passages),
        # One sentence of its own for each state of a partition that it wrote.
        records=sum(is_own and text.startswith("ZooKeeper:") for text, is_own in both),
    )


def _led(before: Cluster, steps: Sequence[history.Recorded], controller: BrokerId) -> Iterator[str]:
    """How sentences begin of states that were written, and not by the controller."""
    for recorded in steps:
        message = delivered(before, recorded)
        if message is None or message.receiver != controller_on(controller):
            for state, _ in written_states(before, recorded.cluster):
                yield f"ZooKeeper: {topic_of(state.partition)}-0 "
        before = recorded.cluster


def _as_compared(passage: Passage) -> Passage:
    """What can be compared: a play has no topic that tells a full request from others."""
    same = as_in_the_engine(passage)
    return replace(same, requests=tuple(replace(sent, full=False) for sent in same.requests))


class _Words:
    """A passage in sentences; `epochs` are those in the play of generations such as ``"b1g2"``."""

    def __init__(self, epochs: Mapping[str, int]) -> None:
        self._epochs = epochs

    def of(self, passage: Passage, earlier: tuple[StateZnode, ...]) -> tuple[str, ...]:
        """One sentence for each request, each answer, and each state that is not as `earlier`:
        ``ZooKeeper: L-0 leader 2 ISR {2} leader epoch 4 version 7``.
        """
        new = (znode for znode in passage.znodes if znode not in earlier)
        return (
            *map(self._request, passage.requests),
            *map(self._shutdown, passage.answers),
            *map(self._alter, passage.altered),
            *(f"ZooKeeper: {_state(znode)}" for znode in new),
        )

    def _request(self, sent: sequences.SentRequest) -> str:
        what = "; ".join([*map(_state, sent.partitions), *map(_stopped, sent.stopped)])
        live = f"; live {broker_list(sent.live)}" if sent.live else ""
        error = f"; it answers {_error(sent.answer)}" if sent.answer else ""
        other = sent.stamped not in (sequences.NO_EPOCH, sent.generation)
        now = f" (it has {self._epochs[sent.generation]})" if other else ""
        stamp = f"{self._stamp(sent.stamped, 'for')}{now}"
        head = f"broker {sent.broker} gets {sent.api} v{sent.version}{stamp}"
        controller = f"controller epoch {sent.controller_epoch}"
        return f"{head}, {controller}: {what or 'no partition'}{live}{error}"

    def _shutdown(self, answer: sequences.ShutdownAnswer) -> str:
        left = ", ".join(f"{topic}-0" for topic in answer.remaining)
        still = f", it still leads {left}" if left else ""
        asks = f"broker {answer.broker} asks for its shutdown{self._stamp(answer.stamped)}"
        return f"{asks}: {_error(answer.error)}{still}"

    def _alter(self, answer: sequences.AlterAnswer) -> str:
        results = "; ".join(
            f"{r.topic}-0 {_error(r.error)}" if r.error else _state(r) for r in answer.partitions
        )
        asks = f"broker {answer.broker} proposes another ISR{self._stamp(answer.stamped)}"
        return f"{asks}: {_error(answer.error) if answer.error else results}"

    def _stamp(self, stamped: str, word: str = "with") -> str:
        if stamped == sequences.NO_EPOCH:
            return " without a broker epoch"
        return f" {word} broker epoch {self._epochs.get(stamped, stamped)}"


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


# --- what cannot be told, each with the reason ----------------------------------------------------


def _told_stage(play: Play, features: Features) -> tuple[Stage, Setup]:
    """The engine's run. Raises PlayError, with the line, for what cannot be sent."""
    stage, setup = run_play(play, features), setup_of(play, features)
    problem = _why_initial_state_untold(setup)
    if problem is not None:
        raise untold(play, first_line(play, "topic"), problem)
    controller, before = EngineEar(setup).controller_id, stage.history.start
    for recorded in stage.history.steps:
        why = _why_untold(before, recorded, controller)
        if why is not None:
            raise untold(play, recorded.line, why)
        before = recorded.cluster
    return stage, setup


_OWN_BROKER = "broker {} is the real controller's own, and stays up, registered and on its release"
_BY_HAND = "it is a request by hand to a broker, and brokers are the engine's"
_LOST = moves.Drop | moves.TimeOut | moves.Duplicate | moves.LoseReply
_UNTOLD: dict[type, str] = {
    moves.UpgradeMetadata: "inter.broker.protocol.version is read when the real broker starts",
    moves.Configure: "a topic's settings stay what they are beside a real controller",
    moves.ConfigureBrokers: "settings stay what they are beside a real controller",
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
        if partition.partition_epoch > asked_controller.VERSIONS_MAX:
            return f"its znode would be written more than {asked_controller.VERSIONS_MAX} times"
    return None


def _why_untold(before: Cluster, recorded: history.Recorded, controller: BrokerId) -> str | None:
    """Why a step cannot be done to a real controller on that broker; None where it can."""
    move = recorded.move
    if type(move) in _UNTOLD:
        return _UNTOLD[type(move)]
    if isinstance(move, moves.Upgrade) and move.node in (None, controller):
        return _OWN_BROKER.format(controller)
    if isinstance(move, moves.RawRequest):
        is_told = not isinstance(move.body, api_message.ControlRequest)
        return None if is_told else _BY_HAND
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
    return controller_named(nodes.ensemble_of(cluster)) not in (None, controller)
