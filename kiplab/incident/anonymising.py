"""Other names for topics, hosts, racks, directories and principals, given where the input is read.

A name becomes the same one everywhere in a run: ``topic-1`` is the first topic of the log. The
schemas of the records tell which fields are text; what is neither a number nor one of Kafka's own
words is renamed. Ids that Kafka draws by lot stay: log lines are tied to records by them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from .node_logs import NodeLine
from .reading.known_records import control_records, known_records
from .reading.message_fields import SchemaField
from .records import LogItem, LogRecord, Remark, SavedState

_OTHER_CONFIG, _TOPIC = "CONFIG_RECORD of no topic", 2
"""ConfigResource.Type of a topic; other settings are of brokers, groups or clients."""
_KAFKAS = {
    *((of, "name") for of in ("features", "FEATURE_LEVEL_RECORD", "CONFIG_RECORD", _OTHER_CONFIG)),
    ("entity", "entityType"),
    ("CLIENT_QUOTA_RECORD", "key"),
}
"""Text that is Kafka's own, by the record or the list that it stands in."""
_CALLED = {
    **dict.fromkeys([("TOPIC_RECORD", "name"), ("CLEAR_ELR_RECORD", "topicName")], "topic"),
    **dict.fromkeys([("endPoints", "name"), ("endpoints", "name")], "listener"),
    ("USER_SCRAM_CREDENTIAL_RECORD", "name"): "principal",
    ("CONFIG_RECORD", "resourceName"): "topic",
}
_BY_FIELD = dict.fromkeys(("principal", "owner", "requester", "renewers"), "principal") | {
    **dict.fromkeys(("directories", "logDirs", "cordonedLogDirs"), "directory"),
    **{name: name for name in ("host", "rack", "value")},
}
_PLAIN = re.compile(r"-?\d*|true|false|A{20}[\w-]{2}")
"""Numbers, nothing, and the directories that Kafka reserves (DirectoryId)."""
_PLACE = re.compile(r"(?<![\w/])/[^\s,\]]+|(?<= in cluster )\S+")
"""A path, and the id of a cluster, which may be chosen by hand."""


class RenamedItems(Iterable[LogItem]):
    """A log with other names; it can be read again as the log itself can."""

    def __init__(self, items: Iterable[LogItem], names: "Anonymiser") -> None:
        self._items, self._names = items, names

    def __iter__(self) -> Iterator[LogItem]:
        return self._names.items(self._items)


class Anonymiser:
    """The names of one run. It fills up as the input is read."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._schemas = {
            s.name: s for s in (*known_records().values(), *control_records().values())
        }
        self._known: re.Pattern[str] | None = None

    def name(self, kind: str, text: str) -> str:
        """The other name of `text`: ``topic-1`` for the first one of the kind ``topic``."""
        if text not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[text], self._known = f"{kind}-{self._counts[kind]}", None
        return self._names[text]

    def partition(self, name: str) -> str:
        """``topic-1-0`` for ``orders-0``."""
        topic, _, number = name.rpartition("-")
        return f"{self.name('topic', topic)}-{number}"

    def items(self, items: Iterable[LogItem]) -> Iterator[LogItem]:
        """The same log with other names."""
        for item in items:
            if isinstance(item, LogRecord):
                yield self._record(item)
            elif isinstance(item, Remark):
                yield self.remark(item)
            else:
                yield self._saved(item)

    def line(self, line: NodeLine) -> NodeLine:
        """A line of a log file: its partition, and every name that is known."""
        read, file, text = dict(line.read), self.name("file", line.file), line.text
        for found in _PLACE.findall(text):
            self.name("directory" if found.startswith("/") else "cluster", found)
        if "partition" in read:
            read["partition"] = self.partition(line.read["partition"])
            text = text.replace(line.read["partition"], read["partition"])
        return replace(line, read=read, file=file, text=self._text(text))

    def remark(self, remark: Remark) -> Remark:
        """What is said of the input; its file is called anew as well."""
        return replace(remark, text=self._text(remark.text), file=self.name("file", remark.file))

    def _saved(self, saved: SavedState) -> SavedState:
        records = tuple(self._record(record) for record in saved.records)
        return replace(saved, records=records, file=self.name("file", saved.file))

    def _record(self, record: LogRecord) -> LogRecord:
        schema, fields, of = self._schemas.get(record.type), record.fields, record.type
        if of == "CONFIG_RECORD" and fields.get("resourceType") != _TOPIC:
            of = _OTHER_CONFIG
        return replace(record, fields=self._fields(of, fields, schema.fields) if schema else {})

    def _fields(
        self, of: str, fields: Mapping[str, Any], schema: Iterable[SchemaField]
    ) -> dict[str, Any]:
        known = {field.name: field for field in schema}
        return {
            key: self._value(of, known[key], value) if key in known else None
            for key, value in fields.items()
        }

    def _value(self, of: str, field: SchemaField, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._value(of, field, each) for each in value]
        if isinstance(value, dict):
            return self._fields(field.name, value, field.fields)
        called = _CALLED.get((of, field.name)) or _BY_FIELD.get(field.name, "name")
        is_own = (of, field.name) in _KAFKAS or (field.kind == "uuid" and called != "directory")
        if not isinstance(value, str) or is_own or (called != "topic" and _PLAIN.fullmatch(value)):
            return value
        return self.name(called, value) if value else value

    def _text(self, text: str) -> str:
        if self._known is None:
            names = sorted((n for n in self._names if not n.isdigit()), key=len, reverse=True)
            self._known = re.compile(rf"(?<![\w.])(?:{'|'.join(map(re.escape, names))})(?![\w.])")
        return self._known.sub(lambda match: self._names[match[0]], text) if self._names else text
