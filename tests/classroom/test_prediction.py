"""A prediction, or a what-if, is kept at once, cannot be changed, and is there after a restart."""

import json
import re
from pathlib import Path

import pytest

import kiplab
from kiplab.classroom import Prediction, after, what_if, work_on_disk
from kiplab.classroom.exercise_table import ALL_WHAT_IFS, EXERCISES, WAYS, WHAT_IFS, exercise

CHOICES = ("It refuses.", "It accepts, and that is fine.", "It accepts, and data is lost.")


def ask() -> Prediction:
    """The question as a fresh kernel asks it."""
    return kiplab.predict("late-request", "What does the controller do?", CHOICES)


def test_a_locked_prediction_is_on_disk_at_once(work_file: Path) -> None:
    question = ask()
    question.choices.value = CHOICES[0]
    assert not work_file.exists()
    question.lock_button.click()
    kept = json.loads(work_file.read_text())
    assert kept["predictions"] == {"late-request": CHOICES[0]}
    assert kept["at"] == {"late-request": work_on_disk.now()}
    assert kept["version"] == kiplab.__version__
    assert list(work_file.parent.iterdir()) == [work_file]


def test_nothing_can_be_locked_before_something_is_chosen() -> None:
    question = ask()
    assert question.lock_button.disabled
    assert question.lock_button.tooltip == "Choose an answer first"
    question.choices.value = CHOICES[1]
    assert not question.lock_button.disabled


def test_a_locked_prediction_cannot_be_changed() -> None:
    question = ask()
    question.lock(CHOICES[0])
    assert question.choices.disabled
    assert question.lock_button.disabled
    question.lock(CHOICES[2])
    assert question.answer == CHOICES[0]
    assert "is locked" in question.state.value


def test_it_is_there_again_after_a_restart() -> None:
    ask().lock(CHOICES[2])
    again = ask()
    assert (again.answer, again.choices.value) == (CHOICES[2], CHOICES[2])
    assert again.choices.disabled


def test_a_choice_that_a_later_lab_no_longer_offers_stays_locked() -> None:
    ask().lock(CHOICES[0])
    again = kiplab.predict("late-request", "What does it do?", ["Something else."])
    assert again.locked
    assert CHOICES[0] in again.state.value


def test_what_waits_for_it_happens_once() -> None:
    question, done = ask(), []
    question.when_locked(lambda: done.append("then"))
    assert done == []
    question.lock(CHOICES[0])
    question.when_locked(lambda: done.append("at once"))
    question.lock(CHOICES[0])
    assert done == ["then", "at once"]


def test_beside_a_run_it_says_both_once_there_is_both() -> None:
    question, run = ask(), kiplab.run("kafka-14139", kafka="3.5")
    shown = question.beside(run)
    assert "lock in your prediction above" in shown.words.value
    assert "lock in your prediction above" in shown._repr_mimebundle_()["text/plain"]
    question.lock(CHOICES[2])
    for said in (CHOICES[2], run.sentence, "INELIGIBLE_REPLICA"):
        assert said in shown.words.value
        assert said in repr(shown)


@pytest.mark.parametrize(
    ("place", "heads"),
    [(2, ["✓ As you said"]), (0, ["✗ Not this time. You said", "What comes true"])],
)
def test_beside_a_run_it_is_compared(place: int, heads: list[str]) -> None:
    question = kiplab.predict("start/slow-request")
    question.lock(exercise("start/slow-request").choices[place])
    *compared, run = question.beside(kiplab.run("timeline-first")).cells
    assert [head for head, _ in compared] == heads
    assert run[0] == "The run says"
    assert {text for _, text in compared} == {question.answer, question.comes_true}


def test_what_is_refused_more_than_once_is_said_once() -> None:
    question = ask()
    question.lock(CHOICES[0])
    shown = repr(question.beside(kiplab.run("380-stale-stop-replica", kafka="zk-2.2")))
    assert "refused: STALE_BROKER_EPOCH (7 times)" in shown


def test_something_that_is_no_choice_is_refused_in_words() -> None:
    question = ask()
    question.lock("Perhaps.")
    assert "not among the choices" in question.state.value
    assert not question.locked


def line_in(said: str) -> tuple[str, str]:
    """(variable, value) of the line that a message tells one to run."""
    found = re.search(r"%env (\w+)=(\S+?)(?:<|$)", said)
    assert found is not None, said
    return found[1], found[2]


def test_where_nothing_can_be_written_it_locks_for_this_session(nowhere: Path) -> None:
    question, opened = ask(), []
    question.when_locked(lambda: opened.append(True))
    question.lock(CHOICES[0])
    assert (question.answer, opened) == (CHOICES[0], [True])
    assert f"cannot be kept in {nowhere}" in question.state.value
    assert "gone when the kernel stops or starts again" in question.state.value
    assert 'role="alert"' in question.state.value
    again = ask()
    again.lock(CHOICES[2])
    assert again.answer == CHOICES[0]
    assert kiplab.Lab("timeline-first", after=again).is_open


