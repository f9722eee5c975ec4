"""Every play that comes with kiplab: its expectations under every feature set it speaks of, and
its transcript, word for word."""

from pathlib import Path

import pytest

from kiplab.plays.library import load, names
from kiplab.plays.runner import run_play
from kiplab.plays.transcript import transcript
from kiplab.plays.values import feature_set
from kiplab.plays.verdict import breaks_promise

GOLDEN = Path(__file__).parent / "golden"


def bound_to(name: str) -> list[str]:
    """The feature sets a play's expectations name; "" is its own."""
    said = (s.words[0] for s in load(name).statements if s.verb == "expect" and s.words)
    return ["", *sorted({word for word in said if word.startswith("@")})]


CASES = [(name, features) for name in names() for features in bound_to(name)]


@pytest.mark.parametrize(("name", "features"), CASES, ids=lambda value: value or "own")
def test_what_a_play_expects_holds_and_its_transcript_is_the_golden_one(
    name: str, features: str, rewrite: bool
) -> None:
    stage = run_play(load(name), feature_set(features) if features else None)
    failed = [
        f"line {e.line}: {e.text}: {e.actual}" for e in stage.expectations if e.status == "failed"
    ]
    assert not failed
    held = any(e.status == "held" for e in stage.expectations)
    assert held, f"{name} says nothing that could be wrong: give it an `expect` line"
    file = GOLDEN / f"{name}{features.replace('/', '_')}.txt"
    text = transcript(stage, every=True)
    if rewrite:
        file.write_text(text, encoding="utf-8")
    assert file.exists(), f"{file.name} is not there yet: run pytest tests/plays --rewrite, read it"
    assert text == file.read_text(encoding="utf-8")


def test_no_golden_transcript_is_left_over() -> None:
    wanted = {f"{name}{features.replace('/', '_')}.txt" for name, features in CASES}
    assert {file.name for file in GOLDEN.iterdir()} == wanted


FROM_KIP_903_ON = ["3.5", "3.6", "3.7", "3.8", "3.9"]
KEPT = "497.pending-outlives-metadata"
LOCKED = "kafka-15221.locked-state"


@pytest.mark.parametrize("release", FROM_KIP_903_ON)
@pytest.mark.parametrize("name", names())
def test_no_promise_breaks_from_kip_903_on_but_for_proposals_forgotten_or_overtaken(
    name: str, release: str
) -> None:
    assert not breaks_promise(run_play(load(name), feature_set(f"@{release}+{KEPT}+{LOCKED}")))


def test_the_plays_in_which_a_proposal_is_forgotten_or_overtaken_are_these() -> None:
    broken = {
        name
        for name in names()
        for release in FROM_KIP_903_ON
        if breaks_promise(run_play(load(name), feature_set(f"@{release}")))
    }
    assert broken == {"hole-level", "hole-never-level", "kafka-15221"}


@pytest.mark.parametrize(
    ("features", "disk"), [("@4.1+elr", set()), ("@4.3+elr", {"elr-removed-disk"})]
)
def test_eligible_leader_replicas_break_no_promise_but_by_a_proposal_or_a_removed_disk(
    features: str, disk: set[str]
) -> None:
    broken = {n for n in names() if breaks_promise(run_play(load(n), feature_set(features)))}
    assert broken == {"hole-level", "hole-never-level"} | disk


def test_every_play_has_a_title_and_a_question() -> None:
    for name in names():
        play = load(name)
        assert play.title != name, f"{name} has no title"
        assert play.question.endswith("?"), name
