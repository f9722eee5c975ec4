"""The key pictures of the labs as files for slides, and the same as pages to embed: two folders.

Each has an ``index.html`` that shows them all. What a machine lacks is added to `lacks`, and the
files that need it are left out.
"""

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import NamedTuple

import msgspec

from ...figures.drawing.still_picture import described
from ...figures.drawing.svg import Json, svg
from ...figures.drawing.theme import LIGHT, THEMES, dark_of_light
from ...pages import live
from ...pages.browser_picture import browser_order, draw_in_browser
from ...pages.export import write
from ...pages.live_engine import write_engine
from ...pages.page_files import AUTO, html_page
from ...pages.player import size_of
from ...plays.library import load, names
from ...protocol.features import default_elr
from ...rows.run_titles import titles
from ...runs import Run
from ...runs import run as run_of
from .marked_cells import KEY_PICTURE, LEFT_OUT, Cells, LabPicture, marked

PNG_WIDTH = 1920
"""Pixels across: a slide's."""
NAME_MAX = 60
_DARK = dark_of_light()
_COLOR = re.compile("|".join(map(re.escape, _DARK)))


class KeyPicture(NamedTuple):
    """A picture and how its files are called: ``04-kafka-14139-on-3.4``."""

    name: str
    picture: LabPicture

    @property
    def caption(self) -> str:
        """The question of the play and what each run came to; of a chart what it shows."""
        rows = [run.rows() for run in self.picture.runs]
        if not rows:
            return described(self.picture.drawing)
        ends = (f"{t}: {r.meta.sentence}." for t, r in zip(titles(rows), rows, strict=True))
        return f"{rows[0].meta.question} {' '.join(ends)}"

    def write(self, out: Path) -> dict[Path, Json]:
        """Write it as SVG, light and dark; returns the drawings by their files."""
        drawings = {out / f"{self.name}.{t}.svg": painted(self.picture, t) for t in THEMES}
        for path, drawing in drawings.items():
            path.write_text(svg(drawing), encoding="utf-8")
        return drawings

    def figure(self, links: str, more: str) -> str:
        """The picture as HTML, as the reader's system likes it, above its caption and links."""
        alt = escape(described(self.picture.drawing), quote=True)
        return (
            f'<figure id="{self.name}"><picture><source media="(prefers-color-scheme: dark)"'
            f' srcset="{self.name}.dark.svg"><img src="{self.name}.light.svg" alt="{alt}"'
            f' loading="lazy"></picture><figcaption><p>{escape(self.caption)}</p>'
            f"<p>{links}</p>{more}</figcaption></figure>"
        )


def painted(picture: LabPicture, theme: str) -> Json:
    """A picture, which is drawn light, in the colours of a theme."""
    if theme == LIGHT.name:
        return picture.drawing
    text = msgspec.json.encode(picture.drawing, enc_hook=lambda value: value.tolist()).decode()
    dark: Json = msgspec.json.decode(_COLOR.sub(lambda found: _DARK[found[0]], text))
    return dark


def key_pictures(cells: Cells, lacks: list[Exception]) -> Iterator[KeyPicture]:
    """The key pictures of a lab."""
    for cell, picture in marked(cells, KEY_PICTURE, lacks):
        name = cell.id
        if picture.runs:
            rules = [run.stage.features.label().replace(" ", "") for run in picture.runs]
            play = picture.runs[0].stage.play.name
            name = f"{play}-on-{'-and-'.join(rules)}"
            name = name if len(name) <= NAME_MAX else f"{play}-{len(rules)}-ways"
        yield KeyPicture(f"{cell.lab}-{name}", picture)


def write_key_pictures(out: Path, labs: list[Cells], lacks: list[Exception]) -> list[Path]:
    """Write each picture as SVG and PNG, light and dark."""
    drawings, sections = dict[Path, Json](), list[str]()
    for cells in labs:
        sections.append(f"<h2>{escape(cells[0].heading)}</h2>")
        for each in key_pictures(cells, lacks):
            drawings |= each.write(out)
            kinds = [f"{each.name}.{theme}.{kind}" for kind in ("svg", "png") for theme in THEMES]
            told = f"<p>In words: {escape(described(each.picture.drawing))}</p>"
            sections.append(each.figure(" ".join(f'<a href="{n}">{n}</a>' for n in kinds), told))
    sizes = ((path, drawing, size_of(drawing)) for path, drawing in drawings.items())
    orders = [
        browser_order(drawing, size, path.with_suffix(".png"), PNG_WIDTH / size[0])
        for path, drawing, size in sizes
    ]
    written = [*drawings, _index(out, "Key pictures of the labs", sections)]
    try:
        draw_in_browser(*orders)
        written += [Path(order["path"]) for order in orders]
    except LEFT_OUT as lack:
        lacks.append(lack)
    return written


