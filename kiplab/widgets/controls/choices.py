"""What can be done where one stands: each choice with its line, or with what is in its way."""

import msgspec
from msgspec.structs import replace

from ...engine import moves
from ...engine.cluster import Cluster, Message, MessageName, broker
from ...engine.explain import describe
from ...engine.impossible_moves import why_not
from ...engine.nodes import has_zookeeper, is_cut
from ...engine.truth import controller_of, partition_of, registration_of, session_lasts, truth
from ...plays.move_lines import statement_of
from ...plays.play import Statement
from ...plays.play_errors import PlayError
from ...plays.stage import Stage
from ...plays.values import LOSSES
from ...plays.verbs import Impossible, perform
from ...protocol.ids import (
    CONTROLLER,
    NO_LEADER,
    ZOOKEEPER,
    BrokerId,
    broker_list,
    host_of,
    node_name,
)
from ...protocol.registrations import PartitionRegistration, topic_of
from ...protocol.releases import RELEASES
from ...protocol.replica.broker_state import Lifecycle, Loss

LOSS_WORDS = {"nothing": "kept", "what was not flushed": "tail-lost", "the whole disk": "replaced"}
"""What a crash takes with it, in words, and as the play's line says it."""


class Choice(msgspec.Struct, frozen=True):
    """A button: its label, the line it writes, why it cannot be done now (None: it can), advice."""

    label: str
    line: Statement
    reason: str | None
    advice: str = ""


# --- brokers --------------------------------------------------------------------------------------


def about_broker(stage: Stage, id: BrokerId, disk: str) -> tuple[Choice, ...]:
    """What happens to a broker most often, in the order of the buttons.

    `disk` is one of the values of LOSS_WORDS.
    """
    cluster = stage.cluster
    crash = moves.Crash(id, Loss(LOSSES[disk]))
    fetch = moves.Fire(id, moves.Timer.FETCH)
    apart = has_zookeeper(cluster)
    return (
        choice_of(cluster, crash, "Crash", "The process dies; what it takes is chosen above"),
        choice_of(
            cluster,
            moves.ExpireSession(id),
            "Expire",
            "ZooKeeper ends the session, and what was ephemeral in it is gone"
            if apart
            else "The controller finds the session over and fences the broker",
        ),
        choice_of(
            cluster,
            moves.Start(id),
            "Start",
            "A new process starts, opens a session with ZooKeeper and registers there"
            if apart
            else "A new process starts and registers: a new broker epoch",
        ),
        *(() if apart else (_unfence(stage, id),)),
        choice_of(cluster, fetch, "Fetch", "The follower fetches once from its leader"),
    )


def more_about_broker(stage: Stage, id: BrokerId) -> tuple[Choice, ...]:
    """What else can happen to a broker; the last ones cut or mend its links."""
    cluster, name = stage.cluster, str(id)
    return (
        _tried(
            stage,
            Statement("shut-down", (name,)),
            why_not(cluster, moves.ShutDown(id)),
            "Shut down",
            "A controlled shutdown begins: the broker asks the controller to be let go",
        ),
        *_recovery(cluster, id),
        *_heartbeat(cluster, id),
        _tried(
            stage,
            Statement("catch-up", (name,)),
            why_not(cluster, moves.Fire(id, moves.Timer.FETCH)),
            "Catch up",
            "The follower fetches until it is level with its leader",
        ),
        choice_of(
            cluster,
            moves.Fire(id, moves.Timer.LAG_CHECK),
            "Check lag",
            "As leader it looks for ISR members that fell behind",
        ),
        *_links(cluster, id),
    )


def _recovery(cluster: Cluster, id: BrokerId) -> tuple[Choice, ...]:
    """With ZooKeeper a broker that starts is in the cluster at once, and nobody is fenced."""
    if has_zookeeper(cluster):
        return ()
    advice = "Its logs are ready: from the next heartbeat on it wants to be unfenced"
    return (choice_of(cluster, moves.FinishRecovery(id), "Recover", advice),)


def _heartbeat(cluster: Cluster, id: BrokerId) -> tuple[Choice, ...]:
    """With ZooKeeper only KIP-343 has brokers send them to the controller, and two clocks that say
    when they have come to nothing for too long.
    """
    advice = "The broker tells the controller that it lives"
    beat = choice_of(cluster, moves.Fire(id, moves.Timer.HEARTBEAT), "Heartbeat", advice)
    if not has_zookeeper(cluster):
        return (beat,)
    if RELEASES[cluster.features.release_of(id)].specified is None:
        return ()
    return (
        beat,
        choice_of(
            cluster,
            moves.HeartbeatTimeout(id, at_controller=True),
            "Declare inactive",
            "The controller has waited too long for its heartbeat, and lets others lead",
        ),
        choice_of(
            cluster,
            moves.HeartbeatTimeout(id, at_controller=False),
            "Fence itself",
            "No heartbeat of it was answered for too long: it refuses clients from now on",
        ),
    )


