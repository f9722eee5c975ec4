"""The story without a picture, and pictures as files."""

import csv
import json
from pathlib import Path

import plotly.graph_objects as go
import pytest

from kiplab.figures.timeline.legend_marks import legend_words
from kiplab.pages import browser_picture
from kiplab.pages.export import ExportError, page, write
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from kiplab.rows.sentences import sentences, summary, table_html, table_text
from tests.html_outline import Outline

EVIL = '<img src=x onerror="alert(1)"> & </script><script>alert(2)</script>'


@pytest.fixture(scope="module")
def evil() -> Rows:
    play = parse(f"title {EVIL}\nquestion {EVIL}\nbroker 1\ntopic t replicas=1\nproduce t-0\n")
    return rows_of(run_play(play))


def test_sentences_tell_the_start_every_moment_the_end_and_the_verdict(saved: Rows) -> None:
    story = sentences(saved)
    assert len(story) == len(saved.moments) + 2
    assert "leader epoch 5, partition epoch 10, ISR {1}" in story[0]
    assert "broker 2: broker epoch 41, out of the ISR, log ends at offset 100" in story[0]
    assert "AlterPartition v3 as epoch 40: orders-0 ISR [1@40, 2@41]" in story[1]
    assert "request 41, registered 57" in story[6]
    assert story[-1] == "Verdict: safe (unavailable for a while, nothing lost)."


def test_the_summary_is_one_paragraph_with_the_turning_points(lossy: Rows, saved: Rows) -> None:
    assert "\n" not in summary(lossy)
    assert "arrives at 6 and is accepted: ISR {1, 2}, partition epoch 11." in summary(lossy)
    assert "From 6 to 8, committed records of orders-0 are at risk." in summary(lossy)
    assert "arrives at 6 and is refused: INELIGIBLE_REPLICA" in summary(saved)
    assert "From 8 to 10, orders-0 has no leader." in summary(saved)


def test_the_table_has_a_line_per_moment_and_scoped_headers(lossy: Rows) -> None:
    outline = Outline(table_html(lossy))
    rows = [h for h in outline.named("th") if h["scope"] == "row"]
    assert len(rows) == len(lossy.moments)
    assert len(outline.named("caption")) == 1
    lines = table_text(lossy).splitlines()
    assert len(lines) == len(lossy.moments) + 2
    assert "in ISR, log empty" in lines[2 + 6]


def test_titles_are_escaped_everywhere_on_a_page(evil: Rows) -> None:
    outline = Outline(page(evil, include_plotlyjs=False))
    assert outline.named("img") == []
    # The figure's own script, and plotly's switch for MathJax.
    ours = Outline(page(evil, include_plotlyjs=False).replace("alert", "")).named("script")
    plain = rows_of(run_play(parse("title plain\nbroker 1\ntopic t replicas=1\nproduce t-0\n")))
    assert len(ours) == len(Outline(page(plain, include_plotlyjs=False)).named("script"))


def test_a_page_needs_no_eyes(lossy: Rows, saved: Rows) -> None:
    text = page((lossy, saved), include_plotlyjs=False)
    outline = Outline(text)
    assert outline.named("html") == [{"lang": "en"}]
    (figure,) = [a for _, a in outline.tags if a.get("role") == "img"]
    assert "100 committed records lost" in (figure["aria-label"] or "")
    assert len(outline.named("table")) == 3
    assert "first differ at 6 (request arrives)" in text
    assert "KIP-903 on · Kafka 3.5: the story in sentences" in text


def test_a_page_without_plotlyjs_is_small_and_one_with_it_asks_nobody(
    lossy: Rows, saved: Rows
) -> None:
    small = page((lossy, saved), include_plotlyjs=False)
    assert len(small.encode()) < 210_000
    whole = Outline(page(lossy))
    assert [s for s in whole.named("script") if s.get("src")] == []
    assert whole.named("link") == []


def test_plotlyjs_can_stand_beside_many_pages(lossy: Rows, tmp_path: Path) -> None:
    file = write(lossy, tmp_path / "run.html", include_plotlyjs="directory")
    assert [s["src"] for s in Outline(file.read_text()).named("script") if s.get("src")] == [
        "plotly.min.js"
    ]
    assert (tmp_path / "plotly.min.js").stat().st_size > 1_000_000


def test_json_csv_and_txt_hold_the_runs(lossy: Rows, saved: Rows, tmp_path: Path) -> None:
    both = (lossy, saved)
    content = json.loads(write(both, tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["first_difference"] == 6
    (compared,) = content["comparisons"]
    assert {"x": 6, "node": "orders-0", "field": "ISR", "one": "{1, 2}", "other": "{1}"} in (
        compared["differences"]
    )
    assert [run["meta"]["features"] for run in content["runs"]] == ["3.4", "3.5"]
    with write(both, tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == len(lossy.events) + len(saved.events)
    assert {line["features"] for line in lines} == {"3.4", "3.5"}
    text = write(both, tmp_path / "a.txt").read_text(encoding="utf-8")
    assert text.startswith("KIP-903 off · Kafka 3.4\n")
    assert sentences(saved)[-1] in text
    assert "KIP-903 off · Kafka 3.4 against KIP-903 on · Kafka 3.5\n====" in text
    assert "At 6, orders-0: partition epoch 11 against 10; ISR {1, 2} against {1};" in text


def test_svg_needs_no_browser(
    lossy: Rows, saved: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_picture, "find_chromium", lambda: None)
    for runs in (lossy, (lossy, saved), (lossy, saved, saved)):
        text = write(runs, tmp_path / "a.svg").read_text(encoding="utf-8")
        assert text.startswith("<svg")
        assert "100 committed records lost" in text


@pytest.mark.skipif(browser_picture.find_chromium() is None, reason="no Chromium on this machine")
def test_somebody_elses_figure_is_drawn_by_a_browser(lossy: Rows, tmp_path: Path) -> None:
    pytest.importorskip("kaleido")
    figure = go.Figure(go.Scatter(x=[1, 2], y=[3, 4], name="theirs", showlegend=True))
    text = write(lossy, tmp_path / "a.svg", figure=figure).read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "theirs" in text


def test_without_a_browser_the_error_says_what_helps(
    lossy: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kaleido")
    monkeypatch.setattr(browser_picture, "find_chromium", lambda: None)
    with pytest.raises(ExportError, match="there is none") as problem:
        write(lossy, tmp_path / "a.png")
    assert "BROWSER_PATH" in problem.value.mend
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_ending_is_refused_with_those_that_are_known(
    lossy: Rows, tmp_path: Path
) -> None:
    with pytest.raises(ExportError, match=r"\.html \.svg \.png \.json \.csv \.txt"):
        write(lossy, tmp_path / "a.pdf")


def test_a_picture_shows_one_to_four_runs(lossy: Rows, tmp_path: Path) -> None:
    for runs in ([], [lossy] * 5):
        with pytest.raises(ValueError, match=f"not {len(runs)}"):
            write(runs, tmp_path / "a.txt")


def test_a_page_says_in_words_what_the_signs_mean(lossy: Rows) -> None:
    whole = page(lossy, include_plotlyjs=False)
    signs = whole.partition("<h2>Signs</h2>")[2].partition("</section>")[0]
    assert [words for _, words in legend_words(lossy) if words not in signs] == []
    assert "★ leader" in signs
