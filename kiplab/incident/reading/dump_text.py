"""The text of kafka-dump-log of 3.2 to 4.3, to batches, lines mended where they broke.

A batch has a line, and each of its records one. A line that begins like none of a dump goes on
where the last one broke off.
"""

import re
from collections import Counter
from collections.abc import Iterator

import msgspec

from ..records import UNKNOWN, LogRecord, Remark, UnreadableInputError
from .dump_payloads import CONTROL_NAMES, control_decoder, payload_decoder, payload_types
from .known_records import control_records, known_records
from .log_batch import InputPart, LogBatch

PAYLOAD = b"payload: "
_NO_OP = b'{"type":"NO_OP_RECORD"'
_MOST_BROKEN, _LONGEST = 100, 1 << 20
_NECESSARY = ("REGISTER_BROKER_RECORD", "PARTITION_RECORD", "PARTITION_CHANGE_RECORD")
_TIME = rb" *(?:CreateTime|LogAppendTime|NoTimestampType): *(-?\d+)"
_BATCH = re.compile(
    rb"baseOffset: *(\d+) *lastOffset: *(\d+) *count: *(\d+).*?partitionLeaderEpoch: *(-?\d+)"
    rb".*?isControl: *(\w+?) *deleteHorizonMs.*?"
    + _TIME
    + rb".*?crc: *(\d+) *isvalid: *(true|false)"
)
_RECORD = re.compile(rb"\| ?offset: *(\d+)" + _TIME)
_CONTROL = re.compile(rb" (?:controlType: *([A-Z_]+)\(\d+\)|([A-Za-z]+):? *(\{.*\}))$")
_NOT_DECODED = re.compile(rb"Error at \d+, skipping\..*?(?:(?:type|id|after|of) (\w+))?$")
_BEGINNING = re.compile(rb"\| ?offset: |baseOffset: |^(?:\| ?| )payload: ")
_ANSI = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_OTHER = re.compile(
    rb"$|Dumping |(?:Log s|S)tarting offset: |Snapshot end offset: |KRaft bootstrap|Found \d+ "
    rb"|Non-consecutive|  \d+ is followed by|--$"
)
_LEFT_OVER = re.compile(rb"Found (\d+) invalid bytes")
_WRONG = (msgspec.MsgspecError, ValueError, RecursionError)


