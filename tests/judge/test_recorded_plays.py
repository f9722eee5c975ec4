"""What real controllers have decided in the plays that come with kiplab: recorded, and seen again.

`pytest --rewrite tests/judge/test_recorded_plays.py` asks the real ones anew, and writes that.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from kiplab.engine.cluster import Cluster
from kiplab.judge.kafka_jars.judged_releases import LAST_PATCH, patch_release
from kiplab.judge.kafka_jars.missing_kafka import MissingKafkaError
from kiplab.judge.partition.broker_sight import SeenPartition
from kiplab.judge.partition.partition_judging import partition_releases
from kiplab.judge.side_by_side.live_leaders import LiveLeaders
from kiplab.judge.side_by_side.real_run import RealRun, real
from kiplab.judge.side_by_side.recorded_kafka import (
    FOLDER,
    SUFFIX,
    RecordedKafka,
    StaleRecordingError,
    keep_recordings,
    recordings_of,
)
from kiplab.judge.side_by_side.recorded_leaders import (
    RecordedLeaders,
    StaleLeadersError,
)
from kiplab.judge.side_by_side.rehearsal import why_untold
from kiplab.judge.side_by_side.two_columns import RealNodes, play_in_two_columns
from kiplab.plays.header import features_of
from kiplab.plays.library import load, names
from kiplab.plays.play import Play
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import parse_features
from kiplab.protocol.releases import RELEASES, Mode
from tests.judge.kafka_here import skip_without_kafka

BYTES_MAX = 40_000
"""Of the recordings of one play on every release."""
LIVE = ("3.4", "3.5")
"""Releases that are asked again whenever the suite runs."""
LIVE_LEADERS = ("3.3", "4.3")
"""The same of brokers: in every play."""


def has_zookeeper(play: Play) -> bool:
    """Its controller lives on a broker, and asks brokers what KRaft's never asks: what is said of
    it cannot be told to the controllers here, which are KRaft's.
    """
    return features_of(play).mode is Mode.ZOOKEEPER


def asks_for_another_controller(play: Play) -> bool:
    """A real controller stays on its release: such a play cannot be told."""
    return any(
        s.verb == "upgrade" and s.words[:1] != () and s.words[0] in ("controller", "all")
        for s in play.statements
    )


def begins_recovering_without_an_election(play: Play) -> bool:
    """No request has the only replica there is elected uncleanly: that cannot be told either."""
    return any(
        s.verb == "topic"
        and s.arg("recovery") == "recovering"
        and s.arg("replicas") == s.arg("isr")
        for s in play.statements
    )


def cannot_be_told(play: Play) -> bool:
    return asks_for_another_controller(play) or begins_recovering_without_an_election(play)


KRAFT = [name for name in names() if not has_zookeeper(load(name))]
TOLD = [name for name in KRAFT if not cannot_be_told(load(name))]
LED = [name for name in TOLD if why_untold(load(name), parse_features("3.5")) is None]
"""Plays in which brokers are Kafka's own, too."""


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
        leads = name in LED and release in partition_releases()
        assert bool(run.both.turns) is leads
        assert run.both.turns == len(recordings_of(name)[run.kafka].leaders)


def test_whom_the_recordings_ask_has_no_zookeeper() -> None:
    assert {RELEASES[release].mode for release in LAST_PATCH} == {Mode.KRAFT}


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
            load("last-replica"),
            parse_features("3.4"),
            lambda _: RealNodes(RecordedKafka(recording)),
        )


def test_brokers_that_are_told_otherwise_are_not_answered_by_an_old_recording() -> None:
    answers = recordings_of("kafka-14139")["3.4.1"].leaders
    with pytest.raises(StaleLeadersError, match=r"make it anew, by pytest --rewrite"):
        play_in_two_columns(
            load("last-replica"),
            parse_features("3.4"),
            lambda start: RealNodes(None, RecordedLeaders(answers, start)),
        )


@pytest.mark.parametrize("release", ["3.3", "4.3"])
def test_a_recorded_leader_that_holds_something_else_is_a_parting(release: str) -> None:
    """The recording is Kafka's word and not the engine's: another number in it is seen."""
    recording = recordings_of("isr-committed")[patch_release(release)]
    # The last turn that says anything: what comes of it is told to nobody any more.
    turn = max(n for n, answer in enumerate(recording.leaders) if any(answer.seen.partitions))
    answer = recording.leaders[turn]
    changed = replace(answer.seen, partitions=tuple(map(_further, answer.seen.partitions)))
    leaders = list(recording.leaders)
    leaders[turn] = replace(answer, seen=changed)
    both = play_in_two_columns(
        load("isr-committed"),
        parse_features(release),
        lambda start: RealNodes(None, RecordedLeaders(tuple(leaders), start)),
    )
    parted = next(line for line in both.lines if not line.agree)
    assert any("orders-0 high_watermark: Kafka has" in said for said in parted.kafka)


def _further(seen: SeenPartition | None) -> SeenPartition | None:
    return seen and replace(seen, high_watermark=seen.high_watermark + 1)


# --- asked again ----------------------------------------------------------------------------------


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """All plays on all releases are asked again only to be written anew."""
    if "asked_again" in metafunc.fixturenames:
        everything = [(name, release) for name in KRAFT for release in LAST_PATCH]
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
        skip_without_kafka(missing)
    except PlayError:
        assert cannot_be_told(load(name))
        return
    found = run.recording
    if rewrite:
        keep_recordings(name, recordings_of(name) | {run.kafka: found})
    assert recordings_of(name)[run.kafka] == found


@pytest.mark.kafka
@pytest.mark.parametrize("release", LIVE_LEADERS)
def test_real_brokers_hold_what_is_recorded(release: str) -> None:
    """In every play that comes with kiplab, beside what the controller has said once."""
    patch = patch_release(release)
    try:
        leaders = LiveLeaders(release, patch)
        with leaders:
            for name in LED:
                again(name, release, leaders)
                assert tuple(leaders.answers) == recordings_of(name)[patch].leaders, name
    except MissingKafkaError as missing:
        skip_without_kafka(missing)


def again(name: str, release: str, leaders: LiveLeaders) -> None:
    def nodes(start: Cluster) -> RealNodes:
        leaders.begin(start)
        return RealNodes(RecordedKafka(recordings_of(name)[patch_release(release)]), leaders)

    both = play_in_two_columns(load(name), parse_features(release), nodes)
    assert both.agree, name
