"""Segments, checkpoints and dumps, whole, damaged, cut, joined and pasted, to the same records."""

import gzip
import io
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplab.incident.log_items import (
    UNKNOWN,
    LogItem,
    LogRecord,
    Remark,
    SavedState,
    UnreadableInputError,
)
from kiplab.incident.reading import read_items
from kiplab.incident.reading.checksums import crc32c, crc32c_of_many
from kiplab.incident.reading.segments import NO_OP
from tests.incident.generated_log import generated_batches
from tests.incident.written_logs import (
    BEGIN,
    Batch,
    batches_of,
    dump_of,
    encoded,
    payload,
    segment_of,
)

RECORDINGS = Path(__file__).with_name("recordings")
BATCHES = tuple(generated_batches(20, 120, seed=3))
RECORDS = [record for batch in BATCHES for record in batch.records]
DUMP = dump_of(BATCHES)
CUT = 15
"""Where the batches are cut in two files."""
MIDDLE = BATCHES[CUT].first.offset


def read(*paths: Path) -> list[LogItem]:
    return list(read_items(paths))


def remarks(items: Iterable[LogItem]) -> list[Remark]:
    return [item for item in items if isinstance(item, Remark)]


def kinds(items: Iterable[LogItem]) -> list[str]:
    return [remark.kind for remark in remarks(items)]


def records(items: Iterable[LogItem]) -> list[LogRecord]:
    return [item for item in items if isinstance(item, LogRecord)]


def without(items: Iterable[LogRecord], *batches: Batch) -> list[LogRecord]:
    gone = [record for batch in batches for record in batch.records]
    return [record for record in items if record not in gone]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, bytes | str], Path]:
    def write(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


Write = Callable[[str, bytes | str], Path]


# --- the same log in every form -------------------------------------------------------------------


@pytest.mark.parametrize("folder", sorted(RECORDINGS.iterdir()), ids=lambda path: path.name)
def test_segments_of_real_controllers_say_what_their_dumps_say(folder: Path) -> None:
    from_bytes, from_text = read(*folder.glob("*.log")), read(folder / "dump.txt.gz")
    assert len(from_bytes) == len(from_text) > 50
    for one, other in zip(from_bytes, from_text, strict=True):
        assert isinstance(one, LogRecord)
        if one.type == "LEADER_CHANGE" and isinstance(other, LogRecord) and not other.fields:
            other = msgspec.structs.replace(other, fields=one.fields)
        assert one == other


@pytest.mark.parametrize("name", ["other-life-3.5.2", "all-died-4.3.1"])
def test_checkpoints_come_where_they_end(name: str) -> None:
    folder = RECORDINGS / name
    items = read(folder)
    saved = [item for item in items if isinstance(item, SavedState)]
    dumped = [i for i in read(folder / "checkpoints.txt.gz") if isinstance(i, SavedState)]
    assert saved
    assert not remarks(items)
    for one, other in zip(saved, dumped, strict=True):
        before = items[items.index(one) - 1]
        assert isinstance(before, LogRecord)
        assert (before.offset, before.time) == (one.end - 1, one.time)
        assert (one.end, one.time, one.records) == (other.end, other.time, other.records)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("content", [segment_of(BATCHES), DUMP.encode()], ids=["segment", "dump"])
def test_a_written_log_is_read_back(written: Write, content: bytes, packed: bool) -> None:
    items = read_items([written("log", gzip.compress(content) if packed else content)])
    assert list(items) == RECORDS
    (file,) = items.files_read
    assert (file.first, file.last) == (0, RECORDS[-1].offset)
    assert list(items) == RECORDS


def test_stdin_is_read_as_a_file_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(DUMP.encode())))
    items = read_items(["-"])
    assert [list(items), list(items)] == [RECORDS, RECORDS]