def test_the_line_that_it_names_has_it_kept(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = nowhere.parent.with_name("home")
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    question = ask()
    question.lock(CHOICES[0])
    variable, place = line_in(question.state.value)
    assert Path(place) == home / "kiplab-work.json"
    monkeypatch.setenv(variable, place)
    assert ask().state.value.count("cannot be kept") == 0
    kept_there = json.loads(Path(place).read_text())
    assert kept_there["predictions"] == {"late-request": CHOICES[0]}


def test_without_a_home_it_names_a_place_for_files_that_pass(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(nowhere))
    question = ask()
    question.lock(CHOICES[0])
    _, place = line_in(question.state.value)
    assert Path(place).parent.is_dir()


def test_what_is_locked_on_disk_counts_more_than_what_is_remembered(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask().lock(CHOICES[0])
    elsewhere = nowhere.parent.with_name("other.json")
    elsewhere.write_text(json.dumps({"predictions": {"late-request": CHOICES[2]}}))
    monkeypatch.setenv("KIPLAB_WORK", str(elsewhere))
    assert ask().answer == CHOICES[2]


def test_a_damaged_file_is_set_aside_and_not_lost(work_file: Path) -> None:
    work_file.write_text("{ half a fi")
    question = ask()
    question.lock(CHOICES[0])
    assert "kept unchanged in kiplab-work.json.damaged" in question.state.value
    assert work_file.with_name("kiplab-work.json.damaged").read_text() == "{ half a fi"
    assert ask().answer == CHOICES[0]


def test_a_notebook_without_widgets_has_the_question_in_words() -> None:
    bundle = ask()._repr_mimebundle_()
    assert "What does the controller do?" in bundle["text/plain"]
    assert len(json.dumps(bundle)) < 1_000


def test_the_right_choice_stands_at_every_place_about_as_often() -> None:
    """A fixed order for each id: no pattern, and the same for everybody."""
    places: dict[int, list[int]] = {}
    for asked in EXERCISES:
        if asked.choices and asked.what_if is None:
            assert sorted(asked.offered) == sorted(asked.choices)
            place = asked.offered.index(asked.comes_true)
            places.setdefault(len(asked.choices), []).append(place)
            assert kiplab.predict(asked.id).choices.options == asked.offered
    for choices, seen in places.items():
        assert {*seen} == {*range(choices)}
        assert max(map(seen.count, seen)) <= len(seen) / 2 + 1, (choices, seen)


def test_what_is_written_is_kept_and_can_be_changed(work_file: Path) -> None:
    asked = kiplab.write("start/two-rules")
    asked.area.value = "Neither can."
    kiplab.write("start/two-rules").write("One is enough.")
    assert json.loads(work_file.read_text())["written"] == {"start/two-rules": "One is enough."}
    assert "Kept: 3 words." in kiplab.write("start/two-rules").state.value
    assert "written: 3 words" in repr(kiplab.my_work())
    with pytest.raises(ValueError, match="nothing is to be written"):
        kiplab.write("start/no-such-question")


REASON = WHAT_IFS["F"].reason


def test_it_says_nothing_before_it_is_locked() -> None:
    question = what_if("F")
    assert (question.text, question.outcome.value) == ("", "")
    assert question.choices.options == tuple(WAYS.values())


def test_its_answer_opens_with_its_own_lock_whatever_was_predicted() -> None:
    question, other = what_if("F"), what_if("B")
    question.lock(WAYS["M"])
    assert other.text == ""
    for said in (question.text, question.outcome.value):
        assert "✗ Not this time. You said" in said
        assert WAYS["M"] in said
        assert WAYS["N"] in said
        assert REASON in said
        assert said.count("cannot happen: KIP-841 refuses the join") == 2
    assert REASON in question._repr_mimebundle_()["text/plain"]


def test_after_a_restart_it_is_open_at_once() -> None:
    what_if("F").lock(WAYS["S"])
    assert REASON in what_if("F").outcome.value


def test_rates_have_their_intervals_and_times_are_seconds() -> None:
    question = what_if("G")
    question.lock(WAYS["L"])
    said, outcome, unit, before, later, *_ = question.text.splitlines()
    assert (said[0], outcome) == ("✗", f"What comes true: {WAYS['M']}")
    assert unit == "Time below min.insync.replicas, seconds per partition and year"
    assert before.startswith("min.insync.replicas=1: cannot happen: ")
    name, _, rate = later.partition(": ")
    assert name == "min.insync.replicas=2"
    seconds, low, _, high = rate.replace("(", "").replace(")", "").split()
    assert 0.1 < float(low) < float(seconds) < float(high) < 10


def test_what_waits_for_all_of_them_says_how_many_are_left() -> None:
    held = after(ALL_WHAT_IFS, "sliders")
    assert repr(held) == "This opens when you lock in your predictions, above. 8 to go."
    for id in ALL_WHAT_IFS:
        assert repr(held) != "sliders"
        work_on_disk.lock(id, WAYS["S"])
    assert repr(held) == "sliders"


def test_a_letter_of_no_what_if_is_a_sentence() -> None:
    with pytest.raises(ValueError, match="there is no what-if 'J'; there are A, B, C"):
        what_if("J")


def test_a_class_is_counted_by_what_comes_true() -> None:
    listed = {asked.id: asked for asked in EXERCISES}
    assert [listed[id].comes_true for id in ALL_WHAT_IFS] == [
        WAYS[asked.comes] for asked in WHAT_IFS.values()
    ]
