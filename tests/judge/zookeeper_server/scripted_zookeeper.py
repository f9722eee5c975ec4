"""A script as a real ZooKeeper answers it, asked by kazoo."""

from collections.abc import Callable
from typing import Any

from kiplab.judge.zookeeper_era.sequences import wait_until
from kiplab.protocol.zookeeper import ensemble_writes, znodes
from tests.judge.zookeeper_server import kazoo_sessions, scripted_engine

LAPSE_MS = 400
"""The shortest session at ticks of 200 ms."""
_ERRORS = {
    "NoNodeError": ensemble_writes.ZooKeeperError.NONODE,
    "NodeExistsError": ensemble_writes.ZooKeeperError.NODEEXISTS,
    "BadVersionError": ensemble_writes.ZooKeeperError.BADVERSION,
    "NotEmptyError": ensemble_writes.ZooKeeperError.NOTEMPTY,
    "NoChildrenForEphemeralsError": ensemble_writes.ZooKeeperError.NOCHILDRENFOREPHEMERALS,
}
"""Kazoo's names, and ZooKeeper's."""


class ScriptedZooKeeper(scripted_engine.Scripted):
    """The server at `address` before a script that happens below `root`.

    `beside` is a session that outlives scripts: it makes the root, and tells how far the server is.
    """

    def __init__(self, address: str, beside: kazoo_sessions.KazooSession, root: str) -> None:
        self._address, self._beside, self._root = address, beside, root
        beside.client.create(root)
        self._first = int(beside.client.last_zxid)
        self._last_session = 0
        self._sessions: dict[str, kazoo_sessions.KazooSession] = {}
        self._ended: dict[str, kazoo_sessions.SessionIdentity] = {}
        self._names: dict[int, str] = {}

    def zxid(self) -> int:
        """How far the server is."""
        self._beside.caught_up()
        return int(self._beside.client.last_zxid)

    def close(self) -> None:
        """End the sessions that are left, and take away what is below the root."""
        for session in self._sessions.values():
            session.close()
        self._beside.client.delete(self._root, recursive=True)

    def _heard(self, _step: scripted_engine.HeardStep) -> scripted_engine.ScriptAnswer:
        names = sorted(self._sessions)
        return ([(name, list(self._sessions[name].caught_up())) for name in names],)

    def _ghost(self, step: scripted_engine.GhostStep) -> scripted_engine.ScriptAnswer:
        over = kazoo_sessions.come_back(self._address, self._ended[step.who]) <= 0
        return (ensemble_writes.ZooKeeperError.SESSIONEXPIRED.value if over else "a session",)

    def _open(self, step: scripted_engine.OpenStep) -> scripted_engine.ScriptAnswer:
        session = kazoo_sessions.KazooSession(self._address)
        self._sessions[step.who], self._names[session.id] = session, step.who
        rises, self._last_session = session.id > self._last_session, session.id
        return ("rises" if rises else "does not rise",)

    def _end(self, step: scripted_engine.EndStep) -> scripted_engine.ScriptAnswer:
        session = self._sessions.pop(step.who)
        heard = list(session.caught_up())
        self._ended[step.who] = session.client.client_id
        if step.how is scripted_engine.HowEnded.CLOSED:
            session.close()
            return ("heard", heard)
        identity = session.drop()
        if step.how is scripted_engine.HowEnded.TAKEN:
            kazoo_sessions.KazooSession(self._address, as_session=identity).close()
        else:
            before = self.zxid()
            # It is shortened, and then nobody is heard of.
            kazoo_sessions.come_back(self._address, identity, LAPSE_MS)
            wait_until(lambda: self.zxid() > before, "the end of a session")
        return ("heard", heard)

    def _write(self, step: scripted_engine.WriteStep) -> scripted_engine.ScriptAnswer:
        client = self._sessions[step.who].client
        if not step.multi:
            (operation,) = step.operations
            try:
                return (self._result(_ask(operation, _created(client), client.set, client.delete)),)
            except Exception as problem:
                return (_error(problem), 0)
        return self._multi(client, step.operations)

    def _multi(
        self, client: Any, operations: tuple[ensemble_writes.Operation, ...]
    ) -> scripted_engine.ScriptAnswer:
        transaction = client.transaction()
        for operation in operations:
            _ask(operation, *(getattr(transaction, name) for name in _IN_MULTI))
        results = transaction.commit()
        for place, result in enumerate(results):
            if type(result).__name__ in _ERRORS:
                return (_error(result), place)
        return tuple(self._result(result) for result in results)

    def _read(self, step: scripted_engine.ReadStep) -> scripted_engine.ScriptAnswer:
        session = self._sessions[step.who]
        client, watch = session.client, session.note if step.watch else None
        try:
            if step.kind is scripted_engine.ReadKind.GET:
                data, stat = client.get(step.path, watch)
                text = None if data is None else data.decode()
                return (text, *self._stat(stat), stat.numChildren)
            if step.kind is scripted_engine.ReadKind.CHILDREN:
                return (tuple(sorted(client.get_children(step.path, watch))),)
        except Exception as problem:
            return (_error(problem),)
        stat = client.exists(step.path, watch)
        if stat is None:
            return (ensemble_writes.ZooKeeperError.NONODE.value,)
        return (*self._stat(stat), stat.numChildren)

    def _result(self, result: Any) -> Any:
        """As the engine has it: the path of a create, the Stat of a setData, None of the others."""
        if result is True:
            return None
        return result if isinstance(result, str) else self._stat(result)

    def _stat(self, stat: Any) -> tuple[int, int, int, str]:
        owner = self._names.get(stat.ephemeralOwner, "")
        return stat.czxid - self._first, stat.mzxid - self._first, stat.version, owner


_IN_MULTI = ("create", "set_data", "delete", "check")
_Ask = Callable[..., Any]


def _created(client: Any) -> _Ask:
    """Kazoo's own `create` tries again by itself."""
    return lambda *words, **more: client.create_async(*words, **more).get()


def _ask(
    operation: ensemble_writes.Operation, create: _Ask, write: _Ask, delete: _Ask, *check: _Ask
) -> Any:
    """One operation, alone or in a multi; kazoo checks versions in a multi alone."""
    match operation:
        case ensemble_writes.Create(path=path, data=data):
            ephemeral, sequence = operation.ephemeral, operation.sequential
            return create(path, _bytes(data), ephemeral=ephemeral, sequence=sequence)
        case ensemble_writes.SetData(path=path, data=data):
            return write(path, _bytes(data), operation.version)
        case ensemble_writes.Delete(path=path):
            return delete(path, operation.version)
        case ensemble_writes.CheckVersion(path=path):
            return check[0](path, operation.version)


def _bytes(data: znodes.ZnodeData) -> bytes | None:
    return data.text.encode() if isinstance(data, znodes.TextZnode) else None


def _error(problem: BaseException) -> str:
    """ZooKeeper's name for it; whatever else went wrong is raised again."""
    if type(problem).__name__ not in _ERRORS:
        raise problem
    return _ERRORS[type(problem).__name__].value
