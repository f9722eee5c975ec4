"""Papers under assets/papers: their commands are there, and print what the papers say."""

import re
import shlex
from pathlib import Path

import pytest

from kiplab.cli.command import main
from tests.judge.real_cluster import make_hole

ROOT = Path(__file__).resolve().parent.parent
PAPERS = sorted((ROOT / "assets" / "papers").glob("*.md"))
COMMANDS = [
    (paper, line.strip())
    for paper in PAPERS
    for line in paper.read_text(encoding="utf-8").splitlines()
    if re.match(r" {4}(kiplab|make) ", line)
]
PLAYED = {
    "kiplab play hole-never-level": "loss: 1 committed record lost",
    "kiplab play hole-level": "loss: 1 committed record lost",
    "kiplab play hole-in-order": "safe: nothing lost",
    "kiplab play hole-never-level --on 497.pending-outlives-metadata": "safe: nothing lost",
}
EXPLORED = {
    "kiplab explore isr-two-of-three --kafka 3.5",
    "kiplab explore isr-two-of-three --kafka 3.5 --on 497.pending-outlives-metadata",
}
"""What these print is held by tests/labs/test_lab_09.py: 14 steps, 7,791 states."""


def test_every_command_of_a_paper_is_held_here() -> None:
    made = {command for _, command in COMMANDS if command.startswith("make hole")}
    unheld = {command for _, command in COMMANDS} - PLAYED.keys() - EXPLORED - made
    assert unheld == set(), "say in PLAYED what it prints, or which test holds it"


@pytest.mark.parametrize("command", PLAYED)
def test_a_play_of_a_paper_ends_as_it_says(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(shlex.split(command)[1:])
    assert PLAYED[command] in capsys.readouterr().out


@pytest.mark.parametrize(
    "command", sorted({command for _, command in COMMANDS if command.startswith("make")})
)
def test_a_make_of_a_paper_is_a_target_with_options_that_there_are(
    command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, target, *given = shlex.split(command)
    assert f"\n{target}: " in (ROOT / "Makefile").read_text(encoding="utf-8")
    monkeypatch.setattr(make_hole, "_run", lambda *_: 0)
    assert make_hole.main(shlex.split(given[0].removeprefix("HOLE=")) if given else []) == 0


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.stem)
def test_every_guard_and_play_that_a_paper_names_is_there(paper: Path) -> None:
    from kiplab.plays.library import names
    from kiplab.protocol.guards import GUARDS

    text = paper.read_text(encoding="utf-8")
    assert set(re.findall(r"`(\d{3}\.[a-z-]+)`", text)) <= GUARDS.keys()
    assert set(re.findall(r"`(hole-[a-z-]+)`", text)) <= set(names())
