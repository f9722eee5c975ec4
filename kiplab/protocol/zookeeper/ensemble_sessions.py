"""Sessions: opened by a process, closed by it, or expired by the ensemble.

Opening and ending a session are transactions, with a zxid each. With a session go its ephemeral
znodes, all in that one transaction, and its watches, unsaid. Whether a process closed it or was
silent for too long makes no difference afterwards, only that a process which still runs does not
know it yet: whatever it asks is refused with SESSIONEXPIRED. A connection that breaks ends nothing.
A server numbers its sessions upwards, but from a start with its own number in the top byte: of two
sessions the later one has the lower id if a lower server opened it. That is why KIP-380 did not
make them broker epochs. Out go the ensemble and the watches of others that went off. In which order
the znodes of one session go, ZooKeeper leaves to a hash table; here it is by path.
"""

from typing import NamedTuple

from msgspec.structs import replace

from ..ids import BrokerId, Incarnation, SessionId, Zxid
from .ensemble import Ensemble, ZooKeeperSession, session_of
from .ensemble_writes import Transacted, fire, removal
from .znodes import WatchEvent


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
        ensemble,
        zxid=Zxid(ensemble.zxid + 1),
        sessions=tuple(sessions),
        last_sessions=tuple(last),
    )
    return Opened(opened, new.id)


def end_session(ensemble: Ensemble, session: SessionId) -> Transacted:
    """End the session because its process says so, or because nobody has heard of it for too long;
    the same ensemble if it has ended already.

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
