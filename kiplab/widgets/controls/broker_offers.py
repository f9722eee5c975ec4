"""What can be done with a broker where one stands: offers, each with its line and why it cannot be.

An offer is a move with the engine's `why_not`. Buttons, menus in the picture and the list of what
can happen next show the same offers.
"""

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, broker
from ...engine.impossible_moves import why_not
from ...engine.nodes import has_zookeeper, is_cut
from ...engine.truth import controller_of, registration_of, session_lasts, truth
from ...plays.move_lines import statement_of
from ...plays.play import Statement
from ...plays.play_errors import PlayError
from ...plays.stage import Stage
from ...plays.values import LOSSES
from ...plays.verbs import Impossible, perform
from ...protocol.ids import CONTROLLER, NO_LEADER, ZOOKEEPER, BrokerId, host_of, node_name
from ...protocol.releases import RELEASES
from ...protocol.replica.broker_state import Lifecycle, Loss

LOSS_WORDS = {"nothing": "kept", "what was not flushed": "tail-lost", "the whole disk": "replaced"}
"""What a crash takes with it, in words, and as the play's line says it."""


class GoTo(msgspec.Struct, frozen=True):
    """Stand on a step; with `acts`, to do something there that the run did not."""

    step: int
    acts: bool = False


class Offer(msgspec.Struct, frozen=True):
    """A label, the line it writes, why it cannot be done now (None: it can), advice. `thing` is the
    thing of the picture that it is about, named as in `figures.timeline.places`. An offer that only
    leads to a step has `to` in place of a line.
    """

    label: str
    line: Statement
    reason: str | None = None
    advice: str = ""
    thing: str = ""
    is_fault: bool = False
    to: GoTo | None = None


def offer_of(cluster: Cluster, move: moves.Move, label: str = "", advice: str = "") -> Offer:
    """A move as an offer: with the move's own label, or in these words."""
    own = move.offered
    apart = own.with_zookeeper if has_zookeeper(cluster) else ""
    advice = advice or apart or own.advice
    return Offer(label or own.label, statement_of(move), why_not(cluster, move), advice)


def tried(
    stage: Stage, line: Statement, offered: moves.Offered, first: moves.Move | None = None
) -> Offer:
    """A line of several moves: the `first` can be in its way, or any that follows."""
    reason = None if first is None else why_not(stage.cluster, first)
    if reason is None:
        try:
            perform(stage, line, 0)
        except Impossible as problem:
            reason = str(problem)
        except PlayError as problem:
            reason = problem.problem
    return Offer(offered.label, line, reason, offered.advice)


# --- brokers --------------------------------------------------------------------------------------


def about_broker(stage: Stage, id: BrokerId, disk: str) -> tuple[Offer, ...]:
    """What happens to a broker most often, in order; `disk` is one of LOSS_WORDS."""
    cluster = stage.cluster
    life = (moves.Crash(id, Loss(LOSSES[disk])), moves.ExpireSession(id), moves.Start(id))
    return (
        *(offer_of(cluster, move) for move in life),
        *(() if has_zookeeper(cluster) else (_unfence(stage, id),)),
        offer_of(cluster, moves.Fire(id, moves.Timer.FETCH)),
    )


def more_about_broker(stage: Stage, id: BrokerId) -> tuple[Offer, ...]:
    """What else can happen to a broker; the last ones cut or mend its links."""
    cluster, down, fetch = stage.cluster, moves.ShutDown(id), moves.Fire(id, moves.Timer.FETCH)
    return (
        tried(stage, Statement("shut-down", (str(id),)), down.offered, down),
        *_heartbeats(cluster, id),
        tried(stage, Statement("catch-up", (str(id),)), _CATCH_UP, fetch),
        offer_of(cluster, moves.Fire(id, moves.Timer.LAG_CHECK)),
        *_links(cluster, id),
    )


_CATCH_UP = moves.Offered("Catch up", "The follower fetches until it has caught up with its leader")
_UNFENCE = moves.Offered("Unfence", "Recovery is over: the broker asks to be unfenced")


