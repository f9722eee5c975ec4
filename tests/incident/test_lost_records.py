"""Log files that real brokers and controllers wrote, beside the metadata log of that time."""

import gzip
from collections import Counter
from pathlib import Path

import pytest

import kiplab
from kiplab.incident.findings.finding import Finding
from kiplab.incident.history_words import place_words
from kiplab.incident.node_logs import _LIKELY, read_node_logs
from tests.incident.real_logs.recording import RECORDINGS, SCRIPTS, record
from tests.judge.kafka_here import live, real_kafka

NAMES = [name for name in SCRIPTS if name.startswith("lost-records")]
LOST = [
    "orders-0 lost the committed records 100 to 199: a copy",
    "orders-1 lost the committed records 130 to 199: in leader epoch",
]
"""Of orders-2 nothing is lost: its brokers stop in order, or another one in sync leads at once."""
ELECTIONS = {"unclean", "other-life", "last-leader"}


def losses(folder: Path, *logs: Path, zone: str | None = None) -> list[Finding]:
    found = kiplab.read_metadata_log(folder, logs=logs, zone=zone).findings
    return [finding for finding in found if finding.kind == "lost"]


def logs_of(name: str) -> Path:
    return RECORDINGS / name / "logs"


def as_told(found: list[Finding]) -> list[str]:
    return sorted(f.sentence[: len(LOST[f.partitions == ("orders-1",)])] for f in found)


@pytest.mark.parametrize("zone", [None, "+00:00", "+05:00"])
@pytest.mark.parametrize("name", NAMES)
def test_a_loss_is_told_where_offsets_prove_it_and_nowhere_else(
    name: str, zone: str | None
) -> None:
    found = losses(RECORDINGS / name, logs_of(name), zone=zone)
    assert as_told(found) == LOST
    copy, leader = sorted(found, key=lambda finding: finding.partitions)
    assert "Follower orders-0 starts" in copy.lines[0]
    assert "and high watermark 200." in copy.lines[0]
    assert any(line in copy.lines[1] for line in ("below high watermark 200", "to (offset=100"))
    assert ", high watermark 200, ISR [3]" in leader.lines[0]
    assert " from offset 130 with" in leader.lines[1]


@pytest.mark.parametrize("name", NAMES)
def test_a_loss_stands_at_the_election_that_made_it_possible(name: str) -> None:
    whole = kiplab.read_metadata_log(RECORDINGS / name, logs=[logs_of(name)]).findings
    elections = {
        (partition, finding.offset)
        for finding in whole
        if finding.rule in ELECTIONS and finding.kind == "occasion"
        for partition in finding.partitions
    }
    lost = {(f.partitions[0], f.offset) for f in whole if f.kind == "lost"}
    assert len(lost) == len(LOST)
    assert lost <= elections


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_known_kind_is_passed_over(name: str) -> None:
    files = sorted(logs_of(name).rglob("*.gz"))
    text = "".join(gzip.decompress(file.read_bytes()).decode() for file in files)
    likely = [line for line in text.splitlines() if _LIKELY.search(line)]
    assert "\tat kafka." in text
    lines, remarks = read_node_logs([logs_of(name)])
    assert sorted(line.text for line in lines) == sorted(line.strip() for line in likely)
    assert not remarks
    kinds = Counter(line.kind for line in lines)
    assert kinds["controller"] == 2
    assert (
        kinds["starts"] == kinds["registered"] == kinds["clean start"] + kinds["unclean start"] + 3
    )
    assert min(kinds[kind] for kind in ("leads", "follows", "still leads", "shrinks", "cuts")) > 0


@pytest.mark.parametrize(
    ("files", "told"),
    [("1/server.log.gz", LOST[:1]), ("2", []), ("3/state-change.log.gz", LOST[1:])],
)
@pytest.mark.parametrize("name", NAMES)
def test_what_is_proven_hangs_on_the_files_that_are_there(
    name: str, files: str, told: list[str]
) -> None:
    found = losses(RECORDINGS / name, logs_of(name) / files)
    assert as_told(found) == told
    # Without the line in which it began to follow, no record says when a copy was cut.
    assert all((place_words(f) == "unknown") == files.startswith("1/") for f in found)


@pytest.mark.parametrize("name", NAMES)
def test_files_may_be_rolled_and_given_in_any_order(tmp_path: Path, name: str) -> None:
    for file in logs_of(name).rglob("*.gz"):
        lines = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
        folder, half = tmp_path / file.parent.name, len(lines) // 2
        folder.mkdir(exist_ok=True)
        (folder / file.stem).write_bytes(b"".join(lines[half:]))
        (folder / f"{file.stem}.2026-11-29-12").write_bytes(b"".join(lines[:half]))
    assert as_told(losses(RECORDINGS / name, *sorted(tmp_path.iterdir(), reverse=True))) == LOST


@live(test_a_loss_is_told_where_offsets_prove_it_and_nowhere_else)
def test_brokers_of_today_lose_what_was_recorded(tmp_path: Path) -> None:
    with real_kafka():
        assert list(record(NAMES[-1], tmp_path))
    folder = tmp_path / NAMES[-1]
    assert as_told(losses(folder, folder / "logs")) == LOST
