"""What real controllers have decided in the plays that come with kiplab: recorded, and seen again.

`python -m tests.judge.side_by_side --record` asks the real ones anew, and writes that.
"""

import pytest
from msgspec.structs import replace

from kiplab.engine.cluster import Cluster
from kiplab.judge.kafka_jars.jar_cache import LAST_PATCH, patch_release
from kiplab.judge.partition import observed_broker, partition_process
from kiplab.judge.side_by_side import deciding, real_run, two_columns
from kiplab.judge.side_by_side.chosen import chosen
from kiplab.judge.side_by_side.live_kafka import LiveLeaders
from kiplab.plays import library, play_errors
from kiplab.protocol.features import parse_features
from kiplab.runs import Run
from tests.judge.kafka_here import live, long, real_kafka
from tests.judge.side_by_side import shipped
from tests.judge.side_by_side.stored_answers import (
    FOLDER,
    SUFFIX,
    Noting,
    PlayRecording,
    RecordedKafka,
    RecordedLeaders,
    recordings_of,
)

BYTES_MAX = 40_000
"""Of what is shipped, and of the answers in one play on every release."""
LIVE = ("3.4", "3.5")
"""Releases that are asked again whenever the suite runs."""
LIVE_LEADERS = ("3.3", "4.3")
"""The same of brokers: in every play."""
KRAFT = [name for name in library.names() if not shipped.has_zookeeper(library.load(name))]
TOLD = shipped.told_plays()
LED = [name for name in TOLD if not shipped.why_untold(library.load(name), parse_features("3.5"))]
"""Plays in which brokers are Kafka's own, too."""


def recorded(name: str, release: str) -> real_run.RealRun:
    return real_run.real(name, kafka=release, live=False)


# --- what they say --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", TOLD)
def test_a_play_that_comes_with_kiplab_is_recorded_on_every_release(name: str) -> None:
    patches = {patch_release(release) for release in LAST_PATCH}
    assert set(recordings_of(name)) >= patches, "make it: make judge-record"
    assert set(real_run.shipped_columns()[name]) == patches, "make it: make judge-record"
    for release in LAST_PATCH:
        kept = real_run.shipped_columns()[name][patch_release(release)]
        leads = name in LED and release in partition_process.partition_releases()
        assert set(kept.columns) == ({"both", "controller", "leader"} if leads else {"controller"})
    for release in ("3.9", "4.0", "4.3"):
        features = chosen(name, release, "both").features
        assert recorded(name, release).both.engine.features == features


@pytest.mark.parametrize(
    ("name", "release"), [("kafka-14139", "3.4"), ("hole-level", "4.3"), ("704-consumers", "3.2")]
)
def test_what_is_shipped_is_what_the_live_path_makes_of_the_answers(
    name: str, release: str
) -> None:
    """`shipped.play_columns` asserts that the columns agree, too."""
    patch, columns = shipped.play_columns(name, release)
    assert real_run.shipped_columns()[name][patch] == columns
    what = chosen(name, release, "both")
    if not columns.why:
        both = shipped.answered(what)
        shown = real_run.real(name, kafka=release, live=False)
        assert shown.both.lines == both.lines
        assert shown.runs[1].rows() == Run(both.kafka).rows()
        turns = len(recordings_of(name)[patch].leaders) if what.judges.leads else 0
        assert shown.both.turns == both.turns == turns


@long(test_what_is_shipped_is_what_the_live_path_makes_of_the_answers)
@pytest.mark.parametrize("name", TOLD)
def test_all_that_is_shipped_is_what_the_live_path_makes_of_the_answers(name: str) -> None:
    again = dict(shipped.play_columns(name, release) for release in LAST_PATCH)
    assert real_run.shipped_columns()[name] == again


def test_a_play_with_other_moves_is_not_shown_as_recorded() -> None:
    kept = real_run.shipped_columns()["last-replica"]["3.4.1"].columns["both"]
    what = chosen("kafka-14139", "3.4", "both")
    with pytest.raises(deciding.StaleRecordingError, match="other moves than were recorded"):
        real_run.columns_of(what, kept)


