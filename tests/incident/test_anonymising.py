"""No name of the input stands in anything that is made of it."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kiplab.incident.anonymising import InputNames
from kiplab.incident.as_play.play_of_history import as_play
from kiplab.incident.findings.rule_table import findings_of
from kiplab.incident.log_evidence import NodeLogs
from kiplab.incident.log_items import LogItem, LogRecord, Remark, SavedState
from kiplab.incident.node_logs import read_node_logs
from kiplab.incident.reading.known_records import record_schemas
from kiplab.incident.reading.message_fields import SchemaField
from tests.incident.short_log import replayed, short_log
from tests.incident.test_as_play import OTHER_LIFE

NAMES = {
    "payments.eu": "orders",
    "kafka-7.acme.example": "host",
    "dc-oslo": "rack",
    "ACME_LISTENER": "listener",
    "User:alice": "principal",
    "Zm9vYmFyYmF6cXV4cXV1eA": "directory",
}
TOPIC, HOST, RACK, LISTENER, PRINCIPAL, DIRECTORY = NAMES


def named_log() -> list[LogItem]:
    text = OTHER_LIFE.replace("orders", TOPIC)
    records = [_with_names(record) for record in short_log(text)]
    acl = {"resourceName": TOPIC, "principal": PRINCIPAL, "host": HOST, "resourceType": 2}
    more = [
        LogRecord(63, 41_000, 1, "ACCESS_CONTROL_ENTRY_RECORD", 0, acl),
        LogRecord(64, 41_000, 1, "CONFIG_RECORD", 0, _config(2, TOPIC, "compression.type", RACK)),
        LogRecord(65, 41_000, 1, "RECORD_OF_TOMORROW", 0, {"name": TOPIC}),
    ]
    saved = SavedState(66, 1, 41_000, tuple(more), f"/{HOST}/66.checkpoint")
    return [*records, *more, Remark("gap", f"of {TOPIC}", f"/{HOST}/0.log"), saved]


def _config(kind: int, resource: str, name: str, value: str) -> dict[str, Any]:
    return {"resourceType": kind, "resourceName": resource, "name": name, "value": value}


def _with_names(record: LogRecord) -> LogRecord:
    if record.type != "REGISTER_BROKER_RECORD":
        return record
    point = {"name": LISTENER, "host": HOST, "port": 9092, "securityProtocol": 0}
    fields = {"endPoints": [point], "rack": RACK, "logDirs": [DIRECTORY]}
    return msgspec.structs.replace(record, fields={**record.fields, **fields})


LINES = [
    f"[2026-11-29 08:00:01,000] INFO [Partition {TOPIC}-1 broker=1] Shrinking ISR from 2,1 to 1."
    " Leader: (highWatermark: 1, endOffset: 2). (kafka.cluster.Partition)",
    "[2026-11-29 08:00:02,000] INFO Recovering 3 logs from /data/acme since no clean shutdown file"
    " was found (kafka.log.LogManager)",
    f"[2026-11-29 08:00:03,000] INFO Leader {TOPIC}-1 with topic id {'A' * 22} starts at leader"
    " epoch 4 from offset 1 with partition epoch 4, high watermark 0, ISR [1]"
    " (state.change.logger)",
]


def test_no_name_of_the_input_stands_in_what_is_made_of_it(tmp_path: Path) -> None:
    file = tmp_path / "acme.log"
    file.write_text("\n".join(LINES), "utf-8")
    names = InputNames(named_log(), others=True)
    nodes = NodeLogs([file], None, names)
    events, replay, _ = replayed(list(names))
    for event in events:
        nodes.add(event)
    lines = [names.line(line) for line in read_node_logs([file])[0]]
    assert [line.read.get("partition") for line in lines] == ["topic-1-1", None, "topic-1-1"]
    findings = list(nodes.evidence(f for e in events for f in findings_of(e)))
    assert any(finding.lines for finding in findings)
    play = as_play([e for e in events if e.record.offset < 63])
    assert not play.failed
    made = [events, replay.cluster, replay.remarks, lines, findings, play, list(names)]
    text = b"\n".join(msgspec.json.encode(each, enc_hook=repr) for each in made).decode()
    for name in (*NAMES, "acme", "/data", str(tmp_path)):
        assert name not in text
    assert "topic-1" in text
    assert "host-1" in text


def test_a_run_gives_the_same_names_again() -> None:
    runs = [list(InputNames(named_log(), others=True)) for _ in range(2)]
    assert runs[0] == runs[1]
    assert list(InputNames(named_log(), others=False)) == named_log()


def test_settings_and_features_keep_their_words() -> None:
    kept = [
        ("CONFIG_RECORD", _config(4, "1", "min.insync.replicas", "2")),
        ("CONFIG_RECORD", _config(4, "", "unclean.leader.election.enable", "true")),
        ("FEATURE_LEVEL_RECORD", {"name": "metadata.version", "featureLevel": 8}),
        ("PARTITION_RECORD", {"directories": ["A" * 22], "topicId": "T", "isr": [1, 2]}),
    ]
    records = [LogRecord(n, 0, 1, kind, 0, fields) for n, (kind, fields) in enumerate(kept)]
    assert list(InputNames(records, others=True)) == records
    setting = LogRecord(0, 0, 1, "CONFIG_RECORD", 0, _config(2, "7", "x", "1"))
    (topic,) = InputNames([setting], others=True)
    assert isinstance(topic, LogRecord)
    assert topic.fields["resourceName"] == "topic-1"


def _texts(fields: tuple[SchemaField, ...]) -> int:
    return sum((field.kind == "string") + _texts(field.fields) for field in fields)


@pytest.mark.parametrize(
    "name", [s.name for s in record_schemas("metadata").values() if _texts(s.fields)]
)
def test_each_text_of_each_record_is_judged(name: str) -> None:
    schema = next(s for s in record_schemas("metadata").values() if s.name == name)
    record = LogRecord(0, 0, 1, name, 0, {f.name: _filled(f) for f in schema.fields})
    (made,) = InputNames([record], others=True)
    left = {f.name for f in schema.fields if "SECRET" in repr(made.fields[f.name])}  # type: ignore[union-attr]
    kafkas = {"features", "key", "name"} if name != "TOPIC_RECORD" else set()
    assert left <= kafkas | ({"entity"} if name == "CLIENT_QUOTA_RECORD" else set())


def _filled(field: SchemaField) -> object:
    if field.fields:
        value: object = {f.name: _filled(f) for f in field.fields}
    else:
        value = "SECRET" if field.kind == "string" else 0
    return [value] if field.is_array else value