def test_progress_is_told_in_bytes(written: Write) -> None:
    seen: list[tuple[int, int]] = []
    path = written("log", segment_of(BATCHES))
    list(read_items([path], progress=lambda done, total: seen.append((done, total))))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def test_a_folder_is_its_segments_and_checkpoints(written: Write) -> None:
    place = "__cluster_metadata-0"
    second = written(f"{place}/{MIDDLE:020}.log", segment_of(BATCHES[CUT:]))
    written(f"{place}/{0:020}.log", segment_of(BATCHES[:CUT]))
    written(f"{place}/{0:020}.index", bytes(100))
    assert read(second.parent) == read(second.parent.parent) == RECORDS


# --- several files --------------------------------------------------------------------------------


def sections(*titles: tuple[str, Sequence[Batch]]) -> str:
    return "".join(dump_of(batches, title) for title, batches in titles)


def test_files_are_joined_in_the_order_of_their_offsets(written: Write) -> None:
    first, second = written("b", segment_of(BATCHES[:CUT])), written("a", segment_of(BATCHES[CUT:]))
    one = sections(
        ("Log starting offset: 9", BATCHES[CUT:]), ("Log starting offset: 0", BATCHES[:CUT])
    )
    assert read(second, first) == read(written("dump", one)) == RECORDS


def test_copies_of_one_log_are_one_log(written: Write) -> None:
    early, late = (
        written("early", segment_of(BATCHES[:-4])),
        written("late", segment_of(BATCHES[4:])),
    )
    assert read(late, early) == read(early, late, written("dump", DUMP)) == RECORDS


def test_a_gap_between_files_is_told(written: Write) -> None:
    gone = BATCHES[CUT:-CUT]
    items = read(written("a", segment_of(BATCHES[:CUT])), written("b", segment_of(BATCHES[-CUT:])))
    (gap,) = remarks(items)
    assert (gap.kind, gap.offset, gap.until) == ("gap", MIDDLE, BATCHES[-CUT].first.offset)
    assert records(items) == without(RECORDS, *gone)


def with_epoch(batch: Batch, epoch: int, time: int = 0) -> Batch:
    changed = [
        msgspec.structs.replace(r, controller_epoch=epoch, time=r.time + time)
        for r in batch.records
    ]
    return Batch(changed)


def test_what_the_quorum_truncated_is_left_out(written: Write) -> None:
    later = [with_epoch(batch, 2, time=7) for batch in BATCHES[CUT : CUT + 3]]
    log = written("log", segment_of([*BATCHES[:CUT], *later]))
    cut_off = written("other", segment_of(BATCHES))
    items = read(cut_off, log)
    (remark,) = remarks(items)
    assert (remark.kind, remark.offset, remark.file) == ("truncated", MIDDLE, str(cut_off))
    assert [r.controller_epoch for r in records(items) if r.offset >= MIDDLE] == [
        2 for batch in later for _ in batch.records
    ]


def test_logs_of_two_clusters_are_refused(written: Write) -> None:
    other = [with_epoch(batch, 1, time=7) for batch in BATCHES]
    with pytest.raises(UnreadableInputError, match="logs of two clusters"):
        read(written("a", segment_of(BATCHES)), written("b", segment_of(other)))


def test_the_files_beside_logs_tell_their_clusters(written: Write) -> None:
    logs = []
    for name, batches in (("x", BATCHES[:CUT]), ("y", BATCHES[CUT:])):
        beside = written(f"{name}/meta.properties", f"version=1\ncluster.id=of-{name}\n")
        folder = beside.with_name("__cluster_metadata-0")
        folder.mkdir()
        logs.append(folder / f"{batches[0].first.offset:020}.log")
        logs[-1].write_bytes(segment_of(batches))
    with pytest.raises(UnreadableInputError, match=r"different clusters.* of of-x"):
        read_items(logs)


def test_a_damaged_batch_is_read_from_another_copy(written: Write) -> None:
    whole = written("whole", segment_of(BATCHES))
    assert read(written("damaged", changed(5, 70)), whole) == RECORDS


# --- damage ---------------------------------------------------------------------------------------


def changed(number: int, place: int, value: int = 0x55) -> bytes:
    """A segment of which one byte of one batch is another one."""
    parts = [bytearray(encoded(batch).data) for batch in BATCHES]
    parts[number][place] ^= value
    return b"".join(parts)


