"""Reads: get, children and exists, each of which may leave a watch behind.

In come a session, a path and whether to watch. A read takes no zxid and changes no znode. A watch
waits for one event of its znode (after get and exists: its creation, its contents, its deletion;
after children: its children, its deletion) and is then gone: who wants to hear of the next
change has to ask again, and what happened in between nobody says. Asking twice makes one watch.
Out go what was asked for, an error, and the ensemble: the same object unless a watch is new.
"""

from typing import NamedTuple

from msgspec.structs import replace

from ..ids import SessionId
from .ensemble import Ensemble, Watch, below, find, session_of
from .ensemble_writes import ZooKeeperError
from .znodes import WatchKind, Znode


class ZnodeRead(NamedTuple):
    """What was asked for, or the error that says why there is nothing."""

    ensemble: Ensemble
    znode: Znode | None = None
    names: tuple[str, ...] = ()
    """Of the children, sorted, where these were asked for."""
    error: ZooKeeperError = ZooKeeperError.NONE


def get(ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False) -> ZnodeRead:
    """The znode at `path`. Where there is none, no watch is left.

    Source: DataTree.getData (ZooKeeper 3.9.5).
    """
    return _read(ensemble, session, path, WatchKind.DATA if watch else None)


def children(
    ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False
) -> ZnodeRead:
    """The names below `path`. Where there is no such znode, no watch is left.

    Source: DataTree.getChildren (ZooKeeper 3.9.5).
    """
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
    """`ensemble` with this watch; itself if it has it.

    Source: WatchManager.addWatch (ZooKeeper 3.9.5).
    """
    new = Watch(session, path, kind)
    if new in ensemble.watches:
        return ensemble
    watches = sorted([*ensemble.watches, new], key=lambda w: (w.path, w.kind, w.session))
    return replace(ensemble, watches=tuple(watches))
