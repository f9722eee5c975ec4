"""A real controller, live: it starts, its clock stands still, and it never outlives its parent."""

import signal
import uuid
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from kiplab.incident.reading.message_bytes import written_message
from kiplab.judge.controller.controller_process import (
    CLUSTER_ID,
    ControllerProcess,
    server_settings,
)
from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.wire.metadata_log import MetadataLog, ReleaseSchemas, schemas_in
from kiplab.judge.wire.node_connection import LostConnectionError, NodeConnection
from tests.judge import kafka_here, small_schemas

pytestmark = pytest.mark.kafka
RELEASE = "3.5"
REGISTRATION = {
    "BrokerId": 1,
    "ClusterId": CLUSTER_ID,
    "IncarnationId": uuid.UUID(int=5),
    "Listeners": [{"Name": "PLAINTEXT", "Host": "127.0.0.1", "Port": 9000, "SecurityProtocol": 0}],
    "Features": [{"Name": "metadata.version", "MinSupportedVersion": 1, "MaxSupportedVersion": 40}],
}


@pytest.fixture(scope="module")
def kafka() -> Iterator[ControllerProcess]:
    with kafka_here.real_kafka():
        made = ControllerProcess(RELEASE)
    with made:
        made.tell("freeze")
        yield made


@pytest.fixture(scope="module")
def schemas(kafka: ControllerProcess) -> ReleaseSchemas:
    return schemas_in(sorted(kafka.jars.glob("kafka-[cm]*.jar")))


@pytest.fixture
def connection(kafka: ControllerProcess, schemas: ReleaseSchemas) -> Iterator[NodeConnection]:
    made = NodeConnection(kafka.port, schemas)
    yield made
    made.close()


def heartbeat(epoch: int, offset: int) -> dict[str, object]:
    return {
        "BrokerId": 1,
        "BrokerEpoch": epoch,
        "CurrentMetadataOffset": offset,
        "WantFence": False,
        "WantShutDown": False,
    }


def test_every_version_of_every_message_is_written_and_read(schemas: ReleaseSchemas) -> None:
    everything = (schemas.requests, schemas.responses, schemas.records)
    found = [schema for some in everything for schema in some.values()]
    assert len(found) > 150
    for schema in found:
        for version in range(schema.versions.first, schema.versions.last + 1):
            data = written_message(schema, {}, version)
            value, end = small_schemas.read_message(schema, data, version)
            assert end == len(data)
            assert written_message(schema, value, version) == data, f"{schema.name} v{version}"


def test_it_answers_writes_its_log_and_fences_when_its_clock_is_moved(
    kafka: ControllerProcess, connection: NodeConnection, schemas: ReleaseSchemas
) -> None:
    log = MetadataLog(kafka.data, schemas)
    assert "FeatureLevelRecord" in [record.name for record in log.new()]
    registered = connection.ask("BrokerRegistration", 0, REGISTRATION)
    (record,) = log.new()
    assert record.name == "RegisterBrokerRecord"
    assert (registered["ErrorCode"], registered["BrokerEpoch"]) == (0, record.offset)
    beat = heartbeat(record.offset, log.end + 5)
    assert connection.ask("BrokerHeartbeat", 0, beat)["IsFenced"] is False
    assert [r.name for r in log.new()] == ["BrokerRegistrationChangeRecord"]
    kafka.tell("advance 60000")
    assert connection.ask("BrokerHeartbeat", 0, beat)["IsFenced"] is False
    assert [r.fields["Fenced"] for r in log.new()] == [1, -1]


def test_it_restarts_on_its_own_log(kafka: ControllerProcess, schemas: ReleaseSchemas) -> None:
    log = MetadataLog(kafka.data, schemas)
    before = log.new()
    kafka.tell("restart")
    connection = NodeConnection(kafka.port, schemas)
    connection.ask("ApiVersions", 0, {})
    connection.close()
    assert log.new() == ()
    assert MetadataLog(kafka.data, schemas).new() == before


@kafka_here.long(test_it_restarts_on_its_own_log)
def test_a_controller_that_died_says_so(schemas: ReleaseSchemas) -> None:
    with ControllerProcess(RELEASE) as dying:
        connection = NodeConnection(dying.port, schemas)
        (java,) = (p for p in psutil.Process().children() if str(dying.data.parent) in said_by(p))
        java.send_signal(signal.SIGKILL)
        java.wait()
        with pytest.raises(DeadKafkaError, match=r"Kafka 3\.5\.2 ended by itself"):
            dying.tell("advance 1")
        with pytest.raises((LostConnectionError, ConnectionError)):
            connection.ask("ApiVersions", 0, {})
        connection.close()
    assert not dying.data.parent.exists()
    with pytest.raises(DeadKafkaError, match="has not been started, or is stopped"):
        dying.tell("freeze")


def test_a_metadata_version_that_it_does_not_have_is_said(kafka: ControllerProcess) -> None:
    with (
        pytest.raises(DeadKafkaError, match=rf"Kafka {kafka.patch} does not begin at 9\.9"),
        ControllerProcess(RELEASE, "9.9-IV0"),
    ):
        pass


def said_by(process: psutil.Process) -> str:
    return " ".join(process.cmdline())


def test_a_release_is_not_told_of_settings_that_it_does_not_know() -> None:
    oldest, newest = (server_settings(release, 1, Path("/data")) for release in ("3.2", "3.9"))
    for setting in ("metadata.max.idle.interval.ms=0", "metadata.log.max.snapshot.interval.ms=0"):
        assert setting not in oldest
        assert setting in newest
    assert "listeners=CONTROLLER://127.0.0.1:1\n" in oldest