@pytest.mark.parametrize("place", [3, 7, 9, 10, 11, 16, 18, 22, 30, 58, 75])
def test_a_changed_byte_costs_one_batch(written: Write, place: int) -> None:
    items = read(written("log", changed(8, place)))
    batch = BATCHES[8]
    (remark,) = remarks(items)
    assert (remark.kind, remark.offset) == ("damaged", batch.first.offset)
    assert remark.until == BATCHES[9].first.offset
    assert records(items) == without(RECORDS, batch)


def test_a_changed_batch_at_the_end_is_told(written: Write) -> None:
    items = read(written("log", changed(len(BATCHES) - 1, 66)))
    assert kinds(items) == ["damaged"]
    assert records(items) == without(RECORDS, BATCHES[-1])


def test_half_a_batch_at_the_end_is_counted(written: Write) -> None:
    cut = len(encoded(BATCHES[-1]).data) - 10
    dump = dump_of(BATCHES[:-1]) + f"Found {cut} invalid bytes at the end of 0.log\n"
    for content in (segment_of(BATCHES)[:-10], dump):
        items = read(written("log", content))
        (remark,) = remarks(items)
        assert remark.text == f"{cut} bytes of an unfinished batch are left out"
        assert records(items) == without(RECORDS, BATCHES[-1])


def test_a_packed_file_that_is_cut_off_is_read_as_far_as_it_goes(written: Write) -> None:
    items = read(written("log.gz", gzip.compress(DUMP.encode())[:-300]))
    assert records(items) == RECORDS[: len(records(items))] != []


def test_no_ops_are_those_that_a_controller_writes() -> None:
    no_op = next(batch for batch in BATCHES if batch.first.type == "NO_OP_RECORD")
    assert encoded(no_op).data[61:] == NO_OP


def test_the_checksum_is_castagnolis() -> None:
    # RFC 3720, B.4.
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"123456789") == 0xE3069283


@given(st.lists(st.binary(min_size=4, max_size=99), min_size=1))
def test_the_checksums_of_many_batches_are_those_of_each(batches: list[bytes]) -> None:
    assert crc32c_of_many(batches) == [crc32c(batch) for batch in batches]


def test_a_checkpoint_without_its_end_is_not_used(written: Write) -> None:
    folder = RECORDINGS / "other-life-3.5.2"
    (first, _) = sorted(folder.glob("*.checkpoint"))
    cut = written(first.name, first.read_bytes()[:-20])
    items = read(cut, *folder.glob("*.log"))
    assert not [item for item in items if isinstance(item, SavedState)]
    assert set(kinds(items)) == {"left over", "damaged"}


# --- text that went through hands -----------------------------------------------------------------


def lines_of(dump: str, keep: Callable[[str], bool]) -> str:
    return "".join(line for line in dump.splitlines(keepends=True) if keep(line))


def wrapped(dump: str, width: int, which: int) -> str:
    """The dump, of which a line in `which` is broken at a width as a terminal does it."""
    out = []
    for number, line in enumerate(dump.splitlines()):
        cuts = [*range(0, len(line), width), len(line)] if number % which == 0 else [0, len(line)]
        out += [line[begin:end] for begin, end in pairwise(cuts)]
    return "\n".join(out)


@pytest.mark.parametrize(
    "form",
    [
        lambda dump: dump.replace("\n", "\r\n"),
        lambda dump: "\ufeff" + dump,
        lambda dump: dump.replace("| offset", "\x1b[32m| offset\x1b[0m"),
        lambda dump: "".join(f"2026-11-29 kafka-0 | {line}\n" for line in dump.splitlines()),
        lambda dump: dump.replace("Log starting", "Starting"),
        lambda dump: "$ kafka-dump-log.sh --files x\nSLF4J: no providers\n\n" + dump,
        lambda dump: lines_of(dump, lambda line: not line.startswith(("Dumping", "Log"))),
    ],
    ids=["crlf", "mark", "colours", "collector", "3.2", "shell", "no titles"],
)
def test_what_happens_to_text_on_its_way_changes_nothing(
    written: Write, form: Callable[[str], str]
) -> None:
    assert read(written("dump", form(DUMP))) == RECORDS


