"""Settings of a broker of ZooKeeper's years; and the class that starts it is that of the source."""

from pathlib import Path

from kiplab.judge.zookeeper_era.kafka_server import broker_settings


def settings(**more: str | int) -> dict[str, str]:
    written = broker_settings(7, 9000, "127.0.0.1:2181/here", Path("/data"), more)
    return dict(line.split("=", 1) for line in written.splitlines() if "=" in line)


def test_it_listens_on_the_loopback_interface_alone_and_does_little_by_itself() -> None:
    written = settings()
    assert written["listeners"] == "PLAINTEXT://127.0.0.1:9000"
    assert written["zookeeper.connect"] == "127.0.0.1:2181/here"
    assert (written["broker.id"], written["log.dirs"]) == ("7", "/data")
    assert written["zookeeper.session.timeout.ms"] == "60000"
    by_itself = ("controlled.shutdown", "auto.leader.rebalance", "log.cleaner")
    assert {written[f"{name}.enable"] for name in by_itself} == {"false"}


def test_what_is_asked_for_replaces_what_is_usual() -> None:
    assert (
        settings(**{"controlled.shutdown.enable": "true"})["controlled.shutdown.enable"] == "true"
    )
    asked = settings(**{"inter.broker.protocol.version": "2.1"})
    assert asked["inter.broker.protocol.version"] == "2.1"
