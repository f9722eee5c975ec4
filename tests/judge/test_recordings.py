"""What a controller has answered is kept, and asked again: the same turns, the same answers.

Here the engine stands for Kafka, so that no Java is needed.
"""

import lzma
from pathlib import Path

import pytest

from kiplab.protocol import facts, messages, releases
from tests.judge.kraft import kraft_judge, turns
from tests.judge.kraft.engine_in_place import EngineInPlace
from tests.judge.kraft.pairs import JudgedPair, Seed, judged_pairs, pair_named
from tests.judge.skeleton import coverage, judging, recordings, sides

PAIR = JudgedPair("3.7", "3.5-IV2")
SEEDS = (*map(Seed, range(6)), Seed(6, raises=True))
BYTES = 20
"""Of one request with its answer."""
Asked = tuple[judging.Judged, kraft_judge.KraftRecording]


@pytest.fixture(scope="module")
def asked() -> Asked:
    judged, recording = kraft_judge.judge_with(EngineInPlace(PAIR.features), PAIR, "3.7.2", SEEDS)
    assert judged.live
    assert not judged.differences
    return judged, recording


@pytest.fixture
def recording(asked: Asked) -> kraft_judge.KraftRecording:
    return asked[1]


def test_a_recording_is_asked_the_same_and_tries_the_same(asked: Asked, tmp_path: Path) -> None:
    live, recording = asked
    file = recordings.save(str(PAIR), recording, tmp_path)
    assert recordings.names_in(tmp_path) == ("3.7_3.5-IV2",)
    kept = kraft_judge.load(PAIR, tmp_path)
    assert (kept.head.kafka, kept.head.requests) == ("3.7.2", 60 * len(SEEDS))
    assert file.stat().st_size < BYTES * kept.head.requests
    again = kraft_judge.judge_recording(PAIR, kept)
    assert again.source == "recorded 3.7.2"
    assert (again.turns, again.conversations) == (60 * len(SEEDS), len(SEEDS))
    assert not again.differences
    assert again.hits == live.hits


def test_generated_conversations_ask_every_kind_and_meet_the_errors_of_each(asked: Asked) -> None:
    judged, recording = asked
    errors = {rule.name for rule in judged.hits if rule.family == coverage.ERROR}
    assert errors >= {
        *("STALE_BROKER_EPOCH", "FENCED_LEADER_EPOCH", "INELIGIBLE_REPLICA", "INVALID_REQUEST"),
        *("INVALID_UPDATE_VERSION", "NOT_CONTROLLER", "OPERATION_NOT_ATTEMPTED"),
        *("ELECTION_NOT_NEEDED", "UNKNOWN_TOPIC_OR_PARTITION", "DUPLICATE_BROKER_REGISTRATION"),
    }
    again, _ = kraft_judge.judge_with(EngineInPlace(PAIR.features), PAIR, "3.7.2", SEEDS)
    assert again.hits == judged.hits, "equal seeds give equal conversations"
    assert len(set(map(str, recording.lines))) == len(SEEDS)


@pytest.mark.parametrize(
    ("rules", "places"),
    [([], ()), ([{"a"}, {"a", "b"}], (1,)), ([{"a"}, {"b"}, {"a", "b", "c"}, {"d"}], (2, 3))],
)
def test_the_fewest_that_cover(rules: list[set[str]], places: tuple[int, ...]) -> None:
    assert recordings.covering(rules) == places


@pytest.mark.parametrize("content", [None, b"no xz", lzma.compress(b"{}"), lzma.compress(b"")])
def test_a_recording_that_is_not_there_or_none_says_what_writes_it(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        recordings.file_of(str(PAIR), tmp_path).write_bytes(content)
    with pytest.raises(recordings.NoRecordingError, match="`make judge-record` writes it"):
        kraft_judge.load(PAIR, tmp_path)


def test_every_release_is_judged_at_its_newest_version_and_at_two_older_ones() -> None:
    by_release: dict[str, list[JudgedPair]] = {}
    for pair in judged_pairs():
        if not pair.elr:
            by_release.setdefault(pair.release, []).append(pair)
    assert set(by_release) == set(releases.of_mode(releases.Mode.KRAFT))
    assert {r: len(pairs) for r, pairs in by_release.items() if len(pairs) != 3} == {"3.2": 1}
    assert all(pairs[0].is_newest for pairs in by_release.values())
    assert JudgedPair("3.7", "3.5-IV2") in judged_pairs()
    having = {pair.release: pair.is_newest for pair in judged_pairs() if pair.elr}
    assert having == dict.fromkeys(("4.0", "4.1", "4.2", "4.3"), True)


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("3.7", JudgedPair("3.7", "3.7-IV4")),
        ("3.9/3.5-IV2", JudgedPair("3.9", "3.5-IV2")),
        ("4.3+elr", JudgedPair("4.3", "4.3-IV0", elr=1)),
    ],
)
def test_a_pair_is_named_as_on_the_command_line(name: str, pair: JudgedPair) -> None:
    assert pair_named(name) == pair
    assert pair_named(str(pair)) == pair


def record(offset: int, name: str, text: str) -> facts.RecordWritten:
    return facts.RecordWritten(offset=offset, record=name, text=text, version=0)


def answered(*records: facts.RecordWritten, is_fenced: bool = False) -> turns.Answer:
    return turns.Answer(messages.BrokerHeartbeatResponse(is_fenced=is_fenced), records)


def test_an_answer_parts_by_its_fields() -> None:
    assert turns.partings(answered(), answered()) == ()
    found = turns.partings(answered(is_fenced=True), answered())
    assert found == (sides.Parting("is_fenced", "True", "False"),)
    assert str(found[0]) == "is_fenced: Kafka has True, the engine False"


def test_changes_of_several_partitions_are_equal_in_any_order() -> None:
    change, fence = "PartitionChangeRecord", "FenceBrokerRecord"
    one = answered(record(5, change, "a"), record(6, change, "b"), record(7, fence, "c"))
    other = answered(record(5, change, "b"), record(6, change, "a"), record(7, fence, "c"))
    assert turns.partings(one, other) == ()


def test_other_records_part_by_order_offset_and_text() -> None:
    fence = "FenceBrokerRecord"
    one = answered(record(5, fence, "a"), record(6, fence, "b"))
    assert turns.partings(one, answered(record(5, fence, "b"), record(6, fence, "a")))
    assert turns.partings(one, answered(record(5, fence, "a"), record(7, fence, "b")))
    (missing,) = turns.partings(one, answered())
    assert missing == sides.Parting("records", "@5 v0 a; @6 v0 b", "none")
