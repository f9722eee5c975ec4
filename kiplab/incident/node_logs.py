"""Log files of brokers and controllers: the lines that say something of a metadata log's findings.

Templates of lines are read backwards: those in which kiplab itself tells what Kafka would log, and
those of node_log_lines.toml. A line is tied to records by what both name (broker epochs,
incarnations, leader and controller epochs); a time is a hint only, of another clock.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, tzinfo
from importlib.resources import files
from pathlib import Path

import msgspec

from ..rows.snapshots import LOG_WORDS
from .log_items import UNKNOWN, Remark
from .reading.input_files import chunks_of, line_blocks

_LINE = re.compile(r"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] [A-Z]+ (.*) \([\w.$]+\)\s*")
"""``[%d] %p %m (%c)%n``, Kafka's own pattern."""
_PREFIX = re.compile(r"(?:\[[^]]*\] ?)*")
"""The ident of who logs: ``[UnifiedLog partition=orders-1, dir=/data] ``."""
_OF_PREFIX = re.compile(r"\[(?:UnifiedLog partition=|Partition )(\S+?)[, ]")
_NAMES = {
    **dict.fromkeys(("id", "e.node", "who"), "broker"),
    **dict.fromkeys(("e.epoch", "c.held"), "epoch"),
    "e.first": "offset",
}
"""What kiplab's own templates call what is read."""
_READ = {
    **dict.fromkeys(("broker", "epoch", "leader_epoch", "controller_epoch"), r"\d+"),
    **dict.fromkeys(("offset", "high_watermark"), r"\d+"),
    "partition": r"\S+-\d+",
    "topic_id": r"(?:Some\()?[\w-]{22}\)?",
    "incarnation": r"[\w-]{22}",
}
_FILES = "state-change.log", "controller.log", "server.log"
_REJECTED = "Rejecting AlterPartition request from node … for {partition} "


class NodeLine(msgspec.Struct, frozen=True):
    """A line that is understood: `kind` is its name, `read` what it names, as text. `time` is in
    milliseconds since 1970, UNKNOWN where no zone is given.
    """

    kind: str
    text: str
    time: int
    read: Mapping[str, str]

    def number(self, name: str) -> int:
        """One of the numbers that it names; UNKNOWN where it does not."""
        return int(self.read.get(name, UNKNOWN))


def _templates() -> Iterator[tuple[str, str]]:
    words = tomllib.loads((files(__package__) / "node_log_lines.toml").read_text("utf-8"))
    yield from words.items()
    for guard, (_, why) in LOG_WORDS["rejections"].items():
        yield f"refused by {guard}", f"{_REJECTED}{why.partition('{isr}')[0]}…"
    for granted, (text, _) in LOG_WORDS["granted"].items():
        yield granted, text
    yield "registered", LOG_WORDS["one_sentence"]["Registered"]
    yield "truncates", LOG_WORDS["one_sentence"]["Truncated"]


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"(\{[^}]*\}|…)", template)
    seen: set[str] = set()
    return re.compile("".join(_part(part, seen) for part in parts))


def _part(part: str, seen: set[str]) -> str:
    if part != "…" and not part.startswith("{"):
        return re.escape(part)
    name = _NAMES.get(part[1:-1], part[1:-1])
    if name not in _READ or name in seen:
        return ".*?"
    seen.add(name)
    return f"(?P<{name}>{_READ[name]})"


_PATTERNS = {kind: _pattern(template) for kind, template in _templates()}
_LIKELY = re.compile(
    "|".join(
        re.escape(max(re.split(r"\{[^}]*\}|…", template), key=len)) for _, template in _templates()
    )
)
"""The longest fixed piece of each template: most lines of a file have none."""


def read_node_logs(
    paths: Iterable[str | Path], zone: str | None = None
) -> tuple[list[NodeLine], list[Remark]]:
    """The lines that are understood, in the order of the files, and a remark for each path in
    which none is. A folder stands for the log files below it. Files may be packed with gzip; `zone`
    is that of their times, ``"+02:00"``.

    Raises UnreadableInputError for a file, ValueError for a zone.
    """
    found: list[NodeLine] = []
    remarks: list[Remark] = []
    of = _zone(zone) if zone else None
    for path in map(Path, paths):
        below = sorted(file for name in _FILES for file in path.rglob(f"{name}*"))
        lines = [line for file in below or [path] for line in _lines_of(str(file), of)]
        found += lines
        if not lines:
            why = f"no line of it is known: {', '.join(_FILES)} are read"
            remarks.append(Remark("undecoded", why, str(path)))
    return found, remarks


def _zone(text: str) -> tzinfo | None:
    try:
        return datetime.strptime(text, "%z").tzinfo
    except ValueError:
        raise ValueError(f"{text} is no zone: a zone is +02:00 or -05:30") from None


def _lines_of(file: str, zone: tzinfo | None) -> Iterator[NodeLine]:
    incarnation: dict[str, str] = {}
    ends: dict[str, int] = {}
    for block in line_blocks(chunks_of(file)):
        for text in block.decode("utf-8", "replace").splitlines():
            line = _understood(text, zone) if _LIKELY.search(text) else None
            if line is None:
                continue
            of = line.read.get("partition", "")
            if line.kind == "starts":
                incarnation = {}
            if line.kind in ("starts", "registered"):
                incarnation |= line.read
            elif line.kind in ("clean start", "unclean start"):
                # It names no broker: it is the process that last said its name in this file.
                line = msgspec.structs.replace(line, read=incarnation)
            elif line.kind == "truncates":
                ends[of] = line.number("offset")
            elif line.kind == "falls" and ends.get(of) == line.number("offset"):
                # Else it takes over that of a leader that knows less, which cuts nothing.
                line = msgspec.structs.replace(line, kind="cuts")
            yield line


def _understood(text: str, zone: tzinfo | None) -> NodeLine | None:
    match = _LINE.fullmatch(text)
    if match is None:
        return None
    prefix = _PREFIX.match(match[2])
    message = match[2][prefix.end() :] if prefix else match[2]
    for kind, pattern in _PATTERNS.items():
        said = pattern.fullmatch(message)
        if said is not None:
            owner = _OF_PREFIX.search(match[2])
            read = {"partition": owner[1]} if owner else {}
            read |= {k: v.removeprefix("Some(").rstrip(")") for k, v in said.groupdict().items()}
            return NodeLine(kind, text.strip(), _time(match[1], zone), read)
    return None


def _time(text: str, zone: tzinfo | None) -> int:
    if zone is None:
        return UNKNOWN
    try:
        at = datetime.fromisoformat(text).replace(tzinfo=zone)
    except ValueError:
        return UNKNOWN
    return round(at.timestamp() * 1000)