def write_gallery(out: Path, labs: list[Cells], lacks: list[Exception]) -> list[Path]:
    """Write a page for each story of the labs, with what one copies, and for each play.

    They share one plotly.js and one engine; without the engine they cannot be changed.
    """
    size, sections = 0, list[str]()
    pages: dict[str, tuple[Run, ...]] = {name: (run_of(name),) for name in names()}
    try:
        size = write_engine(out / live.ENGINE)
    except LEFT_OUT as lack:
        lacks.append(lack)
    for cells in labs:
        stories = [each for each in key_pictures(cells, lacks) if each.picture.runs]
        sections += [f"<h2>{escape(cells[0].heading)}</h2>", *map(_story, stories)]
        pages |= {each.name: each.picture.runs for each in stories if each.write(out)}
    plays = (f'<li><a href="{n}.html">{n}</a>: {escape(load(n).question)}</li>' for n in names())
    sections.append(f"<h2>All plays</h2><ul>{''.join(plays)}</ul>")
    written = []
    for name, runs in pages.items():
        # The page of one run can be changed, if the engine is there.
        controls = live.offered(runs[0].stage, {}, size) if size and len(runs) == 1 else ""
        rows, path = [run.rows() for run in runs], out / f"{name}.html"
        written.append(write(rows, path, include_plotlyjs="directory", controls=controls))
    return [*written, _index(out, "Timelines to embed", sections)]


def _index(out: Path, title: str, sections: list[str]) -> Path:
    template = Template(files(__package__).joinpath("pictures.html").read_text(encoding="utf-8"))
    main = template.substitute(title=title, sections="\n".join(sections))
    path = out / "index.html"
    path.write_text(html_page(title, main, theme=AUTO, style="", width=1080), encoding="utf-8")
    return path


def _story(each: KeyPicture) -> str:
    title = escape(each.picture.runs[0].rows().meta.title, quote=True)
    page, snippets = f"{each.name}.html", enumerate(snippets_of(each))
    links = (
        f'<button type="button" data-opens="{page}" data-title="{title}" hidden>Step through it'
        f' here</button> <a href="{page}">On a page of its own</a>'
    )
    copied = (
        f'<div class="snippet"><pre tabindex="0"><code id="{each.name}-{n}">{escape(code)}</code>'
        f'</pre><button type="button" data-copies="{each.name}-{n}" hidden>Copy</button></div>'
        for n, code in snippets
    )
    return f"<h3>{title}</h3>{each.figure(links, ''.join(copied))}"


def snippets_of(each: KeyPicture) -> Iterator[str]:
    """What an author copies: for a page, for a shell, for a notebook."""
    (first, *others), page = each.picture.runs, f"{each.name}.html"
    title = escape(first.rows().meta.title, quote=True)
    yield f'<iframe src="{page}" title="{title}" width="100%" height="760"></iframe>'
    play = first.stage.play.name if first.stage.play.name in names() else first.token
    compared = "".join(f" --compare {_shell(other)}" for other in others)
    yield f"kiplab timeline {play} {_shell(first)} -o {page}{compared}"
    made = ", ".join(f"kiplab.run({play!r}, {_python(run)})" for run in each.picture.runs)
    yield f"kiplab.{'ladder' if others[1:] else 'twin'}({made})" if others else f"{made}.timeline()"


def _shell(run: Run) -> str:
    """The rules of a run as options: its label has ``-GUARD`` for what is off, ``+`` for on."""
    release, level, switches = _rules(run)
    named = "".join({"-": " --off ", "+": " --on "}[word[0]] + word[1:] for word in switches)
    return f"--kafka {release}" + f" --elr {level}" * (level is not None) + named


def _python(run: Run) -> str:
    release, level, switches = _rules(run)
    off, on = (tuple(word[1:] for word in switches if word[0] == sign) for sign in "-+")
    eligible = f", elr={level}" * (level is not None)
    return f"kafka={release!r}{eligible}" + f", off={off!r}" * bool(off) + f", on={on!r}" * bool(on)


def _rules(run: Run) -> tuple[str, int | None, list[str]]:
    """Release, level of eligible leader replicas where a new cluster has another, and switches."""
    features = run.stage.features
    release, *words = features.label().split()
    level = int(features.has_elr)
    switches = [word for word in words if word[0] in "-+"]
    return release, None if level == default_elr(features) else level, switches