def test_every_recording_is_of_a_play_that_comes_with_kiplab() -> None:
    assert {path.name.removesuffix(SUFFIX) for path in FOLDER.iterdir()} <= set(TOLD)


@pytest.mark.parametrize("release", LAST_PATCH)
def test_kafka_14139_is_lost_before_3_5_and_refused_from_then_on(release: str) -> None:
    run = recorded("kafka-14139", release)
    lost = run.both.kafka.features.code_of(-10) < (3, 5)  # type: ignore[arg-type]
    assert run.verdict == dict.fromkeys(("engine", "kafka"), "loss" if lost else "safe")
    assert ("INELIGIBLE_REPLICA" in str(run.report()["lines"])) is not lost


def test_recordings_are_small() -> None:
    assert real_run.RECORDED_COLUMNS.stat().st_size < BYTES_MAX
    assert max(path.stat().st_size for path in FOLDER.iterdir()) < BYTES_MAX


def test_a_play_that_asks_otherwise_is_not_answered_by_an_old_recording() -> None:
    recording = recordings_of("kafka-14139")["3.4.1"]
    with pytest.raises(deciding.StaleRecordingError, match="make it anew, by "):
        two_columns.play_in_two_columns(
            library.load("last-replica"),
            parse_features("3.4"),
            lambda _: deciding.RealNodes(RecordedKafka(recording)),
        )


def test_brokers_that_are_told_otherwise_are_not_answered_by_an_old_recording() -> None:
    answers = recordings_of("kafka-14139")["3.4.1"].leaders
    with pytest.raises(deciding.StaleRecordingError, match="make it anew, by "):
        two_columns.play_in_two_columns(
            library.load("last-replica"),
            parse_features("3.4"),
            lambda start: deciding.RealNodes(None, RecordedLeaders(answers, start)),
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
    both = two_columns.play_in_two_columns(
        library.load("isr-committed"),
        parse_features(release),
        lambda start: deciding.RealNodes(None, RecordedLeaders(tuple(leaders), start)),
    )
    parted = next(line for line in both.lines if not line.agree)
    assert any("orders-0 high_watermark: Kafka has" in said for said in parted.kafka)


def _further(seen: observed_broker.SeenPartition | None) -> observed_broker.SeenPartition | None:
    return seen and replace(seen, high_watermark=seen.high_watermark + 1)


# --- asked again ----------------------------------------------------------------------------------


@live(test_what_is_shipped_is_what_the_live_path_makes_of_the_answers)
@pytest.mark.parametrize("release", LIVE)
def test_a_real_controller_says_what_is_recorded(release: str) -> None:
    with real_kafka():
        patch, answers = shipped.asked_live("kafka-14139", release)
    assert recordings_of("kafka-14139")[patch] == answers


@live(test_what_is_shipped_is_what_the_live_path_makes_of_the_answers)
@pytest.mark.parametrize("name", [name for name in KRAFT if name not in TOLD])
def test_what_is_not_recorded_cannot_be_told(name: str) -> None:
    with real_kafka(), pytest.raises(play_errors.PlayError):
        real_run.real(name, kafka="3.9", live=True)


@live(test_what_is_shipped_is_what_the_live_path_makes_of_the_answers)
@pytest.mark.parametrize("release", LIVE_LEADERS)
def test_real_brokers_hold_what_is_recorded(release: str) -> None:
    """In every play that comes with kiplab, beside what the controller has said once."""
    patch = patch_release(release)
    with real_kafka():
        leaders = LiveLeaders(release, patch)
        with leaders:
            for name in LED:
                noting, recording = Noting(), recordings_of(name)[patch]
                again(name, release, leaders, noting, recording)
                assert tuple(noting.leaders) == recording.leaders, name


def again(
    name: str, release: str, leaders: LiveLeaders, noting: Noting, recording: PlayRecording
) -> None:
    def nodes(start: Cluster) -> deciding.RealNodes:
        leaders.begin(start)
        return noting.between(start, deciding.RealNodes(RecordedKafka(recording), leaders))

    features = chosen(name, release, "both").features
    both = two_columns.play_in_two_columns(library.load(name), features, nodes)
    assert both.agree, name
