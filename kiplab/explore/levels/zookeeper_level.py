"""The level "zookeeper": a controller's queues, watches, sessions, and brokers that come back.

The actions, each one step of a search, with the bound that each uses up:

deliver
    One message arrives, the first of its connection: a watch that went off, a request for a
    controlled shutdown or the answer to it, word of a session's end, or the head of the
    controller's queue for a broker. What was queued for one incarnation of a broker goes to the
    next.
drain
    All that is queued for a broker arrives, one after the other: short for as many `deliver`.
start
    A broker that is down comes up. While its earlier session lasts it could not register: left out.
crash (crashes)
    Crash(NOTHING): the process is gone, its log and its session stay.
expire (expiries, if the broker runs; the session of one that is gone ends for nothing)
    ExpireSession of whoever has a session.
shutdown (shutdowns)
    A broker asks for its controlled shutdown, or asks again.
elect (elections)
    An operator's Elect, where another broker leads than the first replica.

zookeeper_scope.py lists what is not offered, and why. Above all there is no data: nobody writes,
nobody fetches, so that an ISR only shrinks, and nothing is asked of records. The controller's
broker stays up and keeps its session. Therefore what it queues for itself arrives at once: nothing
that could happen later makes a difference to that broker, and nothing depends on what it knows.
Answers to requests of the controller arrive at once, too: all that they do is to let the next
request of the queue go, and that waits as well as they would. tests/explore/test_zookeeper_level.py
compares both with a search that holds everything.

Two brokers are enough for each of KIP-380's four failures, and with the default bounds a search of
two takes a second. On three brokers, as in KIP-380's plays, a proof looks at thousands of states.

The four properties are asked at rest (engine/at_rest.py), when nothing is under way any more: a way
there has to let everything arrive. normal_zookeeper.py says what a state is.
"""

from msgspec.structs import replace

from ...engine import moves, properties
from ...engine.cluster import Cluster
from ...engine.nodes import has_zookeeper, state_of
from ...engine.truth import controller_of
from ...plays.play_errors import PlayError
from ...protocol.ids import BrokerId, host_of
from ...protocol.replica.broker_state import Broker
from ...protocol.zookeeper.zookeeper_controller import ZooKeeperController
from . import action_kinds as actions
from .level_table import OF_CLIENTS, SPURIOUS, Action, Bound, Kind, Level
from .normal_zookeeper import normal
from .zookeeper_scope import HELD, NOT_ASKED, QUEUED


def _admit(cluster: Cluster) -> Cluster:
    if not has_zookeeper(cluster):
        problem = f"Kafka {cluster.features.release} has no ZooKeeper"
        raise PlayError(problem, expected="levels partition, cluster and recovery explore KRaft")
    if controller_of(cluster) is None:
        raise PlayError(
            "no broker is the controller as the play begins",
            expected="a broker that is up: level zookeeper is about what its controller asks",
        )
    if type(state_of(cluster, _controller(cluster))) is not ZooKeeperController:
        problem = "its controllers are told by heartbeats who lives (KIP-343)"
        raise PlayError(problem, expected="no level explores that; a play can show it")
    if "380.session-id" in cluster.features.active(_controller(cluster)):
        problem = "380.session-id takes session ids for generations"
        raise PlayError(problem, expected="level zookeeper only counts in which order they come")
    # Who reads and writes is no part of this level.
    return normal(replace(cluster, consumers=(), producers=()))


def _controller(cluster: Cluster) -> BrokerId:
    """The address of the controller: in all that a search meets it is the one of the beginning."""
    broker_id = controller_of(cluster)
    assert broker_id is not None, "nothing at this level ends the controller's session"
    return broker_id


def _own_queue(cluster: Cluster) -> tuple[tuple[str, BrokerId], ...]:
    host = host_of(_controller(cluster))
    return tuple((kind, host) for kind in QUEUED)


def _others(cluster: Cluster) -> tuple[Broker, ...]:
    """Every broker but the controller's."""
    host = host_of(_controller(cluster))
    return tuple(b for b in cluster.brokers if b.id != host)


def _waits_long(cluster: Cluster, node: Broker) -> bool:
    """Whether more than one request is queued for a broker that runs."""
    plane = state_of(cluster, _controller(cluster))
    assert isinstance(plane, ZooKeeperController)
    queued = (len(c.queue) for c in plane.channels if c.broker == node.id)
    return node.process is not None and sum(queued) > 1


def _next_queued(cluster: Cluster, action: Action) -> tuple[moves.Deliver, ...]:
    """The head of the queue for a broker, on its way while the broker is up."""
    heads = (m for m in cluster.messages if m.receiver == action.node and m.name.kind in QUEUED)
    return tuple(moves.Deliver(m.name) for m in heads)[:1]


ZOOKEEPER = Level(
    name="zookeeper",
    sentence="a controller's queues, watches, sessions; brokers that leave and come back; no data",
    kinds=(
        actions.DELIVER,
        Kind("drain", _next_queued, _waits_long, again=_next_queued),
        actions.START,
        actions.CRASH,
        actions.EXPIRE,
        actions.ASK_TO_SHUT_DOWN,
        actions.ELECT_PREFERRED,
    ),
    brokers=_others,
    holds=HELD,
    bounds=(
        Bound(
            "shutdowns",
            1,
            "request for a controlled shutdown",
            "requests for controlled shutdowns",
            390,
            6,
        ),
        Bound("crashes", 1, "crash", "crashes", 20, 20),
        Bound("expiries", 0, *SPURIOUS, 20, 20),
        Bound("elections", 0, "preferred election", "preferred elections", 5, 3),
    ),
    smallest=1,
    normal=normal,
    admit=_admit,
    asks=(
        properties.LEADER_SERVES.id,
        properties.REPLICA_FETCHES.id,
        properties.BROKER_ELECTABLE.id,
        properties.CHECKPOINT_KEEPS_PARTITIONS.id,
    ),
    blind=(
        *OF_CLIENTS,
        properties.NO_COMMITTED_RECORD_LOST.id,
        properties.ELECTABLE_HOLDS_COMMITTED.id,
        properties.NO_STALE_EPOCH_IN_ISR.id,
        properties.GIVEN_WHILE_RECOVERING_STAYS.id,
        properties.RECOVERED_RECORDS_STAY.id,
    ),
    unasked=NOT_ASKED,
    passes=_own_queue,
)
