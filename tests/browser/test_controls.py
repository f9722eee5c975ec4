"""Every control of a Lab, driven once in a browser; a new one without a test here fails the last.

The tests share the page and each begins by going to a step of the play.
"""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect

from kiplab.protocol.guards import GuardKind
from kiplab.protocol.releases import Mode
from kiplab.widgets.controls.rulebook import guards_of
from tests.browser.conftest import Student
from tests.browser.controls import FOLDS, PREDICTION, PROPERTIES, REASONS, Hands, called
from tests.browser.lab_page import LabPage
from tests.browser.slow_machine import nobody_answers

pytestmark = pytest.mark.browser

PICTURE = ".js-plotly-plot"
PREPARED = """() => document.querySelector('[data-cell="lab"] .kiplab-picture').spare?.drawing"""
FOCUS_AND_STAGE = """() => {
  const box = document.querySelector('[data-cell="lab"] .kiplab-stage').getBoundingClientRect();
  return [document.activeElement.getBoundingClientRect().top, box.bottom];
}"""
"""Where what has the focus begins, and where the picture and what belongs to it end: pixels."""
LOW_OUTPUT = """() => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = notebook.widgets.findIndex(cell => cell.model.id === 'lab');
  return window.jupyterapp.commands.execute('notebook:enable-output-scrolling');
}"""
TURNED = """(boxes, names) => boxes
  .filter(box => names.includes(box.labels[0]?.textContent.trim())).forEach(box => box.click())"""
HIGH_OUTPUT = LOW_OUTPUT.replace("enable", "disable")
WRITTEN = "picture => picture.data.map(trace => [...trace.text ?? []])"
TIMED = '''from kiplab.plays.grammar import parse
other = kiplab.Lab(parse("""title Two partitions and a clock
timed
broker 1
broker 2
broker 3
topic orders partition=0 replicas=1,2,3 isr=1,2,3 leader=1
topic orders partition=1 replicas=1,2,3 isr=1,2,3 leader=2
consumer orders-0
consumer orders-0 name=billing
catch-up 2
catch-up 3
"""))
other'''
"""Some controls are only there with a clock, several partitions or several consumers."""


@pytest.fixture(scope="module")
def hands(lab: LabPage, student: Student) -> Hands:
    (student.folder / "kiplab-work.json").write_text(json.dumps({"predictions": PREDICTION}))
    lab.rewrite("compare", TIMED)
    lab.run("setup", "lock", "lab")
    made = Hands(lab)
    expect(made.lab.locator(".main-svg").first).to_be_visible()
    made.look()
    return made


@pytest.fixture(scope="module")
def others(hands: Hands) -> Hands:
    """The Lab with a clock. What is driven there counts too."""
    hands.page.run("compare")
    made = Hands(hands.page, "compare")
    made.found, made.driven = hands.found, hands.driven
    expect(made.lab.locator(".main-svg").first).to_be_visible()
    made.look()
    return made


# --- moving through the steps ---------------------------------------------------------------------


def test_the_buttons_and_the_slider_go_to_a_step(hands: Hands) -> None:
    for label, step in (("Step", 1), ("Last", 11), ("Back", 10), ("First", 0)):
        hands.press(label)
        expect(hands.verdict).to_contain_text(f"Step {step} of 11")
    hands.at(4)


