"""The branches of a Lab, drawn as a tree; with controls to go there, compare, rename, delete. And
to share one as a token, save the whole lab to a file, load either.
"""

from collections.abc import Callable
from html import escape

from ...plays import verdict as verdicts
from ...protocol.features import Features
from ...rows.columns import plural
from ...rows.difference import differences_html
from ..elements.kinds import PlotlyPicture, Style, Upload
from ..elements.labelled import button, column, dropdown, line, offer, row, watch, words
from ..history_tree import branch_tree as trees
from ..history_tree import lab_file
from ..history_tree.branch_tree import Branch, Tree
from ..markup import INK, LINE, MUTED, Answer, edge, glyph, heading, muted
from ..view_model import ViewModel

FOLD_MARGINS = 44
_ADVICE = (
    "The play is the trunk and keeps its lines. What you do anywhere but at the end of a branch"
    " begins a new one. Rules belong to the branch on which they are changed."
)


class Branches:
    """Calls `turn` with what the history of `view` became and a sentence."""

    def __init__(self, view: ViewModel, turn: Callable[[Tree, str], None]) -> None:
        self._view, self._turn = view, turn
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
        self.comparison = BranchComparison(view)
        chosen = row([self.which, self.go, self.compare, self.delete])
        named = row([self.name, self.rename])
        parts = [words(muted(_ADVICE)), self.drawing, chosen, named]
        self.box = column([*parts, self.answer.box, self.comparison.box])

    def show(self) -> None:
        """The current tree; an open question is withdrawn."""
        tree = self._view.tree
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
        tree, chosen = self._view.tree, self.which.value
        here = "you are on this branch" if chosen == tree.current else None
        offer(self.go, here, "Show this branch, at the step where you left it")
        offer(self.compare, here, "Both runs in one picture, and how they differ")
        keeps = "the play stays" if chosen == trees.TRUNK else None
        offer(self.delete, keeps, "Delete this branch; branches that began on it stay")
        offer(self.rename, keeps, "Give this branch the name beside this button")

    def _chosen(self) -> Branch:
        return self._view.tree.branch(self.which.value)

    def _renamed(self, tree: Tree, id: int) -> Tree:
        return trees.rename(tree, id, self.name.value)

    def _change(self, change: Callable[[Tree, int], Tree], template: str) -> None:
        sentence = template.format(self._chosen().name)

        def changed() -> str:
            self._turn(change(self._view.tree, self.which.value), sentence)
            return sentence

        self.answer.to(changed)

    def _compare(self) -> None:
        self.comparison.show(self._view.tree.here, self._chosen())
        self.answer.say("The comparison is below.")


class BranchComparison:
    """Two branches on one axis, and their differences in words; hidden once one of them changes."""

    def __init__(self, view: ViewModel) -> None:
        self._view = view
        self._picture = PlotlyPicture({"data": [], "layout": {}})
        self._compared: tuple[Branch, ...] = ()
        self.titles, self.differences = words(), words()
        self.box = column([])

    def show(self, upper: Branch, lower: Branch) -> None:
        pair = (upper, lower)
        first, second = (f"{b.name} (Kafka {b.playback.features.label()})" for b in pair)
        self.titles.value = muted(f"Above, first: {first}. Below, second: {second}.")
        runs = (self._view.rows_of(branch.playback.whole) for branch in pair)
        table = differences_html(*runs, names=(upper.name, lower.name))
        self.differences.value = f'<div class="kiplab-told">{table}</div>'
        self._compared = pair
        self.repaint()
        self.box.children = (self.titles, self._picture, self.differences)

    def repaint(self) -> None:
        """The comparison, if there is one, with the current options."""
        if not self._compared:
            return
        from ...figures.timeline.whole_runs import twin

        runs = (self._view.rows_of(branch.playback.whole) for branch in self._compared)
        names = tuple(branch.name for branch in self._compared)
        options = self._view.options
        shown = {key: options[key] for key in ("theme", "partition", "metrics") if key in options}
        figure = twin(*runs, width=options["width"] - FOLD_MARGINS, names=names, **shown)
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
    name = f"<b>{escape(branch.name)}</b>" if here else escape(branch.name)
    you = f" <b>◀ you are here, at step {branch.playback.at}</b>" if here else ""
    facts = escape(_facts(branch, tree.rules))
    return (
        f'<li{mark} style="{edge(here)};padding:0 8px;display:flex;font-size:13px">'
        f'<span aria-hidden="true" style="font-family:monospace;white-space:pre">{lead}</span>'
        f'<span>{name} <span style="color:{MUTED};font-size:12px">· {facts}</span>{you}</span></li>'
    )


