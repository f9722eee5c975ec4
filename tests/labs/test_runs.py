"""What the labs say of their runs, as runs.toml lists it: no cell asserts it beside a question."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

import kiplab
from kiplab.plays.grammar import parse
from kiplab.plays.library import load
from kiplab.plays.play import format_play
from kiplab.protocol.facts import LeaderElected, Polled, Truncated
from tests.labs.running import NAMES, steps_in


class AtStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the transcript says of a step, and what it does not say there."""

    step: int
    has: tuple[str, ...]
    lacks: tuple[str, ...] = ()


class LabRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a lab `says` of a run, as runs.toml describes it."""

    says: str
    play: str
    until: str = ""
    add: str = ""
    kafka: str | None = None
    on: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    verdict: str | None = None
    sentence: str | None = None
    refused: tuple[str, ...] | None = None
    requests: tuple[str, ...] | None = None
    guards: tuple[str, ...] | None = None
    refused_by: str | None = None
    lost: tuple[tuple[int, int], ...] | None = None
    elected: tuple[int, ...] | None = None
    elected_last: int | None = None
    isr: list[int] | None = None
    cut: tuple[tuple[int, int, int], ...] | None = None
    read: dict[str, tuple[tuple[int, int], ...]] = {}
    records: tuple[str, ...] | None = None
    steps: dict[str, str] = {}
    at: tuple[AtStep, ...] = ()
    lacks: tuple[str, ...] = ()

    def run(self) -> kiplab.Run:
        """The run."""
        play = load(self.play)
        if self.add:
            own = format_play(play).partition(self.until)[0]
            play = parse("\n".join([own, *self.add.split("; "), ""]))
        return kiplab.run(play, kafka=self.kafka, on=self.on, off=self.off)


TABLE = msgspec.toml.decode(
    Path(__file__).with_name("runs.toml").read_bytes(), type=dict[str, tuple[LabRun, ...]]
)
RUNS = [
    pytest.param(run, id=f"{lab[:2]} {run.says}") for lab, runs in TABLE.items() for run in runs
]


def outcome_of(run: kiplab.Run) -> dict[str, Any]:
    """What of a run is compared whole, by the fields of LabRun."""
    leaders = [e.leader for e in run.events if isinstance(e, LeaderElected)]
    return {
        "verdict": run.verdict,
        "sentence": run.sentence,
        "refused": tuple(r["error"] for r in run.refusals),
        "requests": tuple(r["request"] for r in run.refusals),
        "guards": tuple(r["guard"] for r in run.refusals),
        "lost": tuple((part["first"], part["last"]) for part in run.lost),
        "elected": tuple(leaders),
        "elected_last": leaders[-1] if leaders else None,
        "isr": run.partitions[0]["isr"],
        "cut": tuple((e.node, e.first, e.last) for e in run.events if isinstance(e, Truncated)),
        "records": tuple(s.value for s in run.rows().spans if s.lane == "records"),
    }


def test_every_lab_is_one_of_the_labs() -> None:
    assert {*TABLE} <= {*NAMES}


@pytest.mark.parametrize("listed", RUNS)
def test_it_comes_out_as_its_lab_says(listed: LabRun) -> None:
    run = listed.run()
    outcome, story = outcome_of(run), run.text()
    expected = {key: value for key in outcome if (value := getattr(listed, key)) is not None}
    assert {key: outcome[key] for key in expected} == expected
    assert listed.refused_by is None or listed.refused_by in outcome["guards"]
    polls = [e for e in run.events if isinstance(e, Polled) and e.first <= e.last]
    for consumer, spans in listed.read.items():
        assert tuple((e.first, e.last) for e in polls if e.consumer == consumer) == spans
    assert [words for words in listed.lacks if words in story] == []
    steps = steps_in(story)
    lines = {step: steps[int(step)].splitlines()[0] for step in listed.steps}
    assert lines == listed.steps
    for there in listed.at:
        text = steps[there.step]
        assert [words for words in there.has if words not in text] == []
        assert [words for words in there.lacks if words in text] == []
