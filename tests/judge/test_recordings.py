"""What a controller has said is kept, and asked again: the same questions, the same answers.

Here the engine stands for Kafka, so that no Java is needed.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest
from msgspec.structs import replace

from kiplab.judge.corpus.answer_rows import answer_of_row, row_of
from kiplab.judge.corpus.generator_mark import generator_mark, mark_of
from kiplab.judge.corpus.judged_pairs import JudgedPair, judged_pairs, pair_named
from kiplab.judge.corpus.judging import (
    AnotherGeneratorError,
    Seed,
    judge_recorded,
    judge_with,
    seeds_for,
)
from kiplab.judge.corpus.recordings import (
    NoRecordingError,
    Recording,
    load,
    recorded_pairs,
    save,
)
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.features import switched
from kiplab.protocol.ids import BrokerEpoch, BrokerId
from kiplab.protocol.messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    AlterPartitionResult,
    ElectLeadersRequest,
    ElectLeadersResponse,
    Request,
    Response,
)
from kiplab.protocol.releases import Mode, of_mode
from tests.judge.engine_side import EngineSide

PAIR = JudgedPair("3.7", "3.5-IV2")
SEEDS = (*map(Seed, range(6)), Seed(6, raises=True))


@pytest.fixture(scope="module")
def recording() -> Recording:
    judged, recording = judge_with(EngineSide(PAIR.features), PAIR, "3.7.2", SEEDS)
    assert judged.live
    assert not judged.differences
    return recording


def test_a_recording_says_where_it_came_from(recording: Recording) -> None:
    head = recording.head
    assert (head.kafka, head.pair, head.first_seed, head.questions) == ("3.7.2", PAIR, 0, 60)
    assert head.requests == 60 * len(SEEDS)
    assert head.generator == generator_mark()


def test_a_recording_is_asked_the_same_and_tries_the_same(
    recording: Recording, tmp_path: Path
) -> None:
    live, _ = judge_with(EngineSide(PAIR.features), PAIR, "3.7.2", SEEDS)
    save(recording, tmp_path)
    judged = judge_recorded(PAIR, tmp_path)
    assert judged.source == "recorded 3.7.2"
    assert (judged.requests, judged.conversations) == (60 * len(SEEDS), len(SEEDS))
    assert not judged.differences
    assert judged.coverage.hits == live.coverage.hits


def test_what_is_kept_is_small(recording: Recording, tmp_path: Path) -> None:
    file = save(recording, tmp_path)
    assert file.stat().st_size < 16 * recording.head.requests
    assert recorded_pairs(tmp_path) == (PAIR,)
    assert load(PAIR, tmp_path).head == recording.head


def test_an_engine_without_a_rule_parts_from_what_was_recorded(
    recording: Recording, tmp_path: Path
) -> None:
    save(recording, tmp_path)
    judged = judge_recorded(
        PAIR, tmp_path, switch=lambda features: switched(features, "631.heartbeat-epoch", False)
    )
    assert judged.differences
    assert "STALE_BROKER_EPOCH" in str(judged.differences[0].told.last)


# --- other questions ------------------------------------------------------------------------------


def asked_otherwise(recording: Recording, generator: str) -> Recording:
    """As if another question had been asked in the middle of the first conversation."""
    first, *others = recording.conversations
    asked = [n for n, entry in enumerate(first.entries) if isinstance(entry[0], int)][30]
    byte, *said = first.entries[asked]
    entries = [*first.entries]
    entries[asked] = [byte ^ 1, *said]
    head = replace(recording.head, generator=generator)
    return Recording(head, (replace(first, entries=entries), *others))


def test_another_generator_is_called_that_and_no_difference(
    recording: Recording, tmp_path: Path
) -> None:
    save(asked_otherwise(recording, generator="00000000"), tmp_path)
    with pytest.raises(AnotherGeneratorError) as told:
        judge_recorded(PAIR, tmp_path)
    assert str(told.value) == (
        "Kafka 3.7/3.5-IV2 was recorded by another generator: `make judge-record` asks it anew."
    )


def test_another_generator_that_asks_the_same_does_no_harm(
    recording: Recording, tmp_path: Path
) -> None:
    head = replace(recording.head, generator="00000000")
    save(Recording(head, recording.conversations), tmp_path)
    assert not judge_recorded(PAIR, tmp_path).differences


def test_an_engine_that_holds_something_else_for_true_is_a_difference(
    recording: Recording, tmp_path: Path
) -> None:
    save(asked_otherwise(recording, generator=generator_mark()), tmp_path)
    (found,) = judge_recorded(PAIR, tmp_path).differences
    assert found.told.seed == 0
    assert found.other_state.startswith("it was not asked ")


def test_a_conversation_that_goes_on_where_the_recording_ends_is_a_difference(
    recording: Recording, tmp_path: Path
) -> None:
    first, *others = recording.conversations
    cut = replace(first, entries=first.entries[:40])
    save(Recording(recording.head, (cut, *others)), tmp_path)
    (found,) = judge_recorded(PAIR, tmp_path).differences
    assert found.other_state.startswith("it was over before ")


@pytest.mark.parametrize("content", [None, b"no xz", lzma.compress(b"{}"), lzma.compress(b"")])
def test_a_recording_that_is_not_there_or_none_says_what_writes_it(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "3.7_3.5-IV2.xz").write_bytes(content)
    with pytest.raises(NoRecordingError, match="`make judge-record` writes it"):
        load(PAIR, tmp_path)


# --- the mark -------------------------------------------------------------------------------------

SOURCE = '''
def roll(dice):
    """Docstring."""
    return dice.random() < 0.5  # half of the time
'''


def test_comments_and_docstrings_make_no_other_generator() -> None:
    bare = "def roll(dice):\n  return dice.random() \\\n    < 0.5\n"
    assert mark_of([SOURCE]) == mark_of([bare])


@pytest.mark.parametrize(("one", "other"), [("0.5", "0.6"), ("roll", "throw"), ("<", ">")])
def test_other_code_makes_another_generator(one: str, other: str) -> None:
    assert mark_of([SOURCE]) != mark_of([SOURCE.replace(one, other)])


# --- rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (
            AlterPartitionRequest(
                version=3, broker=BrokerId(1), broker_epoch=BrokerEpoch(7), items=()
            ),
            AlterPartitionResponse(
                version=3,
                results=(
                    AlterPartitionResult("a-0", isr=(BrokerId(1),)),
                    AlterPartitionResult("a-1", KafkaError.INVALID_REQUEST),
                ),
            ),
        ),
        (
            ElectLeadersRequest(unclean=True, partitions=None),
            ElectLeadersResponse(results=(("a-0", KafkaError.ELECTION_NOT_NEEDED),)),
        ),
    ],
)
def test_an_answer_is_read_back_from_its_row(request_: Request, answer: Response) -> None:
    assert answer_of_row(request_, row_of(answer)) == answer


# --- pairs ----------------------------------------------------------------------------------------


def test_every_release_is_judged_at_its_newest_version_and_at_two_older_ones() -> None:
    by_release: dict[str, list[JudgedPair]] = {}
    for pair in judged_pairs():
        by_release.setdefault(pair.release, []).append(pair)
    assert set(by_release) == set(of_mode(Mode.KRAFT))
    assert {release: len(pairs) for release, pairs in by_release.items() if len(pairs) != 3} == {
        "3.2": 1
    }
    assert all(pairs[0].is_newest for pairs in by_release.values())
    assert JudgedPair("3.7", "3.5-IV2") in judged_pairs()


@pytest.mark.parametrize(
    ("name", "pair"), [("3.7", ("3.7", "3.7-IV4")), ("3.9/3.5-IV2", ("3.9", "3.5-IV2"))]
)
def test_a_pair_is_named_as_on_the_command_line(name: str, pair: tuple[str, str]) -> None:
    assert pair_named(name) == JudgedPair(*pair)


def test_every_pair_is_asked_seven_thousand_times() -> None:
    assert min(60 * len(seeds_for(pair)) for pair in judged_pairs()) >= 7_000
