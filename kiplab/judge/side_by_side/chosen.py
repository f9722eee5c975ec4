"""What `kiplab real` is asked to run: which play, on which release of Kafka, who is Kafka's own."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from ...engine.cluster import Cluster
from ...plays import library
from ...plays.header import features_of, setup_of
from ...plays.play import Play
from ...protocol.features import Features, UnknownFeatureError, parse_features
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import Mode
from ..controller.controller_process import ControllerProcess
from ..conversation.real_controller import RealController
from ..java_process import DeadKafkaError
from ..kafka_jars import judged_releases
from ..kafka_jars.judged_releases import MissingKafkaError
from ..partition.partition_process import partition_releases
from ..wire.message_schemas import NoSchemasError
from ..zookeeper_plays.engine_ear import first_controller
from .deciding import RealNodes
from .initial_state import UntoldLeadersError, untold
from .live_kafka import LiveKafka
from .live_leaders import LiveLeaders, Rehearsal
from .two_columns import Judges, TwoColumns, play_in_two_columns

BOTH, CONTROLLER_ALONE, LEADER_ALONE = "both", "controller", "leader"
JUDGES = {
    BOTH: Judges(decides=True, leads=True),
    CONTROLLER_ALONE: Judges(decides=True),
    LEADER_ALONE: Judges(decides=False, leads=True),
}
"""Who is Kafka's own, by the words of ``--judge``: both, unless somebody asks for one alone."""
_NOT_DRIVEN = "The Partition of this release is not driven."
_BROKERS_ARE_NOT_RUN = "the brokers of a play with ZooKeeper are the engine's: judge the controller"


class Chosen(NamedTuple):
    """What is to be run: `patch` is the release of Kafka that decides, `judge` what of it."""

    play: Play
    features: Features
    patch: str
    judge: str
    why: str = ""
    """Why brokers are the engine's."""

    @property
    def judges(self) -> Judges:
        """Who is Kafka's own."""
        return JUDGES[self.judge]

    @property
    def with_zookeeper(self) -> bool:
        """Whether the controller lives on a broker, and has releases of its own."""
        return self.features.mode is Mode.ZOOKEEPER


def chosen(play: str | Path | Play, kafka: str | None, judge: str) -> Chosen:
    """Raises PlayError, or UnknownFeatureError, as `kiplab.real` does."""
    if judge not in JUDGES:
        raise UnknownFeatureError(f"no judge {judge!r}: there are {', '.join(JUDGES)}")
    named, shared = (play, None) if isinstance(play, Play) else library.find(play)
    if features_of(named).mode is Mode.ZOOKEEPER:
        return _with_zookeeper(named, shared or features_of(named), kafka, judge)
    if kafka is None:
        features = features_of(named) if shared is None else shared
        _must_not_be_switched(named, features)
        release = features.release_of(CONTROLLER)
        return Chosen(named, features, _patch(release), *_judge(release, judge))
    name, slash, metadata_version = kafka.partition("/")
    patch = _patch(name)
    release = patch.rpartition(".")[0]
    features = parse_features(f"{release}{slash}{metadata_version}")
    return Chosen(named, features, patch, *_judge(release, judge))


def _with_zookeeper(play: Play, features: Features, kafka: str | None, judge: str) -> Chosen:
    """Raises UnknownFeatureError for a release, or a judge, that there is none of."""
    if judge == LEADER_ALONE:
        raise UnknownFeatureError(_BROKERS_ARE_NOT_RUN)
    if kafka is not None:
        name, slash, protocol = kafka.partition("/")
        features = parse_features(f"{_zookeeper_release(name)}{slash}{protocol}")
    else:
        _must_not_be_switched(play, features)
    own = BrokerId(first_controller(setup_of(play, features)))
    release = _zookeeper_release(features.release_of(own))
    patch = judged_releases.ZOOKEEPER_PATCHES[release]
    return Chosen(play, features, patch, CONTROLLER_ALONE)


def _judge(release: str, judge: str) -> tuple[str, str]:
    """Who is Kafka's own, and why brokers are not where they should be.

    Raises UnknownFeatureError where only leaders are asked for, and that release has none.
    """
    if release in partition_releases() or not JUDGES[judge].leads:
        return judge, ""
    if judge == LEADER_ALONE:
        there = ", ".join(partition_releases())
        raise UnknownFeatureError(f"the Partition of Kafka {release} is not run; there are {there}")
    return CONTROLLER_ALONE, _NOT_DRIVEN


def _patch(name: str) -> str:
    try:
        return judged_releases.patch_release(name)
    except judged_releases.UnjudgedReleaseError as unknown:
        raise UnknownFeatureError(str(unknown)) from None


def _zookeeper_release(name: str) -> str:
    try:
        return judged_releases.zookeeper_release(name)
    except judged_releases.UnjudgedReleaseError as unknown:
        raise UnknownFeatureError(str(unknown)) from None


def _must_not_be_switched(play: Play, features: Features) -> None:
    """Raises PlayError, with the line of the header that switches a rule; the first line if a token
    does.
    """
    if features.overrides:
        verbs = enumerate(play.statements, 1)
        line = next((n for n, statement in verbs if statement.verb in ("off", "on")), 1)
        raise untold(play, line, "name a release: none has this switched by hand")


Between = Callable[[Cluster, RealNodes], RealNodes]
"""Who stands between a play that begins so and its real nodes."""


def told_leaders(chosen: Chosen, *, asked_for: bool) -> Chosen:
    """The same, and where brokers cannot be told a line, and nobody asked for them, without them.

    Found out before any is started. Raises PlayError, with the line, where somebody did.
    """
    if not chosen.judges.leads:
        return chosen

    def rehearsed(start: Cluster) -> RealNodes:
        return RealNodes(None, Rehearsal(start))

    try:
        play_in_two_columns(chosen.play, chosen.features, rehearsed)
    except UntoldLeadersError as why:
        if asked_for:
            raise
        return chosen._replace(judge=CONTROLLER_ALONE, why=str(why))
    return chosen


def live_columns(chosen: Chosen, between: Between = lambda _start, nodes: nodes) -> TwoColumns:
    """Raises PlayError, MissingKafkaError and DeadKafkaError as `kiplab.real` does."""
    with ExitStack() as stack:
        leaders = _leaders(chosen, stack)
        kafka = _controller(chosen, stack)

        def begun(start: Cluster) -> RealNodes:
            if leaders is not None:
                leaders.begin(start)
            live = LiveKafka(kafka, chosen.play, start) if kafka is not None else None
            return between(start, RealNodes(live, leaders))

        try:
            return play_in_two_columns(chosen.play, chosen.features, begun)
        except OSError as problem:
            raise DeadKafkaError(f"Kafka {chosen.patch} does not answer: {problem}") from None


def _leaders(chosen: Chosen, stack: ExitStack) -> LiveLeaders | None:
    if not chosen.judges.leads:
        return None
    return stack.enter_context(LiveLeaders(chosen.features.release, chosen.patch))


def _controller(chosen: Chosen, stack: ExitStack) -> RealController | None:
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
