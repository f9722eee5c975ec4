"""The arguments of `kiplab real`: a play, a release of Kafka, and the nodes that Kafka decides."""

from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

from ...engine.cluster import Cluster
from ...plays import header, library
from ...plays.play import Play
from ...protocol.features import Features, UnknownFeatureError, parse_features, with_elr
from ...protocol.ids import CONTROLLER, BrokerId
from ...protocol.releases import RELEASES, Mode
from ..controller.controller_process import ControllerProcess
from ..conversation.real_controller import RealController
from ..java_process import DeadKafkaError
from ..kafka_jars import jar_cache
from ..partition.partition_process import partition_releases
from ..wire.metadata_log import NoSchemasError
from ..zookeeper_plays.engine_ear import first_controller
from .deciding import RealNodes
from .initial_state import UntoldLeadersError, first_line, untold
from .live_kafka import LeaderWords, LiveKafka, LiveLeaders
from .two_columns import Judges, TwoColumns, play_in_two_columns

BOTH, CONTROLLER_ALONE, LEADER_ALONE = "both", "controller", "leader"
JUDGES = {
    BOTH: Judges(decides=True, leads=True),
    CONTROLLER_ALONE: Judges(decides=True),
    LEADER_ALONE: Judges(decides=False, leads=True),
}
"""The nodes that are Kafka's own, by the words of ``--judge``: both by default."""
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


def chosen(
    play: str | Path | Play, kafka: str | None, judge: str, elr: int | None = None
) -> Chosen:
    """Raises PlayError, or UnknownFeatureError, as `kiplab.real` does."""
    if judge not in JUDGES:
        raise UnknownFeatureError(f"no judge {judge!r}: there are {', '.join(JUDGES)}")
    named, shared = (play, None) if isinstance(play, Play) else library.find(play)
    own = shared or header.features_of(named)
    with_zookeeper = header.features_of(named).mode is Mode.ZOOKEEPER
    if with_zookeeper and judge == LEADER_ALONE:
        raise UnknownFeatureError(_BROKERS_ARE_NOT_RUN)
    if with_zookeeper:
        return _with_zookeeper(named, own, kafka)
    return _with_kraft(named, own, kafka, judge, elr)


def _with_kraft(
    play: Play, features: Features, kafka: str | None, judge: str, elr: int | None
) -> Chosen:
    if kafka is None:
        _must_not_be_switched(play, features)
        features = features if elr is None else with_elr(features, elr)
        patch = jar_cache.patch_release(release := features.release_of(CONTROLLER))
    else:
        name, slash, metadata_version = kafka.partition("/")
        patch = jar_cache.patch_release(name)
        release = patch.rpartition(".")[0]
        # Eligible leader replicas as the play has them: what is recorded was asked so.
        own = int(features.has_elr and RELEASES[release].code >= (4, 0))
        level = own if elr is None else elr
        features = parse_features(f"{release}{slash}{metadata_version}", elr=level)
    driven = partition_releases()
    if release in driven or not JUDGES[judge].leads:
        return Chosen(play, features, patch, judge)
    if judge == LEADER_ALONE:
        there = ", ".join(driven)
        raise UnknownFeatureError(f"the Partition of Kafka {release} is not run; there are {there}")
    return Chosen(play, features, patch, CONTROLLER_ALONE, _NOT_DRIVEN)


def _with_zookeeper(play: Play, features: Features, kafka: str | None) -> Chosen:
    if kafka is None:
        _must_not_be_switched(play, features)
    else:
        name, slash, protocol = kafka.partition("/")
        features = parse_features(f"{jar_cache.zookeeper_release(name)}{slash}{protocol}")
    controller = BrokerId(first_controller(header.setup_of(play, features)))
    release = jar_cache.zookeeper_release(features.release_of(controller))
    patch = jar_cache.ZOOKEEPER_PATCHES[release]
    return Chosen(play, features, patch, CONTROLLER_ALONE)


def _must_not_be_switched(play: Play, features: Features) -> None:
    """Raises PlayError, with the line of the header that switches a rule, or its first line."""
    if features.overrides:
        line = first_line(play, "off", "on")
        raise untold(play, line, "name a release: none has this switched by hand")


# --- live -----------------------------------------------------------------------------------------

Between = Callable[[Cluster, RealNodes], RealNodes]
"""Who stands between a play that begins so and its real nodes."""


def possible_leaders(what: Chosen, *, asked_for: bool) -> Chosen:
    """Without real brokers, where a line cannot be sent to one; decided before any is started.
    Raises PlayError, with the line, where somebody asked for them.
    """
    if not what.judges.leads:
        return what
    try:
        play_in_two_columns(what.play, what.features, lambda s: RealNodes(None, LeaderWords(s)))
    except UntoldLeadersError as why:
        if asked_for:
            raise
        return what._replace(judge=CONTROLLER_ALONE, why=str(why))
    return what


def live_columns(what: Chosen, between: Between = lambda _start, nodes: nodes) -> TwoColumns:
    """Raises PlayError, MissingKafkaError and DeadKafkaError as `kiplab.real` does."""
    with ExitStack() as stack:
        leaders = None
        if what.judges.leads:
            leaders = stack.enter_context(LiveLeaders(what.features.release, what.patch))
        try:
            kafka = _controller(what, stack) if what.judges.decides else None

            def begun(start: Cluster) -> RealNodes:
                if leaders is not None:
                    leaders.begin(start)
                live = LiveKafka(kafka, what.play, start) if kafka is not None else None
                return between(start, RealNodes(live, leaders))

            return play_in_two_columns(what.play, what.features, begun)
        except OSError as problem:
            raise DeadKafkaError(f"Kafka {what.patch} does not answer: {problem}") from None


def _controller(what: Chosen, stack: ExitStack) -> RealController:
    features, setup = what.features, header.setup_of(what.play, what.features)
    rules = (features.metadata_version, int(features.has_elr), setup.static_min_insync_replicas)
    process = ControllerProcess(what.patch, *rules)
    stack.enter_context(process)
    try:
        return stack.enter_context(closing(RealController(process)))
    except NoSchemasError as problem:
        mend = f"Remove {process.jars} and try again."
        raise jar_cache.MissingKafkaError(f"{problem}.", mend) from None
