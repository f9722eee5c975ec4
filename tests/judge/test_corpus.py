"""The engine and the recorded corpus: real controllers of every release have answered all of it,
and it tries every rule. It needs no Java.
"""

from functools import cache

import pytest

from kiplab.judge.partition.partition_process import partition_releases
from kiplab.protocol.releases import RELEASES, Mode, of_mode
from tests.fidelity import held_vectors
from tests.fidelity.page import PAGE, page, with_numbers
from tests.judge.kafka_here import long
from tests.judge.kraft.kraft_judge import RECORDINGS, KraftJudge, judge_recording, load
from tests.judge.kraft.pairs import JudgedPair, judged_pairs, pair_named
from tests.judge.kraft.rules import RECORD, TRANSITION, UNREACHABLE, Unreachable, rules_of
from tests.judge.partition.partition_judge import judge_recording as judge_partition_recording
from tests.judge.skeleton import coverage, judging, recordings
from tests.made_pages import README, holds_as_made
from tests.protocol.looked_at import all_vectors

REQUESTS = 7_000
TEST = "tests/judge/test_corpus.py"
RECORDED = tuple(pair_named(name.replace("_", "/")) for name in recordings.names_in(RECORDINGS))


@cache
def every(pair: JudgedPair) -> judging.Judged:
    """All conversations of a recording, asked once."""
    return judge_recording(pair, load(pair))


@cache
def few(pair: JudgedPair) -> judging.Judged:
    """The conversations that stand for all of a recording, asked once."""
    recording = load(pair)
    return judge_recording(pair, recording, recording.head.covering)


def test_every_pair_is_recorded() -> None:
    missing = sorted(set(judged_pairs()) - set(RECORDED))
    assert not missing, f"`make judge-record PAIRS='{' '.join(map(str, missing))}'` records them"
    other = sorted(set(RECORDED) - set(judged_pairs()))
    assert not other, f"nobody judges these any more, delete them: {other}"


@pytest.mark.parametrize("pair", RECORDED, ids=str)
def test_the_engine_answers_what_kafka_answered_in_few_conversations(pair: JudgedPair) -> None:
    judged = few(pair)
    assert not judged.differences, f"{judged.source}\n" + "\n".join(judged.differences)


def test_every_rule_that_a_release_has_is_tried_in_few_conversations() -> None:
    tried = judging.Tried(KraftJudge(), map(few, RECORDED))
    untried = [
        f"{release}: {rule}"
        for release, rules in tried.rules.items()
        for rule in rules
        if not tried.hits[release][rule] and tried.why(rule, release) is None
    ]
    assert not untried


@long(test_the_engine_answers_what_kafka_answered_in_few_conversations)
@pytest.mark.parametrize("pair", RECORDED, ids=str)
def test_the_engine_answers_what_kafka_answered(pair: JudgedPair) -> None:
    judged = every(pair)
    assert not judged.differences, f"{judged.source}\n" + "\n".join(judged.differences)
    assert judged.turns >= REQUESTS


@long(test_every_rule_that_a_release_has_is_tried_in_few_conversations)
def test_every_rule_that_a_release_has_was_tried() -> None:
    untried = list(judging.untried_lines(KraftJudge(), [every(pair) for pair in RECORDED]))
    assert not untried, "\n".join(untried)


@pytest.mark.parametrize("named", UNREACHABLE, ids=lambda named: str(named.rule))
def test_what_is_named_as_unreachable_is_a_rule_somewhere(named: Unreachable) -> None:
    where = [pair for pair in RECORDED if named.where(RELEASES[pair.release], pair)]
    assert where, "it is nowhere"
    assert not [str(pair) for pair in where if few(pair).hits[named.rule]], "it can be reached"
    assert any(named.rule in rules_of(pair.release) for pair in RECORDED), "there is no such rule"
    assert named.why.endswith(".")


@long(test_what_is_named_as_unreachable_is_a_rule_somewhere)
@pytest.mark.parametrize("named", UNREACHABLE, ids=lambda named: str(named.rule))
def test_what_is_named_as_unreachable_is_not_reached(named: Unreachable) -> None:
    reached = [
        str(pair)
        for pair in RECORDED
        if named.where(RELEASES[pair.release], pair) and every(pair).hits[named.rule]
    ]
    assert not reached, "it can be reached: take it out of the table"


def test_every_family_of_rules_is_read_off_the_engine() -> None:
    for release in of_mode(Mode.KRAFT):
        families = {rule.family for rule in rules_of(release)}
        assert families == {coverage.GUARD, coverage.ERROR, RECORD, TRANSITION}


def test_the_page_and_the_readme_count_the_requests_of_the_recordings() -> None:
    requests = f"{sum(load(pair).head.requests for pair in RECORDED):,}"
    assert f"**{requests} requests**" in PAGE.read_text(encoding="utf-8")
    assert f"{requests} generated requests" in README.read_text(encoding="utf-8")


@long(test_the_page_and_the_readme_count_the_requests_of_the_recordings)
def test_the_page_and_the_readme_say_what_the_recordings_come_to(rewrite: bool) -> None:
    vectors = held_vectors.listed()
    partitions = [judge_partition_recording(r) for r in partition_releases()]
    judged = [every(pair) for pair in RECORDED]
    rules = held_vectors.rule_rows(all_vectors(), [vector.id for vector in vectors])
    expected = page(judged, partitions, rules, vectors, held_vectors.held())
    readme = with_numbers(README.read_text(encoding="utf-8"), judged, partitions)
    holds_as_made(PAGE, expected, TEST, rewrite=rewrite)
    holds_as_made(README, readme, TEST, rewrite=rewrite)
