"""Writes: create, setData, delete and check, one or several as one transaction.

The input is a session and its operations. They are judged in order, each against the effects of
those before it; the first that fails refuses all of them. A transaction takes one zxid for all its
operations: it is the czxid of every znode that it creates, and the mzxid of every one that it
writes. A refusal takes a zxid too, because servers agree on refusals as well, and leaves every
znode and watch the same object; only an expired session gets the same ensemble back. The output is
a result for each operation and, in their order, the watches that fire: a watch event says that
something changed, not what, and the watch is gone.

`Together` is the result of an event that a node handles together with ZooKeeper, in one step: a
watch event, a request from a queue, the start of a process. While Kafka handles one it reads and
writes ZooKeeper and waits for each answer, so nothing else happens in between, and one step may
hold several transactions.

The output is the node and ZooKeeper afterwards, the messages of both in order, and the facts. Watch
events are sent, never handled here: the network decides when they arrive. What an event does not
change stays the same object.
"""

from collections.abc import Iterator
from enum import StrEnum
from typing import Generic, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from ..facts import Fact
from ..ids import NO_SESSION, PartitionEpoch, SessionId, Zxid, controller_on
from ..messages import Send, WatcherEvent
from .ensemble import Ensemble, Watch, at_path, below, session_of
from .znodes import (
    Stat,
    WatchEvent,
    WatchEventType,
    WatchKind,
    Znode,
    ZnodeData,
    parent_path,
    znode,
)

ANY_VERSION = PartitionEpoch(-1)
"""As an expected version: whichever it has."""


class ZooKeeperError(StrEnum):
    """Names of org.apache.zookeeper.KeeperException.Code; NONE is its OK."""

    NONE = "NONE"
    NONODE = "NONODE"
    NODEEXISTS = "NODEEXISTS"
    BADVERSION = "BADVERSION"
    NOTEMPTY = "NOTEMPTY"
    NOCHILDRENFOREPHEMERALS = "NOCHILDRENFOREPHEMERALS"
    SESSIONEXPIRED = "SESSIONEXPIRED"


class Create(msgspec.Struct, frozen=True, cache_hash=True, tag="create"):
    """Make a znode; an ephemeral one goes with its session.

    Of a sequential one `path` is only how its name begins. `counts_children` is False where no
    sequential child will be made below it.
    """

    path: str
    data: ZnodeData = None
    ephemeral: bool = False
    sequential: bool = False
    counts_children: bool = False


class SetData(msgspec.Struct, frozen=True, cache_hash=True, tag="set-data"):
    """Write a znode, if it has that version."""

    path: str
    data: ZnodeData = None
    version: PartitionEpoch = ANY_VERSION


class Delete(msgspec.Struct, frozen=True, cache_hash=True, tag="delete"):
    """Delete a znode, if it has that version and no children."""

    path: str
    version: PartitionEpoch = ANY_VERSION


class CheckVersion(msgspec.Struct, frozen=True, cache_hash=True, tag="check-version"):
    """Change nothing, but refuse the whole transaction unless the znode has that version."""

    path: str
    version: PartitionEpoch = ANY_VERSION


Operation = Create | SetData | Delete | CheckVersion
OperationResult = Stat | str | None
"""The Stat after a setData, the path of what was created, None for a delete and a check."""


class Transacted(NamedTuple):
    """The result of a transaction."""

    ensemble: Ensemble
    results: tuple[OperationResult, ...] = ()
    """One for each operation; none if it was refused."""
    error: ZooKeeperError = ZooKeeperError.NONE
    failing: int = -1
    """Which operation was refused, from 0."""
    fired: tuple[Send, ...] = ()
    """The watch events: each goes to the controller of its process."""


class _Applied(NamedTuple):
    znodes: tuple[Znode, ...]
    result: OperationResult = None
    events: tuple[WatchEvent, ...] = ()


def transact(
    ensemble: Ensemble, session: SessionId, operations: tuple[Operation, ...]
) -> Transacted:
    """Do all of the operations or none. One operation alone is judged the same way.

    Source: PrepRequestProcessor.pRequestHelper and pRequest2Txn, DataTree.processTxn (ZooKeeper
    3.9.5). ZooKeeperServer.submitRequestNow (3.9.5) drops what comes without a session, and that
    takes no zxid.
    """
    if session_of(ensemble, session) is None:
        return Transacted(ensemble, error=ZooKeeperError.SESSIONEXPIRED, failing=0)
    zxid = Zxid(ensemble.zxid + 1)
    znodes = ensemble.znodes
    results: list[OperationResult] = []
    events: list[WatchEvent] = []
    for place, operation in enumerate(operations):
        applied = _apply(znodes, operation, zxid, session)
        if isinstance(applied, ZooKeeperError):
            return Transacted(replace(ensemble, zxid=zxid), error=applied, failing=place)
        znodes = applied.znodes
        results.append(applied.result)
        events += applied.events
    changed = replace(ensemble, zxid=zxid, znodes=znodes)
    after, fired = fire(changed, tuple(events))
    return Transacted(after, tuple(results), fired=fired)


def fire(ensemble: Ensemble, events: tuple[WatchEvent, ...]) -> tuple[Ensemble, tuple[Send, ...]]:
    """The watches that these events fire, event after event; each fires once and is gone. Within
    one event the order of sessions is that of a hash table; here the lowest id is first.

    Source: DataTree.createNode, setData and deleteNode, WatchManager.triggerWatch (ZooKeeper
    3.9.5).
    """
    fired: list[Send] = []
    watches = ensemble.watches
    for event in events:
        hit = [w for w in watches if w.path == event.path and w.kind in _WAITING[event.type]]
        if hit:
            watches = tuple(w for w in watches if w not in hit)
            fired += _told(ensemble, hit, event)
    return (replace(ensemble, watches=watches) if fired else ensemble), tuple(fired)


