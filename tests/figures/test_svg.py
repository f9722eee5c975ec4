"""The still picture: an SVG that says what the figure says, and what a notebook keeps of it."""

import re
from html import unescape
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import plotly.graph_objects as go
import pytest

import kiplab
from kiplab.figures.drawing.still_picture import MARK, PLOTLY, mimebundle, still
from kiplab.figures.drawing.svg import draws, svg
from kiplab.figures.drawing.theme import LIGHT
from kiplab.figures.timeline.ladder import ladder
from kiplab.figures.timeline.whole_runs import timeline, timeline_drawing, twin
from kiplab.pages.saved_notebooks import lighten
from kiplab.rows.columns import Rows
from tests.figures.boxes import move_cursor
from tests.figures.small_plays import MESSAGES, PAIR, play
from tests.kafka_14139 import rows_on
from tests.repeated import every_play

SPACE = "{http://www.w3.org/2000/svg}"
TAG = re.compile(r"<[^>]*>")
PATH = re.compile(r"(M[\d.]+ [\d.]+|l-?[\d.]+[ -][\d.]+|h-?[\d.]+|v-?[\d.]+|z)*")
EVIL = '<img src=x onerror="alert(1)"> & </svg><script>alert(2)</script>'


def document(picture: Any) -> ElementTree.Element:
    return ElementTree.fromstring(svg(picture))


def said(picture: Any) -> list[str]:
    return ["".join(text.itertext()) for text in document(picture).iter(f"{SPACE}text")]


def test_every_word_of_the_figure_is_there_and_no_other(lossy: Rows, saved: Rows) -> None:
    figure = twin(lossy, saved)
    wanted = [text for trace in figure.data if trace.mode == "text" for text in trace.text]
    assert said(figure) == [TAG.sub("", text) for text in wanted]


@pytest.mark.parametrize("name", every_play())
def test_every_play_becomes_a_document_with_all_its_shapes_on_the_sheet(name: str) -> None:
    drawing = timeline_drawing(rows_on(name, "3.5"))
    root, wide = document(drawing), drawing["layout"]["width"]
    assert (root.get("width"), root.get("height")) == (str(wide), str(drawing["layout"]["height"]))
    data = [path.get("d") or "" for path in root.iter(f"{SPACE}path")]
    assert [d for d in data if not PATH.fullmatch(d)] == []
    across = [float(x) for d in data for x in re.findall(r"M([\d.]+)", d)]
    assert min(across) >= 0
    assert max(across) <= wide


def test_words_stand_where_the_figure_has_them(lossy: Rows) -> None:
    figure = timeline(lossy)
    (trace,) = [t for t in figure.data if t.name == "words"]
    left, right = figure.layout.xaxis.range
    place = list(trace.text).index("<b>broker 2</b>")
    wanted = (trace.x[place] - left) / (right - left) * figure.layout.width
    (found,) = [t for t in document(figure).iter(f"{SPACE}text") if t.text == "broker 2"]
    assert float(found.get("x") or 0) == pytest.approx(wanted, abs=0.06)


def test_panels_beside_each_other_stay_beside_each_other(two_by_two: tuple[Rows, ...]) -> None:
    figure = ladder(two_by_two, width=980)
    titles = [t for t in document(figure).iter(f"{SPACE}text") if (t.text or "").startswith("KIP")]
    assert [float(t.get("x") or 0) for t in titles] == [14, 14, 504, 504]


def test_late_and_lost_messages_stay_dashed_and_dotted(lossy: Rows) -> None:
    assert "stroke-dasharray:7 4" in svg(timeline(lossy, legend=False))
    text = svg(timeline(play(MESSAGES), legend=False))
    found = set(re.findall("stroke-dasharray:([^;}]*)", text))
    assert "2 3" in found
    assert all(re.fullmatch(r"[\d.]+( [\d.]+)*", dash) for dash in found)
    assert "stroke-dasharray" not in svg(timeline(play(PAIR + "fetch 2\n"), legend=False))


def test_it_is_an_image_with_a_name_and_a_description(lossy: Rows) -> None:
    root = document(timeline(lossy))
    assert root.get("role") == "img"
    assert root.findtext(f"{SPACE}title") == "A broker restarts while a request is in flight"
    assert "Verdict: 100 committed records lost." in (root.findtext(f"{SPACE}desc") or "")


def test_it_is_small(lossy: Rows, saved: Rows) -> None:
    assert len(svg(twin(lossy, saved)).encode()) < 26_500


def test_markup_of_a_play_stays_text() -> None:
    rows = play(f"title {EVIL}\nbroker 1\ntopic t replicas=1\n")
    root = document(timeline(rows))
    assert [e.tag for e in root.iter() if e.tag in (f"{SPACE}script", f"{SPACE}img")] == []
    assert any("<script>alert(2)</script>" in text for text in said(timeline(rows)))
    assert "<script" not in still(timeline(rows).to_plotly_json())


