"""A script as a real ZooKeeper answers it, asked by kazoo."""

from typing import Any

from kiplab.protocol.zookeeper.ensemble_writes import (
    CheckVersion,
    Create,
    Delete,
    Operation,
    SetData,
    ZooKeeperError,
)
from kiplab.protocol.zookeeper.znodes import TextZnode, ZnodeData
from tests.judge.zookeeper_server.kazoo_sessions import (
    KazooSession,
    SessionIdentity,
    is_over,
    let_lapse,
    take_over_and_close,
    wait_for_zxid,
)
from tests.judge.zookeeper_server.script_steps import (
    EndStep,
    GhostStep,
    HeardStep,
    HowEnded,
    OpenStep,
    ReadKind,
    ReadStep,
    ScriptAnswer,
    ScriptStep,
    WriteStep,
)

LAPSE_MS = 400
"""The shortest session at ticks of 200 ms."""
_ERRORS = {
    "NoNodeError": ZooKeeperError.NONODE,
    "NodeExistsError": ZooKeeperError.NODEEXISTS,
    "BadVersionError": ZooKeeperError.BADVERSION,
    "NotEmptyError": ZooKeeperError.NOTEMPTY,
    "NoChildrenForEphemeralsError": ZooKeeperError.NOCHILDRENFOREPHEMERALS,
}
"""Kazoo's names, and ZooKeeper's."""


class ScriptedZooKeeper:
    """The server at `address` before a script that happens below `root`.

    `beside` is a session that outlives scripts: it makes the root, and tells how far the server is.
    """

    def __init__(self, address: str, beside: KazooSession, root: str) -> None:
        self._address, self._beside, self._root = address, beside, root
        beside.client.create(root)
        self._first = int(beside.client.last_zxid)
        self._last_session = 0
        self._open: dict[str, KazooSession] = {}
        self._ended: dict[str, SessionIdentity] = {}
        self._names: dict[int, str] = {}

    def answer(self, step: ScriptStep) -> ScriptAnswer:
        """What it says. Raises DeadKafkaError if it does not answer."""
        said = self._answer(step)
        self._beside.caught_up()
        return (*said, self._beside.client.last_zxid - self._first)

    def close(self) -> None:
        """End the sessions that are left, and take away what is below the root."""
        for session in self._open.values():
            session.close()
        self._beside.client.delete(self._root, recursive=True)

    def _answer(self, step: ScriptStep) -> ScriptAnswer:
        match step:
            case OpenStep():
                return self._begin(step)
            case EndStep():
                return self._end(step)
            case WriteStep():
                return self._write(step)
            case ReadStep():
                return self._read(step)
            case HeardStep():
                names = sorted(self._open)
                return ([(name, list(self._open[name].caught_up())) for name in names],)
            case GhostStep():
                over = is_over(self._address, self._ended[step.who])
                return (ZooKeeperError.SESSIONEXPIRED.value if over else "a session",)

    def _begin(self, step: OpenStep) -> ScriptAnswer:
        session = KazooSession(self._address)
        self._open[step.who], self._names[session.id] = session, step.who
        rises, self._last_session = session.id > self._last_session, session.id
        return ("rises" if rises else "does not rise",)

    def _end(self, step: EndStep) -> ScriptAnswer:
        session = self._open.pop(step.who)
        heard = list(session.caught_up())
        self._ended[step.who] = session.client.client_id
        if step.how is HowEnded.CLOSED:
            session.close()
            return ("heard", heard)
        identity = session.drop()
        if step.how is HowEnded.TAKEN:
            take_over_and_close(self._address, identity)
        else:
            self._beside.caught_up()
            before = int(self._beside.client.last_zxid)
            let_lapse(self._address, identity, LAPSE_MS)
            wait_for_zxid(self._beside, before)
        return ("heard", heard)

    def _write(self, step: WriteStep) -> ScriptAnswer:
        client = self._open[step.who].client
        if not step.multi:
            (operation,) = step.operations
            try:
                return (self._result(_alone(client, operation)),)
            except Exception as problem:
                return (_error(problem), 0)
        return self._multi(client, step.operations)

    def _multi(self, client: Any, operations: tuple[Operation, ...]) -> ScriptAnswer:
        transaction = client.transaction()
        for operation in operations:
            _together(transaction, operation)
        results = transaction.commit()
        for place, result in enumerate(results):
            if type(result).__name__ in _ERRORS:
                return (_error(result), place)
        return tuple(self._result(result) for result in results)

    def _read(self, step: ReadStep) -> ScriptAnswer:
        session = self._open[step.who]
        client, watch = session.client, session.note if step.watch else None
        try:
            if step.kind is ReadKind.GET:
                data, stat = client.get(step.path, watch)
                text = None if data is None else data.decode()
                return (text, *self._stat(stat), stat.numChildren)
            if step.kind is ReadKind.CHILDREN:
                return (tuple(sorted(client.get_children(step.path, watch))),)
        except Exception as problem:
            return (_error(problem),)
        stat = client.exists(step.path, watch)
        if stat is None:
            return (ZooKeeperError.NONODE.value,)
        return (*self._stat(stat), stat.numChildren)

    def _result(self, result: Any) -> Any:
        """As the engine has it: the path of a create, the Stat of a setData, None of the others."""
        if result is True:
            return None
        return result if isinstance(result, str) else self._stat(result)

    def _stat(self, stat: Any) -> tuple[int, int, int, str]:
        owner = self._names.get(stat.ephemeralOwner, "")
        return stat.czxid - self._first, stat.mzxid - self._first, stat.version, owner


def _alone(client: Any, operation: Operation) -> Any:
    match operation:
        case Create():
            data, ephemeral = _bytes(operation.data), operation.ephemeral
            made = client.create_async(
                operation.path, data, ephemeral=ephemeral, sequence=operation.sequential
            )
            return made.get()
        case SetData():
            return client.set(operation.path, _bytes(operation.data), operation.version)
        case Delete():
            return client.delete(operation.path, operation.version)
        case CheckVersion():
            raise AssertionError("kazoo checks versions in a multi alone")


def _together(transaction: Any, operation: Operation) -> None:
    match operation:
        case Create():
            transaction.create(
                operation.path,
                _bytes(operation.data),
                ephemeral=operation.ephemeral,
                sequence=operation.sequential,
            )
        case SetData():
            transaction.set_data(operation.path, _bytes(operation.data), operation.version)
        case Delete():
            transaction.delete(operation.path, operation.version)
        case CheckVersion():
            transaction.check(operation.path, operation.version)


def _bytes(data: ZnodeData) -> bytes | None:
    return data.text.encode() if isinstance(data, TextZnode) else None


def _error(problem: BaseException) -> str:
    """ZooKeeper's name for it; whatever else went wrong is raised again."""
    if type(problem).__name__ not in _ERRORS:
        raise problem
    return _ERRORS[type(problem).__name__].value
