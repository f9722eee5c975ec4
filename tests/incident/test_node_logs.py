"""Log files of nodes: which lines are understood, what they are tied to, and a loss by offsets."""

import gzip
from pathlib import Path

import pytest
from msgspec.structs import replace

from kiplab.incident.anonymising import InputNames
from kiplab.incident.findings.finding import Finding
from kiplab.incident.findings.rule_table import findings_of
from kiplab.incident.log_evidence import NodeLogs
from kiplab.incident.log_items import LogRecord, UnreadableInputError
from kiplab.incident.node_logs import NodeLine, read_node_logs
from kiplab.incident.states import LogEvent
from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.protocol.releases import Mode
from kiplab.rows.operator_log import log_lines
from kiplab.rows.snapshots import Moment
from tests.incident.short_log import replayed, short_log
from tests.incident.test_as_play import OTHER_LIFE

ID = "_5gQcwHRSfCAChyWEsVtJg"
LEADS = (
    "[2026-11-29 08:00:{second:02d},000] INFO [Broker id={broker}] Leader orders-1 with topic id"
    " Some({id}) starts at leader epoch {epoch} from offset {offset} with partition epoch 2, high"
    " watermark {high}, ISR [1], adding replicas [] and removing replicas [] . Previous leader"
    " Some(2) and previous leader epoch was 1. (state.change.logger)"
)
CUT = (
    "[2026-11-29 08:00:50,000] INFO [UnifiedLog partition=orders-1, dir=/data] Truncating to"
    " offset 40 (kafka.log.UnifiedLog)"
)


def leads(epoch: int, offset: int, high: int, id: str = ID, broker: int = 1) -> str:
    return LEADS.format(second=epoch, epoch=epoch, offset=offset, high=high, id=id, broker=broker)


def file_of(tmp_path: Path, *lines: str) -> Path:
    file = tmp_path / "some.log"
    file.write_text("\n".join(lines), "utf-8")
    return file


def understood(tmp_path: Path, *lines: str) -> list[NodeLine]:
    return read_node_logs([file_of(tmp_path, *lines)])[0]


def evidence(
    findings: list[Finding], file: Path, told: list[LogEvent], zone: str | None = None
) -> list[Finding]:
    nodes = NodeLogs([file], zone, InputNames((), others=False))
    for event in told:
        nodes.add(event)
    return list(nodes.evidence(findings))


def events() -> list[LogEvent]:
    """Those of the log, under the topic id of the lines."""
    return replayed([_under_id(record) for record in short_log(OTHER_LIFE)])[0]


def _under_id(record: LogRecord) -> LogRecord:
    named = {"topicId": ID} if "topicId" in record.fields else {}
    return replace(record, fields=record.fields | named)


@pytest.mark.parametrize(
    ("lines", "lost"),
    [
        ([leads(2, 90, 100), leads(4, 40, 40), CUT], ["40 to 99"]),
        ([leads(4, 40, 40), leads(2, 90, 100)], ["40 to 99"]),
        ([leads(2, 100, 100), leads(4, 100, 90)], []),
        # The topic was created again: another log.
        ([leads(2, 90, 100), leads(4, 0, 0, "A" * 22)], []),
        ([leads(1, 90, 100), leads(2, 40, 40), leads(3, 50, 50)], ["40 to 99"]),
        ([leads(1, 90, 100), leads(2, 40, 60), leads(3, 50, 50)], ["40 to 99", "50 to 59"]),
    ],
)
def test_a_loss_is_proven_by_offsets(tmp_path: Path, lines: list[str], lost: list[str]) -> None:
    found = evidence([], file_of(tmp_path, *lines), events())
    assert [f"{f.sentence.partition('records ')[2].partition(':')[0]}" for f in found] == lost
    for finding in found:
        assert (finding.rule, finding.kind) == ("lost-by-offsets", "lost")
        assert len(finding.lines) >= 2
        assert set(finding.lines) <= set(lines)


