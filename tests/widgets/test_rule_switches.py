"""Switches: a KIP is on when it refuses what it was written to refuse."""

import re

import pytest

import kiplab
from kiplab.protocol.features import Features, fitting, parse_features
from kiplab.protocol.guards import GUARDS, releases_in, releases_of
from kiplab.protocol.releases import RELEASES, Mode
from kiplab.widgets.controls import rulebook
from kiplab.widgets.lab import Lab
from tests.widgets.hands import hear, text

NAMES = {mode: (*rulebook.SWITCHES[mode], *rulebook.guards_of(mode)) for mode in Mode}
IN_ZOOKEEPER = ("zk-2.1", "zk-2.2", "zk-3.4")


@pytest.mark.parametrize(
    ("kafka", "on"), [("3.2", []), ("3.3", ["841"]), ("3.4", ["841"]), ("3.5", ["841", "903"])]
)
def test_each_release_has_its_kips(kafka: str, on: list[str]) -> None:
    features = parse_features(kafka)
    assert [kip for kip in ("841", "903") if rulebook.is_on(features, kip)] == on


@pytest.mark.parametrize(("kafka", "on"), [("zk-2.1", False), ("zk-2.2", True), ("zk-3.4", True)])
def test_kip_380_came_to_clusters_with_zookeeper(kafka: str, on: bool) -> None:
    assert rulebook.is_on(parse_features(kafka), "380") is on


@pytest.mark.parametrize(
    ("kafka", "name"),
    [
        *((kafka, name) for kafka in ("3.2", "3.5", "3.9") for name in NAMES[Mode.KRAFT]),
        # A guard of KIP-343 fits no release.
        *(
            (kafka, name)
            for kafka in IN_ZOOKEEPER
            for name in NAMES[Mode.ZOOKEEPER]
            if not name.startswith("343.")
        ),
    ],
)
def test_a_switch_turned_and_turned_back_leaves_no_trace(name: str, kafka: str) -> None:
    features = parse_features(kafka)
    was = rulebook.is_on(features, name)
    other = rulebook.turned(features, name, not was)
    assert rulebook.is_on(other, name) is not was
    assert rulebook.turned(other, name, was) == features


def test_another_release_keeps_what_was_switched_by_hand() -> None:
    features = rulebook.turned(parse_features("3.5"), "903", False)
    assert rulebook.at_release(features, "3.7").label() == "3.7 -903"


def test_a_kip_says_since_when() -> None:
    assert rulebook.switch_words("841", Mode.KRAFT).endswith("(Kafka 3.3 and later)")
    assert rulebook.switch_words("903", Mode.KRAFT).endswith("(Kafka 3.5 and later)")
    assert rulebook.switch_words("380", Mode.ZOOKEEPER).endswith("(Kafka zk-2.2 and later)")


def test_no_mode_offers_guards_of_the_other() -> None:
    assert "380.control-request-epoch" not in rulebook.guards_of(Mode.KRAFT)
    assert "903.fetch-epoch" not in rulebook.guards_of(Mode.ZOOKEEPER)


@pytest.mark.parametrize("kafka", RELEASES)
def test_any_release_can_be_chosen_whatever_was_switched(kafka: str) -> None:
    for before in (rulebook.turned(parse_features("3.5"), "903", False), no_380()):
        after = rulebook.at_release(before, kafka)
        assert fitting(after).release == kafka
        assert {id for id, _ in after.overrides} <= set(rulebook.guards_of(after.mode))


def test_what_does_not_fit_the_other_mode_is_left_out_and_named() -> None:
    after = rulebook.at_release(no_380(), "3.5")
    assert after == parse_features("3.5")
    assert rulebook.left_behind(no_380(), after) == (
        "380.bounce-detection, 380.control-request-epoch, 380.shutdown-epoch, switched by hand,"
        " do not fit Kafka 3.5, and are left out."
    )


