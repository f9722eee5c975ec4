"""What real controllers wrote, and what Kafka's own tool says of it: read, replayed and judged.

Notes on leader epochs are left out of what is expected: below 3.6-IV0 each ISR that shrinks is one.
"""

from collections.abc import Iterable
from pathlib import Path

import pytest

import kiplab
from kiplab.incident.findings.finding import Finding
from kiplab.incident.findings.rule_table import findings_at_end, findings_of
from kiplab.incident.log_items import LogItem, LogRecord, Remark, UnreadableInputError
from kiplab.incident.reading import read_items
from kiplab.incident.replayed_log.replaying import Replay
from kiplab.incident.states import LogEvent, PartitionState
from tests.incident.real_logs.recording import RECORDINGS, SCRIPTS, record
from tests.judge.kafka_here import live, real_kafka

SEGMENT = "00000000000000000000.log"
CHECKPOINT = "other-life-3.5.2/00000000000000000053-0000000001.checkpoint"
Told = tuple[str, str, int, str]
"""(rule, kind, offset, partitions) of a finding."""

OTHER_LIFE: list[Told] = [
    ("quick-join", "occasion", 40, "orders-0"),
    ("alone-then-gone", "occasion", 96, "orders-0"),
    ("alone-then-gone", "occasion", 97, "orders-1"),
    ("leaderless", "sure", 97, "orders-1"),
    ("unclean", "occasion", 106, "orders-0"),
    ("other-life", "occasion", 112, "orders-1"),
]
TWO_SEGMENTS: list[Told] = [
    ("alone-then-gone", "occasion", 75, "orders-1"),
    ("other-life", "occasion", 82, "orders-1"),
]
EXPECTED: dict[str, list[Told]] = {
    "other-life-3.5.2": OTHER_LIFE,
    "other-life-3.5.2/dump.txt.gz": OTHER_LIFE,
    "quick-join-3.5.2": [
        ("quick-join", "occasion", 53, "orders-0 orders-1 orders-2"),
        ("quick-join", "occasion", 100, "orders-0"),
        ("quick-join", "occasion", 142, "orders-0 orders-1 orders-2"),
    ],
    "two-segments-3.9.1": TWO_SEGMENTS,
    "two-segments-3.9.1/dump.txt.gz": TWO_SEGMENTS,
    "two-segments-3.9.1/skipped.txt.gz": TWO_SEGMENTS,
    f"two-segments-3.9.1/half/{SEGMENT}": [],
    "two-segments-3.9.1/half.txt.gz": [],
    "clean-return-4.1.2": [
        ("other-life", "note", 71, "orders-0 orders-1"),
    ],
    "wiped-by-directories-4.1.2": [
        ("elr-wiped-by-directories", "sure", 47, "orders-0"),
        ("alone-then-gone", "note", 68, "orders-0"),
    ],
    "all-died-4.3.1": [
        ("alone-then-gone", "occasion", 72, "trap-0"),
        ("leaderless", "sure", 72, "trap-0"),
        ("alone-then-gone", "occasion", 73, "orders-0"),
        ("elr-cleared-leaderless", "sure", 78, "trap-0"),
        ("last-leader", "occasion", 83, "orders-0"),
        ("recovering-left", "sure", 83, "orders-0"),
        ("recovering-left", "sure", 90, "trap-0"),
        ("unclean", "occasion", 90, "trap-0"),
    ],
}


def read(*names: str) -> list[LogItem]:
    """The items of some recordings."""
    return list(read_items([RECORDINGS / name for name in names]))


def events_of(items: Iterable[LogItem]) -> tuple[list[LogEvent], list[Finding]]:
    """Their events, and all findings."""
    found: list[Finding] = []
    replay, events = Replay(found.append), list[LogEvent]()
    for event in replay.events(items):
        events.append(event)
        found += findings_of(event)
    if replay.last:
        found += findings_at_end(replay.cluster, replay.partitions.values(), replay.last)
    return events, found


def told(found: Iterable[Finding]) -> list[Told]:
    """What is expected of findings, by offset."""
    kept = (one for one in found if one.rule != "leader-epoch-without-leader-change")
    return sorted(
        ((one.rule, one.kind, one.offset, " ".join(one.partitions)) for one in kept),
        key=lambda one: (one[2], one[0]),
    )


@pytest.mark.parametrize("name", EXPECTED)
def test_a_real_log_has_the_findings_of_its_incident(name: str) -> None:
    assert told(kiplab.read_metadata_log(RECORDINGS / name).findings) == EXPECTED[name]


def states(items: Iterable[LogItem]) -> list[tuple[int, PartitionState | None]]:
    """Each record that touched a partition, and the partition after it."""
    return [(event.record.offset, event.after) for event in events_of(items)[0] if event.partition]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_segment_and_its_dump_tell_the_same(name: str) -> None:
    segments = sorted((RECORDINGS / name).glob("*.log"))
    dump, log = read(f"{name}/dump.txt.gz"), list(read_items(segments))
    assert [(r.offset, r.time, r.type) for r in dump if isinstance(r, LogRecord)] == [
        (r.offset, r.time, r.type) for r in log if isinstance(r, LogRecord)
    ]
    assert states(dump) == states(log)


@pytest.mark.parametrize("half", [f"half/{SEGMENT}", "half.txt.gz"])
def test_half_a_file_is_read_as_far_as_it_is_whole(half: str) -> None:
    *records, remark = read(f"two-segments-3.9.1/{half}")
    assert isinstance(remark, Remark)
    assert (remark.kind, remark.text.split()[0]) == ("left over", "53")
    assert [r.offset for r in records if isinstance(r, LogRecord)] == [*range(34)]


def test_a_dump_of_an_older_tool_is_refused_with_what_it_did_not_know() -> None:
    with pytest.raises(UnreadableInputError) as refused:
        read("clean-return-4.1.2/old-tool.txt.gz")
    for words in ("4 of REGISTER_BROKER_RECORD", "2 of PARTITION_RECORD", "cluster's own release"):
        assert words in str(refused.value)


def test_a_record_that_is_missing_before_a_checkpoint_is_found_there() -> None:
    items = read("other-life-3.5.2")
    assert "inconsistent" not in [finding.rule for finding in events_of(items)[1]]
    cut = [item for item in items if not (isinstance(item, LogRecord) and item.offset == 45)]
    found = [finding for finding in events_of(cut)[1] if finding.rule == "inconsistent"]
    assert [(finding.offset, finding.partitions) for finding in found] == [(53, ("orders-1",))]


def test_what_a_checkpoint_brought_joined_as_this_incarnation_or_an_earlier_one() -> None:
    items = read(CHECKPOINT, f"other-life-3.5.2/{SEGMENT}")
    after = [i for i in items if not (isinstance(i, LogRecord) and i.offset < 53)]
    (found,) = [f for f in events_of(after)[1] if f.rule == "other-life"]
    assert (found.offset, found.incarnations) == (112, ((1, 4), (1, 110)))
    assert "or earlier" in found.sentence


@live(test_a_segment_and_its_dump_tell_the_same)
@pytest.mark.parametrize("name", ["quick-join-3.5.2"])
def test_a_controller_of_today_writes_what_was_recorded(name: str, tmp_path: Path) -> None:
    with real_kafka():
        files = list(record(name, tmp_path))
    assert [path.name for path in files][-1] == "dump.txt.gz"
    found = told(kiplab.read_metadata_log(tmp_path / name).findings)
    # Offsets hang on how long the controller needed to begin.
    shapes = [sorted((a, b, d) for a, b, _, d in side) for side in (found, EXPECTED[name])]
    assert shapes[0] == shapes[1]
