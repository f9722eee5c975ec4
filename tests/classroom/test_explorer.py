"""The exercises of lab 09: missing rules, what a proof says, holes, and the shortest loss."""

import pytest

import kiplab
from kiplab.classroom.exercise_table import exercise
from kiplab.classroom.exercises import losing_schedule, proofs
from kiplab.classroom.exercises.check_result import PlainTexts, broken, say
from kiplab.classroom.exercises.proofs import MISSING, SUSPECTS, mystery
from kiplab.engine.cluster import Cluster
from kiplab.engine.truth import truth
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.matrix.guard_matrix import PENDING
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.registrations import registration
from tests.classroom.answers import judged


@pytest.mark.parametrize("cluster", MISSING)
def test_each_cluster_lacks_the_rule_that_the_explorer_says(cluster: str) -> None:
    found = kiplab.explore("kafka-14139", kafka="3.5", on=PENDING, off=MISSING[cluster])
    assert mystery(cluster).explore().steps == found.steps
    assert found.verdict == "refuted"


def test_no_two_suspects_but_the_two_kips_can_be_mistaken_by_their_steps() -> None:
    found = {
        off: kiplab.explore("kafka-14139", kafka="3.5", on=PENDING, off=off).steps
        for off in SUSPECTS
    }
    assert found == {
        "841": 6,
        "903": 6,
        "497.partition-epoch": None,
        "497.maximal-isr": 3,
        "kafka-7128.epoch-start": None,
        "631.one-live-incarnation": 4,
    }


@pytest.mark.parametrize("cluster", MISSING)
def test_a_clue_does_not_name_the_rule(cluster: str) -> None:
    for bounds in ({}, {"writes": 0}, {"crashes": 0}):
        said = repr(mystery(cluster).explore(**bounds))
        assert "Kafka 3.5, one rule missing, level partition" in said
        assert MISSING[cluster] not in said
        assert PENDING not in said


def test_a_clue_has_the_story_or_the_proof() -> None:
    assert "ISR of orders-0 {1} -> {1, 2}" in mystery("a").explore().story
    nothing = mystery("A").explore(writes=0)
    assert (nothing.steps, nothing.story) == (None, "")
    assert "Proved for these bounds" in repr(nothing)


@pytest.mark.parametrize("cluster", ["D", "", "841", "AB"])
def test_there_are_three_clusters(cluster: str) -> None:
    with pytest.raises(ExploreError, match="the clusters are A, B, C"):
        mystery(cluster)


def test_an_unknown_bound_is_named_with_those_that_there_are() -> None:
    with pytest.raises(ExploreError, match="it has writes"):
        mystery("A").explore(rain=1)


def test_every_idea_is_about_a_cluster_and_a_suspect_that_is_wrong_there() -> None:
    for key in {*exercise("explorer/missing-guard").ideas} - {"other"}:
        cluster, suspect = key.split()
        assert suspect in SUSPECTS
        assert MISSING[cluster] != suspect


def test_the_proof_supports_three_of_seven() -> None:
    assert proofs.check_proof.true() == ["A", "D", "G"]
    assert proofs.proof().verdict == "proved"
    assert "497.partition-epoch" in proofs.proof().vacuity.silent
    assert "nothing was ever committed" in proofs.proof(writes=0).vacuity.sentence


def accepted(off: str) -> Cluster:
    """The cluster in which the request was accepted, on the shortest way without one guard."""
    play = proofs.charted().cell(off).play
    assert play is not None
    steps = kiplab.run(play).stage.history.steps
    return next(s.cluster for s in steps if truth(s.cluster).partitions[0].partition_epoch > 10)


def test_the_holes_are_those_of_the_shortest_ways() -> None:
    fenced, returned = (
        registration(truth(accepted(off)).registrations, BrokerId(2)) for off in ("841", "903")
    )
    assert fenced is not None
    assert returned is not None
    assert (fenced.fenced, fenced.epoch) == (True, 41)
    assert (returned.fenced, returned.epoch) == (False, 57)
    assert proofs.truth() == ("F", "R", "497.partition-epoch", "2")


def test_the_explorers_way_is_seven_events() -> None:
    assert losing_schedule.shortest() == 7
    assert losing_schedule.explored().steps == 8


def test_what_the_minimiser_leaves_of_the_play_is_as_short() -> None:
    left = kiplab.minimise("kafka-14139").play
    assert judged("explorer/shorter", kiplab.run(left)).right


def test_the_play_to_its_end_is_long() -> None:
    found = judged("explorer/shorter", kiplab.Lab("kafka-14139"))
    assert (found.points, found.message) == (1, "Lost in 11 events. There is a way in 7.")
    assert found.misconception == "records are lost when the last copy is thrown away"


def test_a_line_breaks_between_words_and_keeps_its_indent(
    capsys: pytest.CaptureFixture[str],
) -> None:
    story = f"  1  fetch 2\n     · {'level-headed words ' * 8}"
    lines = broken(story).splitlines()
    assert lines[0] == "  1  fetch 2"
    assert all(len(line) <= 96 for line in lines)
    assert all(line.startswith(" " * 7) and line[7] != " " for line in lines[2:])
    assert " ".join(" ".join(lines).split()) == " ".join(story.split())
    say("one", "", "two")
    assert capsys.readouterr().out == "one\n\ntwo\n"


def test_of_a_long_text_a_notebook_shows_the_first_line_and_folds_the_rest() -> None:
    shown = PlainTexts(("Proved.", "Refuted <1>\n\n  1  crash 2"))._repr_html_()
    assert shown == (
        "<p>Proved.</p><details><summary>Refuted &lt;1&gt;</summary>"
        "<pre>\n  1  crash 2</pre></details>"
    )