def test_a_loss_stands_at_the_record_that_elected(tmp_path: Path) -> None:
    (found,) = evidence([], file_of(tmp_path, leads(2, 90, 100), leads(4, 40, 40), CUT), events())
    assert (found.offset, found.lines[2]) == (62, CUT)
    assert found.sentence == (
        "orders-1 lost the committed records 40 to 99: in leader epoch 2 the high watermark was"
        " 100, and broker 1 starts leader epoch 4 from offset 40."
    )


SERVER = "[2026-11-29 08:00:40,500] INFO {} (kafka.server.Some)"
INCARNATION = "Y1".ljust(22, "A")
START = SERVER.format(
    f"[BrokerLifecycleManager id=1] Incarnation {INCARNATION} of broker 1 in cluster c is now"
    " STARTING."
)
UNCLEAN = SERVER.format("Recovering 3 logs from /data since no clean shutdown file was found")
OTHER = SERVER.format(
    "[BrokerLifecycleManager id=2] Successfully registered broker 2 with broker epoch 6"
)
FENCING = (
    "[1970-01-01 02:00:37,900] INFO [ReplicationControlManager id=3000] Fencing broker 1 because"
    " its session has timed out. (org.apache.kafka.controller.ReplicationControlManager)"
)
FAR = FENCING.replace("02:00:37", "02:10:37")


def test_lines_are_tied_to_processes_and_by_time(tmp_path: Path) -> None:
    told = replayed(list(short_log(OTHER_LIFE.replace("1@60 Y1", f"1@60 {INCARNATION}"))))[0]
    other_life = [f for e in told for f in findings_of(e) if f.rule == "other-life"]
    lines = [START, UNCLEAN, OTHER, FENCING, FAR, leads(4, 40, 40)]
    assert len(understood(tmp_path, *lines)) == len(lines)
    file = file_of(tmp_path, *lines)
    (found,) = evidence(other_life, file, told, "+02:00")
    assert list(found.lines) == [START, UNCLEAN, FENCING, leads(4, 40, 40)]
    # Without a zone a time says nothing.
    (found,) = evidence(other_life, file, told)
    assert list(found.lines) == [START, UNCLEAN, leads(4, 40, 40)]


def test_lines_that_kiplab_writes_are_read_backwards(tmp_path: Path) -> None:
    written: list[str] = []
    for name in names():
        stage = run_play(load(name))
        if stage.features.mode is Mode.ZOOKEEPER:
            continue
        befores = (stage.history.start, *(step.cluster for step in stage.history.steps))
        written += (
            f"[2026-11-29 08:00:00,000] {line.level} {line.text} (a.{line.logger})"
            for before, step in zip(befores, stage.history.steps, strict=False)
            for event in step.events
            for line in log_lines(event, Moment(before, step))
        )
    known = understood(tmp_path, *written)
    kinds = {line.kind for line in known}
    assert kinds >= {"registered", "truncates", "session over", "fenced -> unfenced"}
    refusals = [line for line in written if "Rejecting AlterPartition request from node" in line]
    assert [line.text for line in known if line.kind.startswith("refused by")] == refusals
    incarnations = {
        (line.number("broker"), line.number("epoch"))
        for line in known
        if line.kind == "refused by 903.controller-epoch"
    }
    assert (2, 250) in incarnations


def test_files_may_be_packed_and_unknown_ones_are_told(tmp_path: Path) -> None:
    packed, strange = tmp_path / "state-change.log.2026-11-29-08.gz", tmp_path / "syslog"
    packed.write_bytes(gzip.compress(leads(1, 2, 3).encode()))
    strange.write_bytes(b"\xff\x00 nothing\n" * 100)
    lines, remarks = read_node_logs([packed, strange])
    assert [line.read["partition"] for line in lines] == ["orders-1"]
    assert [(r.file, "no line of it is known" in r.text) for r in remarks] == [(str(strange), True)]
    with pytest.raises(UnreadableInputError):
        read_node_logs([tmp_path / "absent"])


@pytest.mark.parametrize("text", ["2", "+2:00", "+25:00", "CET"])
def test_a_zone_is_hours_and_minutes(text: str) -> None:
    with pytest.raises(ValueError, match="no zone"):
        read_node_logs([], text)
