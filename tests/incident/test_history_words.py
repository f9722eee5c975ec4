"""A history as text, as values and as files: golden transcripts, and what each ending has."""

import csv
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from kiplab.incident.change_words import time_words
from kiplab.incident.history_words import report, stories, text
from kiplab.incident.incident_files import WRITERS, incident_page, write_history
from kiplab.incident.log_items import UNKNOWN
from kiplab.pages.browser_picture import ExportError
from tests.html_outline import Outline
from tests.incident.other_life import history, log
from tests.incident.test_findings import OTHER_LIFE, V3_4_AT_3_5

GOLDEN = Path(__file__).parent / "golden" / "other-life.txt"
CHOSEN: Any = {"chosen": ("orders-1",)}


def test_the_text_is_the_golden_one(rewrite: bool) -> None:
    told = history(**CHOSEN)
    said = text(told, [*stories(told, told.chosen)])
    if rewrite:
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8")


def test_a_history_that_was_stopped_says_so() -> None:
    assert "the reading was stopped" in text(history(is_whole=False))
    page = incident_page(history(is_whole=False, findings=()), ())
    assert page.index("the reading was stopped") < page.index("<h2>")
    assert "<table" not in page


def test_a_partition_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match="no partition 'orders-7' in this log"):
        list(stories(history(), ["orders-7"]))


def test_a_topic_that_was_created_again_has_two_stories() -> None:
    again = "71 51 topic orders\n72 51 new p1 replicas=1 isr=1 leader=1\n"
    created = [replace(r, fields=r.fields | {"topicId": "U"}) for r in log(again)]
    items = [*log(V3_4_AT_3_5 + OTHER_LIFE + "70 50 remove\n"), *created]
    first, second = stories(history(items), ["orders-1"])
    assert first.changes[-1][1].what == "topic removed"
    assert second.changes[0][1].what == "created, leader 1, ISR {1}"


def test_a_time_is_in_utc_and_none_is_said() -> None:
    assert time_words(1_795_452_573_347) == "2026-11-23 16:49:33.347"
    assert time_words(UNKNOWN) == "no time"


def test_programs_get_what_the_contract_says() -> None:
    told = json.loads(msgspec.json.encode(report(history())))
    assert told["read"] == [{"file": "other-life.log", "kind": "segment", "first": 0, "last": 62}]
    (other,) = (f for f in told["findings"] if f["rule"] == "other-life")
    assert (other["kind"], other["partition"], other["offset"]) == ("occasion", "orders-1", 62)
    assert [record["offset"] for record in other["evidence"]] == [62]


@pytest.fixture
def written(tmp_path: Path) -> dict[str, str]:
    """What each kind of file has, by its ending."""
    told = history(**CHOSEN)
    return {e: write_history(told, tmp_path / f"a{e}").read_text("utf-8") for e in WRITERS}


def test_every_ending_has_its_content(written: dict[str, str]) -> None:
    assert [*written] == [".html", ".svg", ".csv", ".txt", ".json"]
    assert written[".txt"] == GOLDEN.read_text("utf-8")
    assert {*json.loads(written[".json"])} == {*report(history())}
    assert written[".svg"].startswith("<svg")
    lines = [*csv.DictReader(written[".csv"].splitlines())]
    assert [bool(line["rule"]) for line in lines] == [True] * 4 + [False] * 10
    assert (lines[-1]["offset"], lines[-1]["leader epoch"]) == ("62", "4")


def test_a_page_is_whole_and_asks_nobody(written: dict[str, str]) -> None:
    page = written[".html"]
    outline = Outline(page)
    assert outline.is_closed
    ids = [tag["id"] for _, tag in outline.tags if "id" in tag]
    assert len(ids) == len({*ids})
    assert [tag["href"] for tag in outline.named("a")] == ["#picture-0"] * 4
    assert "picture-0" in ids
    sources = [tag for tag in outline.named("script", "link", "img", "iframe") if "src" in tag]
    assert sources == []
    regions = [tag for _, tag in outline.tags if tag.get("tabindex") == "0"]
    assert all(tag.get("aria-label") and tag.get("role") for tag in regions)
    assert "@media (prefers-color-scheme: dark)" in page


@pytest.mark.parametrize(("name", "about"), [("a.png", CHOSEN), ("a.svg", {"findings": ()})])
def test_what_cannot_be_written_is_said(name: str, about: Any, tmp_path: Path) -> None:
    with pytest.raises(ExportError):
        write_history(history(**about), tmp_path / name)
