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
from .znodes import Stat, WatchKind, Znode


class GotZnode(NamedTuple):
    """A znode that was asked for."""

    ensemble: Ensemble
    znode: Znode | None = None
    error: ZooKeeperError = ZooKeeperError.NONE


class GotChildren(NamedTuple):
    """The names of the children that were asked for, sorted."""

    ensemble: Ensemble
    names: tuple[str, ...] = ()
    error: ZooKeeperError = ZooKeeperError.NONE


class GotStat(NamedTuple):
    """Whether there is such a znode: its Stat, or NONODE."""

    ensemble: Ensemble
    stat: Stat | None = None
    error: ZooKeeperError = ZooKeeperError.NONE


def get(ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False) -> GotZnode:
    """The znode at `path`. Where there is none, no watch is left.

    Source: DataTree.getData (ZooKeeper 3.9.5).
    """
    refusal = _refusal(ensemble, session, path)
    if refusal is not ZooKeeperError.NONE:
        return GotZnode(ensemble, error=refusal)
    return GotZnode(
        watching(ensemble, session, path, WatchKind.DATA) if watch else ensemble,
        find(ensemble, path),
    )


def children(
    ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False
) -> GotChildren:
    """The names below `path`. Where there is no such znode, no watch is left.

    Source: DataTree.getChildren (ZooKeeper 3.9.5).
    """
    refusal = _refusal(ensemble, session, path)
    if refusal is not ZooKeeperError.NONE:
        return GotChildren(ensemble, error=refusal)
    return GotChildren(
        watching(ensemble, session, path, WatchKind.CHILDREN) if watch else ensemble,
        tuple(z.path.rpartition("/")[2] for z in below(ensemble.znodes, path)),
    )


def exists(ensemble: Ensemble, session: SessionId, path: str, *, watch: bool = False) -> GotStat:
    """The Stat of the znode at `path`. Also where there is none, the watch waits: for its creation.

    Source: DataTree.statNode (ZooKeeper 3.9.5).
    """
    refusal = _refusal(ensemble, session, path)
    if refusal is ZooKeeperError.SESSIONEXPIRED:
        return GotStat(ensemble, error=refusal)
    znode = find(ensemble, path)
    return GotStat(
        watching(ensemble, session, path, WatchKind.DATA) if watch else ensemble,
        None if znode is None else znode.stat,
        refusal,
    )


def watching(ensemble: Ensemble, session: SessionId, path: str, kind: WatchKind) -> Ensemble:
    """`ensemble` with this watch; itself if it has it.

    Source: WatchManager.addWatch (ZooKeeper 3.9.5).
    """
    new = Watch(session, path, kind)
    if new in ensemble.watches:
        return ensemble
    watches = sorted([*ensemble.watches, new], key=lambda w: (w.path, w.kind, w.session))
    return replace(ensemble, watches=tuple(watches))


def _refusal(ensemble: Ensemble, session: SessionId, path: str) -> ZooKeeperError:
    if session_of(ensemble, session) is None:
        return ZooKeeperError.SESSIONEXPIRED
    return ZooKeeperError.NONODE if find(ensemble, path) is None else ZooKeeperError.NONE
