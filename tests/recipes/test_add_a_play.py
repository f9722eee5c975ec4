"""CONTRIBUTING.md, "Add a play": followed step by step, each step that is left out is told."""

from pathlib import Path

import pytest

from tests.recipes.copies import Copied, copy

GOLDEN = "tests/plays/test_golden.py"
NAME = "903-made-up"
PLAY = """\
title     A broker comes back
question  Does it say who it is?
kafka     3.5
broker    1 epoch=101
broker    2 epoch=102
topic     orders replicas=1,2 isr=1,2 leader=1 leader-epoch=5 partition-epoch=10 log=80@5

crash     2 disk=replaced
expect    orders-0 isr=1,2
"""


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Copied:
    """A copy with one play more."""
    made = copy(tmp_path_factory.mktemp("copy"))
    written(made, PLAY)
    return made


def written(made: Copied, play: str) -> Path:
    """The play's file."""
    file = made.path / "kiplab" / "plays" / "scenarios" / f"{NAME}.play"
    file.write_text(play, encoding="utf-8")
    return file


def test_a_play_without_a_golden_transcript_is_told(copied: Copied) -> None:
    ran = copied.test(GOLDEN, "-k", f"transcript and {NAME}")
    assert not ran.passed
    assert "--rewrite" in ran.text


@pytest.mark.long(quick="tests/recipes/test_add_a_play.py::test_what_a_play_lacks_is_told")
def test_with_its_transcript_the_recipe_is_complete(copied: Copied) -> None:
    assert copied.test(GOLDEN, "--rewrite", "-k", f"transcript and {NAME}").passed
    ran = copied.test(GOLDEN, "tests/plays/test_round_trips.py")
    assert ran.passed, ran.text


@pytest.mark.parametrize(
    ("without", "told"),
    [("question  Does it say who it is?\n", NAME), ("expect    orders-0 isr=1,2\n", "expect")],
)
def test_what_a_play_lacks_is_told(copied: Copied, without: str, told: str) -> None:
    assert without in PLAY
    file = written(copied, PLAY.replace(without, ""))
    ran = copied.test(GOLDEN, "-k", f"{NAME} or question")
    file.write_text(PLAY, encoding="utf-8")
    assert not ran.passed
    assert told in ran.text
