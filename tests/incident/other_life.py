"""The first input of the specification, as a history: 1 is elected as another incarnation."""

from collections.abc import Sequence

from msgspec.structs import replace

from kiplab.incident.findings.rule_table import findings_at_end, findings_of
from kiplab.incident.gathering import GatheredFindings
from kiplab.incident.history_words import PartitionStory, stories
from kiplab.incident.log_items import FileRead, LogItem, LogRecord
from kiplab.incident.metadata_history import MetadataHistory
from kiplab.incident.replayed_log.replaying import Replay
from kiplab.rows.columns import Rows
from tests.incident.short_log import short_log
from tests.incident.test_findings import OTHER_LIFE, V3_4_AT_3_5

BEGAN = 1_795_452_573_347
"""The time of the first record, in milliseconds since 1970."""


def log(text: str = V3_4_AT_3_5 + OTHER_LIFE) -> list[LogRecord]:
    """Its records, at the times at which they were written."""
    return [replace(record, time=BEGAN + record.time) for record in short_log(text)]


def history(items: Sequence[LogItem] | None = None, **about: object) -> MetadataHistory:
    """What `read_metadata_log` makes of such records, without a file."""
    items = log() if items is None else items
    found = GatheredFindings()
    replay = Replay(found.add)
    for event in replay.events(items):
        found.add_all(findings_of(event))
    assert replay.last is not None
    found.add_all(findings_at_end(replay.cluster, replay.partitions.values(), replay.last))
    records = [item for item in items if isinstance(item, LogRecord)]
    first, last = records[0].moment, records[-1].moment
    told: dict[str, object] = {
        "read": (FileRead("other-life.log", "segment", first.offset, last.offset),),
        "remarks": tuple(replay.remarks),
        "findings": found.in_order(),
        "left_out": 0,
        "cluster": replay.cluster,
        "partitions": replay.partitions,
        "first": first,
        "last": last,
        "_items": items,
    }
    return MetadataHistory(**{**told, "_passes": {}, **about})  # type: ignore[arg-type]


def story() -> PartitionStory:
    """Of the only partition."""
    (told,) = stories(history(), ["orders-1"])
    return told


def rows() -> Rows:
    """What a picture of it is drawn from."""
    return story().rows
