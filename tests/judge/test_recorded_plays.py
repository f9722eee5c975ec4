"""What real controllers have decided in the plays that come with kiplab: recorded, and seen again.

`pytest --rewrite tests/judge/test_recorded_plays.py` asks the real ones anew, and writes that.
"""

from __future__ import annotations

import pytest

from kiplab.judge.kafka_jars.judged_releases import LAST_PATCH, patch_release
from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.side_by_side.real_run import RealRun, real, recorded_of
from kiplab.judge.side_by_side.recorded_kafka import (
    FOLDER,
    SUFFIX,
    RecordedKafka,
    StaleRecordingError,
    keep_recordings,
    recordings_of,
)
from kiplab.judge.side_by_side.two_columns import play_in_two_columns
from kiplab.plays.library import load, names
from kiplab.plays.play import Play
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import parse_features

BYTES_MAX = 40_000
"""Of the recordings of one play on every release."""
LIVE = ("3.4", "3.5")
"""Releases that are asked again whenever the suite runs."""


def asks_for_another_controller(play: Play) -> bool:
    """A real controller stays on its release: such a play cannot be told."""
    return any(
        s.verb == "upgrade" and s.words[:1] != () and s.words[0] in ("controller", "all")
        for s in play.statements
    )


TOLD = [name for name in names() if not asks_for_another_controller(load(name))]


def recorded(name: str, release: str) -> RealRun:
    return real(name, kafka=release, live=False)


# --- what they say --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TOLD)
def test_a_play_that_comes_with_kiplab_is_recorded_on_every_release_and_agrees(name: str) -> None:
    patches = {patch_release(release) for release in LAST_PATCH}
    assert set(recordings_of(name)) >= patches, (
        "make it: pytest --rewrite tests/judge/test_recorded_plays.py"
    )
    for release in LAST_PATCH:
        run = recorded(name, release)
        parted = [line for line in run.both.lines if not line.agree]
        assert not parted, f"{release}: {parted[0]}"


def test_every_recording_is_of_a_play_that_comes_with_kiplab() -> None:
    assert {path.name.removesuffix(SUFFIX) for path in FOLDER.iterdir()} <= set(TOLD)


@pytest.mark.parametrize("release", LAST_PATCH)
def test_kafka_14139_is_lost_before_3_5_and_refused_from_then_on(release: str) -> None:
    run = recorded("kafka-14139", release)
    lost = run.both.kafka.features.code_of(-10) < (3, 5)  # type: ignore[arg-type]
    assert run.verdict == dict.fromkeys(("engine", "kafka"), "loss" if lost else "safe")
    assert ("INELIGIBLE_REPLICA" in str(run.report()["lines"])) is not lost


@pytest.mark.parametrize("name", TOLD)
def test_recordings_are_small(name: str) -> None:
    assert (FOLDER / f"{name}{SUFFIX}").stat().st_size < BYTES_MAX


def test_a_play_that_asks_otherwise_is_not_answered_by_an_old_recording() -> None:
    recording = recordings_of("kafka-14139")["3.4.1"]
    with pytest.raises(StaleRecordingError, match=r"make it anew, by pytest --rewrite"):
        play_in_two_columns(
            load("last-replica"), parse_features("3.4"), lambda _: RecordedKafka(recording)
        )


# --- asked again ----------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All plays on all releases are asked again only to be written anew."""
    if "asked_again" in metafunc.fixturenames:
        everything = [(name, release) for name in names() for release in LAST_PATCH]
        some = [("kafka-14139", release) for release in LIVE]
        rewrite = metafunc.config.getoption("--rewrite")
        metafunc.parametrize("asked_again", everything if rewrite else some, ids="-".join)


@pytest.mark.kafka
def test_a_real_controller_says_what_is_recorded(
    asked_again: tuple[str, str], rewrite: bool
) -> None:
    name, release = asked_again
    try:
        run = real(name, kafka=release, live=True)
    except MissingKafkaError as missing:
        pytest.skip(str(missing))
    except PlayError:
        assert asks_for_another_controller(load(name))
        return
    found = recorded_of(run)
    if rewrite:
        keep_recordings(name, recordings_of(name) | {run.kafka: found})
    assert recordings_of(name)[run.kafka] == found