class DumpReader:
    """Reads one part of a dump, line by line. After it, `left_over` and `counts` tell the rest.

    `not_decoded` counts the records that the tool that made the dump did not know, by number.
    """

    def __init__(self, part: InputPart) -> None:
        self.left_over = 0
        self.not_decoded: Counter[str] = Counter()
        self.mended = self.broken = self.bare = 0
        self._part, self._line = part, part.line - 1
        self._batch: LogBatch | None = None
        self._count, self._is_control, self._seen = 0, False, 0
        self._pending = b""
        self._done: list[LogBatch] = []

    def batches(self, blocks: Iterator[bytes]) -> Iterator[LogBatch]:
        """The batches in blocks of whole lines. Raises UnreadableInputError for more than 100 lines
        that cannot be mended, and for records without any offset.
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

    # --- lines ------------------------------------------------------------------------------------

    def _take(self, line: bytes) -> None:
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
        if _OTHER.match(line):
            left = _LEFT_OVER.match(line)
            self.left_over += int(left[1]) if left else 0
        elif self._pending:
            self._pending += line.strip()
            if self._understood(self._pending):
                self._pending = b""
                self.mended += 1
            elif len(self._pending) > _LONGEST:
                self._give_up()

    def _give_up(self) -> None:
        """The line that is not whole will not be."""
        if not self._pending:
            return
        if self._pending.endswith(b"headerKeys: []"):
            self.bare += 1
            self._seen += 1
        else:
            self.broken += 1
        self._pending = b""
        if self.broken > _MOST_BROKEN:
            raise self.error(f"more than {_MOST_BROKEN} lines are broken", "Give the file itself.")

    def error(self, wrong: str, advice: str) -> UnreadableInputError:
        """What refuses this input, with the line."""
        return UnreadableInputError(f"{self._part.file}, line {self._line}: {wrong}. {advice}")

    def _understood(self, line: bytes) -> bool:
        if line.startswith(b"b"):
            return self._begin(line)
        head, has_payload, payload = line.partition(PAYLOAD)
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
        self._batch = LogBatch(
            int(base), max(int(last), int(base)) + 1, int(epoch), int(crc), int(time), [], damage
        )
        self._count, self._is_control, self._seen = int(count), is_control == b"true", 0
        return True

    def _finish(self) -> None:
        batch = self._batch
        if batch is None:
            return
        if not batch.damage and not self._is_control:
            batch.missing = max(self._count - self._seen, 0)
        if batch.damage:
            batch.records = []
        self._done.append(batch)
        self._batch = None

    # --- records ----------------------------------------------------------------------------------

    def _record(self, head: bytes, payload: bytes) -> bool:
        offset, time = self._place(head)
        if payload.startswith(_NO_OP):
            self._add(LogRecord(offset, time, self._epoch(offset), "NO_OP_RECORD"))
            return True
        if payload.startswith(b"Error at "):
            self._add_undecoded(offset, time, payload)
            return True
        try:
            value = payload_decoder().decode(payload)
        except _WRONG:
            return self._strange(offset, time, payload)
        schema = payload_types()[type(value)]
        record = LogRecord(
            offset, time, self._epoch(offset), schema.name, value.version, value.data
        )
        self._add(record)
        return True

    def _place(self, head: bytes) -> tuple[int, int]:
        words = head.split(b" ", 5)
        if len(words) == 6 and words[1] == b"offset:" and words[3] == b"CreateTime:":
            try:
                return int(words[2]), int(words[4])
            except ValueError:
                pass
        found = _RECORD.match(head)
        if found:
            return int(found[1]), int(found[2])
        if self._batch is None:
            raise self.error(
                "a record without an offset and without a batch line before it",
                "Make the dump without --skip-record-metadata, or keep its lines baseOffset.",
            )
        return self._batch.base + self._seen, self._batch.time

    def _epoch(self, offset: int) -> int:
        batch = self._batch
        if batch is not None and batch.base <= offset < batch.end:
            return batch.controller_epoch
        return UNKNOWN

    def _batch_of(self, offset: int, time: int) -> LogBatch:
        """The batch that a record is in: one of its own where its batch line is not there."""
        batch = self._batch
        if batch is not None and batch.base <= offset < batch.end:
            self._seen += 1
            return batch
        self._finish()
        loose = LogBatch(offset, offset + 1, UNKNOWN, UNKNOWN, time, [], loose=True)
        self._done.append(loose)
        return loose

    def _add(self, record: LogRecord) -> None:
        self._batch_of(record.offset, record.time).records.append(record)

    def _add_undecoded(self, offset: int, time: int, text: bytes) -> None:
        batch = self._batch_of(offset, time)
        found = _NOT_DECODED.match(text)
        name = (found[1] or b"unknown").decode("utf-8", "replace") if found else "unknown"
        schema = known_records().get(int(name)) if name.isdigit() and len(name) < 6 else None
        name = schema.name if schema else f"number {name}"
        self.not_decoded[name] += 1
        batch.undecoded = [*batch.undecoded, (offset, f"{name}, by the tool that made the dump")]

    def _strange(self, offset: int, time: int, payload: bytes) -> bool:
        """A payload that is whole, but of no record that is known here; False for a broken one."""
        try:
            name = str(msgspec.json.decode(payload)["type"])
        except (*_WRONG, LookupError, TypeError):
            return False
        batch = self._batch_of(offset, time)
        batch.undecoded = [*batch.undecoded, (offset, name[:60])]
        return True

    def _control(self, line: bytes) -> bool:
        found, place = _CONTROL.search(line), _RECORD.match(line)
        if found is None or place is None or not (found[1] or found[2] in CONTROL_NAMES):
            return False
        offset, time = int(place[1]), int(place[2])
        name, title, fields = found.groups()
        number = CONTROL_NAMES.get(title)
        try:
            value = control_decoder(number).decode(fields) if number else {}
        except _WRONG:
            return False
        text = control_records()[number].name if number else (name or b"").decode()
        self._add(
            LogRecord(offset, time, self._epoch(offset), text, value.get("version", 0), value)
        )
        return True

    # --- what is to be said at the end ------------------------------------------------------------

    def remarks(self) -> Iterator[Remark]:
        """What a reader is told of the whole part. Raises UnreadableInputError for a dump that was
        made by a tool older than the log, or without its decoder.
        """
        necessary = [name for name in _NECESSARY if self.not_decoded[name]]
        if necessary:
            counted = ", ".join(f"{self.not_decoded[name]} of {name}" for name in self.not_decoded)
            raise UnreadableInputError(
                f"{self._part.file}: the tool that made this dump did not know {counted}: it is"
                " older than the log. Make the dump with the tool of the cluster's own release."
            )
        for count, text in (
            (self.broken, "lines are broken and were left out"),
            (self.mended, "broken lines were joined"),
        ):
            if count:
                yield Remark("broken line", f"{count} {text}", self._part.file)
