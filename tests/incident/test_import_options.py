"""`kiplab import` with log files of nodes, with other names, and written as a play."""

from pathlib import Path

import pytest

import kiplab
from kiplab.cli.command import main
from kiplab.incident.metadata_history import read_metadata_log

RECORDINGS = Path(__file__).parent / "recordings"
OTHER_LIFE = RECORDINGS / "other-life-3.5.2"


def leads(path: Path) -> Path:
    """Two lines of broker 1 about orders-1: it comes back with 60 records less."""
    history = read_metadata_log(OTHER_LIFE)
    id = next(key.topic_id for key, state in history.partitions.items() if state.topic == "orders")
    line = (
        "[2026-11-29 10:33:0{0},000] INFO [Broker id=1] Leader orders-1 with topic id Some({3})"
        " starts at leader epoch {0} from offset {1} with partition epoch 9, high watermark {2},"
        " ISR [1] (state.change.logger)\n"
    )
    file = path / "state-change.log"
    file.write_text(line.format(3, 90, 100, id) + line.format(4, 40, 40, id), "utf-8")
    return file


def test_a_loss_fails_the_command_and_quotes_both_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = leads(tmp_path)
    arguments = ["import", str(OTHER_LIFE), "--fail-on", "loss"]
    assert main(arguments) == 0
    assert "lost-by-offsets" not in capsys.readouterr().out
    assert main([*arguments, "--logs", str(file), "--zone=+02:00"]) == 1
    out = capsys.readouterr().out
    assert "1. lost: lost-by-offsets, orders-1, offset 112" in out
    assert all(line in out for line in file.read_text().splitlines())
    assert main([*arguments, "--partition", "orders-0", "--logs", str(file)]) == 0


@pytest.mark.parametrize("ending", ["txt", "json", "csv", "html", "svg"])
def test_no_output_has_a_name_of_the_input(
    tmp_path: Path, ending: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out, play = tmp_path / f"made.{ending}", tmp_path / "made.play"
    options = ["--anonymise", "--logs", str(leads(tmp_path)), "--partition", "orders-1"]
    assert main(["import", str(OTHER_LIFE), *options, "-o", str(out), "--as-play", str(play)]) == 0
    # The command says to whoever called it where it wrote: that is no output of the input.
    told = capsys.readouterr()
    made = out.read_text() + play.read_text() + (told.out + told.err).replace(str(tmp_path), "")
    # The script of a page has borders.
    for name in (
        "orders-1",
        '"orders"',
        " orders",
        "127.0.0.1",
        "other-life-3",
        "state-change.log",
    ):
        assert name not in made
    assert "topic-1" in made


@pytest.mark.parametrize(
    ("log", "partition", "written", "own", "newer"),
    [
        ("other-life-3.5.2", "orders-1", "18 of 18", "loss", "loss"),
        ("other-life-3.5.2", "orders-0", "21 of 21", "loss", "loss"),
        ("quick-join-3.5.2", "orders-0", "16 of 16", "loss", "safe"),
        ("clean-return-4.1.2", "orders-1", "11 of 11", "safe", "loss"),
        ("all-died-4.3.1", "orders-0", "10 of 10", "loss", "loss"),
        ("two-segments-3.9.1", "orders-1", "12 of 12", "loss", "loss"),
        ("wiped-by-directories-4.1.2", "orders-0", "7 of 7", "safe", "safe"),
    ],
)
def test_the_engine_writes_what_real_controllers_wrote(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    log: str,
    partition: str,
    written: str,
    own: str,
    newer: str,
) -> None:
    play = str(tmp_path / "made.play")
    arguments = ["import", str(RECORDINGS / log), "--partition", partition, "--as-play", play]
    assert main(arguments) == 0
    assert f"{partition}, {written} records" in capsys.readouterr().err
    assert kiplab.run(play).verdict == own
    assert kiplab.run(play, kafka="3.5").verdict == newer


def test_a_search_begins_where_the_play_begins(tmp_path: Path) -> None:
    play = str(tmp_path / "made.play")
    arguments = ["import", str(RECORDINGS / "quick-join-3.5.2"), "--partition", "orders-0"]
    assert main([*arguments, "--from", "68", "--as-play", play]) == 0
    # The race of the log takes 6 steps; what 3.5 leaves is a longer one.
    assert [kiplab.explore(play, kafka=kafka).steps for kafka in (None, "3.5")] == [6, 15]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--zone", "2"], "2 is no zone"),
        (["--logs", "absent.log"], "absent.log: No such file"),
        (
            ["--partition", "orders-9", "--as-play", "x.play"],
            "nothing in this log is about orders-9",
        ),
        (["--from", "9999", "--as-play", "x.play"], "no finding is about a partition"),
        (["--as-play", "absent/x.play"], "there is no such folder"),
    ],
)
def test_a_wrong_option_is_refused_in_a_sentence(
    options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["import", str(OTHER_LIFE), *options]) == 2
    assert sentence in capsys.readouterr().err