def test_nothing_is_said_where_nothing_is_left_out() -> None:
    assert not rulebook.left_behind(no_380(), rulebook.at_release(no_380(), "zk-3.4"))
    assert not rulebook.left_behind(no_380(), parse_features("zk-2.2")), "somebody switched it back"


def no_380() -> Features:
    return rulebook.turned(parse_features("zk-2.2"), "380", False)


def test_a_guard_says_since_when_in_the_mode_of_the_play_alone() -> None:
    both = GUARDS["320.validated-position"]
    assert releases_of(both) == "all of KRaft; zk-2.5.0 and later"
    assert releases_in(Mode.KRAFT, both) == "all"
    assert releases_in(Mode.ZOOKEEPER, both) == "zk-2.5.0 and later"
    assert releases_in(Mode.KRAFT, GUARDS["903.fetch-epoch"]) == "3.5 and later"
    assert releases_in(Mode.ZOOKEEPER, GUARDS["380.session-id"]) == "never built"


def test_a_switch_shows_the_run_before_it_below_the_axis_until_a_line_is_done(lab: Lab) -> None:
    lab.seek(8)
    assert lab.ghost.box.layout.display == "none"
    lab.rulebook.kips["903"].value = True
    before = text(lab.ghost.rows.value)
    assert "◆ First difference: step 6. Pale: this run under KIP-903 off" in before
    for was in ("at risk", "offsets 0–99 lost", "accepted: ISR {1, 2}", "in ISR, log empty"):
        assert was in before
    lab.seek(6)
    assert "at risk" in text(lab.ghost.rows.value)
    assert "lost" not in text(lab.ghost.rows.value), "what comes later is not told"
    lab.seek(5)
    assert "step 6, later than here" in text(lab.ghost.rows.value)
    assert "at risk" not in text(lab.ghost.rows.value)
    lab.do("crash 1")
    assert lab.ghost.box.layout.display == "none"
    assert lab.ghost.rows.value == ""


def test_the_first_difference_is_marked_where_its_step_begins(lab: Lab) -> None:
    lab.seek(8)
    lab.switch("903", True)
    places = lab.picture.drawing["layout"]["meta"]["places"]
    left = dict(places["steps"])[6]
    mark = re.search(r'class="kiplab-parted" style="left:(\d+)px', lab.ghost.rows.value)
    assert mark is not None
    assert int(mark[1]) == left
    assert f"left:{left}px" in lab.ghost.rows.value.partition("at risk")[2]


@pytest.mark.parametrize("end", ["hide", "reset", "undo", "branch"])
def test_the_run_before_goes_and_gives_its_room_back(end: str, lab: Lab) -> None:
    hear(lab, {"room": {"width": 1100, "height": 500}})
    lab.seek(2)
    lab.do("expire 2")
    height = lab.picture.drawing["layout"]["height"]
    lab.switch("903", True)
    assert lab.ghost.box.layout.display == "block"
    assert lab.picture.drawing["layout"]["height"] < height
    ends = {"hide": lab.ghost.hide.click, "reset": lab.reset, "undo": lab.undo}
    ends.get(end, lambda: lab.go_to("the play"))()
    assert lab.ghost.box.layout.display == "none"
    assert lab.picture.drawing["layout"]["height"] >= height - 1


def test_a_switch_without_a_difference_says_so(lab: Lab) -> None:
    lab.switch("704.specified", True)
    assert "No difference: this run was the same under" in text(lab.ghost.rows.value)


def test_kips_are_chips_that_say_since_when() -> None:
    chips = kiplab.Lab("kafka-14139", controls="act").rulebook.kips
    assert [chip.description for chip in chips.values()] == [
        *("KIP-841", "KIP-903"),
        "KIP-704 as specified",
    ]
    assert chips["903"].tooltip.startswith("KIP-903 (Kafka 3.5 and later)\n903.")
    assert {chip.kind for chip in chips.values()} == {"toggle"}