def _facts(branch: Branch, rules: Features) -> str:
    """``"2 lines of its own · under Kafka 3.5 · ▼ 100 committed records lost"``.

    Rules are shown where they differ from those under which the play was opened.
    """
    own = f"{plural(len(branch.own_lines), 'line')} of its own"
    steps = f"{branch.playback.last} steps" if branch.parent is None else own
    features = branch.playback.features
    under = f" · under Kafka {features.label()}" if features != rules else ""
    stage = branch.playback.whole
    return f"{steps}{under} · {glyph(stage)} {verdicts.sentence(stage)}"


# --- sharing --------------------------------------------------------------------------------------


_HOW = (
    'On a command line: kiplab play TOKEN. In a notebook: kiplab.Lab("TOKEN"). It holds every line'
    " of this branch and its rules, to the last step that could be done."
)
# Selected and copied by the browser: the kernel may be on another machine.
_COPY = (
    "const field=this.parentElement.querySelector('input');field.focus();field.select();"
    "document.execCommand('copy');this.textContent='Copied'"
)


class Sharing:
    """Calls `take` with a loaded tree and a sentence; `view` has the one to be shared or saved."""

    def __init__(self, view: ViewModel, take: Callable[[Tree, str], None]) -> None:
        self._view, self._take = view, take
        self._before: Tree | None = None
        self.token = words()
        self.file, self._proposed = line("File", "a name"), ""
        whole, branch = "Every branch, name, rule, position", "A text file for kiplab play"
        self.save = button("Save the whole lab", lambda: self._save(lab_file.SUFFIX), whole)
        self.save_play = button("Save this branch as a play", lambda: self._save(".play"), branch)
        self.source = line("Token or file", "kiplab1:… or a file's name")
        self.load = button("Load", self._load, "Show what the token or the file holds")
        ends = ".json,.play,.txt"
        self.upload = Upload(self._load_file, description="Choose a file", accept=ends)
        self.bring_back = button("Bring back what was here", self._bring_back)
        self.answer = Answer()
        shared = [words(heading("Share this branch")), self.token, words(muted(_HOW))]
        saved = [words(heading("Save")), row([self.file, self.save, self.save_play])]
        loaded = row([self.source, self.load, self.upload, self.bring_back])
        self.box = column([*shared, *saved, words(heading("Load")), loaded, self.answer.box])
        self._propose()
        self._offer()

    def show(self) -> None:
        """The token of the current branch; an open question is withdrawn."""
        self.answer.say("")
        self.token.value = _token_html(self._view.run.token)
        self._propose()
        self._offer()

    def _propose(self) -> None:
        """The name of the play that is here now, unless somebody wrote another."""
        before, self._proposed = self._proposed, lab_file.default_name(self._view.tree)
        if self.file.value == before:
            self.file.value = self._proposed

    def _offer(self) -> None:
        nothing = "nothing has been loaded" if self._before is None else None
        offer(self.bring_back, nothing, "Undo the last Load: the branches that were here before it")

    def _save(self, suffix: str) -> None:
        """The name gets this suffix in place of the one it has."""
        name = (self.file.value or self._proposed).strip()
        name = name.removesuffix(lab_file.SUFFIX).removesuffix(".play") + suffix
        self.answer.to(lambda: f"Saved as {lab_file.save(self._view.tree, name)}.")

    def _load(self) -> None:
        self.answer.to(lambda: self._taken(lab_file.load(self.source.value), "Loaded."))

    def _load_file(self, name: str, data: bytes) -> None:
        self.answer.to(lambda: self._taken(lab_file.loaded(data, name), f"Loaded {name}."))

    def _bring_back(self) -> None:
        before = self._before
        if before is not None:
            self.answer.to(lambda: self._taken(before, "What was here before is back."))

    def _taken(self, tree: Tree, sentence: str) -> str:
        before = self._view.tree
        self._take(tree, sentence)
        self._before = before
        self.show()
        return sentence


def _token_html(token: str) -> str:
    field = (
        f"flex:1 1 auto;min-width:0;font:12px monospace;padding:4px 6px;color:{INK};"
        f"background:var(--jp-layout-color1, #fff);border:1px solid {LINE}"
    )
    button = f"padding:3px 12px;color:{INK};background:transparent;border:1px solid {LINE}"
    shown, copy = escape(token, quote=True), escape(_COPY, quote=True)
    return (
        f'<div style="display:flex;gap:8px;align-items:center;line-height:1.4">'
        f'<label style="display:flex;flex:1 1 auto;gap:8px;align-items:center;color:{INK}">Token'
        f'<input readonly value="{shown}" style="{field}"'
        f' onfocus="this.select()"></label>'
        f'<button type="button" style="{button}" onclick="{copy}">Copy</button>'
        f"</div>"
    )
