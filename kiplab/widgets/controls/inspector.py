"""The state of every node, to unfold, and the run so far in words."""

from collections.abc import Callable
from html import escape

from ...rows.columns import Rows
from ...rows.sentences import story_html, table_html
from ...rows.state_tree import DESCRIPTION, Change, StateNode, changed, tree_of
from ..elements.kinds import Finder, Folding
from ..elements.labelled import column, words
from ..history_tree.playback import Playback
from .actions import LabLike

LISTED_MAX = 12
"""How many changes are listed on top; of more only the number is, and the tree marks them all."""
_MARK = '<b role="img" aria-label="changed">◆</b>'


class Inspector:
    """`box` shows the state of the step where one stands."""

    def __init__(self, lab: LabLike) -> None:
        self._lab = lab
        self.box = Folding()

    def show(self) -> None:
        self.box.value = inspected(self._lab.playback)


def inspected(playback: Playback) -> str:
    """The tree of the step where one stands, as HTML."""
    here, at = tree_of(playback.here.cluster), playback.at
    changes: tuple[Change, ...] = ()
    if at:
        changes = changed(tree_of(playback.frames[at - 1].stage.cluster), here)
    marks = {change.path: change for change in changes}
    nodes = "".join(_branch(node, (node.key,), marks) for node in here.children)
    listed = _listed(at, changes)
    return f'<div class="kiplab-tree">{listed}{nodes}{_gone((), marks)}</div>'


def _listed(at: int, changes: tuple[Change, ...]) -> str:
    if not at:
        return _line("This is the start: nothing has changed yet.")
    if not changes:
        return _line(f"Step {at} changed nothing that a node holds.")
    # That a broker learns of what the controller wrote comes last: it is the same once more.
    ranked = sorted(
        changes, key=lambda change: DESCRIPTION in change.path[-1] or "image" in change.path
    )
    rows = "".join(_change(" / ".join(c.labels), c) for c in ranked[:LISTED_MAX])
    left = len(changes) - LISTED_MAX
    more = f"<li>and {left} more, marked ◆ below</li>" if left > 0 else ""
    return _line(f"Changed by step {at}:") + f'<ul class="kiplab-changes">{rows}{more}</ul>'


def _change(label: str, change: Change) -> str:
    return f'<li><span class="label">{escape(label)}</span> {_became(change)}</li>'


def _line(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def _branch(row: StateNode, path: tuple[str, ...], marks: dict[tuple[str, ...], Change]) -> str:
    label = f'<span class="label">{escape(row.label)}</span>'
    note = f' <span class="note">({escape(row.note)})</span>' if row.note else ""
    mark = marks.get(path)
    value = _became(mark) if mark else f'<span class="said">{escape(row.value)}</span>'
    outer = "div" if len(path) == 1 else "li"
    if not row.children:
        return f"<{outer}>{label}: {value}{note}</{outer}>"
    within = sum(place[: len(path)] == path and place != path for place in marks)
    count = f" {_MARK} {within} changed" if within else ""
    rows = "".join(_branch(child, (*path, child.key), marks) for child in row.children)
    summary = f"<summary>{label} {value}{note}{count}</summary>"
    there = escape("/".join(path), quote=True)
    fold = f'<details data-path="{there}">{summary}<ul>{rows}{_gone(path, marks)}</ul></details>'
    return f"<{outer}>{fold}</{outer}>"


def _gone(path: tuple[str, ...], marks: dict[tuple[str, ...], Change]) -> str:
    """The rows that were directly under `path` a step ago."""
    here = (c for c in marks.values() if c.new is None and c.path[:-1] == path)
    return "".join(_change(change.labels[-1], change) for change in here)


def _became(change: Change) -> str:
    """``◆ old → new``."""
    old = "(new)" if change.old is None else change.old or "…"
    new = "(gone)" if change.new is None else change.new or "…"
    return f'{_MARK} <span class="said">{escape(old)} → {escape(new)}</span>'


_BOX = 'class="kiplab-told" style="max-height:60vh" data-told data-finds tabindex="0" role="region"'


class Telling:
    """`box` holds the words, and a line to search them."""

    def __init__(self, rows: Callable[[], Rows]) -> None:
        self._rows = rows
        self.text = words()
        self.box = column([Finder(), self.text])

    def show(self) -> None:
        rows = self._rows()
        # With many brokers it is wider than there is room: it scrolls, also by keyboard.
        region = 'style="overflow-x:auto" tabindex="0" role="region" aria-label="table of the run"'
        table = f"<div {region}>{table_html(rows)}</div>"
        words = f"{story_html(rows)}{table}"
        self.text.value = f'<div {_BOX} aria-label="the run in words">{words}</div>'
