"""The branches of a Lab, drawn as a tree; with controls to go there, compare, rename, delete."""

from collections.abc import Callable
from html import escape
from typing import Any

from ...plays import verdict as verdicts
from ...plays.stage import Stage
from ...protocol.features import Features
from ...rows.columns import Rows
from ...rows.comparison import differences_html
from ..elements.kinds import PlotlyPicture, Style
from ..elements.labelled import button, column, dropdown, line, offer, row, watch, words
from ..history_tree import branch_tree as trees
from ..history_tree.branch_tree import TRUNK, Branch, Tree
from ..history_tree.playback import Playback
from ..markup import INK, MUTED, SOFT, glyph, muted
from ..press_outcomes import Answer

FOLD_MARGINS = 44
"""Pixels that are kept around what is unfolded."""
_ADVICE = (
    "The play is the trunk and keeps its lines. What you do anywhere but at the end of a branch"
    " begins a new one. Rules belong to the branch on which they are changed."
)
_TABLE = """<style>
.kiplab-differs { font-size: 12px; line-height: 1.45; overflow: auto; }
.kiplab-differs td, .kiplab-differs th { text-align: left; vertical-align: top; }
.kiplab-differs td, .kiplab-differs th { padding: 2px 12px 2px 0; }
.kiplab-differs caption { text-align: left; font-weight: 600; padding: 4px 0; }
</style>"""


class Branches:
    """Asks `tree` for the history, and calls `turn` with what it became and a sentence."""

    def __init__(
        self,
        tree: Callable[[], Tree],
        turn: Callable[[Tree, str], None],
        look: Callable[[], dict[str, Any]],
        rows_of: Callable[[Stage], Rows],
    ) -> None:
        self._tree, self._turn = tree, turn
        self.drawing = words()
        self.which = dropdown("Branch", ())
        self.which.layout = Style(flex="1 1 auto", margin="2px")
        watch(self.which, "value", lambda _: self._offer())
        self.go = button("Go there", lambda: self._change(trees.switch, "You are on {}."))
        self.compare = button("Compare with where I am", self._compare)
        self.delete = button("Delete", lambda: self._change(trees.delete, "{} is deleted."))
        self.name = line("New name", "what happens on this branch")
        self.rename = button("Rename", lambda: self._change(self._renamed, "{} has a new name."))
        self.answer = Answer()
        self.comparison = BranchComparison(look, rows_of)
        chosen = row([self.which, self.go, self.compare, self.delete])
        named = row([self.name, self.rename])
        parts = [words(muted(_ADVICE)), self.drawing, chosen, named]
        self.box = column([*parts, self.answer.box, self.comparison.box])

    def show(self, _playback: Playback) -> None:
        """The tree as it is now; what was answered is over."""
        tree = self._tree()
        self.answer.say("")
        self.drawing.value = drawing(tree)
        options = tuple((branch.name, branch.id) for branch in tree.branches)
        if self.which.options != options:
            kept = self.which.value
            self.which.options = options
            self.which.value = kept if kept in dict(options).values() else tree.current
        self.comparison.keep(tree)
        self._offer()

    def _offer(self) -> None:
        tree, chosen = self._tree(), self.which.value
        here = "you are on this branch" if chosen == tree.current else None
        offer(self.go, here, "Show this branch, at the step where you left it")
        offer(self.compare, here, "Both runs in one picture, and how they differ")
        keeps = "the play stays" if chosen == TRUNK else None
        offer(self.delete, keeps, "Forget this branch; what forked from it stays")
        offer(self.rename, keeps, "Give this branch the name beside this button")

    def _chosen(self) -> Branch:
        return self._tree().branch(self.which.value)

    def _renamed(self, tree: Tree, id: int) -> Tree:
        return trees.rename(tree, id, self.name.value)

    def _change(self, change: Callable[[Tree, int], Tree], said: str) -> None:
        sentence = said.format(self._chosen().name)

        def changed() -> str:
            self._turn(change(self._tree(), self.which.value), sentence)
            return sentence

        self.answer.to(changed)

    def _compare(self) -> None:
        self.comparison.show(self._tree().here, self._chosen())
        self.answer.say("The comparison is below.")


