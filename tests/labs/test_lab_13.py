"""Lab 13: what it says of the given log, of the play that is made of it, and of the other log."""

import gzip
import re
import shlex
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom.exercises.own_incident import CHANGES, INCIDENT_DUMP, incident, report, story
from kiplab.incident.log_items import LogRecord
from kiplab.incident.reading import read_items
from kiplab.plays.play import format_play
from kiplab.protocol.releases import METADATA_LEVEL
from tests.conftest import Command
from tests.incident.real_logs.recording import RECORDINGS
from tests.labs.running import cells, exit_run, explained, prose

LAB = "13-your-own-incident"
RECORDING = RECORDINGS / "quick-join-3.5.2"
OTHER_LOG = RECORDINGS / "two-segments-3.9.1"
ISR = re.compile(r"The ISR is \{([\d, ]+)\}")
EPOCH = re.compile(r"registers as epoch (\d+)")
STATE_CHANGE = (
    "[2026-11-29 08:39:02,700] INFO [Broker id=3] Leader orders-0 with topic id"
    " Some(lXO2BPNmT7Wbc8QxyjB2_g) starts at leader epoch 3 from offset 0 with partition epoch 5,"
    " high watermark 0, ISR [2,3], adding replicas [] and removing replicas []. Previous leader"
    " Some(1) and previous leader epoch was 2. (state.change.logger)\n"
)
BEGAN = 15
"""The offset from which the table counts its seconds."""


def rows(cell: str) -> list[tuple[list[int], str, str]]:
    """(offsets, second, words) of each row of a table that begins with offsets."""
    found = []
    for line in re.findall(r"^\| \**\d.*\|$", cells(LAB, "markdown")[cell], re.MULTILINE):
        head, *middle, words = [part.strip(" *") for part in line.strip("|").split("|")]
        ends = [int(number) for number in re.findall(r"\d+", head)]
        offsets = [*range(ends[0], ends[-1] + 1)] if "–" in head else ends
        found.append((offsets, "".join(middle), words))
    return found


def test_the_given_dump_is_the_recorded_one() -> None:
    assert INCIDENT_DUMP.read_bytes() == (RECORDING / "dump.txt.gz").read_bytes()


def test_each_row_of_the_situation_is_in_the_log() -> None:
    records = {r.offset: r for r in read_items([INCIDENT_DUMP]) if isinstance(r, LogRecord)}
    states = ((event.record.offset, event.after) for event in incident().events("orders-0"))
    after = {offset: state for offset, state in states if state and state.name == "orders-0"}
    for offsets, second, words in rows("situation"):
        assert float(second) * 1000 == records[offsets[0]].time - records[BEGAN].time, words
        isr = [after[offset] for offset in offsets if offset in after]
        assert [{*map(int, m.split(","))} for m in ISR.findall(words)] == [
            {*state.isr} for state in isr if offsets[0] != BEGAN and state
        ]
        began = [r for r in map(records.__getitem__, offsets) if r.type == "REGISTER_BROKER_RECORD"]
        assert [*map(int, EPOCH.findall(words))] == [r.fields["brokerEpoch"] for r in began]


def test_the_log_of_the_exit_ticket_is_a_recorded_one_of_3_9() -> None:
    records = {r.offset: r for r in read_items([OTHER_LOG]) if isinstance(r, LogRecord)}
    told = rows("exit")
    assert [records[offset].type.split("_")[0] for offsets, *_ in told for offset in offsets] == [
        *("PARTITION", "PARTITION", "BROKER", "REGISTER", "BROKER", "PARTITION")
    ]
    assert records[80].fields["brokerEpoch"] == 80
    assert records[76].fields["brokerEpoch"] == 7
    assert records[47].fields["isr"] == [1]


def test_every_rule_and_number_that_the_explanations_name_is_so() -> None:
    assert f"**{', '.join(report())}.**" in explained(LAB)["numbers-why"]
    assert (METADATA_LEVEL["3.4-IV0"], METADATA_LEVEL["3.5-IV1"]) == (8, 10)
    assert "level 8 is 3.4-IV0, level 10 is 3.5-IV1" in explained(LAB)["prevented-why"]
    mended = kiplab.run(story(), kafka="3.5")
    assert (mended.verdict, mended.partitions[0]["leader"]) == ("safe", 2)
    assert {r["error"] for r in mended.refusals} >= {"INELIGIBLE_REPLICA"}


def test_the_play_loses_forty_records_and_broker_2_truncates_them() -> None:
    run = kiplab.run(story())
    assert (run.verdict, run.sentence) == ("loss", "40 committed records lost")
    assert "broker 2 truncates offsets 0-39 of orders-0" in run.text()
    assert "broker 1 truncates" not in run.text()


def test_its_changes_are_those_that_are_judged() -> None:
    said = re.findall(r"^- \*\*([A-F])\*\* (.*)\.$", cells(LAB, "markdown")["make"], re.MULTILINE)
    assert [letter for letter, _ in said] == [*CHANGES]


@pytest.mark.parametrize(("disk", "lost"), [("tail-lost", 10), ("kept", 0)])
def test_the_log_of_the_exit_ticket_fits_a_lost_disk_and_a_whole_one(disk: str, lost: int) -> None:
    text = format_play(exit_run(LAB, "ticket.").stage.play)
    run = kiplab.run(text.replace("disk=tail-lost", f"disk={disk}"))
    assert sum(one["last"] - one["first"] + 1 for one in run.lost) == lost
    assert run.partitions[0]["leader"] == 1


def test_it_takes_no_name_from_the_machine_on_which_the_log_was_made() -> None:
    hosts = {
        end["host"]
        for record in read_items([INCIDENT_DUMP])
        if isinstance(record, LogRecord)
        for end in record.fields.get("endPoints", ())
    }
    assert hosts == {"127.0.0.1"}
    assert "3.5.2" in prose(LAB)


def test_the_commands_for_ones_own_cluster_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dump.txt").write_bytes(gzip.decompress(INCIDENT_DUMP.read_bytes()))
    (tmp_path / "state-change.log").write_text(STATE_CHANGE)
    lines = re.findall(r"^kiplab (.*)$", cells(LAB, "markdown")["own"], re.MULTILINE)
    assert lines
    for line in lines:
        code, _, said = command(*shlex.split(line, comments=True))
        assert code == 0, (line, said)
    assert {"orders.html", "orders.play", "for-others.html"} <= {p.name for p in tmp_path.iterdir()}
    assert "orders-0" not in (tmp_path / "for-others.html").read_text(encoding="utf-8")
