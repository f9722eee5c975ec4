"""The history of a Lab as a tree of named branches, a frozen value: no line replaces another.

The trunk is the play, and keeps its lines. Acting on it, or before the end of a branch, makes a new
branch; acting at the end of a branch makes that one longer. Rules belong to a branch: changing them
runs the same lines again there and nowhere else, and a new branch begins under the rules of the one
it was made on. Every change gives a new value; one that cannot be made raises PlayError.
"""

from collections.abc import Iterator
from itertools import chain, count

import msgspec
from msgspec.structs import replace

from ...plays.play import Statement
from ...plays.play_errors import PlayError
from ...protocol.features import Features
from . import playback as playbacks

TRUNK, TRUNK_NAME = 1, "the play"
NAME_MAX, BRANCHES_MAX = 60, 200


class Branch(msgspec.Struct, frozen=True):
    """A playback with a name. Its first `lines` lines are also those of the branch `parent`.

    `id` is its number, 1 for the trunk, which has no parent; no number is given twice.
    """

    id: int
    name: str
    playback: playbacks.Playback
    parent: int | None = None
    lines: int = 0

    @property
    def step(self) -> int:
        """The last step that it shares with its parent: where it forks."""
        shared = (p.moment for p in self.playback.whole.performed if p.line <= self.lines)
        return max(shared, default=0)

    @property
    def own_lines(self) -> tuple[Statement, ...]:
        """What was done on it since it forked; nothing for the trunk."""
        return () if self.parent is None else self.playback.play.statements[self.lines :]


class Tree(msgspec.Struct, frozen=True):
    """`branches` in the order of their numbers, the trunk first; `current` is where one is.

    `rules` are those under which the play was opened; `highest` is the highest number ever given.
    """

    branches: tuple[Branch, ...]
    rules: Features
    current: int = TRUNK
    highest: int = TRUNK

    @property
    def here(self) -> Branch:
        return self.branch(self.current)

    @property
    def trunk(self) -> Branch:
        return self.branches[0]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(branch.name for branch in self.branches)

    def branch(self, id: int) -> Branch:
        """The branch of that number. Raises KeyError if there is none."""
        return {branch.id: branch for branch in self.branches}[id]

    def named(self, name: str) -> Branch:
        """The branch of that name. Raises PlayError that lists what there is."""
        if name not in self.names:
            there_is = ", ".join(map(repr, self.names))
            raise PlayError(f"there is no branch {name!r}", expected=f"there is {there_is}")
        return self.branches[self.names.index(name)]

    def children(self, id: int) -> tuple[Branch, ...]:
        """The branches that fork from that one, the earliest fork first."""
        forks = (branch for branch in self.branches if branch.parent == id)
        return tuple(sorted(forks, key=lambda branch: (branch.lines, branch.id)))


def plant(playback: playbacks.Playback) -> Tree:
    return Tree((Branch(TRUNK, TRUNK_NAME, playback),), playback.features)


def seek(tree: Tree, at: int) -> Tree:
    """The same, seen from another step of this branch."""
    return _with(tree, replace(tree.here, playback=playbacks.seek(tree.here.playback, at)))


def act(tree: Tree, statement: Statement) -> Tree:
    """One line more where one stands: at the end of a branch it grows, anywhere else one forks."""
    here = tree.here
    after = playbacks.act(here.playback, statement)
    if here.parent is not None and here.playback.at == here.playback.last:
        return _with(tree, replace(here, playback=after))
    return _forked(tree, after, statement)


def _forked(tree: Tree, playback: playbacks.Playback, statement: Statement) -> Tree:
    if len(tree.branches) >= BRANCHES_MAX:
        expected = f"delete one first: a lab keeps at most {BRANCHES_MAX}"
        raise PlayError("there are too many branches", expected=expected)
    shared = len(playback.play.statements) - 1
    id, step = tree.highest + 1, tree.here.playback.at
    name = f"branch {id} at step {step}: {statement.text}"
    if len(name) > NAME_MAX:
        name = f"{name[: NAME_MAX - 1]}…"
    # A name that somebody gave to another branch already has a number behind it.
    others = (f"branch {id} ({again})" for again in count(2))
    free = next(free for free in chain((name,), others) if free not in tree.names)
    # The branch on which the last line that is shared was done.
    owner = tree.here
    while owner.parent is not None and shared <= owner.lines:
        owner = tree.branch(owner.parent)
    branch = Branch(id, free, playback, owner.id, shared)
    return replace(tree, branches=(*tree.branches, branch), current=id, highest=id)