_TYPED = "rarely wanted in a lab: its line can be written into the play"
NO_BUTTON: dict[moves.Timer, str] = {
    **dict.fromkeys((moves.Timer.RETRY, moves.Timer.CHECKPOINT, moves.Timer.FLUSH), _TYPED),
    moves.Timer.ANNOUNCE_ISR: _TYPED,
    **dict.fromkeys((moves.Timer.ELECT_UNCLEAN, moves.Timer.BALANCE_LEADERS), _TYPED),
}
"""Timers that no button fires, and why."""


def choice_of(cluster: Cluster, move: moves.Move, label: str, advice: str) -> Choice:
    """A move as a button."""
    return Choice(label, statement_of(move), why_not(cluster, move), advice)


def _tried(stage: Stage, line: Statement, reason: str | None, label: str, advice: str) -> Choice:
    """A line of several moves: the first can be in its way, or any that follows."""
    if reason is None:
        try:
            perform(stage, line, 0)
        except Impossible as problem:
            reason = problem.reason
        except PlayError as problem:
            reason = problem.problem
    return Choice(label, line, reason, advice)


def _unfence(stage: Stage, id: BrokerId) -> Choice:
    """The play's ``unfence`` ends a recovery first; a broker that has recovered sends a heartbeat.

    A broker that is not fenced has nothing to ask for.
    """
    advice = "Recovery is over: the broker asks to be unfenced"
    node = broker(stage.cluster, id)
    lifecycle = node.process.lifecycle if node and node.process else Lifecycle.STARTING
    if lifecycle in (Lifecycle.STARTING, Lifecycle.RECOVERY):
        ready = lifecycle is Lifecycle.RECOVERY
        reason = None if ready else why_not(stage.cluster, moves.FinishRecovery(id))
        return _tried(stage, Statement("unfence", (str(id),)), reason, "Unfence", advice)
    heartbeat = moves.Fire(id, moves.Timer.HEARTBEAT)
    found = choice_of(stage.cluster, heartbeat, "Unfence", advice)
    known = registration_of(stage.cluster, id)
    if known is not None and not known.fenced:
        return replace(found, reason=f"{node_name(id)} is not fenced")
    return found


def _links(cluster: Cluster, id: BrokerId) -> tuple[Choice, ...]:
    """Cut off from who keeps the metadata and from whom it follows, and from the broker that is the
    controller; a link that is cut can be healed.
    """
    leaders = _leaders_of(cluster, id)
    apart = _apart(cluster)
    ends = {*apart, *leaders, *(n for link in cluster.cut if id in link for n in link)} - {id}
    called = {end: node_name(end) for end in ends} | apart | {n: f"leader {n}" for n in leaders}
    found = tuple(_link(cluster, id, end, called[end]) for end in sorted(ends))
    if leaders or len(found) > len(apart.keys() - {id}):
        return found
    cut = Statement("cut", (str(id), "LEADER"))
    alone = Choice("Cut off from leader", cut, f"broker {id} follows nobody", "")
    return (*found, alone)


def _apart(cluster: Cluster) -> dict[BrokerId, str]:
    """Whom every broker has a link to, and their names: the controller, wherever it lives, and
    ZooKeeper.
    """
    if not has_zookeeper(cluster):
        return {CONTROLLER: node_name(CONTROLLER)}
    active = controller_of(cluster)
    lives = {} if active is None else {host_of(active): node_name(active)}
    return {ZOOKEEPER: node_name(ZOOKEEPER), **lives}


def _link(cluster: Cluster, id: BrokerId, end: BrokerId, who: str) -> Choice:
    if is_cut(cluster, id, end):
        advice = "The link comes back; what waited on it goes on"
        return choice_of(cluster, moves.Heal(id, end), f"Heal link to {who}", advice)
    advice = "The link goes down; what is on it waits"
    return choice_of(cluster, moves.Cut(id, end), f"Cut off from {who}", advice)


def _leaders_of(cluster: Cluster, id: BrokerId) -> set[BrokerId]:
    """Whom a broker fetches from, by the controller's word and by its own belief."""
    states = truth(cluster).partitions
    leaders = {state.leader for state in states if id in state.replicas}
    node = broker(cluster, id)
    if node is not None and node.process is not None:
        leaders |= {replica.leader for replica in node.process.replicas}
    return leaders - {id, NO_LEADER}


def standing(cluster: Cluster, id: BrokerId) -> str:
    """How a broker does, in a few words: ``"runs as epoch 41, fenced"``."""
    node = broker(cluster, id)
    known = registration_of(cluster, id)
    fenced = ", fenced" if known is not None and known.fenced else ""
    if node is None or node.process is None:
        gone = has_zookeeper(cluster) and not session_lasts(cluster, id)
        return "down" if gone else f"down{fenced or ', not noticed yet'}"
    epoch = f" as epoch {node.process.epoch}" if node.process.epoch >= 0 else ""
    return f"{_LIFE[node.process.lifecycle]}{epoch}{fenced}"


_LIFE = {
    Lifecycle.STARTING: "waits to register",
    Lifecycle.RECOVERY: "recovering",
    Lifecycle.RUNNING: "runs",
    Lifecycle.PENDING_CONTROLLED_SHUTDOWN: "shutting down",
}


# --- controller, partitions --------------------------------------------------------------------


