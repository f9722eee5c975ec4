"""The proposal that Kafka's own Partition forgets, as anybody sees it: run now, or recorded.

`pytest --rewrite tests/judge/test_second_proposal.py` asks every release anew, and writes that.
"""

from pathlib import Path

import msgspec
import pytest

from kiplab.judge.kafka_jars.jar_cache import patch_release
from kiplab.judge.partition.partition_process import partition_releases
from kiplab.judge.partition.second_proposal import (
    SECOND,
    STORIES,
    WAYS,
    recorded_stories,
    second_proposal,
    story_of,
    story_turns,
)
from kiplab.protocol.features import UnknownFeatureError, parse_features
from tests.judge.kafka_here import live, real_kafka
from tests.judge.partition.engine_leader import EngineLeader

LIVE = ("3.5",)
"""Releases that are asked again whenever the suite runs."""


def test_every_release_whose_partition_is_judged_is_recorded() -> None:
    recorded = {patch_release(release) for release in partition_releases()}
    assert set(recorded_stories()) == recorded, (
        "make it: pytest --rewrite tests/judge/test_second_proposal.py"
    )


@pytest.mark.parametrize("release", partition_releases())
def test_where_the_metadata_is_late_the_proposal_is_forgotten_and_else_not(release: str) -> None:
    told = second_proposal(release, live=False)
    assert [SECOND not in s.waits_for for s in told.stories] == [s.came_late for s in told.stories]
    assert [s.missing > 0 for s in told.stories] == [s.came_late for s in told.stories]


@pytest.mark.parametrize("release", partition_releases())
def test_the_engines_leader_forgets_it_as_kafkas_does(release: str) -> None:
    for recorded, way in zip(second_proposal(release, live=False).stories, WAYS, strict=True):
        engine = EngineLeader(parse_features(release), 1, timed=True)
        sights = [engine.answer(turn) for turn in story_turns(*way)]
        assert story_of(recorded.kafka, *way, sights) == recorded


def test_a_recording_says_that_it_is_one() -> None:
    said = repr(second_proposal("3.5", live=False))
    assert "Recorded from Kafka 3.5.2, not run now. It was asked for as recorded." in said
    assert said.count("\n3.5.2 ") == 4


def test_where_there_is_no_kafka_it_says_how_to_have_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    told = second_proposal("3.9")
    assert told.note.startswith("Recorded from Kafka 3.9.1, not run now. Kafka 3.9.1 is not here:")
    assert told.report()["kafka"] == "3.9.1"


@pytest.mark.parametrize("release", ["3.2", "2.8", "nine"])
def test_another_release_is_named_with_those_there_are(release: str) -> None:
    with pytest.raises(UnknownFeatureError, match=r"3\.5"):
        second_proposal(release)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All releases are asked again only to be written anew."""
    if "asked_again" in metafunc.fixturenames:
        rewrite = metafunc.config.getoption("--rewrite")
        metafunc.parametrize("asked_again", partition_releases() if rewrite else LIVE)


@live(test_the_engines_leader_forgets_it_as_kafkas_does)
def test_kafkas_own_partition_does_what_is_recorded(asked_again: str, rewrite: bool) -> None:
    with real_kafka():
        told = second_proposal(asked_again, live=True)
    if rewrite:
        kept = dict(sorted((recorded_stories() | {told.kafka: told.stories}).items()))
        STORIES.write_bytes(msgspec.json.format(msgspec.json.encode(kept)) + b"\n")
        recorded_stories.cache_clear()
    assert recorded_stories()[told.kafka] == told.stories
    assert told.text().endswith(f"Run now, on Kafka {told.kafka}.")