def undo(tree: Tree) -> Tree:
    """Without the last line of this branch; without the branch, if that was all it had.

    What forked after that line keeps its own lines. Raises PlayError on the trunk.
    """
    here = tree.here
    if here.parent is None:
        raise PlayError("the play keeps its lines", expected="only what you did can be undone")
    if len(here.own_lines) == 1:
        return delete(tree, here.id)
    shorter = playbacks.without_last(here.playback)
    left = len(shorter.play.statements)
    kept = _with(tree, replace(here, playback=shorter))
    return _regrafted(kept, here.id, here.id, left)


def rerun(tree: Tree, features: Features) -> Tree:
    """The lines of this branch under other rules, standing where one stood."""
    return _with(tree, replace(tree.here, playback=playbacks.rerun(tree.here.playback, features)))


def reset(tree: Tree) -> Tree:
    """On the play, at its first step. Branches are kept, each with its rules."""
    return seek(replace(tree, current=TRUNK), 0)


def switch(tree: Tree, id: int) -> Tree:
    """On another branch, where one stood on it."""
    return replace(tree, current=tree.branch(id).id)


def rename(tree: Tree, id: int, name: str) -> Tree:
    """Another name for a branch. Raises PlayError for the trunk, no name, or one that is taken."""
    words = " ".join(name.split())
    if id == TRUNK:
        raise PlayError("the play keeps its name", expected="only branches can be renamed")
    if not words or len(words) > NAME_MAX or not words.isprintable():
        raise PlayError("this is no name for a branch", expected=f"1 to {NAME_MAX} characters")
    if words != tree.branch(id).name and words in tree.names:
        raise PlayError(f"there is a branch {words!r} already", expected="choose another name")
    return _with(tree, replace(tree.branch(id), name=words))


def delete(tree: Tree, id: int) -> Tree:
    """Without that branch; what forked from it goes on from its parent, with all its lines.

    Whoever was on it stands on the parent, where it forked. Raises PlayError when it is the trunk.
    """
    gone = tree.branch(id)
    if gone.parent is None:
        raise PlayError("the play cannot be deleted", expected="only branches can")
    grafted = _regrafted(tree, id, gone.parent, gone.lines)
    left = replace(grafted, branches=tuple(b for b in grafted.branches if b.id != id))
    return left if tree.current != id else seek(switch(left, gone.parent), gone.step)


def drawn(tree: Tree) -> Iterator[tuple[str, Branch]]:
    """Each branch below the one it forks from, with the lines that lead to it: ``"│  └─ "``."""

    def below(id: int, margin: str) -> Iterator[tuple[str, Branch]]:
        children = tree.children(id)
        for branch in children:
            last = branch is children[-1]
            yield margin + ("└─ " if last else "├─ "), branch
            yield from below(branch.id, margin + ("   " if last else "│  "))

    return chain([("", tree.trunk)], below(TRUNK, ""))


def _with(tree: Tree, branch: Branch) -> Tree:
    branches = tuple(branch if b.id == branch.id else b for b in tree.branches)
    return replace(tree, branches=branches)


def _regrafted(tree: Tree, id: int, parent: int, lines: int) -> Tree:
    """What forked from `id` forks from `parent`, sharing at most `lines` lines."""
    shared = {b.id: min(b.lines, lines) for b in tree.branches if b.parent == id}
    moved = {i: replace(tree.branch(i), parent=parent, lines=n) for i, n in shared.items()}
    return replace(tree, branches=tuple(moved.get(b.id, b) for b in tree.branches))