def about_controller(cluster: Cluster) -> tuple[Choice, ...]:
    """What can happen to the controller."""
    advice = "Another controller becomes active; it has the metadata log and no heartbeats"
    if has_zookeeper(cluster):
        advice = "An operator deletes /controller: whoever hears of it first tries to be the next"
    return (choice_of(cluster, moves.FailOver(), "Fail over", advice),)


def about_zookeeper(cluster: Cluster) -> tuple[Choice, ...]:
    """What an operator does in ZooKeeper, and what can happen to sessions and links with it."""
    ids = [node.id for node in cluster.brokers]
    links = (_link(cluster, ZOOKEEPER, id, node_name(id)) for id in ids)
    ends = (
        choice_of(
            cluster,
            moves.ExpireSession(id),
            f"Expire {node_name(id)}",
            "ZooKeeper ends its session, and what was ephemeral in it is gone",
        )
        for id in ids
    )
    return (*about_controller(cluster), *ends, *links)


def about_time(stage: Stage) -> tuple[Choice, ...]:
    """How long to wait, in a run with a clock; nothing in one without."""
    if not stage.cluster.timed:
        return ()
    advice = "Time passes; whatever falls due on the way is done"
    spans = (("0.5 s", "500ms"), ("2 s", "2s"), ("9 s", "9s"))
    return tuple(
        _tried(stage, Statement("advance", (span,)), None, f"Wait {said}", advice)
        for said, span in spans
    )


def about_partition(cluster: Cluster, name: str) -> tuple[Choice, ...]:
    """Elections of one partition that an operator can ask for."""
    return (
        choice_of(
            cluster,
            moves.Elect(name),
            "Elect preferred",
            "An operator asks for the first replica of the list as leader",
        ),
        choice_of(
            cluster,
            moves.Elect(name, unclean=True),
            "Elect unclean",
            "An operator lets a replica outside the ISR lead: committed records may be lost",
        ),
    )


def more_about_partition(cluster: Cluster, name: str) -> tuple[Choice, ...]:
    """What else can be done with a partition."""
    state = partition_of(cluster, name)
    leader = NO_LEADER if state is None else state.leader
    return (
        Choice(
            "Finish recovery",
            Statement("finish-recovery", (name,)),
            why_not(cluster, moves.FinishLeaderRecovery(name, leader)),
            "The leader is done recovering from an unclean election, and says so (KIP-704)",
        ),
        _setting(cluster, name),
    )


def _setting(cluster: Cluster, name: str) -> Choice:
    """The other value of unclean.leader.election.enable of its topic."""
    state = partition_of(cluster, name)
    on = state is None or not state.unclean_leader_election
    move = moves.Configure(topic_of(name), on)
    value = "true" if on else "false"
    advice = _who_reads(cluster)
    return choice_of(cluster, move, f"unclean.leader.election.enable={value}", advice)


def _who_reads(cluster: Cluster) -> str:
    """When a controller makes use of unclean.leader.election.enable."""
    if has_zookeeper(cluster):
        return "The controller elects at once where it is turned on, and reads it at each election"
    if "kafka-12670.unclean-by-config" in cluster.features.active(CONTROLLER):
        return "The controller reads it when it elects next, within 300 s"
    return "A controller of this release does not read it (KAFKA-12670)"


def leads(state: PartitionRegistration) -> str:
    """A partition in a few words: ``"leader 1, ISR {1, 2}"``."""
    leader = f"leader {state.leader}" if state.leader >= 0 else "no leader"
    return f"{leader}, ISR {broker_list(state.isr)}"


# --- messages -------------------------------------------------------------------------------------


def about_message(cluster: Cluster, message: Message) -> tuple[Choice, ...]:
    """Deliver it or drop it; send it again, time it out, lose its reply."""
    kinds = (
        (moves.Deliver, "Deliver", "It arrives"),
        (moves.Drop, "Drop", "It is lost, and nobody notices"),
        (moves.Duplicate, "Duplicate", "Its sender gives up waiting and sends it again"),
        (moves.TimeOut, "Time out", "It is lost, and its sender notices"),
        (moves.LoseReply, "Lose reply", "It arrives and is processed; its answer never comes"),
    )
    return tuple(
        _briefly(cluster, choice_of(cluster, family(message.name), label, advice), message.name)
        for family, label, advice in kinds
    )


def _briefly(cluster: Cluster, choice: Choice, message: MessageName) -> Choice:
    return replace(choice, line=in_short(cluster, choice.line, message))


def in_short(cluster: Cluster, line: Statement, message: MessageName) -> Statement:
    """A line speaks of the oldest message that it fits: kind and sender are mostly enough."""
    kind, sender = message.kind, message.sender
    alike = (m.name for m in cluster.messages if (m.name.kind, m.name.sender) == (kind, sender))
    return line if next(alike, None) != message else replace(line, args=line.args[:1])


def route(message: Message) -> str:
    """``"broker 1 → controller"``."""
    return f"{node_name(message.name.sender)} → {node_name(message.receiver)}"


def content(message: Message) -> str:
    """What a message says."""
    return describe(message.body)
