"""Share a branch as a token, save the whole lab to a file, load either."""

from collections.abc import Callable
from html import escape
from typing import Any

from ..elements.kinds import Upload
from ..elements.labelled import button, column, line, offer, row, words
from ..history_tree import lab_file
from ..history_tree.branch_tree import Tree
from ..history_tree.playback import Playback
from ..markup import INK, LINE, heading, muted
from ..press_outcomes import Answer

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
    """Asks `tree` for the history and `token` for its token; calls `take` with a loaded tree."""

    def __init__(
        self,
        tree: Callable[[], Tree],
        token: Callable[[], str],
        take: Callable[[Tree, str], None],
    ) -> None:
        self._tree, self._token, self._take = tree, token, take
        self._before: Tree | None = None
        self.token = words()
        self.file, self._proposed = line("File", "a name"), ""
        whole, branch = "Every branch, name, rule, position", "A text file for kiplab play"
        self.save = button("Save the whole lab", lambda: self._save(lab_file.SUFFIX), whole)
        self.save_play = button("Save this branch as a play", lambda: self._save(".play"), branch)
        self.source = line("Token or file", "kiplab1:… or a file's name")
        self.load = button("Load", self._load, "Show what the token or the file holds")
        self.upload = Upload(
            self._load_file, description="Choose a file", accept=".json,.play,.txt"
        )
        self.bring_back = button("Bring back what was here", self._bring_back)
        self.answer = Answer()
        self.box = column(self._parts())
        self._propose()
        self._offer()

    def _parts(self) -> list[Any]:
        return [
            words(heading("Share this branch")),
            self.token,
            words(muted(_HOW)),
            words(heading("Save")),
            row([self.file, self.save, self.save_play]),
            words(heading("Load")),
            row([self.source, self.load, self.upload, self.bring_back]),
            self.answer.box,
        ]

    def show(self, _playback: Playback) -> None:
        """The token of the branch where one is; what was answered before is over."""
        self.answer.say("")
        self.token.value = _token_html(self._token())
        self._propose()
        self._offer()

    def _propose(self) -> None:
        """The name of the play that is here now, unless somebody wrote another."""
        before, self._proposed = self._proposed, lab_file.default_name(self._tree())
        if self.file.value == before:
            self.file.value = self._proposed

    def _offer(self) -> None:
        offer(
            self.bring_back,
            "nothing has been loaded" if self._before is None else None,
            "Undo the last Load: the branches that were here before it",
        )

    def _save(self, suffix: str) -> None:
        name = _with_suffix(self.file.value or self._proposed, suffix)
        self.answer.to(lambda: f"Saved as {lab_file.save(self._tree(), name)}.")

    def _load(self) -> None:
        self.answer.to(lambda: self._taken(lab_file.load(self.source.value), "Loaded."))

    def _load_file(self, name: str, data: bytes) -> None:
        self.answer.to(lambda: self._taken(lab_file.loaded(data, name), f"Loaded {name}."))

    def _bring_back(self) -> None:
        before = self._before
        if before is not None:
            self.answer.to(lambda: self._taken(before, "What was here before is back."))

    def _taken(self, tree: Tree, said: str) -> str:
        before = self._tree()
        self._take(tree, said)
        self._before = before
        self.show(tree.here.playback)
        return said


def _with_suffix(name: str, suffix: str) -> str:
    """The name with this suffix in place of the one it has."""
    bare = name.strip()
    for known in (lab_file.SUFFIX, ".play"):
        bare = bare.removesuffix(known)
    return bare + suffix


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
