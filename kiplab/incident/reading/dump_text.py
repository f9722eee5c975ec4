"""The text of kafka-dump-log of 3.2 to 4.3, to batches, lines mended where they broke.

A batch has a line, and each of its records one. A line that begins like none of a dump goes on
where the last one broke off.
"""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from ..log_items import UNKNOWN, Remark, UnreadableInputError
from .batches import Decoded, LogBatch, left_over
from .input_files import InputPart
from .known_records import payload_decoder, payload_types, record_schemas

_NO_OP = b'{"type":"NO_OP_RECORD"'
_MOST_BROKEN, _LONGEST = 100, 1 << 16
Place = tuple[int, int]
"""(offset, time) of a record."""
_NECESSARY = ("REGISTER_BROKER_RECORD", "PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
_TIME = rb" *(?:CreateTime|LogAppendTime|NoTimestampType): *(-?\d+)"
_BATCH = re.compile(
    rb"baseOffset: *(\d+) *lastOffset: *(\d+) *count: *(\d+).*?partitionLeaderEpoch: *(-?\d+)"
    rb".*?isControl: *(\w+?) *deleteHorizonMs.*?"
    + _TIME
    + rb".*?crc: *(\d+) *isvalid: *(true|false)"
)
_RECORD = re.compile(rb"\| ?offset: *(\d+)" + _TIME)
_CONTROL = re.compile(
    rb"headerKeys: \[[^]]*\] (?:controlType: *([A-Z_]+)\(\d+\)|([A-Za-z]+):? *(\{.*\}))$"
)
_NOT_DECODED = re.compile(rb"Error at \d+, skipping\..*?(?:type|id|after) (\d{1,4})$")
_BEGINNING = re.compile(rb"\| ?offset: |baseOffset: |^(?:\| ?| )payload: ")
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_OTHER = re.compile(
    rb"$|Dumping |(?:Log s|S)tarting offset: |Snapshot end offset: |KRaft bootstrap"
    rb"|Found (\d+) invalid bytes|Found \d+ |Non-consecutive|  \d+ is followed by|--$"
)
_TITLES = {
    s.name.replace("_", "").encode(): s.name.encode() for s in record_schemas("control").values()
}
"""Control records by what the tool calls them, in capitals: ``LeaderChange``."""
_WRONG = (msgspec.MsgspecError, ValueError, RecursionError)


class DumpReader:
    """Reads one part of a dump, line by line."""

    def __init__(self, part: InputPart) -> None:
        self._left_over = 0
        self._not_decoded: Counter[str] = Counter()
        """Records that the tool that made the dump did not know, by type."""
        self._mended = self._broken = self._without_payload = 0
        self._has_payloads = False
        self._part, self._line = part, part.line - 1
        self._batch: LogBatch | None = None
        self._expected = self._records = 0
        self._pending = b""
        self._done: list[LogBatch] = []

    def batches(self, blocks: Iterator[bytes]) -> Iterator[LogBatch | Remark]:
        """The batches in blocks of whole lines; at the end, what is to be said of the whole part.

        Raises UnreadableInputError for more than 100 lines that cannot be mended, for records
        without any offset, and for the dump of a tool that is older than the log, or that decoded
        nothing.
        """
        for block in blocks:
            for line in block.split(b"\n"):
                self._line += 1
                self._take(line)
                if self._done:
                    yield from self._done
                    self._done.clear()
            # A block ends with the end of a line.
            self._line -= 1
        self._give_up()
        self._finish()
        yield from self._done
        yield from self._remarks()
        yield from left_over(self._left_over, self._part.file)

    # --- lines ------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
        if len(line) > _LONGEST:
            line = b""  # No record is as long: something else is in the text.
        if not line.startswith((b"| offset: ", b"baseOffset: ")):
            line = _ANSI.sub(b"", line).rstrip(b"\r\n")
            beginning = _BEGINNING.search(line)
            if beginning is None or (self._pending and beginning[0].endswith(b"payload: ")):
                self._take_other(line)
                return
            line = line[beginning.start() :]
        if self._pending:
            self._give_up()
        line = line.rstrip()
        if not self._understood(line):
            self._pending = line

    def _take_other(self, line: bytes) -> None:
        if found := _OTHER.match(line):
            self._left_over += int(found[1] or 0)
        elif self._pending:
            self._pending += line.strip()
            if self._understood(self._pending):
                self._pending = b""
                self._mended += 1
            elif len(self._pending) > _LONGEST:
                self._give_up()

    def _give_up(self) -> None:
        """The line that is not whole will not be."""
        if not self._pending:
            return
        if self._pending.endswith(b"headerKeys: []"):
            self._without_payload += 1
            self._records += 1
        else:
            self._broken += 1
        self._pending = b""
        if self._broken > _MOST_BROKEN:
            why = f"more than {_MOST_BROKEN} lines are broken"
            raise self._refusal(why, "Give the file itself.")

    def _refusal(self, wrong: str, advice: str) -> UnreadableInputError:
        return UnreadableInputError(f"{self._part.file}, line {self._line}: {wrong}. {advice}")

    def _understood(self, line: bytes) -> bool:
        if line.startswith(b"b"):
            return self._begin(line)
        head, has_payload, payload = line.partition(b"payload: ")
        if has_payload:
            return self._record(head, payload)
        return self._control(line)

    # --- batches ----------------------------------------------------------------------------------

    def _begin(self, line: bytes) -> bool:
        found = _BATCH.match(line)
        if found is None:
            return False
        self._finish()
        base, last, count, epoch, is_control, time, crc, is_valid = found.groups()
        damage = "" if is_valid == b"true" else "the dump says isvalid: false"
        end = max(int(last), int(base)) + 1
        self._batch = LogBatch(int(base), end, int(epoch), int(crc), int(time), [], damage)
        is_counted = not damage and is_control != b"true"
        self._expected, self._records = int(count) if is_counted else 0, 0
        return True

    def _finish(self) -> None:
        if batch := self._batch:
            batch.missing = max(self._expected - self._records, 0)
            batch.records = [] if batch.damage else batch.records
            self._done.append(batch)
            self._batch = None

    # --- records ----------------------------------------------------------------------------------

    def _record(self, head: bytes, payload: bytes) -> bool:
        place, self._has_payloads = self._place(head), True
        return self._put(place, self._decoded(payload))

    def _decoded(self, payload: bytes) -> Decoded | None:
        """None for a payload that is broken."""
        if payload.startswith(_NO_OP):
            return "NO_OP_RECORD", 0, {}
        if payload.startswith(b"Error at "):
            found = _NOT_DECODED.match(payload)
            schema = record_schemas("metadata").get(int(found[1])) if found else None
            name = schema.name if schema else "an unknown number"
            self._not_decoded[name] += 1
            return f"{name}, by the tool of the dump", 0, None
        try:
            value = payload_decoder().decode(payload)
        except _WRONG:
            return _unknown(payload)
        # Only control records have a version among their fields.
        return payload_types()[type(value)], value.data.get("version", value.version), value.data

    def _control(self, line: bytes) -> bool:
        found, head = _CONTROL.search(line), _RECORD.match(line)
        if found is None or head is None:
            return False
        name, title, fields = found.groups(b"")
        place = int(head[1]), int(head[2])
        if name:
            return self._put(place, (name.decode(), 0, {}))
        name = _TITLES.get(title.upper(), b"")
        payload = b'{"type":"%b","version":0,"data":%b}' % (name, fields)
        return bool(name) and self._put(place, self._decoded(payload))

    def _place(self, head: bytes) -> Place:
        found = _RECORD.match(head)
        if found:
            return int(found[1]), int(found[2])
        if self._batch is None:
            raise self._refusal(
                "a record without an offset and without a batch line before it",
                "Make the dump without --skip-record-metadata, or keep its lines baseOffset.",
            )
        return self._batch.base + self._records, self._batch.time

    def _put(self, place: Place, decoded: Decoded | None) -> bool:
        if decoded:
            self._batch_at(place).add(*place, decoded)
        return decoded is not None

    def _batch_at(self, place: Place) -> LogBatch:
        """The batch that a record is in: one of its own where its batch line is not there."""
        batch, (offset, time) = self._batch, place
        if batch is not None and batch.base <= offset < batch.end:
            self._records += 1
            return batch
        self._finish()
        loose = LogBatch(offset, offset + 1, UNKNOWN, UNKNOWN, time, [], loose=True)
        self._done.append(loose)
        return loose

    def _remarks(self) -> Iterator[Remark]:
        if any(name in self._not_decoded for name in _NECESSARY):
            counted = ", ".join(f"{count} of {name}" for name, count in self._not_decoded.items())
            raise UnreadableInputError(
                f"{self._part.file}: the tool that made this dump did not know {counted}: it is"
                " older than the log. Make the dump with the tool of the cluster's own release."
            )
        if self._without_payload and not self._has_payloads:
            raise self._refusal(
                f"{self._without_payload} records have no payload",
                "Make the dump with --cluster-metadata-decoder.",
            )
        for count, what in ((self._broken, "left out"), (self._mended, "joined")):
            if count:
                text = f"{count} broken lines were {what}"
                yield Remark("broken line", text, self._part.file)


def _unknown(payload: bytes) -> Decoded | None:
    """Of a payload that is whole, but of no record that is known here."""
    try:
        return str(msgspec.json.decode(payload)["type"])[:60], 0, None
    except (*_WRONG, LookupError, TypeError):
        return None
