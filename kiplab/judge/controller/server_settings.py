"""The settings of a controller in which nothing happens by itself."""

from __future__ import annotations

from pathlib import Path

from ...protocol.kraft.sessions import SESSION_TIMEOUT_MS
from ...protocol.releases import RELEASES

NODE_ID = 3000
"""Far from the ids of brokers."""
CLUSTER_ID = "kiplabkiplabkiplabkipg"
"""22 characters of base64, as Kafka writes 16 bytes."""
_SOON_MS, _NEVER_S, _NEVER_MS, _NEVER_BYTES = 50, 1_000_000, 1_000_000_000, 1 << 40

_ALWAYS = {
    "process.roles": "controller",
    "node.id": NODE_ID,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
    # An answer comes as soon as its record is in the log, and not 25 ms later.
    "controller.quorum.append.linger.ms": 0,
    # A controller that has resigned is elected again at once: there is nobody else.
    "controller.quorum.election.timeout.ms": _SOON_MS,
    "controller.quorum.election.backoff.max.ms": _SOON_MS,
    "broker.session.timeout.ms": SESSION_TIMEOUT_MS,
    "auto.leader.rebalance.enable": "false",
    "leader.imbalance.check.interval.seconds": _NEVER_S,
    "metadata.log.max.record.bytes.between.snapshots": _NEVER_BYTES,
    "default.replication.factor": 1,
    "num.network.threads": 1,
    "num.io.threads": 1,
    "socket.request.max.bytes": 1 << 20,
    "log.cleaner.enable": "false",
}
_SINCE = {
    # No NoOpRecord while nothing happens, and no snapshot because time has passed.
    (3, 3): {"metadata.max.idle.interval.ms": 0},
    (3, 4): {"metadata.log.max.snapshot.interval.ms": 0},
    (3, 9): {"unclean.leader.election.interval.ms": _NEVER_MS},
}
"""Settings that a release does not know make it refuse to start: by the version that has them."""


def server_settings(release: str, port: int, data: Path) -> str:
    """The text of ``server.properties`` for a release of the engine such as ``"3.4"``: one voter,
    listening at that port of the loopback interface, its log in the folder `data`.
    """
    settings = _ALWAYS | {
        "controller.quorum.voters": f"{NODE_ID}@127.0.0.1:{port}",
        "listeners": f"CONTROLLER://127.0.0.1:{port}",
        "log.dirs": data,
    }
    for since, more in _SINCE.items():
        if RELEASES[release].code >= since:
            settings |= more
    return "".join(f"{name}={value}\n" for name, value in settings.items())
