"""Lab 09: what it holds back until there is an answer, and what its searches answer."""

import pytest

import kiplab
from kiplab.classroom.exercises.proofs import charted
from kiplab.explore.search.explore_play import explore
from kiplab.plays.grammar import parse
from kiplab.protocol.guards import named
from tests.labs.running import SHUT, cells, prose, shown

LAB = "09-could-it-still-go-wrong"
EXERCISE = ("setup", "matrix", "ways", "holes-check", "holes-why")
GIVEN_AWAY = ("never needed", "of 16 sets", "suffice")


@pytest.mark.usefixtures("own_folder")
def test_the_map_comes_with_the_answer_and_nothing_counts_the_sets_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = shown(LAB, *EXERCISE)
    assert before["holes-why"]["text/plain"].startswith(SHUT)
    told = f"{before}{capsys.readouterr().out}"
    assert [word for word in GIVEN_AWAY if word in told] == []
    shown(LAB, *EXERCISE, solved=True)
    opened = capsys.readouterr().out  # the map displays itself
    assert [word for word in GIVEN_AWAY if word not in opened] == []


RULE = "497.pending-outlives-metadata"


def test_its_own_words_and_code_do_not_name_the_rule_that_lab_11_asks_for() -> None:
    assert RULE not in "\n".join((prose(LAB), *cells(LAB, "code").values()))
    code = "\n".join(cells(LAB, "code").values())
    assert 'rule = "497.specified"' in code
    assert "\nproof =" not in f"\n{code}"
    assert named("497.specified") == (RULE,)


NOBODY_FAILS = """
kafka    3.5
broker   1 epoch=101
broker   2 epoch=102
broker   3 epoch=103
topic    orders replicas=1,2,3 isr=1 leader=1 leader-epoch=1 partition-epoch=1 log=empty
"""


def test_the_old_race_is_found_in_six_steps_and_proved_closed() -> None:
    old, new = (
        explore("kafka-14139", kafka=kafka, writes=0, crashes=1) for kafka in ("3.4", "3.5")
    )
    assert (old.verdict, old.steps) == ("refuted", 6)
    assert (new.verdict, new.states) == ("proved", 167)


def test_every_order_refutes_kafka_35_in_14_steps_without_a_refusal() -> None:
    found = explore("isr-two-of-three", kafka="3.5", writes=1, crashes=1)
    assert (found.verdict, found.steps) == ("refuted", 14)
    assert found.violated == "electable-holds-committed"
    assert found.play is not None
    assert found.text()
    outdated = found.text().count("  # a newer image is on its way")
    assert found.text().count("\ndrop ") == outdated == 2
    run = kiplab.run(found.play)
    assert (run.verdict, run.refusals) == ("harm", [])


def test_without_a_crash_two_in_the_isr_are_safe_and_one_is_not_in_eight_steps() -> None:
    calm = parse(NOBODY_FAILS, "nobody-fails")
    two, one = (explore(play, kafka="3.5", crashes=0) for play in ("isr-two-of-three", calm))
    assert (two.verdict, one.verdict, one.steps) == ("proved", "refuted", 8)
    assert one.play is not None
    assert kiplab.run(one.play).verdict == "harm"
    assert kiplab.run(one.play, on=RULE).verdict == "safe"


def test_as_specified_both_situations_are_proved_and_no_release_has_the_rule() -> None:
    proof = explore("isr-two-of-three", kafka="3.5", on=RULE, writes=1, crashes=1)
    assert (proof.verdict, proof.states) == ("proved", 7_791)
    calm = parse(NOBODY_FAILS, "nobody-fails")
    assert explore(calm, crashes=0, on=RULE).verdict == "proved"
    assert next(g for g in kiplab.guards() if g.id == RULE).releases == ()


def test_a_proof_with_nothing_committed_is_empty_and_a_cut_search_is_unfinished() -> None:
    nothing = explore("isr-two-of-three", kafka="3.5", on=RULE, writes=0)
    assert (nothing.verdict, nothing.vacuity.committed) == ("proved", False)
    part = explore("isr-two-of-three", kafka="3.5", on=RULE, crashes=2, states=20_000)
    assert part.verdict == "unfinished"


def test_the_matrix_says_which_rules_are_enough_and_which_is_never_needed() -> None:
    chart = charted()
    found = (chart.cell().verdict, chart.cell("841").steps, chart.cell("903").steps)
    assert found == ("proved", 6, 6)
    assert chart.minimal == [["841", "903", "497.maximal-isr"]]
    assert chart.redundant == ["497.partition-epoch"]


def test_the_images_that_it_calls_skipped_are_those_that_are_dropped() -> None:
    found = explore("isr-two-of-three", kafka="3.5", writes=1, crashes=1)
    assert found.play is not None
    dropped = [
        line.split()[0] for line in kiplab.run(found.play).text().splitlines() if " drop " in line
    ]
    assert dropped == ["8", "9"]
    linked = f"[Steps 8](#{found.play.name}-step-8) and [9](#{found.play.name}-step-9)"
    assert f"{linked} are `drop metadata`" in prose(LAB)
