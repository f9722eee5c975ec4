"""How a Lab lies: what is looked at comes first and together, the legend only when asked for."""

import base64
import re
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import kiplab
from kiplab.rows.rows_of_stage import rows_of
from kiplab.widgets import still_fallback
from kiplab.widgets.lab import RULES_HIGH, Lab
from tests.widgets.hands import hear


def drawn(lab: Lab) -> str:
    """The legend's image, as SVG."""
    found = re.search(r"base64,([^\"]*)", lab.signs.image.value)
    assert found is not None
    return base64.b64decode(found[1]).decode()


def test_steps_and_the_story_stay_on_top(lab: Lab) -> None:
    head, body = lab.box.root.children[:2]
    assert "kiplab-head" in head.classes
    on_top = (lab.transport.step, lab.verdict, lab.note)
    assert set(on_top) < set(head.everything())
    stage, panels = body.children
    assert lab.picture in stage.everything()
    assert {lab.facts, lab.inject.box} < set(panels.everything())


def test_title_and_question_are_said_once_in_whatever_window(lab: Lab) -> None:
    play = lab.playback.own
    for height in (2_000, 600):
        hear(lab, {"room": {"width": 1100, "height": height}})
        picture = [word for t in lab.picture.drawing["data"] for word in t.get("text") or ()]
        for told in (play.title, play.question):
            assert told in lab.verdict.value
            assert not any(told in word for word in picture)


def test_what_is_on_record_is_in_sight_and_what_changed_is_marked(lab: Lab) -> None:
    lab.seek(5)
    assert "<span>partition epoch</span> <b>10</b>" in lab.facts.value
    assert "kiplab-changed" not in lab.facts.value
    lab.rulebook.kips["903"].value = False
    lab.seek(6)
    assert re.search(
        r"<span>ISR</span> <b class=\"kiplab-changed\"[^>]*>\{1, 2\}</b>", lab.facts.value
    )
    assert "<span>leader epoch</span> <b>5</b>" in lab.facts.value


def test_the_picture_is_as_wide_as_there_is_room_and_low_in_a_low_window(lab: Lab) -> None:
    def size() -> tuple[int, int]:
        layout = lab.picture.drawing["layout"]
        return layout["width"], layout["height"]

    hear(lab, {"room": {"width": 1100, "height": 900}})
    roomy = size()
    assert roomy[0] == 1100
    hear(lab, {"room": {"width": 1100, "height": 420}})
    assert size()[0] == 1100
    assert size()[1] < roomy[1] - 60
    for step in range(lab.playback.last + 1):
        lab.seek(step)
        assert size()[0] == 1100
    hear(lab, {"room": {"width": 300, "height": 900}})
    assert size()[0] == 440
    hear(lab, {"room": {"width": 3_000, "height": 900}})
    assert size()[0] == 1_500


def test_it_fits_after_every_change_as_long_as_it_can_be_read() -> None:
    lab = kiplab.Lab("isr-committed")
    hear(lab, {"room": {"width": 848, "height": 549}})

    def height() -> int:
        return RULES_HIGH + int(lab.picture.drawing["layout"]["height"])

    assert height() <= 549
    lab.seek(4)
    lab.do("crash 2")
    assert 514 < height() <= 549
    lab.load("timeline-first")
    assert height() <= 549
    lab.folds.open("What the picture shows")
    lab.view_controls.metrics.value = True
    assert height() > 549
    lab.view_controls.metrics.value = False
    assert height() <= 549


def test_a_width_that_was_asked_for_stays() -> None:
    lab = kiplab.Lab("kafka-14139", width=700)
    hear(lab, {"room": {"width": 1100, "height": 900}})
    assert lab.picture.drawing["layout"]["width"] == 700


def test_what_can_be_done_comes_before_what_is_promised(lab: Lab) -> None:
    order = list(lab.box.root.everything())
    wanted = (lab.transport.step, lab.rulebook.box, lab.picture, lab.inject.box)
    places = [order.index(part) for part in (*wanted, lab.folds.box)]
    assert places == sorted(places)


def test_the_legend_is_folded_and_costs_nothing(lab: Lab) -> None:
    words = {word for trace in lab.picture.drawing["data"] for word in trace.get("text") or ()}
    assert "out of the ISR" not in words
    lab.seek(6)
    assert (lab.signs.box.layout.display, lab.signs.image.value) == ("none", "")


def test_the_legend_follows_the_picture_while_it_is_open(lab: Lab) -> None:
    lab.signs.toggle.value = True
    assert lab.signs.box.layout.display == "flex"
    assert "out of the ISR" in drawn(lab)
    assert 'alt="★ leader; ' in lab.signs.image.value
    before = drawn(lab)
    lab._set_options({"theme": "dark"})
    assert drawn(lab) != before
    assert "lost message" not in drawn(lab)
    lab.seek(1)
    lab.do("drop alter-partition")
    assert "lost message" in drawn(lab)


@pytest.fixture
def question(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A prediction that is not locked yet."""
    monkeypatch.setenv("KIPLAB_WORK", str(tmp_path / "work.json"))
    return kiplab.predict("kafka-14139/late-request", "What?", ["This.", "That."])


def test_waiting_gives_nothing_away(question: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not by the play's title, nor by its question, verdict or legend."""
    published: list[dict[str, str]] = []
    monkeypatch.setattr("IPython.display.display", lambda data, **_: published.append(data))
    lab = kiplab.Lab("kafka-14139", after=question)
    lab._ipython_display_()
    kept = " ".join(str(value) for data in published for value in data.values())
    assert "The lab opens here as soon as you have." in kept
    meta = rows_of(lab.playback.whole).meta
    for told in (meta.title, meta.question, meta.sentence, "Verdict", "nothing lost", "<img"):
        assert told not in kept


def test_a_lab_that_opens_is_kept_with_its_picture(
    question: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    output = Mock(update=lambda data, **_: kept.append(data["text/html"]))
    monkeypatch.setattr("IPython.display.display", lambda *_, **__: output)
    kiplab.Lab("kafka-14139", after=question)._ipython_display_()
    assert kept == []
    question.lock("That.")
    (page,) = kept
    assert "<img" in page


def test_what_is_kept_in_a_file_has_its_legend(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[dict[str, Any]] = []
    monkeypatch.setattr(still_fallback, "show", lambda *given: kept.append(given[2]))
    lab._ipython_display_()
    words = {word for trace in kept[0]["data"] for word in trace.get("text") or ()}
    assert "out of the ISR" in words
