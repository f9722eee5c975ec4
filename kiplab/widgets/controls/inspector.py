"""What there is to read of a step: the state of every node, to unfold; the run so far in words; and
the properties as a thin strip: which hold, which broke and when, and what is promised here.
"""

from collections.abc import Callable
from html import escape

import msgspec

from ...engine.cluster import Cluster
from ...engine.properties import ALTERNATIVES, Property, properties_of
from ...engine.truth import controller_of
from ...plays.verdict import HARM, SAFE, VERDICT_SIGNS
from ...protocol.features import Features
from ...protocol.guards import GUARDS
from ...protocol.ids import CONTROLLER
from ...rows.columns import Rows
from ...rows.sentences import story_html, table_html
from ...rows.state_tree import DESCRIPTION, Change, StateNode, changed, tree_of
from ..elements.kinds import Button, Element, Finder, Folding, Html, Style
from ..elements.labelled import button, column, row, words
from ..history_tree.playback import Playback
from ..markup import INK, LINE, MUTED
from .actions import Drawer, LabLike

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


def _branch(node: StateNode, path: tuple[str, ...], marks: dict[tuple[str, ...], Change]) -> str:
    label = f'<span class="label">{escape(node.label)}</span>'
    note = f' <span class="note">({escape(node.note)})</span>' if node.note else ""
    mark = marks.get(path)
    value = _became(mark) if mark else f'<span class="said">{escape(node.value)}</span>'
    outer = "div" if len(path) == 1 else "li"
    if not node.children:
        return f"<{outer}>{label}: {value}{note}</{outer}>"
    within = sum(place[: len(path)] == path and place != path for place in marks)
    count = f" {_MARK} {within} changed" if within else ""
    rows = "".join(_branch(child, (*path, child.key), marks) for child in node.children)
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


class Telling:
    """`box` holds the words, and a line to search them."""

    def __init__(self, rows: Callable[[], Rows]) -> None:
        self._rows = rows
        self.text = words()
        self.box = column([Finder(), self.text])

    def show(self) -> None:
        rows = self._rows()
        # With many brokers it is wider than there is room: it scrolls, also by keyboard.
        region = 'tabindex="0" role="region" aria-label'
        table = f'<div style="overflow-x:auto" {region}="table of the run">{table_html(rows)}</div>'
        box = f'class="kiplab-told" style="max-height:60vh" data-told data-finds {region}'
        self.text.value = f'<div {box}="the run in words">{story_html(rows)}{table}</div>'


# --- properties -----------------------------------------------------------------------------------


class Standing(msgspec.Struct, frozen=True):
    """How one property does at a step.

    `broken_at` is the step at which it stopped holding (None: it holds), for `partitions`.
    `unpromised` says why it is not promised here (None: it is). For a broken one that is as it was
    when it broke.
    """

    about: Property
    broken_at: int | None
    partitions: tuple[str, ...]
    unpromised: str | None

    @property
    def holds(self) -> bool:
        return self.broken_at is None

    @property
    def label(self) -> str:
        """``"■ logs match: broken at step 8"``."""
        name = self.about.id.replace("-", " ").replace(" isr", " ISR")
        if self.holds:
            return f"{VERDICT_SIGNS[SAFE]} {name}"
        return f"{VERDICT_SIGNS[HARM]} {name}: broken at step {self.broken_at}"

    @property
    def words(self) -> str:
        where = f" for {', '.join(p for p in self.partitions if p)}" if any(self.partitions) else ""
        since = f"Broken since step {self.broken_at}{where}. " if not self.holds else ""
        why = f"Not promised in this run, because {self.unpromised}."
        promised = f"Promised ({self.about.promise})." if self.unpromised is None else why
        return f"{self.about.sentence} {since}{promised}"


def standings(playback: Playback) -> tuple[Standing, ...]:
    """How every property does where one stands, in the order of the table."""
    properties = properties_of(playback.here.cluster.features)
    return tuple(_standing(playback, each) for each in properties)


def _standing(playback: Playback, each: Property) -> Standing:
    here = playback.here.cluster
    where = tuple(name for id, name in here.broken if id == each.id)
    # A line may be many moves: what is promised counts at the one that broke it.
    steps = playback.here.history.steps
    judged = next((s.cluster for s in steps if each.id in dict(s.cluster.broken)), here)
    frames = enumerate(playback.frames[: playback.at + 1] if where else ())
    broken_at = next((n for n, f in frames if each.id in dict(f.stage.cluster.broken)), None)
    return Standing(each, broken_at, where, why_not_promised(each, judged, *where[:1]))


