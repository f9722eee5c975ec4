"""A play told to a real controller and real brokers, beside the engine."""

from collections.abc import Callable
from contextlib import ExitStack, closing

from ...engine.cluster import Cluster
from ..controller.controller_process import ControllerProcess
from ..conversation.real_controller import RealController
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.missing_kafka import MissingKafkaError
from ..wire.message_schemas import NoSchemasError
from .chosen import CONTROLLER_ALONE, Chosen
from .deciding import RealNodes
from .initial_state import UntoldLeadersError
from .live_kafka import LiveKafka
from .live_leaders import LiveLeaders, Rehearsal
from .two_columns import TwoColumns, play_in_two_columns

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