@pytest.mark.parametrize(("width", "which"), [(80, 7), (132, 3), (211, 1)])
def test_broken_lines_are_joined(written: Write, width: int, which: int) -> None:
    items = read(written("dump", wrapped(DUMP, width, which)))
    assert records(items) == RECORDS
    assert kinds(items) == ["broken line"]


def test_a_line_that_cannot_be_mended_is_left_out_and_a_hundred_are_refused(written: Write) -> None:
    def cut(dump: str, most: int) -> str:
        lines = dump.splitlines(keepends=True)
        places = [n for n, line in enumerate(lines) if "PARTITION_CHANGE" in line][:most]
        return "".join(line[:150] + "\n" if n in places else line for n, line in enumerate(lines))

    items = read(written("dump", cut(DUMP, 1)))
    assert "broken line" in kinds(items)
    assert len(records(items)) == len(RECORDS) - 1
    long = dump_of(generated_batches(20, 500, no_ops=0))
    with pytest.raises(UnreadableInputError, match=r"line .*more than 100 lines are broken"):
        read(written("dump", cut(long, 200)))


def test_text_that_follows_a_broken_line_is_not_searched_again_and_again(written: Write) -> None:
    junk = "a line of another program\n" * 20_000
    items = read(written("dump", DUMP + DUMP.splitlines()[-1][:80] + "\n" + junk))
    assert records(items) == RECORDS
    assert kinds(items) == ["broken line"]


def skipped(batches: Iterable[Batch], begin: str) -> str:
    """As the tool writes it with --skip-record-metadata, before 4.3 and from it on."""
    out = ["Dumping x", "Log starting offset: 0"]
    for line in dump_of(batches).splitlines():
        if line.startswith("baseOffset"):
            out.append(line)
        elif line.startswith("| "):
            _, there, value = line.partition("payload: ")
            out.append(f"{begin}{there}{value}" if there else "")
    return "\n".join(out)


@pytest.mark.parametrize("begin", [" ", "| "])
def test_offsets_come_from_the_batches_where_records_have_none(written: Write, begin: str) -> None:
    text = skipped(BATCHES, begin)
    items = read(written("dump", text))
    assert items == [record for record in RECORDS if record.type != "LEADER_CHANGE"]
    with pytest.raises(UnreadableInputError, match=r"line 4.*without --skip-record-metadata"):
        read(written("dump", lines_of(text, lambda line: not line.startswith("baseOffset"))))


def test_a_folder_that_may_not_be_read_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: Path) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "is_dir", refused)
    with pytest.raises(UnreadableInputError, match=r"log: Permission denied\."):
        read_items(["log"])


def test_lines_that_grep_left_are_records_with_something_missing(written: Write) -> None:
    kept = lines_of(DUMP, lambda line: "PARTITION_" in line)
    items = read(written("dump", kept))
    for remark in remarks(items):
        assert (remark.kind, remark.offset) == ("gap", UNKNOWN)
        assert "findings may be missing" in remark.text
    assert len(remarks(items)) == 2
    assert [r.offset for r in records(items)] == [
        r.offset for r in RECORDS if r.type.startswith("PARTITION_")
    ]


def test_a_batch_that_the_tool_found_damaged_is_left_out(written: Write) -> None:
    batch = BATCHES[8]
    lines = DUMP.splitlines(keepends=True)
    (at,) = (
        n for n, line in enumerate(lines) if line.startswith(f"baseOffset: {batch.first.offset} ")
    )
    lines[at] = lines[at].replace("isvalid: true", "isvalid: false")
    items = read(written("dump", "".join(lines)))
    (remark,) = remarks(items)
    assert (remark.kind, remark.offset, remark.until) == (
        "damaged",
        batch.first.offset,
        BATCHES[9].first.offset,
    )
    assert records(items) == without(RECORDS, batch)


def test_a_tool_older_than_the_log_is_refused_with_what_it_did_not_know() -> None:
    with pytest.raises(UnreadableInputError, match=r"4 of REGISTER_BROKER_RECORD.*older than"):
        read(RECORDINGS / "clean-return-4.1.2" / "old-tool.txt.gz")