def why_not_promised(about: Property, cluster: Cluster, partition: str = "") -> str | None:
    """What takes the promise away, in words; None exactly where `is_promised` says that it holds.

    For one partition, or for all of them.
    """
    if cluster.forged:
        return "a raw request was sent, and nothing is promised against forged requests"
    if cluster.inherited and about.needs:
        return "an upgrade keeps states that older rules allowed"
    excused = any(o.excused for o in cluster.observed if partition in ("", o.partition))
    if excused and about.durable:
        gone = "no member of an ISR that still had the committed records was left"
        return f"{gone}, or a leader was elected uncleanly"
    if about.needs_controller and controller_of(cluster) is None:
        return "no broker is the controller"
    return _missing(about, cluster.features)


def _missing(about: Property, features: Features) -> str | None:
    nodes = (CONTROLLER, *(node for node, _ in features.nodes))
    common = msgspec.structs.replace(features, nodes=())
    active = [*(features.active(node) for node in nodes), common.active(CONTROLLER)]
    lacking = [id for id in about.needs if any(id not in on for on in active)]
    if lacking:
        subjects = ", ".join(dict.fromkeys(GUARDS[id].subject for id in lacking))
        return f"rules of {subjects} are off ({', '.join(lacking)})"
    alternatives = sorted(ALTERNATIVES.intersection(set().union(*active)))
    words = f"alternatives that a KIP rejected are on ({', '.join(alternatives)})"
    return words if alternatives else None


class InvariantStrip:
    """Leads to the step at which a property broke, when its entry is pressed."""

    def __init__(self, lab: LabLike) -> None:
        self._lab = lab
        self._standings: tuple[Standing, ...] = ()
        # Each is made when it is first shown: other modes have other properties.
        self.holding: dict[str, Html] = {}
        self.broken: dict[str, Button] = {}
        self.entries = row((), flex_flow="row wrap")
        self.text = words()
        self.drawer = Drawer("What they say, and what is promised here", self._tell, self.text)
        self.status = words()
        head = row([self.status, self.drawer.toggle], justify_content="space-between")
        self.box = column([head, self.entries, self.drawer.box], margin="0 0 8px")

    def _jump(self, id: str) -> None:
        at = next(s.broken_at for s in self._standings if s.about.id == id)
        if at is not None:
            self._lab.seek(at)

    def show(self) -> None:
        self._standings = standings(self._lab.playback)
        self.status.value = _status(self._standings)
        self.entries.children = tuple(self._entry(s) for s in self._standings)
        self.drawer.show()

    def _entry(self, standing: Standing) -> Element:
        id = standing.about.id
        if standing.holds:
            part = self.holding.setdefault(id, words(margin="0 10px 0 2px", height="24px"))
            promised = "promised" if standing.unpromised is None else "not promised"
            part.value = (
                f'<span title="{escape(standing.words, quote=True)}" style="color:{INK};font-size:'
                f'12px;line-height:24px;white-space:nowrap">{escape(standing.label)}'
                f' <span style="color:{MUTED}">{promised}</span></span>'
            )
            return part
        if id not in self.broken:
            self.broken[id] = made = button(id, lambda: self._jump(id))
            made.layout = Style(margin="1px 10px 1px 2px")
            made.add_class("kiplab-alarm")
        mark = ", although promised" if standing.unpromised is None else " (not promised)"
        self.broken[id].description = f"{standing.label}{mark}"
        self.broken[id].tooltip = f"Go to step {standing.broken_at}. {standing.words}"
        return self.broken[id]

    def _tell(self) -> None:
        told = ((escape(s.label), escape(s.words)) for s in self._standings)
        rows = "".join(f"<li><b>{label}.</b> {words}</li>" for label, words in told)
        look = f"color:{INK};font-size:12px;line-height:1.5;border-top:1px solid {LINE}"
        self.text.value = f'<ul style="{look};padding-top:4px">{rows}</ul>'


def _status(standings: tuple[Standing, ...]) -> str:
    """One sentence; it changes, and is read aloud, only when a property breaks or mends."""
    broken = [s for s in standings if not s.holds]
    sentence = f"All {len(standings)} properties hold."
    if broken:
        first = min(s.broken_at or 0 for s in broken)
        count = f"{len(broken)} of {len(standings)}"
        sentence = f"{count} properties broken, the first at step {first}."
    return f'<span role="status" style="color:{INK};font-size:13px"><b>{sentence}</b></span>'