def test_it_says_which_pictures_it_can_draw(two_by_two: tuple[Rows, ...]) -> None:
    ours = (timeline(two_by_two[0], until=4), twin(*two_by_two[:2]), ladder(two_by_two))
    assert all(draws(figure.to_plotly_json()) for figure in ours)
    words = {"x": [1], "y": [1], "text": ["theirs"], "mode": "text"}
    theirs: tuple[dict[str, Any], ...] = (
        {"data": [{"x": [1], "y": [2]}], "layout": {}},
        {"data": [words], "layout": {"width": 700, "height": 450}},
        {
            "data": [{"mode": "lines", "x": [1]}],
            "layout": timeline_drawing(two_by_two[0])["layout"],
        },
    )
    assert not any(map(draws, theirs))


def test_two_in_one_page_keep_their_styles_apart(lossy: Rows, saved: Rows) -> None:
    ids = []
    for rows in (lossy, saved):
        text = svg(timeline_drawing(rows))
        (sheet,) = re.findall("<style>(.*?)</style>", text)
        (id,) = re.findall('^<svg [^>]*id="([^"]+)"', text)
        assert [rule for rule in sheet.split("}") if rule and not rule.startswith(f"#{id} ")] == []
        ids.append(id)
    assert ids[0] != ids[1]


def test_what_is_masked_or_hidden_is_so_there_too(lossy: Rows) -> None:
    figure = timeline(lossy)
    verdict = "▼ 100 committed records lost"
    assert verdict in said(figure)
    assert LIGHT.mask not in svg(figure)
    move_cursor(figure, 4)
    assert verdict not in said(figure)
    assert LIGHT.mask in svg(figure)


def test_a_cell_gets_the_figure_a_still_image_and_words(lossy: Rows, saved: Rows) -> None:
    figure = twin(lossy, saved)
    assert isinstance(figure, go.Figure)
    bundle = figure._repr_mimebundle_()
    assert set(bundle) == {PLOTLY, "text/html", "text/plain"}
    assert go.Figure(bundle[PLOTLY]["data"]).data[0].name == figure.data[0].name
    assert "template" not in bundle[PLOTLY]["layout"]
    found = re.search(r'src="data:image/svg\+xml;charset=utf-8,([^"]+)"', bundle["text/html"])
    assert found is not None
    image = unquote(unescape(found[1]))
    assert image.replace("'", '"') == svg(figure, described=False).replace("'", '"')
    assert "unavailable for a while, nothing lost" in bundle["text/plain"]
    assert bundle["text/plain"] in bundle["text/html"].replace("&gt;", ">")


def test_every_picture_of_kiplab_shows_itself_so() -> None:
    runs = [kiplab.run("kafka-14139", kafka=kafka) for kafka in ("3.2", "3.4", "3.5")]
    for figure in (runs[0].timeline(), kiplab.twin(*runs[:2]), kiplab.ladder(*runs)):
        assert MARK in figure._repr_mimebundle_()["text/html"]


def notebook(*bundles: dict[str, Any]) -> dict[str, Any]:
    outputs = [{"output_type": "display_data", "data": b, "metadata": {}} for b in bundles]
    cells = [{"cell_type": "markdown", "source": ""}, {"cell_type": "code", "outputs": outputs}]
    return {"type": "notebook", "content": {"cells": cells}}


def test_a_saved_figure_keeps_its_still_image_and_its_words(lossy: Rows) -> None:
    bundle = {**mimebundle(timeline(lossy)), "image/png": "iVBORw0K" * 9000}
    model = notebook(bundle)
    lighten(model, path="lab.ipynb", contents_manager=None)
    assert set(bundle) == {"text/html", "text/plain"}


def test_html_in_lines_is_known_too(lossy: Rows) -> None:
    bundle = mimebundle(timeline(lossy))
    bundle["text/html"] = bundle["text/html"].splitlines(keepends=True)
    lighten(notebook(bundle))
    assert PLOTLY not in bundle


def test_somebody_elses_figure_loses_only_the_png() -> None:
    theirs, picture = {PLOTLY: {"data": []}, "image/png": "iVBOR"}, {"image/png": "iVBOR"}
    lighten(notebook(theirs, picture))
    assert (set(theirs), set(picture)) == ({PLOTLY}, {"image/png"})


@pytest.mark.parametrize("model", [{"type": "file", "content": "x"}, {"type": "notebook"}])
def test_what_is_no_notebook_is_left_alone(model: dict[str, Any]) -> None:
    before = dict(model)
    lighten(model)
    assert model == before