def test_less_than_that_is_counted(written: Write) -> None:
    no_op = '{"type":"NO_OP_RECORD","version":0,"data":{}}'
    text = DUMP.replace(no_op, "Error at 9, skipping. Unknown metadata id 28")
    items = read(written("dump", text))
    first, total = remarks(items)
    assert "CLEAR_ELR_RECORD" in first.text
    count = sum(record.type == "NO_OP_RECORD" for record in RECORDS)
    assert total.text.startswith(f"{count} records")


# --- clocks, and records of later releases --------------------------------------------------------


def test_a_clock_that_goes_back_within_an_epoch_is_told(written: Write) -> None:
    back = [*BATCHES[:CUT], *(with_epoch(b, 1, time=-60_000) for b in BATCHES[CUT:])]
    items = read(written("log", segment_of(back)))
    assert [(r.kind, r.offset) for r in remarks(items)] == [("clock back", MIDDLE)]
    other_epoch = [*BATCHES[:CUT], *(with_epoch(b, 2, time=-60_000) for b in BATCHES[CUT:])]
    assert not remarks(read(written("log", segment_of(other_epoch))))


def test_records_of_later_releases_are_passed_over_and_counted(written: Write) -> None:
    record = LogRecord(RECORDS[-1].offset + 1, BEGIN, 2, "CLEAR_ELR_RECORD", 0, {"topicName": "t"})
    later = bytearray(encoded(Batch([record])).data)
    later[later.index(b"\x01\x1c\x00") + 1] = 77
    later[17:21] = struct.pack(">I", crc32c(bytes(later[21:])))
    items = read(written("log", segment_of(BATCHES) + later))
    (remark,) = remarks(items)
    assert (remark.kind, remark.offset) == ("undecoded", record.offset)
    assert "number 77" in remark.text
    text = payload(record).replace("CLEAR_ELR_RECORD", "LATER_RECORD")
    line = f"| offset: {record.offset} CreateTime: 1 payload: {text}"
    assert "LATER_RECORD" in remarks(read(written("dump", DUMP + line)))[0].text


# --- what is refused ------------------------------------------------------------------------------

OTHER_TOPIC = Batch([LogRecord(0, BEGIN, 0, "NO_OP_RECORD")])


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "nothing is in it"),
        (bytes(100), "neither a segment"),
        (b"hello\nworld\n", "neither a segment"),
        (DUMP.encode("utf-16"), "UTF-16"),
        (encoded(OTHER_TOPIC).data[:-6] + b"abcdef", "no KRaft metadata log"),
        ("Dumping x\nLog starting offset: 0\n| offset: 0 CreateTime: 5 keySize: -1 valueSize: 3"
         " sequence: -1 headerKeys: [] payload: hello", "no KRaft metadata log"),
        (lines_of(DUMP, lambda line: line.startswith("baseOffset")), "no KRaft metadata log"),
        (re.sub(" payload: .*", "", DUMP), "with --cluster-metadata-decoder"),
    ],
    ids=["empty", "zeros", "text", "utf-16", "bytes of a topic", "text of a topic", "no records",
         "no decoder"],
)  # fmt: skip
def test_what_is_no_metadata_log_is_refused(written: Write, content: bytes, why: str) -> None:
    with pytest.raises(UnreadableInputError, match=why):
        read(written("input", content))


def test_paths_that_are_not_there_and_folders_of_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="No such file"):
        read(tmp_path / "gone")
    with pytest.raises(UnreadableInputError, match="without segments"):
        read(tmp_path)


def test_a_checkpoint_under_another_name_is_refused(written: Write) -> None:
    (first, _) = sorted((RECORDINGS / "other-life-3.5.2").glob("*.checkpoint"))
    with pytest.raises(UnreadableInputError, match=r"OFFSET-EPOCH\.checkpoint"):
        read(written("a.checkpoint", first.read_bytes()))


def test_batches_are_those_of_their_times() -> None:
    assert list(batches_of(RECORDS)) == list(BATCHES)
