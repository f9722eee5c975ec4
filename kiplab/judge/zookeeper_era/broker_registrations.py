"""How a fake broker is known to ZooKeeper: a session, and the znode that it owns."""

from __future__ import annotations

import json
import logging
import time
from typing import TYPE_CHECKING, Any

from ...extras import needed_by

if TYPE_CHECKING:
    from kazoo.client import KazooClient

SESSION_TIMEOUT_S, LAPSE_TIMEOUT_S = 60.0, 4.0
BROKERS = "/brokers/ids"
_CONNECT_S = 20.0
_FEATURES_SINCE = (2, 7)
_QUIET = logging.getLogger("kiplab.judge.kazoo")
_QUIET.setLevel(logging.CRITICAL)


class TransactionRefusedError(Exception):
    """ZooKeeper did none of what it was asked to do at once; the message has its reasons."""


def session(port: int, chroot: str, timeout_s: float = SESSION_TIMEOUT_S) -> KazooClient:
    """An open session. Raises MissingExtraError without kazoo, its own error without a server."""
    with needed_by("a fake broker in ZooKeeper"):
        from kazoo.client import KazooClient

    client = KazooClient(f"127.0.0.1:{port}{chroot}", timeout=timeout_s, logger=_QUIET)
    client.start(_CONNECT_S)
    return client


def end(client: KazooClient) -> None:
    """Close a session, whatever it owns is gone."""
    client.stop()
    client.close()


def znode_of(broker: int) -> str:
    """The path of a broker's registration."""
    return f"{BROKERS}/{broker}"


def registration(patch: str, port: int) -> bytes:
    """What a broker of this release says of itself: where it listens, and nothing else."""
    code = tuple(map(int, patch.split(".")))[:2]
    said: dict[str, Any] = {
        "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
        "endpoints": [f"PLAINTEXT://127.0.0.1:{port}"],
        "jmx_port": -1,
        "host": "127.0.0.1",
        "timestamp": str(int(time.time() * 1000)),
        "port": port,
        "version": 5 if code >= _FEATURES_SINCE else 4,
    }
    return json.dumps(said | ({"features": {}} if code >= _FEATURES_SINCE else {})).encode()


def add_registration(transaction: Any, broker: int, data: bytes) -> None:
    """As brokers do it from 2.2 on: create the znode, then set its data, which tells a Stat."""
    transaction.create(znode_of(broker), b"", ephemeral=True)
    transaction.set_data(znode_of(broker), data, version=0)


def commit(transaction: Any) -> None:
    """All of it or nothing. Raises TransactionRefusedError for nothing."""
    results = transaction.commit()
    if any(isinstance(result, Exception) for result in results):
        raise TransactionRefusedError(f"ZooKeeper refused a transaction: {results}")