def _heartbeats(cluster: Cluster, id: BrokerId) -> tuple[Offer, ...]:
    """With ZooKeeper a broker that starts is in the cluster at once, and nobody is fenced. Only
    KIP-343 has brokers send heartbeats to the controller there, and two clocks that say when they
    have come to nothing for too long.
    """
    beat = offer_of(cluster, moves.Fire(id, moves.Timer.HEARTBEAT))
    if not has_zookeeper(cluster):
        return (offer_of(cluster, moves.FinishRecovery(id)), beat)
    if RELEASES[cluster.features.release_of(id)].specified is None:
        return ()
    clocks = (moves.HeartbeatTimeout(id, at_controller) for at_controller in (True, False))
    return (beat, *(offer_of(cluster, clock) for clock in clocks))


def _unfence(stage: Stage, id: BrokerId) -> Offer:
    """The play's ``unfence`` ends a recovery first; a broker that has recovered sends a heartbeat.

    A broker that is not fenced has nothing to ask for.
    """
    node = broker(stage.cluster, id)
    lifecycle = node.process.lifecycle if node and node.process else Lifecycle.STARTING
    if lifecycle in (Lifecycle.RECOVERY, Lifecycle.STARTING):
        first = moves.FinishRecovery(id) if lifecycle is Lifecycle.STARTING else None
        return tried(stage, Statement("unfence", (str(id),)), _UNFENCE, first)
    beat = offer_of(stage.cluster, moves.Fire(id, moves.Timer.HEARTBEAT), *_UNFENCE[:2])
    registration = registration_of(stage.cluster, id)
    if registration is not None and not registration.fenced:
        return replace(beat, reason=f"{node_name(id)} is not fenced")
    return beat


def _links(cluster: Cluster, id: BrokerId) -> tuple[Offer, ...]:
    """Cut the links to the controller or ZooKeeper, to the leader that it follows, and to the
    broker that is the controller; a link that is cut can be healed.
    """
    leaders, apart = _leaders_of(cluster, id), _apart(cluster)
    ends = {*apart, *leaders, *(n for link in cluster.cut if id in link for n in link)} - {id}
    names = {end: node_name(end) for end in ends} | apart | {n: f"leader {n}" for n in leaders}
    links = tuple(link_offer(cluster, id, end, names[end]) for end in sorted(ends))
    if leaders or len(links) > len(apart.keys() - {id}):
        return links
    cut = Statement("cut", (str(id), "LEADER"))
    return (*links, Offer("Cut off from leader", cut, f"broker {id} follows nobody"))


def _apart(cluster: Cluster) -> dict[BrokerId, str]:
    """The nodes that every broker has a link to, and their names: the controller and ZooKeeper."""
    if not has_zookeeper(cluster):
        return {CONTROLLER: node_name(CONTROLLER)}
    active = controller_of(cluster)
    hosts = {} if active is None else {host_of(active): node_name(active)}
    return {ZOOKEEPER: node_name(ZOOKEEPER), **hosts}


def link_offer(cluster: Cluster, id: BrokerId, end: BrokerId, who: str) -> Offer:
    """Cut the link between two nodes, or heal it where it is cut."""
    move = moves.Heal(id, end) if is_cut(cluster, id, end) else moves.Cut(id, end)
    return offer_of(cluster, move, move.offered.label.format(who))


def _leaders_of(cluster: Cluster, id: BrokerId) -> set[BrokerId]:
    """The leaders that a broker fetches from, in the controller's metadata and in its own."""
    leaders = {state.leader for state in truth(cluster).partitions if id in state.replicas}
    node = broker(cluster, id)
    own = node.process.replicas if node is not None and node.process is not None else ()
    return (leaders | {replica.leader for replica in own}) - {id, NO_LEADER}


def standing(cluster: Cluster, id: BrokerId) -> str:
    """How a broker does, in a few words: ``"runs as epoch 41, fenced"``."""
    node = broker(cluster, id)
    registration = registration_of(cluster, id)
    fenced = ", fenced" if registration is not None and registration.fenced else ""
    if node is None or node.process is None:
        gone = has_zookeeper(cluster) and not session_lasts(cluster, id)
        return "down" if gone else f"down{fenced or ', not noticed yet'}"
    epoch = f" as epoch {node.process.epoch}" if node.process.epoch >= 0 else ""
    return f"{LIFECYCLE_WORDS[node.process.lifecycle]}{epoch}{fenced}"


LIFECYCLE_WORDS = {
    Lifecycle.STARTING: "waits to register",
    Lifecycle.RECOVERY: "recovering",
    Lifecycle.RUNNING: "runs",
    Lifecycle.PENDING_CONTROLLED_SHUTDOWN: "shutting down",
}
