"""Other names for topics, hosts, racks, directories and principals, given where the input is read.

A name becomes the same one everywhere in a run: ``topic-1`` is the first topic of the log. The
schemas of the records tell which fields are text; what is neither a number nor one of Kafka's own
words is renamed. Ids that Kafka draws by lot stay: log lines are tied to records by them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from .log_items import FileRead, LogItem, LogRecord, Remark
from .node_logs import NodeLine
from .reading.known_records import record_schemas
from .reading.message_fields import MessageSchema, SchemaField

_OTHER_CONFIG, _TOPIC = "CONFIG_RECORD of no topic", 2
"""ConfigResource.Type of a topic; other settings are of brokers, groups or clients."""
_KAFKAS = {
    *((of, "name") for of in ("features", "FEATURE_LEVEL_RECORD", "CONFIG_RECORD", _OTHER_CONFIG)),
    *(("entity", "entityType"), ("CLIENT_QUOTA_RECORD", "key")),
}
"""Text that is Kafka's own, by the record or the list that it stands in."""
_TOPICS = {
    ("TOPIC_RECORD", "name"),
    ("CONFIG_RECORD", "resourceName"),
    ("CLEAR_ELR_RECORD", "topicName"),
}
_DIRECTORIES = ("directories", "logDirs", "cordonedLogDirs")
_PLAIN = re.compile(r"-?\d*|true|false|A{20}[\w-]{2}")
"""Numbers, nothing, and the directories that Kafka reserves (DirectoryId)."""
_PLACE = re.compile(r"(?<![\w/])/[^\s,\]]+|(?<= in cluster )\S+")
"""A path, and the id of a cluster, which may be chosen by hand."""


class InputNames(Iterable[LogItem]):
    """The names of one run, which fill up as its input is read: those of the input, or with
    `others` other ones. `items` is the log; read through this it has these names.
    """

    def __init__(self, items: Iterable[LogItem], *, others: bool) -> None:
        self._items, self._others = items, others
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._compiled = 0, re.compile("(?!)")

    def __iter__(self) -> Iterator[LogItem]:
        return map(self._item, self._items) if self._others else iter(self._items)

    def name(self, kind: str, text: str) -> str:
        """What `text` is called: ``topic-1`` for the first one of the kind ``topic``."""
        if self._others and text not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[text] = f"{kind}-{self._counts[kind]}"
        return self._names.get(text, text)

    def partition(self, name: str) -> str:
        """``topic-1-0`` for ``orders-0``."""
        topic, dash, number = name.rpartition("-")
        return f"{self.name('topic', topic)}{dash}{number}"

    def file(self, read: FileRead) -> FileRead:
        """A file that was read."""
        return replace(read, file=self.name("file", read.file))

    def remark(self, remark: Remark) -> Remark:
        """What is said of the input."""
        file = self.name("file", remark.file)
        return replace(remark, file=file, text=self._text(remark.text))

    def line(self, line: NodeLine) -> NodeLine:
        """A line of a log file: its partition, and every name that is known."""
        read, text = dict(line.read), line.text
        for found in _PLACE.findall(text):
            self.name("directory" if found.startswith("/") else "cluster", found)
        if "partition" in read:
            read["partition"] = self.partition(line.read["partition"])
            text = text.replace(line.read["partition"], read["partition"])
        return replace(line, read=read, text=self._text(text))

    def _text(self, text: str) -> str:
        if self._compiled[0] != len(self._names):
            names = sorted((n for n in self._names if not n.isdigit()), key=len, reverse=True)
            words = "|".join(map(re.escape, names))
            pattern = re.compile(rf"(?<![\w.])(?:{words})(?![\w.])")
            self._compiled = len(self._names), pattern
        return self._compiled[1].sub(lambda match: self._names.get(match[0], ""), text)

    def _item(self, item: LogItem) -> LogItem:
        if isinstance(item, LogRecord):
            return self._record(item)
        if isinstance(item, Remark):
            return self.remark(item)
        records = tuple(map(self._record, item.records))
        return replace(item, records=records, file=self.name("file", item.file))

    def _record(self, record: LogRecord) -> LogRecord:
        schema, fields, of = _schemas().get(record.type), record.fields, record.type
        if of == "CONFIG_RECORD" and fields.get("resourceType") != _TOPIC:
            of = _OTHER_CONFIG
        return replace(record, fields=self._fields(of, fields, schema.fields) if schema else {})

    def _fields(
        self, of: str, fields: Mapping[str, Any], schema: Iterable[SchemaField]
    ) -> dict[str, Any]:
        known = ((field, fields[field.name]) for field in schema if field.name in fields)
        return {field.name: self._value(of, field, value) for field, value in known}

    def _value(self, of: str, field: SchemaField, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return [self._value(of, field, each) for each in value]
        if isinstance(value, dict):
            return self._fields(field.name, value, field.fields)
        is_topic, is_place = (of, field.name) in _TOPICS, field.name in _DIRECTORIES
        is_kafkas = (of, field.name) in _KAFKAS or (field.kind == "uuid" and not is_place)
        if not isinstance(value, str) or not value or is_kafkas:
            return value
        kind = "topic" if is_topic else "directory" if is_place else field.name
        return self.name(kind, value) if is_topic or not _PLAIN.fullmatch(value) else value


@cache
def _schemas() -> Mapping[str, MessageSchema]:
    kinds = (record_schemas(kind).values() for kind in ("metadata", "control"))
    return {schema.name: schema for schemas in kinds for schema in schemas}