class BranchComparison:
    """Two branches on one axis, and what differs in words; gone as soon as one of them changes."""

    def __init__(
        self, look: Callable[[], dict[str, Any]], rows_of: Callable[[Stage], Rows]
    ) -> None:
        self._look, self._rows_of = look, rows_of
        self._picture = PlotlyPicture({"data": [], "layout": {}})
        self._compared: tuple[Branch, ...] = ()
        self.said, self.differences = words(), words()
        self.box = column([])

    def show(self, upper: Branch, lower: Branch) -> None:
        """`upper` above, `lower` below."""
        self.said.value = muted(f"Above, first: {_titled(upper)}. Below, second: {_titled(lower)}.")
        runs = (self._rows_of(branch.playback.whole) for branch in (upper, lower))
        table = differences_html(*runs, names=(upper.name, lower.name))
        self.differences.value = f'{_TABLE}<div class="kiplab-differs">{table}</div>'
        self._compared = (upper, lower)
        self.repaint()
        self.box.children = (self.said, self._picture, self.differences)

    def repaint(self) -> None:
        """What is compared, if anything is, as the look is now."""
        if not self._compared:
            return
        from ...figures.timeline.whole_runs import twin

        runs = (self._rows_of(branch.playback.whole) for branch in self._compared)
        names = tuple(branch.name for branch in self._compared)
        look = self._look()
        shown = {key: look[key] for key in ("theme", "partition", "metrics") if key in look}
        figure = twin(*runs, width=look["width"] - FOLD_MARGINS, names=names, **shown)
        self._picture.drawing = figure.to_dict()

    def keep(self, tree: Tree) -> None:
        """Stay, if both branches are still what they were, and called as they were."""
        now = {(branch.name, id(branch.playback.frames)) for branch in tree.branches}
        if any((one.name, id(one.playback.frames)) not in now for one in self._compared):
            self._compared, self.box.children = (), ()


def drawing(tree: Tree) -> str:
    """The tree as HTML: a line per branch below the one it forks from, the current one marked."""
    lines = "".join(_line(tree, lead, branch) for lead, branch in trees.drawn(tree))
    look = f"list-style:none;margin:4px 0;padding:0;color:{INK};line-height:1.75"
    return f'<ul role="list" aria-label="branches" style="{look}">{lines}</ul>'


def _line(tree: Tree, lead: str, branch: Branch) -> str:
    here = branch.id == tree.current
    mark = ' aria-current="true"' if here else ""
    marked, plain = f"background:{SOFT};border-left:4px solid #0072b2", "border-left:4px solid"
    edge = marked if here else f"{plain} transparent"
    name = f"<b>{escape(branch.name)}</b>" if here else escape(branch.name)
    you = f" <b>◀ you are here, at step {branch.playback.at}</b>" if here else ""
    facts = escape(_facts(branch, tree.rules))
    return (
        f'<li{mark} style="{edge};padding:0 8px;display:flex;font-size:13px">'
        f'<span aria-hidden="true" style="font-family:monospace;white-space:pre">{lead}</span>'
        f'<span>{name} <span style="color:{MUTED};font-size:12px">· {facts}</span>{you}</span></li>'
    )


def _facts(branch: Branch, rules: Features) -> str:
    """``"2 lines of its own · under Kafka 3.5 · ▼ 100 committed records lost"``.

    Rules are told where they are not those under which the play was opened.
    """
    own = len(branch.own_lines)
    count = f"{own} line{'s' * (own != 1)} of its own"
    steps = f"{branch.playback.last} steps" if branch.parent is None else count
    features = branch.playback.features
    under = f" · under Kafka {features.label()}" if features != rules else ""
    stage = branch.playback.whole
    return f"{steps}{under} · {glyph(stage)} {verdicts.sentence(stage)}"


def _titled(branch: Branch) -> str:
    return f"{branch.name} (Kafka {branch.playback.features.label()})"
