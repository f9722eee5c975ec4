"""`kiplab import`: exit codes, one JSON object, files, and sentences for what cannot be."""

import io
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kiplab.incident import metadata_history
from kiplab.incident.log_items import LogItem
from tests.conftest import Command
from tests.incident.other_life import log

RECORDINGS = Path(__file__).parent / "recordings"
OTHER_LIFE = RECORDINGS / "other-life-3.5.2"
DUMP = OTHER_LIFE / "dump.txt.gz"


def test_it_tells_what_was_read_and_what_was_found(command: Command) -> None:
    code, out, err = command("import", OTHER_LIFE, "--partition", "orders-1")
    assert (code, err) == (0, "")
    for part in (
        "What was read",
        "00000000000000000000.log: segment",
        "other-life",
        "orders-1\n--",
    ):
        assert part in out
    assert out.rstrip().endswith("unfenced")


def test_json_is_one_object_as_the_contract_says(command: Command, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    code, out, _ = command("import", DUMP, "--json", "--findings", kept)
    told = json.loads(out)
    assert code == 0
    assert {*told} >= {"read", "findings"}
    assert {*told["read"][0]} >= {"file", "first", "last"}
    keys = {"rule", "kind", "partition", "offset", "sentence", "evidence"}
    assert all({*finding} >= keys for finding in told["findings"])
    assert json.loads(kept.read_text("utf-8")) == told


@pytest.mark.parametrize(("kind", "code"), [("loss", 0), ("occasion", 1), ("sure", 1), ("note", 1)])
def test_a_finding_fails_it_only_if_that_is_asked_for(
    command: Command, kind: str, code: int
) -> None:
    assert command("import", OTHER_LIFE, "--fail-on", kind, "--json")[0] == code


@pytest.mark.parametrize("ending", ["html", "svg", "csv", "txt", "json"])
def test_a_file_is_written_and_named(command: Command, tmp_path: Path, ending: str) -> None:
    out_file = tmp_path / f"a.{ending}"
    code, out, _ = command("import", OTHER_LIFE, "-o", out_file)
    assert code == 0
    assert out.startswith(f"{out_file}: ")
    assert "findings" in out
    assert out_file.stat().st_size > 1000


def test_only_what_was_asked_for_is_told(command: Command) -> None:
    for chosen in (["--from", "113"], ["--to", "2"]):
        code, out, _ = command("import", OTHER_LIFE, "--json", *chosen)
        told = [f for f in json.loads(out)["findings"] if f["partitions"]]
        assert (code, told) == (0, []), chosen


def test_standard_input_can_be_drawn(
    command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = io.TextIOWrapper(io.BytesIO(DUMP.read_bytes()))
    monkeypatch.setattr(sys, "stdin", given)
    code, out, _ = command("import", "-", "-o", tmp_path / "a.html")
    assert code == 0
    assert "findings" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([OTHER_LIFE / "none.log"], "none.log"),
        ([__file__], "test_import_command.py"),
        ([OTHER_LIFE, "-o", "a.png"], "it can end in .html, .svg, .csv, .txt, .json"),
        ([OTHER_LIFE, "-o", "/nowhere/a.html"], "there is no such folder"),
        ([OTHER_LIFE, "--partition", "orders-7"], "nothing in this log is about orders-7"),
        ([OTHER_LIFE, "--from", "yesterday"], "neither an offset nor a time"),
        ([OTHER_LIFE, "-o", "a.html", "--theme", "sepia"], "no theme 'sepia'"),
        ([RECORDINGS / "clean-return-4.1.2" / "old-tool.txt.gz"], "older"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = command("import", *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


class Stopped:
    """A reader that is stopped by Ctrl-C after the record of offset 55."""

    files_read = ()

    def __iter__(self) -> Iterator[LogItem]:
        yield from (record for record in log() if record.offset <= 55)
        raise KeyboardInterrupt


def test_ctrl_c_tells_what_was_found_until_then(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata_history, "read_items", lambda *_, **__: Stopped())
    code, out, err = command("import", "a.log")
    assert code == 130
    assert "alone-then-gone" in out
    assert "the reading was stopped" in out
    assert "stopped" in err


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_told_how_far_the_reading_is(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    assert command("import", DUMP)[0] == 0
    assert "100 % of " in shown.getvalue()
    assert shown.getvalue().endswith("\r")
