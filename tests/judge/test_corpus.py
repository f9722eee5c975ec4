"""The engine and the recorded corpus: real controllers of every release have answered all of it,
and it tries every rule. It needs no Java.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kiplab.judge.corpus.controller_rules import Family, rules_of
from kiplab.judge.corpus.judge_report import difference_text, untried
from kiplab.judge.corpus.judged_pairs import JudgedPair, judged_pairs
from kiplab.judge.corpus.judging import Judged, judge_recorded
from kiplab.judge.corpus.recordings import load, recorded_pairs
from kiplab.judge.corpus.unreachable_rules import UNREACHABLE, Unreachable
from kiplab.judge.partition.partition_judging import judge_partition_recorded, partition_releases
from kiplab.protocol.releases import RELEASES, Mode, of_mode
from tests.fidelity.held_vectors import held, listed
from tests.fidelity.page import PAGE, page, with_numbers
from tests.fidelity.real_requests import judged_before
from tests.fidelity.rule_rows import rule_rows
from tests.made_pages import README, holds_as_made
from tests.protocol.looked_at import all_vectors

RECORDINGS = Path(__file__).parent / "recordings"
OF_THE_PARTITION = RECORDINGS.with_name("partition_recordings")
REQUESTS, BYTES = 7_000, 16
TEST = "tests/judge/test_corpus.py"
RECORDED = recorded_pairs(RECORDINGS)


@pytest.fixture(scope="module")
def corpus() -> dict[JudgedPair, Judged]:
    """Every recording, asked once."""
    return {pair: judge_recorded(pair, RECORDINGS) for pair in RECORDED}


def test_every_pair_is_recorded() -> None:
    missing = sorted(set(judged_pairs()) - set(RECORDED))
    assert not missing, f"`make judge-record PAIRS='{' '.join(map(str, missing))}'` records them"
    other = sorted(set(RECORDED) - set(judged_pairs()))
    assert not other, f"nobody judges these any more, delete them: {other}"


@pytest.mark.parametrize("pair", RECORDED, ids=str)
def test_the_engine_answers_what_kafka_answered(
    corpus: dict[JudgedPair, Judged], pair: JudgedPair
) -> None:
    judged = corpus[pair]
    told = [difference_text(difference, judged.patch) for difference in judged.differences]
    assert not told, f"{judged.source}\n" + "\n".join(told)
    assert judged.requests >= REQUESTS


def test_an_answer_takes_few_bytes() -> None:
    size = sum(file.stat().st_size for file in RECORDINGS.iterdir())
    asked = sum(load(pair, RECORDINGS).head.requests for pair in RECORDED)
    assert size < BYTES * asked


def test_every_rule_that_a_release_has_was_tried(corpus: dict[JudgedPair, Judged]) -> None:
    told = list(untried(corpus.values()))
    assert not told, "\n".join(told)


def reached(corpus: dict[JudgedPair, Judged], named: Unreachable) -> Iterator[JudgedPair]:
    """The pairs that try what is named as unreachable with them."""
    for pair, judged in corpus.items():
        if named.where(RELEASES[pair.release], pair) and judged.coverage.hits[named.rule]:
            yield pair


@pytest.mark.parametrize("named", UNREACHABLE, ids=lambda named: str(named.rule))
def test_what_is_named_as_unreachable_is_not_reached(
    corpus: dict[JudgedPair, Judged], named: Unreachable
) -> None:
    assert not list(reached(corpus, named)), "it can be reached: take it out of the table"
    assert any(named.where(RELEASES[pair.release], pair) for pair in corpus), "it is nowhere"
    assert any(named.rule in rules_of(pair.release) for pair in corpus), "there is no such rule"
    assert named.why.endswith(".")


def test_every_family_of_rules_is_read_off_the_engine() -> None:
    for release in of_mode(Mode.KRAFT):
        assert {rule.family for rule in rules_of(release)} == set(Family)


# --- what is said of it -------------------------------------------------------------------------


def test_the_page_and_the_readme_say_what_the_recordings_come_to(
    corpus: dict[JudgedPair, Judged], rewrite: bool
) -> None:
    vectors = listed()
    partitions = [judge_partition_recorded(r, OF_THE_PARTITION) for r in partition_releases()]
    judged = judged_before(corpus.values())
    rules = rule_rows(all_vectors(), [vector.id for vector in vectors])
    expected = page(judged, partitions, rules, vectors, held())
    readme = with_numbers(README.read_text(encoding="utf-8"), judged, partitions)
    holds_as_made(PAGE, expected, TEST, rewrite=rewrite)
    holds_as_made(README, readme, TEST, rewrite=rewrite)
