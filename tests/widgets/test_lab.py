"""The Lab without a browser: buttons are pressed, and everything shown follows."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from ipywidgets.widgets.widget import _instances

import kiplab
from kiplab.figures.drawing.svg import svg
from kiplab.plays.grammar import parse
from kiplab.plays.stage import Stage
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from kiplab.widgets import view_model
from kiplab.widgets.controls.rulebook import at_release
from kiplab.widgets.elements.kinds import Player
from kiplab.widgets.elements.surface import Surface
from kiplab.widgets.lab import Lab
from tests.repeated import every_play
from tests.widgets.hands import button, fails, press, text


def words_in_figure(lab: Lab) -> str:
    """Everything written in the picture."""
    traces = lab.picture.drawing["data"]
    return " ".join(str(word) for trace in traces for word in trace.get("text") or ())


def of_broker(lab: Any, broker: int, label: str) -> Any:
    """A button of a broker."""
    return button(lab.inject.brokers[broker], label)


def reboot(lab: Lab) -> None:
    """Broker 2 loses its disk and comes back, pressed by hand."""
    lab.inject.disk.value = "replaced"
    for label in ("Crash", "Expire", "Start", "Unfence"):
        of_broker(lab, 2, label).click()


def test_step_back_first_last_and_slider_agree(lab: Lab) -> None:
    lab.transport.step.click()
    lab.transport.step.click()
    assert (lab.playback.at, lab.transport.slider.value) == (2, 2)
    lab.transport.back.click()
    assert lab.playback.at == 1
    lab.transport.slider.value = 7
    assert lab.playback.at == 7
    lab.transport.last.click()
    assert lab.playback.at == 11
    assert lab.transport.step.disabled
    lab.transport.first.click()
    assert lab.playback.at == 0


def test_a_dense_picture_offers_all_its_arrows() -> None:
    lab = Lab("hole-never-level")
    lab.seek(13)

    def arrows() -> int:
        return sum(mark[-1] is True for mark in lab.picture.drawing["layout"]["meta"]["marks"])

    few, (toggle,) = arrows(), lab.messages.box.children
    assert toggle.description == "4 messages: show"
    toggle.value = True
    assert toggle.description == "4 messages: hide"
    assert arrows() > few
    toggle.value = False
    assert arrows() == few
    assert Lab("kafka-14139").messages.box.children == ()


def test_verdict_transcript_and_picture_are_of_the_same_step(lab: Lab) -> None:
    lab.seek(6)
    assert "Step 6 of 11, request arrives" in text(lab.verdict.value)
    assert "■ harm" in text(lab.verdict.value)
    assert 'aria-current="step"' in lab.transcript.value
    assert "6 deliver alter-partition from=1" in text(lab.transcript.value)
    assert "7 crash 1" not in text(lab.transcript.value)
    assert "at risk" in words_in_figure(lab)
    lab.seek(8)
    assert "▼ loss: 100 committed records lost" in text(lab.verdict.value)
    assert "100 committed records lost" not in words_in_figure(lab), "the bar has the verdict"


def test_the_figure_is_painted_again_and_never_replaced(lab: Lab) -> None:
    figure = lab.picture
    lab.seek(5)
    lab.rulebook.kips["903"].value = True
    lab.do("crash 1")
    assert lab.picture is figure
    assert figure in lab.box.root.everything()


def test_switching_903_on_refuses_the_request_at_the_same_step(lab: Lab) -> None:
    lab.seek(6)
    lab.rulebook.kips["903"].value = True
    assert lab.playback.at == 6
    said = text(lab.verdict.value)
    assert "● safe" in said
    assert "Controller refuses alter-partition for orders-0: INELIGIBLE_REPLICA" in said
    assert "<svg" in lab.verdict.value, "the shield, as in the picture"
    assert "request 41, registered 57" in said
    assert "INELIGIBLE_REPLICA" in words_in_figure(lab)
    lab.rulebook.kips["903"].value = False
    assert "■ harm" in text(lab.verdict.value)
    assert lab.playback.features == kiplab.Lab("kafka-14139").playback.features


def test_the_release_menu_runs_the_same_lines(lab: Lab) -> None:
    lab.transport.last.click()
    verdicts = {}
    for release in ("3.2", "3.4", "3.5", "3.9"):
        lab.rulebook.release.value = release
        verdicts[release] = lab.run.verdict
    assert verdicts == {"3.2": "loss", "3.4": "loss", "3.5": "safe", "3.9": "safe"}
    lab.rulebook.own.click()
    assert lab.rulebook.release.value == "3.4"
    assert lab.rulebook.own.disabled


def test_a_single_rule_can_be_switched(lab: Lab) -> None:
    lab.rulebook.guards["841.fenced"].value = False
    assert not lab.rulebook.kips["841"].value
    lab.rulebook.kips["841"].value = True
    assert lab.rulebook.guards["841.fenced"].value


def test_a_line_that_lost_its_object_is_said_in_the_transcript(lab: Lab) -> None:
    lab.transport.last.click()
    lab.rulebook.release.value = "3.5"
    assert "not applicable under these features: fetch 1" in text(lab.transcript.value)


def test_a_reboot_made_by_hand_loses_the_data(lab: Lab) -> None:
    lab.seek(1)
    reboot(lab)
    assert [p.statement.text for p in lab.playback.whole.performed][-4:] == [
        "crash 2 disk=replaced",
        "expire 2",
        "start 2",
        "unfence 2",
    ]
    button(lab.in_flight.rows[0].main, "Deliver").click()
    of_broker(lab, 1, "Crash").click()
    of_broker(lab, 1, "Expire").click()
    assert "▼ loss: 100 committed records lost" in text(lab.verdict.value)


def test_acting_in_the_middle_says_so_and_reset_brings_the_play_back(lab: Lab) -> None:
    assert lab.transport.reset.disabled
    lab.seek(3)
    button(lab.in_flight.rows[0].main, "Deliver").click()
    assert (lab.playback.at, lab.playback.last, lab.transport.slider.max) == (4, 4, 4)
    assert "The 8 steps after step 3 are kept on the play." in text(lab.note.value)
    assert "841.fenced" in text(lab.verdict.value)
    lab.transport.reset.click()
    assert (lab.playback.at, lab.playback.last) == (0, 11)
    assert lab.transport.reset.disabled


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("start 1", "broker 1 is running already. Nothing has changed."),
        ("crash 9", "the brokers are 1, 2. Nothing has changed."),
        ("crush 1", "Unknown verb 'crush'. Did you mean 'crash'? Nothing has changed."),
        ("xyzzy 1", "Unknown verb 'xyzzy'; expected one of "),
        ("crash 1 dsk=kept", "'crash' has no 'dsk'. Did you mean 'disk'?"),
        ("", "There is no line to do"),
        ("crash 1\ncrash 2", "There is no line to do"),
        ("broker 3", "belongs to the header"),
        ("deliver fetch from=2", "no such message is in flight"),
    ],
)
def test_a_wrong_line_is_explained_and_changes_nothing(lab: Lab, line: str, reason: str) -> None:
    before = lab.playback
    lab.inject.line.value = line
    lab.inject.do.click()
    assert lab.playback is before
    assert (lab.note.value == "") is (line not in ("start 1", "deliver fetch from=2"))
    said = lab.note.value + lab.inject.answer.box.value
    assert reason in text(said).replace("&#x27;", "'")
    assert len(said) < 400, "a sentence, and no list"
    assert 'role="alert"' in said
    lab.transport.step.click()
    assert lab.note.value + lab.inject.answer.box.value == ""


def test_a_note_goes_away_with_the_next_step(lab: Lab) -> None:
    lab.do("start 1")
    lab.transport.step.click()
    assert text(lab.note.value) == ""


def test_the_run_so_far_in_words_is_worked_out_when_looked_at(lab: Lab) -> None:
    lab.seek(6)
    said = lab.telling.text
    assert said.value == ""
    lab.folds.open("This run so far, in sentences and as a table")
    assert "deliver alter-partition" in text(said.value)
    assert "<table>" in said.value
    lab.seek(2)
    assert "deliver alter-partition" not in text(said.value)


def test_the_note_and_the_transcript_are_escaped(lab: Lab) -> None:
    lab.do("<b>bold</b>")
    assert "<b>bold" not in lab.note.value
    assert "&lt;b&gt;bold" in lab.note.value


@pytest.mark.parametrize("name", every_play())
def test_every_play_opens_and_steps_to_its_end(name: str) -> None:
    lab = kiplab.Lab(name)
    for _ in range(lab.playback.last):
        lab.transport.step.click()
    assert lab.transport.step.disabled
    assert all(m.was_left_out for m in rows_of(lab.playback.whole).moments[lab.playback.at + 1 :])


def stepped_through(lab: Lab) -> set[int]:
    """The steps at which Step stops, and Back on its way to the start."""
    there, back = {0}, {lab.playback.last}
    for control, steps in ((lab.transport.step, there), (lab.transport.back, back)):
        while not control.disabled:
            control.click()
            steps.add(lab.playback.at)
    assert there == back
    return there


def test_what_is_not_applicable_is_struck_through_and_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(Surface.seen_last, "room", ())
    lab = kiplab.Lab("unclean-election")
    assert set(range(25)) - stepped_through(lab) == {17, 18}
    lab.transport.slider.value = 18
    struck = r"<s [^>]*>Step 18 of 24, \(resend: not applicable\)</s>"
    assert re.search(struck, lab.verdict.value)
    assert "<s>18 resend shop" in lab.transcript.value
    assert "<s>(finish-recovery:" in words_in_figure(lab)
    assert "line-through" in svg(lab.picture.drawing)


def test_a_run_ends_with_its_last_line_that_is_applicable(lab: Lab) -> None:
    lab.rulebook.kips["903"].value = True
    lab.transport.last.click()
    assert lab.transport.step.disabled
    assert "Step 10 of 11" in lab.verdict.value
    assert "so far" not in lab.verdict.value


def test_quiet_steps_are_one_step_however_wide_the_picture_is() -> None:
    lines = [
        "broker 1 epoch=101",
        "broker 2 epoch=102",
        "topic orders replicas=1,2 isr=1,2 leader=1",
    ]
    lines += ["produce orders-0 count=1"] * 4 + ["crash 2"]
    lab = kiplab.Lab(parse("\n".join(lines), "quiet"), width=1300)
    assert stepped_through(lab) == {0, 4, 5}
    lab.logs.value = True
    assert stepped_through(lab) == set(range(6))


def test_steps_that_the_picture_folds_are_one_step() -> None:
    wide, narrow = (kiplab.Lab("consumer-old-leader", width=width) for width in (1300, 840))
    assert stepped_through(wide) == set(range(24))
    assert set(range(24)) - stepped_through(narrow) == set(range(4, 10))
    narrow.seek(10)
    assert "Step 10 of 23, 7 quiet steps" in narrow.verdict.value
    narrow.seek(5)
    assert "Step 5 of 23" in narrow.verdict.value


def test_a_saved_notebook_stays_small(lab: Lab) -> None:
    bundle = lab._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.jupyter.widget-view+json", "text/plain"}
    assert len(json.dumps(bundle)) < 1_000


def test_every_control_has_a_word_on_it(lab: Lab) -> None:
    lab.seek(1)
    controls = [part for part in lab.box.root.everything() if hasattr(part, "description")]
    named = [part for part in controls if not isinstance(part, Player)]
    assert len(named) > 40
    assert all(control.description for control in named)


# --- branches -------------------------------------------------------------------------------------


@pytest.fixture
def forked(lab: Lab) -> Lab:
    """A branch at step 3, on which one stands."""
    lab.seek(3)
    lab.do("fail-over")
    return lab


def test_the_branch_is_named_wherever_one_stands(forked: Lab) -> None:
    assert forked.branches == ("the play", "branch 2 at step 3: fail-over")
    assert "on branch 2 at step 3: fail-over" in text(forked.verdict.value)
    forked.transport.reset.click()
    assert (forked.branch, forked.playback.at) == ("the play", 0)
    assert "on branch" not in text(forked.verdict.value)
    assert len(forked.branches) == 2


def test_undo_takes_the_last_line_back(forked: Lab) -> None:
    forked.do("crash 1")
    assert forked.transport.undo.tooltip == "Take back the last line here: crash 1"
    forked.transport.undo.click()
    forked.transport.undo.click()
    assert (forked.branches, forked.playback.at) == (("the play",), 3)
    assert forked.transport.undo.disabled
    forked.undo()
    assert "The play keeps its lines" in text(forked.note.value)


def test_branches_are_drawn_and_gone_to_by_hand(forked: Lab) -> None:
    forked.folds.open("Branches")
    part = forked.branching
    assert "└─ branch 2 at step 3: fail-over · 1 line of its own" in text(part.drawing.value)
    assert part.drawing.value.count('aria-current="true"') == 1
    assert part.go.disabled
    part.which.value = 1
    assert part.delete.tooltip == "Not now: the play stays"
    part.go.click()
    assert forked.branch == "the play"
    part.which.value = 2
    part.name.value = "a <new> controller"
    part.rename.click()
    assert forked.branches[1] == "a <new> controller"
    assert "a &lt;new&gt; controller" in part.drawing.value
    part.delete.click()
    assert forked.branches == ("the play",)


def test_a_name_that_will_not_do_is_said_beside_the_button(forked: Lab) -> None:
    forked.folds.open("Branches")
    before = forked.tree
    forked.branching.rename.click()
    assert "This is no name for a branch" in forked.branching.answer.box.value
    assert forked.tree is before


def test_rules_are_those_of_the_branch(forked: Lab) -> None:
    forked.switch("903", True)
    assert forked.rulebook.kips["903"].value
    forked.go_to("the play")
    assert not forked.rulebook.kips["903"].value
    assert forked.rulebook.own.disabled


# --- jumps ----------------------------------------------------------------------------------------


def test_jumps_lead_there_or_say_why_not(lab: Lab) -> None:
    refusal, violation, divergence = lab.jumps.buttons.values()
    assert refusal.tooltip == "Not now: nothing is refused after step 0"
    assert divergence.disabled
    violation.click()
    assert lab.playback.at == 6
    assert violation.tooltip == "Not now: this is the step: 6"
    lab.seek(0)
    lab.switch("903", True)
    assert violation.tooltip == "Not now: no property is broken in this run"
    refusal.click()
    assert lab.playback.at == 6
    lab.seek(0)
    divergence.click()
    assert lab.playback.at == 6


# --- what goes wrong inside -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("where", "presses"),
    [
        (
            "widgets.history_tree.branch_tree.act",
            lambda lab: (of_broker(lab, 1, "Crash"),),
        ),
        ("widgets.history_tree.branch_tree.seek", lambda lab: (lab.transport.step,)),
        ("widgets.history_tree.branch_tree.seek", lambda lab: (lab.transport.slider, "value", 5)),
        ("widgets.history_tree.branch_tree.rerun", lambda lab: (lab.rulebook.release, "value", 9)),
        ("engine.history.step", lambda lab: (of_broker(lab, 1, "Crash"),)),
        ("widgets.history_tree.lab_file.save", lambda lab: (lab.sharing.save,)),
        ("widgets.history_tree.branch_tree.undo", lambda lab: (lab.transport.undo,)),
    ],
)
def test_a_mistake_inside_is_said_and_changes_nothing(
    forked: Lab,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    where: str,
    presses: Callable[[Lab], tuple[Any, ...]],
) -> None:
    forked.seek(2)
    before, token = forked.tree, forked.token
    with monkeypatch.context() as broken:
        broken.setattr(f"kiplab.{where}", fails)
        press(forked, *presses(forked))
    assert forked.tree is before
    said = forked.note.value
    assert "Something went wrong inside kiplab: RuntimeError: &lt;a bug&gt;. Nothing has" in said
    assert f"report it with this token: {token}" in said
    assert 'role="alert"' in said
    assert "Traceback" in caplog.text
    assert (forked.transport.slider.value, forked.rulebook.release.value) == (2, "3.4")
    forked.transport.step.click()
    assert forked.playback.at == 3


def test_a_picture_that_cannot_be_drawn_has_not_happened(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = lab.tree
    with monkeypatch.context() as broken:
        broken.setattr("kiplab.widgets.lab.transcript", fails)
        press(lab, lab.transport.last)
    assert lab.tree is before
    assert "Something went wrong" in lab.note.value
    assert caplog.text.count("nor can the lab be shown") == 1
    lab.transport.last.click()
    assert "Step 11 of 11" in text(lab.verdict.value)


def test_in_a_cell_a_mistake_is_an_error(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    before = lab.tree
    monkeypatch.setattr("kiplab.widgets.lab.transcript", fails)
    with pytest.raises(RuntimeError):
        lab.seek(3)
    assert lab.tree is before


# --- for a long lesson ----------------------------------------------------------------------------


def test_stepping_makes_no_new_widget(lab: Lab) -> None:
    steps = range(lab.playback.last + 1)
    for at in steps:
        lab.seek(at)
    before = len(_instances)
    for at in (*steps, *steps, *steps):
        lab.seek(at)
    assert len(_instances) == before


def test_another_play_puts_controls_of_its_own_in_place_of_the_old(lab: Lab) -> None:
    old, picture = of_broker(lab, 1, "Crash"), lab.picture
    lab.load("last-replica")
    there = set(lab.box.root.everything())
    assert old not in there
    assert {of_broker(lab, 1, "Crash"), picture} < there


# --- with ZooKeeper -------------------------------------------------------------------------------


def test_a_lab_has_the_releases_and_switches_of_its_plays_mode(lab: Lab) -> None:
    before = [*lab.rulebook.kips], lab.rulebook.release.options
    lab.load("380-missed-bounce")
    assert [*lab.rulebook.kips] == ["380"]
    assert "380.control-request-epoch" in lab.rulebook.guards
    assert lab.rulebook.release.value == "zk-2.1"
    lab.rulebook.kips["380"].value = True
    assert lab.run.verdict == "safe"
    lab.load("kafka-14139")
    assert ([*lab.rulebook.kips], lab.rulebook.release.options) == before


def test_rules_that_do_not_fit_the_other_mode_are_left_out_with_a_sentence(lab: Lab) -> None:
    lab.rulebook.kips["903"].value = True
    lab.change_rules(at_release(lab.playback.features, "zk-3.4"))
    assert not lab.playback.features.overrides
    assert "switched by hand, do not fit Kafka zk-3.4, and are left out." in text(lab.note.value)
    lab.rulebook.own.click()
    assert lab.rulebook.release.value == "3.4"


def test_a_press_works_out_the_rows_of_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    lab = kiplab.Lab("kafka-14139")
    stages: list[object] = []

    def counted(stage: Stage) -> Rows:
        stages.append(stage)
        return rows_of(stage)

    monkeypatch.setattr(view_model, "rows_of", counted)
    presses: tuple[tuple[Callable[[], None], int], ...] = (
        (lambda: lab.seek(3), 0),
        (lambda: lab.do("crash 1"), 1),
        (lambda: lab.do("expire 1"), 1),
        (lab.undo, 0),
        (lab.undo, 0),
        # Under other rules it is compared with the play as it was opened.
        (lambda: lab.switch("903", True), 2),
        (lambda: lab.switch("841", True), 1),
    )
    for change, runs in presses:
        stages.clear()
        change()
        assert len(stages) == runs


# --- how much there is to press -------------------------------------------------------------------


def pressable(lab: Lab) -> list[str]:
    """The labels of the buttons that are shown."""
    described = (part.described() for part in lab.box.root.everything())
    return [
        part["description"]
        for part in described
        if part["kind"] in ("button", "toggle") and part["style"].get("display") != "none"
    ]


def test_who_steps_has_seven_buttons_and_the_signs() -> None:
    lab = Lab("kafka-14139", controls="step")
    steps = ["First", "Back", "Play", "Step", "Last"]
    assert pressable(lab) == [*steps, "Signs", "More to do with it"]
    assert lab.signs.is_open


def test_where_one_steps_a_click_on_the_axis_leads_to_its_step_and_one_elsewhere_nowhere() -> None:
    lab = Lab("kafka-14139", controls="step")
    lab.touching.touch("step 6")
    lab.touching.touch("broker 2")
    assert (lab.playback.at, lab.touching.offering._offers) == (6, ())


def test_one_button_leads_to_the_next_controls_and_the_next_lab_begins_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(Surface.seen_last, "controls", "step")
    lab = Lab("kafka-14139", controls="step")
    lab.more_controls.click()
    assert {"Undo", "Reset"} <= {*pressable(lab)}
    assert lab.rulebook.kips["903"] in lab.box.root.everything()
    other = Lab("timeline-first", controls="step")
    assert other.rulebook.box in other.box.root.everything()
    lab.more_controls.click()
    assert lab.folds.box in lab.box.root.everything()
    assert lab.more_controls not in lab.box.root.everything()


def test_no_other_controls_can_be_asked_for() -> None:
    with pytest.raises(ValueError, match="no controls 'few'; there are step, act, all"):
        Lab("kafka-14139", controls="few")
