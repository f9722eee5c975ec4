"""Sessions, opened or closed by a process, or expired by the ensemble; and their reads.

Opening and ending a session are transactions, with a zxid each. The end of a session deletes its
ephemeral znodes, all in that one transaction, and its watches, without events. A closed and an
expired session end in the same way; only a process that still runs does not know the expiry yet:
each of its requests is refused with SESSIONEXPIRED. A broken connection ends nothing. A server
numbers its sessions upwards, but from a start with its own number in the top byte: of two sessions
the later one has the lower id if a lower server opened it. That is why KIP-380 did not make them
broker epochs. The output is the ensemble and the watch events for others. The order in which the
znodes of one session go is that of a hash table in ZooKeeper; here it is by path.

Reads: get, children and exists, each of which may set a watch.

The input is a session, a path and whether to watch. A read takes no zxid and changes no znode. A
watch fires for one event of its znode (after get and exists: its creation, its contents, its
deletion; after children: its children, its deletion) and is then gone. A session sets it again to
get the next event, and no event reports the changes in between. Setting it twice makes one watch.
The output is the value, an error, and the ensemble: the same object unless a watch is new.

Actions of ZooKeeper and operators without a broker: expired sessions, znodes written by hand.

The input is the ensemble and the session or znode. An operator has a session for the time of
a command. The output is the ensemble, its watch events, and facts; without a change, the
same ensemble.
"""

from typing import NamedTuple

from msgspec.structs import replace

from ..facts import Fact
from ..ids import CLIENT, ZOOKEEPER, BrokerId, Incarnation, SessionId, Zxid
from ..messages import Send, SessionExpired
from ..zookeeper_facts import SessionEnded, ZnodeChanged
from . import ensemble_writes, znodes
from .ensemble import Ensemble, Watch, ZooKeeperSession, below, find, session_of
from .ensemble_writes import Transacted, ZooKeeperError, fire, removal
from .znodes import WatchEvent, WatchKind, Znode


class Opened(NamedTuple):
    """The ensemble with a new session, and its id."""

    ensemble: Ensemble
    session: SessionId


def open_session(
    ensemble: Ensemble,
    owner: BrokerId,
    incarnation: Incarnation,
    server: int = 0,
    now_ms: int | None = None,
) -> Opened:
    """A new session for this process, opened at the server with this number.

    Source: SessionTrackerImpl.createSession, PrepRequestProcessor.pRequest2Txn (ZooKeeper 3.9.5).
    """
    last = list(ensemble.last_sessions)
    last[server] = SessionId(last[server] + 1)
    new = ZooKeeperSession(last[server], owner, incarnation, now_ms or 0)
    sessions = sorted([*ensemble.sessions, new], key=lambda s: s.id)
    opened = replace(
        ensemble, zxid=Zxid(ensemble.zxid + 1), sessions=tuple(sessions), last_sessions=tuple(last)
    )
    return Opened(opened, new.id)


def end_session(ensemble: Ensemble, session: SessionId) -> Transacted:
    """End the session, closed by its process or expired; the same ensemble if it has ended already.

    Source: PrepRequestProcessor.pRequest2Txn and DataTree.killSession (ZooKeeper 3.9.5);
    SessionTrackerImpl.run and ZooKeeperServer.expire (3.9.5), which submit the same request.
    """
    if session_of(ensemble, session) is None:
        return Transacted(ensemble)
    events: list[WatchEvent] = []
    znodes = ensemble.znodes
    for gone in (z for z in ensemble.znodes if z.stat.ephemeral_owner == session):
        znodes, watch_events = removal(znodes, gone.path)
        events += watch_events
    left = replace(
        ensemble,
        zxid=Zxid(ensemble.zxid + 1),
        znodes=znodes,
        sessions=tuple(s for s in ensemble.sessions if s.id != session),
        watches=tuple(w for w in ensemble.watches if w.session != session),
    )
    after, fired = fire(left, tuple(events))
    return Transacted(after, fired=fired)


# --- reads ----------------------------------------------------------------------------------------


class ZnodeRead(NamedTuple):
    """The requested value, or the error."""

    ensemble: Ensemble
    znode: Znode | None = None
    names: tuple[str, ...] = ()
    """Of the children, sorted, where these were asked for."""
    error: ZooKeeperError = ZooKeeperError.NONE


def get(ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False) -> ZnodeRead:
    """The znode at `path`; without it, no watch. Source: DataTree.getData (ZooKeeper 3.9.5)."""
    return _read(ensemble, session, path, WatchKind.DATA if watch else None)


