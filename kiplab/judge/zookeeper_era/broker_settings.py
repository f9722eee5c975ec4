"""The settings of a broker of ZooKeeper's years in which little happens by itself."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

SESSION_TIMEOUT_MS = 60_000
"""Long enough to look at a broker that hears nothing from ZooKeeper."""
_CONNECT_MS = 30_000

_ALWAYS = {
    "zookeeper.session.timeout.ms": SESSION_TIMEOUT_MS,
    "zookeeper.connection.timeout.ms": _CONNECT_MS,
    "controlled.shutdown.enable": "false",
    "auto.leader.rebalance.enable": "false",
    "auto.create.topics.enable": "false",
    # It wants more memory than all the rest.
    "log.cleaner.enable": "false",
    "num.network.threads": 1,
    "num.io.threads": 2,
    "num.recovery.threads.per.data.dir": 1,
    "background.threads": 2,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
}
LOG_TO_STDERR = """\
log4j.rootLogger=WARN, stderr
log4j.appender.stderr=org.apache.log4j.ConsoleAppender
log4j.appender.stderr.target=System.err
log4j.appender.stderr.layout=org.apache.log4j.PatternLayout
log4j.appender.stderr.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
"""For the log that every one of these releases writes by."""


def broker_settings(
    broker: int, port: int, zookeeper: str, data: Path, more: Mapping[str, str | int]
) -> str:
    """The text of ``server.properties``: a broker at that port of the loopback interface, its
    cluster kept at `zookeeper`, such as ``"127.0.0.1:2181/chroot"``, its logs in the folder `data`.

    `more` are Kafka's own settings by name; they come last, and so replace ours.
    """
    settings: dict[str, object] = {
        **_ALWAYS,
        "broker.id": broker,
        "listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "zookeeper.connect": zookeeper,
        "log.dirs": data,
        **more,
    }
    return "".join(f"{name}={value}\n" for name, value in settings.items())
