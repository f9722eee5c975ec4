"""Segments, checkpoints and dumps to one log: sorted, joined where they meet, compared elsewhere.

Copies of one log have the same batches at the same offsets. Where they have not, the one of the
higher controller epoch is the log, and the other one was truncated by the quorum.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..log_items import UNKNOWN, LogItem, Remark, SavedState, UnreadableInputError
from .batches import LogBatch
from .input_files import InputPart
from .known_records import KNOWN_RELEASES

Batches = Iterator[LogBatch | Remark]
_NO_BEGIN = "the log begins at offset {}: without its checkpoint findings may be missing"
_BACK_MS = 1000
_STRANGE_AT_FIRST = 1000
"""Records of a file, none of them known, after which it is no metadata log."""


class _Copy:
    """One part that is being read, and its next batch."""

    def __init__(self, part: InputPart, batches: Batches) -> None:
        self.part, self.batches = part, batches
        self.head: LogBatch | None = None
        self.end = UNKNOWN
        """The offset after all that it had so far."""
        self.lost_to = UNKNOWN
        """The controller epoch below which the log went on without this copy."""
        self.has_remark = False
        """Whether it was said that something of it is left out."""

    def advance(self) -> Iterator[Remark]:
        """To the next batch; None at the end."""
        if self.head is not None:
            self.end = max(self.end, self.head.end)
        for item in self.batches:
            if isinstance(item, LogBatch):
                self.head = item
                return
            yield item
        self.head = None


class JoinedLog:
    """The items of one log, in order, of the batches and checkpoints of its parts."""

    def __init__(
        self,
        parts: Sequence[InputPart],
        batches: Callable[[InputPart], Batches],
        checkpoint: Callable[[InputPart], Iterable[LogItem]],
    ) -> None:
        self._waiting = sorted((p for p in parts if p.place is None), key=lambda p: p.base)
        self._saved = sorted((p for p in parts if p.place is not None), key=lambda p: p.base)
        self._batches, self._checkpoint = batches, checkpoint
        self._copies: list[_Copy] = []
        self._at = UNKNOWN
        self._epoch = self._time = UNKNOWN
        self._missing: Counter[str] = Counter()
        self._undecoded: Counter[str] = Counter()
        self._known = False

    def items(self) -> Iterator[LogItem]:
        """All items. Raises UnreadableInputError for logs of two clusters and for no log at all."""
        while True:
            yield from self._open()
            if not self._copies:
                break
            yield from self._one_batch()
        yield from self._checkpoints(None)
        yield from self._at_the_end()

    # --- copies -----------------------------------------------------------------------------------

    def _open(self) -> Iterator[Remark]:
        """Begins to read what may have the next batch."""
        while self._waiting:
            nearest = min((c.head.base for c in self._copies if c.head), default=None)
            if nearest is not None and self._waiting[0].base > max(nearest, self._at):
                return
            part = self._waiting.pop(0)
            copy = _Copy(part, self._batches(part))
            self._copies.append(copy)
            yield from copy.advance()
            yield from self._pass(copy)

    def _one_batch(self) -> Iterator[LogItem]:
        best = self._copies[0] if len(self._copies) == 1 else self._best()
        batch = best.head
        assert batch is not None
        yield from self._checkpoints(batch.base)
        if self._at == UNKNOWN and batch.base:
            yield Remark("gap", _NO_BEGIN.format(batch.base), best.part.file)
        if UNKNOWN < self._at < batch.base:
            yield from self._gap(batch.base, batch.loose, best.part.file)
        yield from self._batch(best, batch)
        yield from best.advance()
        for copy in tuple(self._copies):
            yield from self._pass(copy)

    def _pass(self, copy: _Copy) -> Iterator[Remark]:
        """To the first batch of a copy that may be the next of the log."""
        while batch := copy.head:
            if batch.end > self._at and batch.controller_epoch >= copy.lost_to:
                return
            yield from self._left_out(copy, batch)
            yield from copy.advance()
        self._copies.remove(copy)

    def _best(self) -> _Copy:
        """The copy with the next batch of the log; those that have another one there lose."""
        at = max(self._at, min(c.head.base for c in self._copies if c.head))
        heads = [(c, c.head) for c in self._copies if c.head and c.head.base <= at]
        best, batch = max(
            heads, key=lambda h: (not h[1].damage, h[1].end > at, h[1].controller_epoch)
        )
        for copy, head in heads:
            if copy is best or head.damage or batch.damage or head.base != batch.base:
                continue
            if head.controller_epoch < batch.controller_epoch and not head.loose:
                copy.lost_to = batch.controller_epoch
            elif head.crc != batch.crc and UNKNOWN not in (head.crc, batch.crc):
                raise UnreadableInputError(
                    f"{best.part.file} and {copy.part.file} have different records at offset"
                    f" {batch.base} of controller epoch {batch.controller_epoch}: they are the logs"
                    " of two clusters. Give the files of one."
                )
        return best

    def _left_out(self, copy: _Copy, batch: LogBatch) -> Iterator[Remark]:
        """Told once a copy, and not of what the log has already."""
        file, base = copy.part.file, batch.base
        if batch.controller_epoch < copy.lost_to:
            text = (
                f"from offset {base} on, records of controller epoch {batch.controller_epoch} are"
                f" left out: the log went on with those of epoch {copy.lost_to}"
            )
            remark = Remark("truncated", text, file, base)
        elif base < copy.end:
            text = f"offsets go back from {copy.end} to {base}: the second time is left out"
            remark = Remark("damaged", text, file, base)
        else:
            return
        if not copy.has_remark:
            copy.has_remark = True
            yield remark

    # --- what is yielded --------------------------------------------------------------------------

    def _batch(self, copy: _Copy, batch: LogBatch) -> Iterator[LogItem]:
        begin, file = max(batch.base, self._at), copy.part.file
        self._at = batch.end
        if batch.damage:
            text = f"the batch at offset {begin} is damaged: {batch.damage}"
            yield Remark("damaged", text, file, begin, batch.end)
            return
        if batch.controller_epoch == self._epoch and batch.time < self._time - _BACK_MS:
            text = f"the controller's clock went back by {self._time - batch.time} ms"
            yield Remark("clock back", text, file, batch.base)
        self._epoch, self._time = batch.controller_epoch, batch.time
        self._known = self._known or bool(batch.records)
        if batch.undecoded or batch.missing:
            yield from self._incomplete(batch, file)
        if begin == batch.base:
            yield from batch.records
        else:
            yield from (record for record in batch.records if record.offset >= begin)

    def _incomplete(self, batch: LogBatch, file: str) -> Iterator[Remark]:
        for offset, name in batch.undecoded:
            name = name if len(self._undecoded) < 100 else "others"
            if not self._undecoded[name]:
                text = f"a record that Kafka {KNOWN_RELEASES} does not have: {name}"
                yield Remark("undecoded", text, file, offset)
            self._undecoded[name] += 1
        if batch.missing:
            self._missing[file] += batch.missing
        if not self._known and self._undecoded.total() > _STRANGE_AT_FIRST:
            raise no_metadata_log(file)

    def _gap(self, base: int, is_loose: bool, file: str) -> Iterator[Remark]:
        if is_loose:
            self._missing[file] += base - self._at
        else:
            text = f"offsets {self._at} to {base - 1} are missing"
            yield Remark("gap", text, file, self._at, base)
        self._at = base

    def _checkpoints(self, before: int | None) -> Iterator[LogItem]:
        """Those that end at the offset `before` or earlier; all of them for None."""
        while self._saved and (before is None or self._saved[0].base <= before):
            part = self._saved.pop(0)
            items = list(self._checkpoint(part))
            is_whole = any(isinstance(item, SavedState) for item in items)
            if is_whole and UNKNOWN < self._at < part.base:
                yield from self._gap(part.base, False, part.file)
            if is_whole:
                self._at = max(self._at, part.base)
                self._known = True
            yield from items

    def _at_the_end(self) -> Iterator[Remark]:
        if not self._known:
            raise no_metadata_log("the input")
        for name, count in self._undecoded.items():
            if count > 1:
                text = f"{count} records that Kafka {KNOWN_RELEASES} does not have: {name}"
                yield Remark("undecoded", text, "")
        if self._missing:
            text = (
                f"{self._missing.total()} records are missing: lines were taken out of the dump, so"
                " findings may be missing as well"
            )
            yield Remark("gap", text, next(iter(self._missing)))


def no_metadata_log(file: str) -> UnreadableInputError:
    """What refuses an input in which no metadata record is."""
    return UnreadableInputError(
        f"{file}: no metadata records: this is no KRaft metadata log. Clusters with ZooKeeper have"
        " none; of others, give the folder __cluster_metadata-0."
    )
