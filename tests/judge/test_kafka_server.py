"""A real broker beside a ZooKeeper, live: it answers, it is killed, it ends with its parent."""

from pathlib import Path
from typing import cast

import pytest

from kiplab.judge.java_process import DeadKafkaError
from kiplab.judge.wire.metadata_log import ReleaseSchemas
from kiplab.judge.wire.node_connection import NodeConnection, read_request, written_request
from kiplab.judge.zookeeper_era.kafka_server import KafkaServer, broker_settings, control_schemas
from kiplab.judge.zookeeper_server.zookeeper_process import ZooKeeperProcess
from tests.judge.acceptance import control_bodies
from tests.judge.kafka_here import real_kafka

pytestmark = pytest.mark.kafka
PATCH = "2.2.2"


@pytest.fixture(scope="module")
def schemas() -> ReleaseSchemas:
    with real_kafka():
        return control_schemas()


@pytest.mark.parametrize(
    ("api", "versions"),
    [("LeaderAndIsr", 8), ("UpdateMetadata", 9), ("StopReplica", 5), ("ControlledShutdown", 4)],
)
def test_every_version_of_a_control_request_is_read_as_it_was_written(
    api: str, versions: int, schemas: ReleaseSchemas
) -> None:
    schema = schemas.requests[api]
    assert schema.versions == (0, versions - 1)
    for version in range(versions):
        body = {"BrokerId": 7} if api == "ControlledShutdown" else control_of(api, version)
        request = read_request(schemas, written_request(schemas, api, version, 5, body))
        there = {f.name for f in schema.fields if f.versions.have(version)}
        assert request.body.keys() == there
        again = written_request(schemas, api, version, 5, request.body)
        assert read_request(schemas, again) == request
        assert (request.client is None) == (api == "ControlledShutdown" and version == 0)


def control_of(api: str, version: int) -> dict[str, object]:
    """A request about two partitions, without the fields that a version does not have."""
    kind = cast(control_bodies.ControlApi, api)
    both = (0, 1)
    question = control_bodies.ControlQuestion(kind, (7, 8), isr=both, replicas=both, is_new=True)
    where = control_bodies.WhereEpochs(40, 36, 5, 9000, 9001)
    return control_bodies.control_body(question, "a", version, where)


def test_it_runs_until_it_is_killed(schemas: ReleaseSchemas) -> None:
    """The first version has a header of its own, and the broker of no id is not alive."""
    with ZooKeeperProcess() as zookeeper:
        more = {"zookeeper.session.timeout.ms": 4000}
        with KafkaServer(PATCH, f"{zookeeper.addresses[0]}/one", more=more) as kafka:
            connection = NodeConnection(kafka.port, schemas)
            for version in (0, 1, 2):
                answer = connection.ask("ControlledShutdown", version, {"BrokerId": 9})
                assert answer == {"ErrorCode": 8, "RemainingPartitions": ()}
            connection.close()
            kafka.tell("kill")
            with pytest.raises(DeadKafkaError, match=r"Kafka 2\.2\.2 ended by itself"):
                kafka.tell("stop")
        assert not kafka.data.parent.exists()


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
    asked = {"controlled.shutdown.enable": "true", "inter.broker.protocol.version": "2.1"}
    assert asked.items() <= settings(**asked).items()