def children(
    ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False
) -> ZnodeRead:
    """The names below `path`, or no watch. Source: DataTree.getChildren (ZooKeeper 3.9.5)."""
    read = _read(ensemble, session, path, WatchKind.CHILDREN if watch else None)
    found = below(ensemble.znodes, path) if read.znode is not None else ()
    return read._replace(names=tuple(z.path.rpartition("/")[2] for z in found))


def exists(ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False) -> ZnodeRead:
    """Whether there is a znode at `path`: with none, too, the watch waits, for its creation.

    Source: DataTree.statNode (ZooKeeper 3.9.5).
    """
    return _read(ensemble, session, path, WatchKind.DATA if watch else None, waits=True)


def _read(
    ensemble: Ensemble,
    session: SessionId,
    path: str,
    watch: WatchKind | None,
    *,
    waits: bool = False,
) -> ZnodeRead:
    if session_of(ensemble, session) is None:
        return ZnodeRead(ensemble, error=ZooKeeperError.SESSIONEXPIRED)
    znode = find(ensemble, path)
    if watch is not None and (waits or znode is not None):
        ensemble = watching(ensemble, session, path, watch)
    error = ZooKeeperError.NONODE if znode is None else ZooKeeperError.NONE
    return ZnodeRead(ensemble, znode, error=error)


def watching(ensemble: Ensemble, session: SessionId, path: str, kind: WatchKind) -> Ensemble:
    """`ensemble` with this watch, once. Source: WatchManager.addWatch (ZooKeeper 3.9.5)."""
    new = Watch(session, path, kind)
    if new in ensemble.watches:
        return ensemble
    watches = sorted([*ensemble.watches, new], key=lambda w: (w.path, w.kind, w.session))
    return replace(ensemble, watches=tuple(watches))


# --- without a broker -----------------------------------------------------------------------------

OperatorEffect = tuple[Ensemble, tuple[Send, ...], tuple[Fact, ...]]
"""The ensemble, what it sends, the facts."""
_NO_LIFE = Incarnation(0)


def expire(ensemble: Ensemble, broker: BrokerId, running: SessionId | None) -> OperatorEffect:
    """End the oldest session of a broker; the process that runs in it learns of it on its return.

    `running` is the session of the broker's process, None while it has none.

    Source: ZooKeeperServer.expire (ZooKeeper 3.9.5) and ClientCnxn.onConnected (3.5.9).
    """
    session = next(s.id for s in ensemble.sessions if s.owner == broker)
    ended = end_session(ensemble, session)
    fact = SessionEnded(ZOOKEEPER, broker, session=session, expired=True)
    word = (Send(broker, SessionExpired(session=session)),) if session == running else ()
    return ended.ensemble, (*ended.fired, *word), (fact,)


def delete_controller(ensemble: Ensemble) -> OperatorEffect:
    """An operator deletes /controller, so that another broker is elected.

    Source: none; it stands for `delete /controller` in zookeeper-shell.
    """
    operation = ensemble_writes.Delete(znodes.CONTROLLER_PATH)
    return _by_hand(ensemble, operation, "an operator deletes it")


def allow_unclean_elections(ensemble: Ensemble, topic: str, *, allowed: bool) -> OperatorEffect:
    """Sets unclean elections of a topic. Source: AdminZkClient.changeTopicConfig (3.4.1)."""
    path = znodes.topic_config_path(topic)
    znode = find(ensemble, path)
    held = znode.data if znode is not None else None
    config = held if isinstance(held, znodes.TopicConfigZnode) else znodes.TopicConfigZnode(topic)
    changed = replace(config, unclean_leader_election=allowed)
    operation = ensemble_writes.SetData(path, changed)
    text = f"unclean.leader.election.enable={'true' if allowed else 'false'}"
    return _by_hand(ensemble, operation, text)


def _by_hand(ensemble: Ensemble, operation: ensemble_writes.Operation, text: str) -> OperatorEffect:
    """One command of an operator: a session, the operation, the end of the session."""
    opened = open_session(ensemble, CLIENT, _NO_LIFE)
    done = ensemble_writes.transact(opened.ensemble, opened.session, (operation,))
    ended = end_session(done.ensemble, opened.session)
    fact = ZnodeChanged(ZOOKEEPER, operation.path, ended.ensemble.zxid, text)
    facts = (fact,) if done.error is ZooKeeperError.NONE else ()
    return ended.ensemble, (*done.fired, *ended.fired), facts