def removal(znodes: tuple[Znode, ...], path: str) -> tuple[tuple[Znode, ...], list[WatchEvent]]:
    """The znodes without the one at `path`, and the events for its watchers.

    Source: DataTree.deleteNode (ZooKeeper 3.9.5).
    """
    left = tuple(z for z in znodes if z.path != path)
    return left, [
        WatchEvent(WatchEventType.DELETED, path),
        WatchEvent(WatchEventType.CHILDREN_CHANGED, parent_path(path)),
    ]


_WAITING = {
    WatchEventType.CREATED: (WatchKind.DATA,),
    WatchEventType.DATA_CHANGED: (WatchKind.DATA,),
    WatchEventType.CHILDREN_CHANGED: (WatchKind.CHILDREN,),
    # A session that watches both gets one event for the deletion.
    WatchEventType.DELETED: (WatchKind.DATA, WatchKind.CHILDREN),
}


def _told(ensemble: Ensemble, hit: list[Watch], event: WatchEvent) -> Iterator[Send]:
    for session in sorted({w.session for w in hit}):
        watcher = session_of(ensemble, session)
        assert watcher is not None, "watches go with their session"
        body = WatcherEvent(path=event.path, change=str(event.type), session=session)
        yield Send(controller_on(watcher.owner), body)


def _apply(
    znodes: tuple[Znode, ...], operation: Operation, zxid: Zxid, session: SessionId
) -> _Applied | ZooKeeperError:
    match operation:
        case Create():
            return _create(znodes, operation, zxid, session)
        case SetData():
            return _set_data(znodes, operation, zxid)
        case Delete():
            return _delete(znodes, operation)
        case CheckVersion():
            znode = _with_version(znodes, operation.path, operation.version)
            return znode if isinstance(znode, ZooKeeperError) else _Applied(znodes)


def _create(
    znodes: tuple[Znode, ...], operation: Create, zxid: Zxid, session: SessionId
) -> _Applied | ZooKeeperError:
    parent = at_path(znodes, parent_path(operation.path))
    if parent is None:
        return ZooKeeperError.NONODE
    path = _named(operation, parent)
    if at_path(znodes, path) is not None:
        return ZooKeeperError.NODEEXISTS
    if parent.stat.ephemeral_owner != NO_SESSION:
        return ZooKeeperError.NOCHILDRENFOREPHEMERALS
    owner = session if operation.ephemeral else NO_SESSION
    created = znode(
        path,
        operation.data,
        Stat(zxid, zxid, ephemeral_owner=owner),
        0 if operation.counts_children else None,
    )
    events = (
        WatchEvent(WatchEventType.CREATED, path),
        WatchEvent(WatchEventType.CHILDREN_CHANGED, parent.path),
    )
    if parent.children_created is not None:
        znodes = _put(znodes, replace(parent, children_created=parent.children_created + 1))
    return _Applied(_put(znodes, created), path, events)


def _named(operation: Create, parent: Znode) -> str:
    if not operation.sequential:
        return operation.path
    assert parent.children_created is not None, f"the children of {parent.path} are not counted"
    return f"{operation.path}{parent.children_created:010d}"


def _set_data(
    znodes: tuple[Znode, ...], operation: SetData, zxid: Zxid
) -> _Applied | ZooKeeperError:
    found = _with_version(znodes, operation.path, operation.version)
    if isinstance(found, ZooKeeperError):
        return found
    stat = replace(found.stat, mzxid=zxid, version=PartitionEpoch(found.stat.version + 1))
    written = znode(found.path, operation.data, stat, found.children_created)
    events = (WatchEvent(WatchEventType.DATA_CHANGED, found.path),)
    return _Applied(_put(znodes, written), stat, events)


def _delete(znodes: tuple[Znode, ...], operation: Delete) -> _Applied | ZooKeeperError:
    znode = _with_version(znodes, operation.path, operation.version)
    if isinstance(znode, ZooKeeperError):
        return znode
    if below(znodes, znode.path):
        return ZooKeeperError.NOTEMPTY
    left, events = removal(znodes, znode.path)
    return _Applied(left, None, tuple(events))


def _with_version(
    znodes: tuple[Znode, ...], path: str, version: PartitionEpoch
) -> Znode | ZooKeeperError:
    znode = at_path(znodes, path)
    if znode is None:
        return ZooKeeperError.NONODE
    if version not in (ANY_VERSION, znode.stat.version):
        return ZooKeeperError.BADVERSION
    return znode


def _put(znodes: tuple[Znode, ...], new: Znode) -> tuple[Znode, ...]:
    if at_path(znodes, new.path) is new:
        return znodes
    others = [z for z in znodes if z.path != new.path]
    return tuple(sorted([*others, new], key=lambda z: z.path))


Node = TypeVar("Node")


class Together(NamedTuple, Generic[Node]):
    """The node and ZooKeeper after it, what the node sends, what ZooKeeper sends, the facts.

    `node` is a Broker or a ZooKeeperController; `fired` are the watches that went off, and word of
    a session's end.
    """

    node: Node
    ensemble: Ensemble
    sends: tuple[Send, ...] = ()
    fired: tuple[Send, ...] = ()
    facts: tuple[Fact, ...] = ()