def test_play_goes_on_until_it_is_paused(hands: Hands) -> None:
    hands.at(0)
    hands.choose("Speed", "slow")
    hands.press("Play", "Pause")
    expect(hands.lab.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_play_stops_at_a_refusal(hands: Hands) -> None:
    hands.at(0)
    hands.choose("Speed", "fast")
    hands.press("KIP-903")
    hands.tick("stop at a refusal")
    hands.press("Play")
    expect(hands.verdict).to_contain_text("orders-0: INELIGIBLE_REPLICA")
    expect(hands.lab.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(hands.verdict).to_contain_text("Step 6 of 11")
    hands.tick("stop at a refusal", False)


def test_jumps_lead_to_the_steps_worth_seeing(hands: Hands) -> None:
    for label in ("Next refusal", "First divergence"):
        hands.at(0)
        hands.press(label)
        expect(hands.verdict).to_contain_text("Step 6 of 11")
    hands.press("KIP-903")
    hands.at(0)
    hands.press("First violation")
    expect(hands.verdict).to_contain_text("Step 6 of 11")


def test_a_broken_property_leads_to_where_it_broke(hands: Hands) -> None:
    hands.at(11)
    hands.press(PROPERTIES)
    expect(hands.lab).to_contain_text("Every leader has every record that was ever committed.")
    for label, step in (
        ("■ no committed record lost: broken at step 8 (not promised)", 8),
        ("■ electable holds committed: broken at step 6 (not promised)", 6),
        ("■ no stale epoch in ISR: broken at step 6 (not promised)", 6),
    ):
        hands.at(11)
        hands.press(label)
        expect(hands.verdict).to_contain_text(f"Step {step} of 11")
    hands.page.photograph("lab", "control-properties")
    hands.press(PROPERTIES)


def test_steps_within_the_run_need_no_kernel(hands: Hands) -> None:
    """The kernel follows when it can, and undoes nothing. The next picture is drawn before."""
    hands.from_the_play(0)
    expect(hands.lab.locator(".kiplab-reel")).to_have_attribute("data-steps", "12")
    hands.page.page.wait_for_function(PREPARED)
    picture = hands.lab.locator(".kiplab-picture").first
    prepared = picture.evaluate_handle("picture => picture.spare")
    with nobody_answers():
        hands.page.press("lab", "Step")
        expect(hands.verdict).to_contain_text("Step 1 of 11")
        assert picture.evaluate("(picture, it) => picture.figure === it", prepared)
        for label, step in (("Step", 2), ("Back", 1), ("Last", 11)):
            hands.lab.get_by_role("button", name=label, exact=True).click(force=True)
            expect(hands.verdict).to_contain_text(f"Step {step} of 11")
        expect(hands.lab.get_by_label("step", exact=True)).to_have_value("11")
        hands.lab.get_by_label("step", exact=True).fill("6")
        expect(hands.verdict).to_contain_text("Step 6 of 11")
        expect(hands.verdict).to_contain_text("■ harm")
        expect(hands.lab.get_by_role("button", name="Last", exact=True)).to_be_enabled()
        words = hands.lab.locator(PICTURE).first.evaluate(WRITTEN)
    hands.look()
    assert hands.page.python("print(lab.playback.at)") == "6"
    assert hands.lab.locator(PICTURE).first.evaluate(WRITTEN) == words
    expect(hands.verdict).to_contain_text("Step 6 of 11")
    hands.act("Crash", "crash 1", broker=1)
    hands.press("Back")
    expect(hands.verdict).to_contain_text("Step 6 of 7, request arrives · on branch")
    hands.from_the_play(0)


def test_what_is_not_answered_yet_shows_that(hands: Hands) -> None:
    """A lock cannot be pressed twice, nor its answer changed. What is turned twice is as before."""
    hands.from_the_play(4)
    hands.page.run("exit-lock")
    exit_lock, lock = hands.page.cell("exit-lock"), "Lock in my prediction"
    exit_lock.get_by_role("radio").first.check()
    hands.look()
    with nobody_answers():
        hands.lab.get_by_role("button", name="Crash", exact=True).first.click()
        expect(hands.lab.locator(".kiplab-asked")).to_have_text("Crash")
        expect(hands.lab.locator(PICTURE).locator("..")).to_have_css("opacity", "0.6")
        hands.page.press("lab", "Branches", "Branches")
        hands.page.press("exit-lock", lock)
        expect(exit_lock.get_by_role("button", name=lock)).to_be_disabled()
        expect(exit_lock.get_by_role("radio").last).to_be_disabled()
    expect(hands.lab.locator(".kiplab-asked")).to_have_count(0)
    expect(hands.lab.locator(PICTURE).locator("..")).to_have_css("opacity", "1")
    expect(exit_lock).to_contain_text("Locked in:")
    fold = hands.lab.get_by_role("button", name="Branches", exact=True)
    expect(fold).to_have_attribute("aria-pressed", "false")
    hands.press("Reset")


# --- rules ----------------------------------------------------------------------------------------


def test_a_release_and_two_kips_are_switched(hands: Hands) -> None:
    kip_903 = hands.lab.get_by_role("button", name="KIP-903", exact=True)
    hands.choose("Rules of", "Kafka 3.5")
    expect(kip_903).to_have_attribute("aria-pressed", "true")
    hands.press("KIP-841", "Hide", "As in the play")
    expect(kip_903).to_have_attribute("aria-pressed", "false")
    expect(hands.lab.get_by_label("Rules of")).to_have_value("Kafka 3.4")


def test_every_single_rule_can_be_turned(hands: Hands) -> None:
    hands.press("Single rules")
    boxes = hands.lab.locator(".kiplab-tick label", has_text=re.compile(r"^\d+\.|^kafka-"))
    names = [name.strip() for name in boxes.all_inner_texts()]
    all_guards = guards_of(Mode.KRAFT).values()
    guards = [guard for guard in all_guards if guard.kind is not GuardKind.FEATURE]
    assert len(names) == len(guards)
    was_on = [hands.lab.get_by_label(name, exact=True).is_checked() for name in names]
    for name, on in list(zip(names, was_on, strict=True))[:2]:
        hands.tick(name, not on)
        expect(hands.lab.get_by_label(name, exact=True)).to_be_checked(checked=not on)
        expect(hands.lab.locator(".kiplab-note")).to_contain_text("The same steps under Kafka 3.4")
    # The others by themselves: a hand waits for the answer to each.
    hands.lab.locator(".kiplab-tick input").evaluate_all(TURNED, names[2:])
    hands.driven |= {called(name) for name in names}
    hands.look()
    assert [hands.lab.get_by_label(name, exact=True).is_checked() for name in names] == [
        not on for on in was_on
    ]
    turned = hands.page.python("print(len({n for n, _ in lab.playback.features.overrides}))")
    assert int(turned) >= len(guards) - 2
    hands.press("As in the play", "Single rules")


# --- what can happen ------------------------------------------------------------------------------


def test_a_broker_crashes_and_returns(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.act("Fetch", "fetch 2", broker=2)
    hands.choose("A crash takes", "the whole disk")
    hands.act("Crash", "crash 2 disk=replaced", broker=2)
    hands.choose("A crash takes", "nothing")
    hands.act("Expire", "expire 2", broker=2)
    hands.act("Start", "start 2", broker=2)
    hands.act("Unfence", "unfence 2", broker=2)
    expect(hands.broker(2)).to_contain_text("runs as epoch 57")


def test_a_brokers_drawer(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.press("More", broker=2)
    hands.act("Catch up", "catch-up 2", broker=2)
    hands.act("Heartbeat", "heartbeat 2", broker=2)
    hands.act("Cut off from controller", "cut 2 controller", broker=2)
    hands.act("Heal link to controller", "heal 2 controller", broker=2)
    hands.act("Cut off from leader 1", "cut 2 1", broker=2)
    hands.act("Heal link to leader 1", "heal 2 1", broker=2)
    hands.act("Shut down", "shut-down 2", broker=2)


def test_recovery_and_lag_are_in_the_drawer_too(hands: Hands) -> None:
    hands.from_the_play(4)
    hands.act("Recover", "recover 2", broker=2)
    hands.press("More", broker=2)
    hands.press("More", broker=1)
    hands.act("Check lag", "check-lag 1", broker=1)
    hands.impossible("Cut off from leader", "broker 1 follows nobody", broker=1)
    hands.press("More", broker=1)


def test_controller_and_partition(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.act("Elect preferred", "elect orders-0")
    hands.act("Elect unclean", "elect orders-0 unclean")
    hands.act("Fail over", "fail-over")


def test_a_partitions_drawer(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.lab.locator(".kiplab-partition-orders-0").get_by_role("button", name="More").click()
    hands.look()
    hands.impossible("Finish recovery", "broker 1 does not recover orders-0: no release of Kafka")
    hands.press("KIP-704 as specified")
    hands.impossible("Finish recovery", "broker 1 does not recover orders-0: it has nothing to")
    hands.press("KIP-704 as specified")
    hands.act("Delete records", "delete-records orders-0")
    hands.act("unclean.leader.election.enable=true", "configure orders")
    hands.act("unclean.leader.election.enable=false", "configure orders")
    hands.lab.locator(".kiplab-partition-orders-0").get_by_role("button", name="More").click()


def test_clients_write_and_read(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.fill("records", "7")
    hands.choose("acks", "1")
    hands.choose("to", "the leader")
    hands.act("Produce", "produce orders-0 count=7 acks=1")
    hands.act("Poll", "poll orders-0")
    hands.act("Refresh metadata", "refresh")
    hands.act("Reset to earliest", "reset orders-0 to=earliest")
    hands.act("Reset to latest", "reset orders-0 to=latest")
    hands.choose("acks", "all")


def test_clients_are_watched(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.press("Watch the clients")
    expect(hands.lab).to_contain_text("It has sent nothing yet")
    hands.fill("records", "1")
    hands.act("Send", "produce orders-0 count=1 producer=producer")
    written = hands.lab.get_by_label("producer", exact=True)
    expect(written).to_contain_text("in leader epoch 5, acks=all")
    hands.act("Poll", "poll orders-0")
    expect(hands.lab.get_by_label("consumer", exact=True)).to_contain_text("in leader epoch 5")
    hands.act("Crash", "crash 1", broker=1)
    hands.act("Send", "produce orders-0 count=1 producer=producer")
    expect(written).to_contain_text("1 record, not written anywhere yet, acks=all")
    hands.act("Send again", "resend producer")
    assert hands.page.faults() == []
    hands.press("Watch the clients")


def test_any_other_line_and_what_cannot_be_done(hands: Hands) -> None:
    hands.from_the_play(0)
    hands.fill("Any other line", "catch-up 2")
    hands.act("Do it", "catch-up 2")
    hands.fill("Any other line", "crash 9")
    hands.press("Do it")
    expect(hands.lab.get_by_role("alert")).to_contain_text("the brokers are 1, 2")
    hands.press(REASONS)
    hands.press(REASONS, place=1)
    expect(hands.lab).to_contain_text("broker 2 is running already")
    hands.press(REASONS)
    hands.press(REASONS, place=1)
    hands.press("Undo")
    expect(hands.verdict).to_contain_text("Step 0 of 11")


def test_the_picture_is_acted_on(hands: Hands) -> None:
    hands.from_the_play(3)
    menu = hands.point_at("broker 2")
    expect(menu).to_contain_text("broker 2 · down, fenced")
    expect(menu).to_contain_text("Check lag: broker 2 is down.")
    hands.page.photograph("lab", "control-menu")
    menu.get_by_role("menuitem", name="start 2").click()
    expect(menu).to_be_hidden()
    expect(hands.lab).to_contain_text("Last line of the play here: start 2")
    menu = hands.point_at("message alter-partition #1 from broker 1")
    menu.get_by_role("menuitem", name="deliver alter-partition").hover()
    expect(menu.get_by_role("status")).to_contain_text("INELIGIBLE_REPLICA")
    menu.get_by_role("menuitem", name="deliver alter-partition").click()
    expect(hands.verdict).to_contain_text("orders-0: INELIGIBLE_REPLICA")
    hands.point_at("step 2").get_by_role("menuitem", name="Go there").click()
    expect(hands.verdict).to_contain_text("Step 2 of 5")


def test_the_picture_is_acted_on_by_keyboard(hands: Hands) -> None:
    hands.from_the_play(1)
    key, picture = hands.page.page.keyboard.press, hands.lab.get_by_role("listbox", name="parts of")
    picture.focus()
    for stroke in (*["ArrowUp"] * 6, *["ArrowDown"] * 3):
        key(stroke)
    expect(hands.thing("broker 2")).to_have_attribute("aria-selected", "true")
    key("Enter")
    expect(hands.lab.get_by_role("menuitem", name="Crash crash 2")).to_be_focused()
    key("ArrowDown")
    key("Enter")
    expect(hands.lab).to_contain_text("Last line of the play here: crash 2 disk=tail-lost")
    expect(picture).to_be_focused()
    key("ArrowUp")
    key("ArrowRight")
    key("ContextMenu")
    expect(hands.lab.get_by_role("menuitem", name="deliver alter-partition")).to_be_focused()
    key("Escape")
    expect(picture).to_be_focused()
    expect(hands.lab.locator(".kiplab-pops")).to_be_hidden()


def test_a_branch_begins_at_a_step_in_the_list_of_all_that_can_happen(hands: Hands) -> None:
    hands.from_the_play(3)
    hands.point_at("step 1").get_by_role("menuitem", name="Branch here").click()
    listed = hands.lab.locator(".kiplab-offers:not(.kiplab-pops)")
    expect(hands.verdict).to_contain_text("Step 1 of 11")
    expect(listed.get_by_role("menuitem").first).to_be_focused()
    hands.page.page.keyboard.press("ArrowDown")
    expect(listed.get_by_role("status")).not_to_be_empty()
    expect(hands.thing("broker 1")).to_have_class("kiplab-meant")
    listed.get_by_role("menuitem", name="crash 2 disk=replaced").click()
    expect(hands.verdict).to_contain_text("broker 2 dies, disk replaced · on branch")
    hands.press("What can happen next")
    expect(listed).to_be_hidden()


# --- messages on their way ------------------------------------------------------------------------


def test_messages_are_held_and_ordered(hands: Hands) -> None:
    hands.from_the_play(1)
    hands.choose("kind", "fetch")
    hands.choose("from", "broker 2")
    hands.act("Hold back", "hold fetch from=2")
    hands.act("Fetch", "fetch 2", broker=2)
    expect(hands.lab).to_contain_text("On the way: 2 messages")
    hands.choose("show", "fetch")
    hands.choose("show", "every kind")
    hands.press("Later")
    expect(hands.lab).to_contain_text("1. broker 2 → broker 1")
    hands.press("Earlier", place=1)
    expect(hands.lab).to_contain_text("1. broker 1 → controller")
    hands.act("Deliver next", "deliver alter-partition")
    hands.choose("from", "anybody")
    hands.act("Let it flow", "release fetch")


def test_a_message_is_delivered_or_lost(hands: Hands) -> None:
    for label, line in (("Deliver", "deliver alter-partition"), ("Drop", "drop alter-partition")):
        hands.from_the_play(1)
        hands.act(label, line)
        expect(hands.lab).to_contain_text("Nothing is on the way")


def test_a_messages_drawer(hands: Hands) -> None:
    hands.from_the_play(1)
    inbox = hands.lab.get_by_role("button", name="More", exact=True)
    inbox.last.click()
    hands.driven.add("More")
    for label, line in (
        ("Duplicate", "duplicate alter-partition"),
        ("Time out", "time-out alter-partition"),
        ("Lose reply", "lose-reply alter-partition"),
    ):
        hands.from_the_play(1)
        hands.act(label, line)


# --- on a laptop ----------------------------------------------------------------------------------


ANOTHER = pytest.mark.long(quick="::test_picture_steps_and_verdict_are_seen_at_once")


@pytest.fixture(params=[(1280, 800), pytest.param((1366, 768), marks=ANOTHER)], ids=str)
def laptop(hands: Hands, request: pytest.FixtureRequest) -> Iterator[Hands]:
    """A small window; the one before comes back."""
    before = hands.page.page.viewport_size
    assert before is not None
    width, height = request.param
    hands.page.page.set_viewport_size({"width": width, "height": height})
    yield hands
    hands.page.page.set_viewport_size(before)


def test_picture_steps_and_verdict_are_seen_at_once(laptop: Hands) -> None:
    laptop.from_the_play(11)
    laptop.lab.locator(".jp-OutputArea").first.evaluate("area => area.scrollIntoView()")
    seen = [laptop.lab.locator(PICTURE).first, laptop.verdict]
    for part in (*seen, laptop.lab.locator(".kiplab-head .kiplab-primary")):
        expect(part).to_be_in_viewport(ratio=1)


def test_the_picture_is_in_sight_while_a_fault_is_pressed(laptop: Hands) -> None:
    laptop.from_the_play(1)
    laptop.broker(2).evaluate("row => row.scrollIntoView({ block: 'end' })")
    laptop.act("Crash", "crash 2", broker=2)
    # A page is scrolled by whole pixels, and text above may end between two.
    expect(laptop.broker(2)).to_be_in_viewport(ratio=0.98)
    expect(laptop.lab.locator(PICTURE).first).to_be_in_viewport(ratio=0.6)
    expect(laptop.verdict).to_be_in_viewport(ratio=1)
    expect(laptop.lab.get_by_role("button", name="Step", exact=True)).to_be_in_viewport(ratio=1)


def test_what_is_pressed_stays_under_the_pointer_until_it_is_let_go(laptop: Hands) -> None:
    """Else an answer that comes meanwhile takes it away, and nothing is pressed."""
    laptop.from_the_play(1)
    button = laptop.broker(2).get_by_role("button", name="Crash", exact=True)
    button.hover()
    laptop.page.page.mouse.down()
    before = top_of(button)
    laptop.page.python("lab.logs.toggle.value = True")
    assert top_of(button) == before
    laptop.page.page.mouse.up()
    expect(laptop.lab).to_contain_text("Last line of the play here: crash 2")
    laptop.look()
    assert top_of(button) == pytest.approx(before, abs=2)
    laptop.page.python("lab.logs.toggle.value = False")
    laptop.look()
    assert top_of(button) == pytest.approx(before, abs=2)


def top_of(control: Locator) -> float:
    """Where it is in the window, in pixels."""
    box = control.bounding_box()
    assert box is not None
    return box["y"]


def test_a_verdict_of_two_lines_leaves_the_picture_as_high_as_it_was(laptop: Hands) -> None:
    """A picture that was drawn anew would move everything below it a moment later."""
    heights = set()
    for _ in range(2):
        laptop.from_the_play(1)
        heights.add(laptop.page.python("print(lab.box.room[1])"))
        laptop.act("Crash", "crash 2", broker=2)
        heights.add(laptop.page.python("print(lab.box.room[1])"))
    assert len(heights) == 1


def test_what_has_the_focus_is_never_behind_the_picture(laptop: Hands) -> None:
    laptop.from_the_play(1)
    laptop.lab.get_by_label("Any other line", exact=True).focus()
    for _ in range(12):
        laptop.page.page.keyboard.press("Shift+Tab")
        focus, stage = laptop.page.page.evaluate(FOCUS_AND_STAGE)
        assert focus >= stage


def test_in_a_low_output_area_the_lab_scrolls_as_any_other(laptop: Hands) -> None:
    laptop.page.page.evaluate(LOW_OUTPUT)
    laptop.from_the_play(1)
    laptop.act("Fetch", "fetch 2", broker=2)
    expect(laptop.broker(2)).to_be_in_viewport(ratio=1)
    laptop.page.page.evaluate(HIGH_OUTPUT)


def test_the_signs_are_explained(hands: Hands) -> None:
    hands.press("Signs")
    signs = hands.lab.get_by_role("img", name="★ leader")
    expect(signs).to_be_visible()
    hands.press("Signs")
    expect(signs).to_be_hidden()


# --- branches, state, picture, words --------------------------------------------------------------


def test_branches_are_named_compared_and_deleted(hands: Hands) -> None:
    hands.from_the_play(1)
    hands.act("Crash", "crash 2", broker=2)
    hands.press("Branches")
    hands.choose("Branch", "the play")
    hands.press("Compare with where I am")
    expect(hands.lab.locator(".js-plotly-plot")).to_have_count(2)
    hands.page.photograph("lab", "control-branches")
    hands.press("Go there")
    expect(hands.lab.locator(".kiplab-note").first).to_contain_text("You are on the play.")
    last = hands.lab.get_by_label("Branch", exact=True).locator("option").last.inner_text()
    hands.choose("Branch", last)
    hands.fill("New name", "what if 2 dies")
    hands.press("Rename")
    expect(hands.lab.get_by_label("branches")).to_contain_text("what if 2 dies")
    hands.press("Delete")
    expect(hands.lab.get_by_label("branches")).not_to_contain_text("what if 2 dies")
    hands.press("Branches")


def test_what_is_unfolded_stays_so_and_changes_are_marked(hands: Hands) -> None:
    hands.from_the_play(5)
    hands.press("What every node holds")
    hands.lab.locator('summary:has-text("controller")').first.click()
    hands.driven.add("node")
    hands.look()
    hands.press("Step")
    tree = hands.lab.locator(".kiplab-tree")
    expect(tree).to_contain_text("Changed by step 6")
    expect(tree.locator('details[data-path="controller"]')).to_have_attribute("open", "")
    expect(tree.get_by_label("changed").first).to_be_visible()
    hands.press("What every node holds")


def test_the_picture_shows_what_is_chosen(hands: Hands) -> None:
    hands.from_the_play(11)
    arrow = hands.lab.locator(".js-plotly-plot").first
    hands.press("What the picture shows")
    hands.tick("AlterPartition messages", False)
    expect(arrow).not_to_contain_text("AlterPartition v2")
    hands.tick("Fold quiet steps where there is no room for every step", False)
    hands.fill("first step", "2")
    hands.fill("last step", "9")
    hands.page.photograph("lab", "control-picture")
    hands.tick("Metrics an operator would see", True)
    expect(arrow).to_contain_text("UnderReplicatedPartitions")
    hands.tick("Metrics an operator would see", False)
    hands.press("Logs")
    expect(arrow).not_to_contain_text("Logs at step")
    hands.press("Logs")
    expect(arrow).to_contain_text("Logs at step")
    hands.press("Show everything")
    expect(arrow).to_contain_text("AlterPartition v2")
    hands.press("What the picture shows")
    hands.press("Now: the gap")


def test_the_run_is_told_in_words(hands: Hands) -> None:
    hands.from_the_play(11)
    hands.press(FOLDS[4])
    expect(hands.lab.locator(".kiplab-told table")).to_contain_text("broker 2")
    hands.fill("Search", "broker 2")
    expect(hands.lab.locator(".kiplab-finder output")).to_contain_text(" of ")
    hands.fill("Search", "")
    hands.press(FOLDS[4])


def test_a_lab_is_shared_saved_and_loaded(hands: Hands, student: Student) -> None:
    hands.from_the_play(3)
    hands.press("Share, save, load")
    token = hands.lab.get_by_label("Token", exact=True)
    expect(token).to_have_value(re.compile("^kiplab1:"))
    hands.driven.add("Token")
    hands.press("Copy")
    hands.fill("File", "mine")
    hands.press("Save the whole lab")
    expect(hands.lab).to_contain_text("Saved as mine.kiplab.json")
    hands.press("Save this branch as a play")
    expect(hands.lab).to_contain_text("Saved as mine.play")
    hands.fill("Token or file", "mine.play")
    hands.press("Load")
    expect(hands.lab).to_contain_text("Loaded.")
    hands.press("Bring back what was here")
    expect(hands.lab).to_contain_text("What was here before is back.")
    hands.driven.add("Choose a file")
    with hands.page.page.expect_file_chooser() as chooser:
        hands.lab.get_by_role("button", name="Choose a file").click()
    chooser.value.set_files(student.folder / "mine.kiplab.json")
    expect(hands.lab).to_contain_text("Loaded mine.kiplab.json.")
    hands.press("Share, save, load")


# --- a clock, two partitions, two consumers -------------------------------------------------------


def test_time_passes(others: Hands) -> None:
    for label, line in (("Wait 0.5 s", "500ms"), ("Wait 2 s", "2s"), ("Wait 9 s", "9s")):
        others.act(label, f"advance {line}")


def test_partitions_and_consumers_are_chosen(others: Hands) -> None:
    others.choose("partition", "orders-1")
    others.act("Produce", "produce orders-1 count=10")
    others.choose("partition", "orders-0")
    others.choose("consumer", "billing")
    others.act("Poll", "poll orders-0 consumer=billing")
    others.press("What the picture shows")
    others.choose("Partition followed", "orders-1")
    others.page.photograph("compare", "control-two-partitions")


# --- all of them ----------------------------------------------------------------------------------


def test_nothing_serious_is_in_the_way_of_anybody(hands: Hands) -> None:
    hands.from_the_play(6)
    for heading in FOLDS:
        hands.press(heading)
    hands.press(PROPERTIES, REASONS)
    hands.press("More", broker=1)
    assert hands.page.faults('[data-cell="lab"] .jp-OutputArea-output') == []


@pytest.mark.long(quick="::test_nothing_serious_is_in_the_way_of_anybody")
def test_in_the_dark_too(hands: Hands) -> None:
    hands.page.darken()
    assert hands.page.faults('[data-cell="lab"] .jp-OutputArea-output') == []
    hands.page.photograph("lab", "control-dark")


@pytest.mark.usefixtures("others")
def test_every_control_was_driven(hands: Hands) -> None:
    assert hands.found - hands.driven == set()
