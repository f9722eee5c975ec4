"""``make hole``: what a cluster was seen to do is told, held beside the engine, and summed up."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from kiplab.judge.kafka_jars import jar_cache
from tests.judge.real_cluster import make_hole
from tests.judge.real_cluster.cluster_run import DRIVER, ClusterRun, Sighting
from tests.judge.real_cluster.hole_story import STEPS, WORDS, beside_the_engine, told

LOST = """\
stalled ms=2590 state=Committed isr=0,1,2 maximal=0,1,2 epoch=0 mark=1 leader=1 late=1 healthy=1
alone ms=10200 state=Committed isr=0 maximal=0 epoch=1 mark=2 leader=2 late=1 healthy=1
answered ms=12000 state=Committed isr=0,2 maximal=0,2 epoch=2 mark=18 leader=20 late=16 healthy=18
proposed ms=12010 state=Pending isr=0,2 maximal=0,1,2 epoch=2 mark=18 leader=22 late=18 healthy=18
forgotten ms=12050 state=Committed isr=0,2 maximal=0,2 epoch=2 mark=18 leader=22 late=18 healthy=18
passed ms=12120 state=Committed isr=0,2 maximal=0,2 epoch=2 mark=19 leader=22 late=18 healthy=19
joined ms=12420 state=Committed isr=0,1,2 maximal=0,1,2 epoch=3 mark=22 leader=22 late=18 healthy=22
stops
elected leader=1 isr=1,2
ends late=19 healthy=19
read acknowledged=first@0,important@21 found=first@0
lost records=important@21
"""
"""What a real 3.5.2 did, with replica.lag.time.max.ms=5000."""


def seen(text: str) -> list[Sighting]:
    lines = (line.split() for line in text.splitlines())
    return [Sighting(word, dict(p.split("=", 1) for p in pairs)) for word, *pairs in lines]


class PretendedRun:
    """A cluster that does what it is told to have done; `scripts` are one for each cluster."""

    scripts: list[str]
    asked: list[int]

    def __init__(self, _patch: str, attempts: int, _settings: list[str]) -> None:
        self.asked.append(attempts)
        self.script = self.scripts.pop(0)

    def __enter__(self) -> PretendedRun:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def moments(self) -> Iterator[Sighting]:
        yield from seen(self.script)

    def death(self) -> str:
        return "" if self.script else "The cluster ended by itself: java.lang.OutOfMemoryError"

    def logged(self) -> list[str]:
        return ["[Partition orders1-0 broker=0] Ignoring failed ISR update", "[other-0 broker=0] x"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> type[PretendedRun]:
    PretendedRun.scripts, PretendedRun.asked = [], []
    monkeypatch.setattr(make_hole, "ClusterRun", PretendedRun)
    return PretendedRun


def test_every_moment_that_the_driver_tells_has_words() -> None:
    source = (DRIVER / "LostRecord.java").read_text()
    first = re.findall(r"\b(?:seen|say)\((.*?)(?:,|\);)", source)
    said = {word for argument in first for word in re.findall('"([a-z]+)"', argument)}
    assert said - {"cluster", "missed"} == set(WORDS)


@pytest.mark.parametrize("release", ["3.3", "3.5", "3.9"])
def test_the_real_leader_stood_where_the_plays_leader_stands(release: str) -> None:
    beats = list(beside_the_engine(seen(LOST), release))
    assert [beat.moment for beat in beats] == list(STEPS)
    assert all(beat.real == beat.played for beat in beats)


def test_a_leader_that_did_not_forget_differs_from_the_plays() -> None:
    kept = LOST.replace(
        "forgotten ms=12050 state=Committed isr=0,2 maximal=0,2",
        "forgotten ms=12050 state=Pending isr=0,2 maximal=0,1,2",
    )
    parted = [b.moment for b in beside_the_engine(seen(kept), "3.5") if b.real != b.played]
    assert parted == ["forgotten"]


def test_a_moment_is_told_with_roles_in_place_of_numbers() -> None:
    line = told(seen(LOST)[3])
    assert "L: ISR {L,A} and asks for {L,A,B}, partition epoch 2, high watermark 18" in line


def test_a_lost_record_ends_it_with_the_story_and_kafkas_own_log(
    run: type[PretendedRun], capsys: pytest.CaptureFixture[str]
) -> None:
    run.scripts = [f"cluster version=3.5.2\nattempt topic=orders1\n{LOST}"]
    assert make_hole.main([]) == 0
    said = capsys.readouterr().out
    assert "Kafka 3.5.2, unmodified" in said
    assert "LOST, though it was acknowledged: records important@21" in said
    assert "5 of 5 alike" in said
    assert "Ignoring failed ISR update" in said
    assert "other-0" not in said


def test_after_a_stopped_leader_the_next_attempt_has_a_cluster_of_its_own(
    run: type[PretendedRun], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = LOST.replace("lost records=important@21", "whole records=")
    run.scripts = [f"attempt topic=orders1\n{whole}", f"attempt topic=orders1\n{LOST}"]
    assert make_hole.main(["--attempts", "3"]) == 0
    assert run.asked == [3, 2]
    assert "attempt 2 of 3" in capsys.readouterr().out


def test_what_was_not_reached_is_summed_up_and_has_a_code_of_its_own(
    run: type[PretendedRun], capsys: pytest.CaptureFixture[str]
) -> None:
    kept = "".join(LOST.splitlines(keepends=True)[:4]) + "missed what=x waited=5\n"
    run.scripts = [f"attempt topic=orders1\n{kept}attempt topic=orders2\n{kept}", ""]
    assert make_hole.main(["--attempts", "3"]) == 4
    said = capsys.readouterr().out
    assert "The cluster ended by itself: java.lang.OutOfMemoryError" in said
    assert f"2 x {WORDS['proposed']}" in said


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--kafka", "2.8"], "no Kafka '2.8' can be run"),
        (["--attempts", "11"], "expected 1 to 10, found 11"),
        (["--attempts", "many"], "invalid"),
        (["--lag-ms", "0"], "expected at least 1, found 0"),
        (["--min-isr", "3.5"], "invalid"),
    ],
)
def test_bad_options_are_refused(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        make_hole.main(words)
    assert stopped.value.code == 2
    assert expected in capsys.readouterr().err


def test_without_java_it_says_what_mends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> ClusterRun:
        raise jar_cache.MissingKafkaError("No Java.", "Install one.")

    monkeypatch.setattr(make_hole, "ClusterRun", missing)
    assert make_hole.main([]) == 3
    assert capsys.readouterr().err == "No Java. Install one.\n"
