"""A Lab's tree as a file and back: branches, names, rules, positions; or one branch as a play."""

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from ...plays import header, library, rule_lines
from ...plays.grammar import parse
from ...plays.play import Play, format_play
from ...plays.play_errors import PlayError
from ...protocol.features import Features, UnknownFeatureError, check_features
from . import playback as playbacks
from .branch_tree import BRANCHES_MAX, TRUNK, TRUNK_NAME, Branch, Tree, plant

VERSION, SUFFIX, VARIABLE = 1, ".kiplab.json", "KIPLAB_WORK"
"""The variable is the one that moves a student's predictions elsewhere: labs go beside them."""
BYTES_MAX = 20_000_000


class SavedBranch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """As `Branch`; the playback as the text of all its lines, its rules, and where one stood."""

    id: int
    name: str
    play: str
    features: Features
    at: int
    parent: int | None = None
    lines: int = 0


class Saved(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file. `kiplab_lab` is its version, `name` the play's."""

    kiplab_lab: int
    name: str
    rules: Features
    current: int
    made: int
    branches: tuple[SavedBranch, ...]


# --- writing --------------------------------------------------------------------------------------


def folder() -> Path:
    """Where a lab is saved unless another place is named: beside the notebook."""
    return Path(os.environ.get(VARIABLE) or "").parent


def default_name(tree: Tree) -> str:
    """``"kafka-14139.kiplab.json"``."""
    stem = Path(tree.trunk.playback.own.name).stem
    fit = "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in stem)
    return f"{fit[:80] or 'lab'}{SUFFIX}"


def save(tree: Tree, name: str | Path = "") -> Path:
    """Write the tree, or for a name ending in ``.play`` the branch where one is.

    Returns the file. Raises PlayError where nothing can be written, and for a file that holds
    something else.
    """
    target = folder() / (Path(str(name).strip()) if str(name).strip() else default_name(tree))
    data = play_of(tree.here.playback).encode() if target.suffix == ".play" else packed(tree)
    _check_free(target, data, tree)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.with_name(f"{target.name}.{os.getpid()}")
        draft.write_bytes(data)
        # All or nothing: a crash while writing leaves the old file whole.
        os.replace(draft, target)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or "that is no file name"
        sentence = f"{target} cannot be written: {reason}"
        raise PlayError(sentence, expected="name another file") from None
    return target


def _check_free(target: Path, data: bytes, tree: Tree) -> None:
    """A lab may only be saved over a lab of the same play: other files are somebody's work."""
    try:
        there = target.read_bytes() if target.exists() else data
        kept = "" if there == data else _kept(there, tree)
    except (OSError, ValueError):
        kept = "and is no saved lab"
    if kept:
        raise PlayError(f"{target} is there already, {kept}", expected="choose another name")


def _kept(there: bytes, tree: Tree) -> str:
    """What would be lost in that saved lab: nothing, if its play has the lines of this one."""
    saved, own = _decoded(there, ""), tree.trunk.playback.own
    play = next((branch.play for branch in saved.branches if branch.id == TRUNK), "")
    if play == format_play(tree.trunk.playback.play):
        return ""
    if saved.name == own.name:
        return "and the play of the lab saved there has other lines"
    return f"with a lab of another play, {saved.name or 'one without a name'}"


def packed(tree: Tree) -> bytes:
    name, here = tree.trunk.playback.own.name, (tree.rules, tree.current, tree.highest)
    branches = tuple(
        SavedBranch(b.id, b.name, format_play(p.play), p.features, p.at, b.parent, b.lines)
        for b, p in ((branch, branch.playback) for branch in tree.branches)
    )
    saved = Saved(VERSION, name, *here, branches)
    return msgspec.json.format(msgspec.json.encode(saved), indent=1) + b"\n"


def play_of(playback: playbacks.Playback) -> str:
    """The branch as the text of a play that runs alone, under the rules it has now.

    Lines that are not applicable are left out. What a play expects is expected under its own rules:
    under others its ``expect`` lines are left out too.
    """
    play = playbacks.as_played(playback).play
    if header.features_of(play) == playback.features:
        return format_play(play)
    lines = (s for s in play.statements if s.verb != "expect")
    return format_play(Play(rule_lines.under_rules(lines, playback.features), play.name))


# --- reading --------------------------------------------------------------------------------------


def load(source: str | Path) -> Tree:
    """The tree of a token, a play's name, a play's file or a saved lab.

    Raises PlayError, one sentence, for what is none of these, and for a damaged one.
    """
    text = str(source).strip()
    if not text:
        raise PlayError("there is nothing to load", expected="a token, or the name of a file")
    if library.is_token(text) or text in library.names():
        return _planted(*library.find(text))
    path = _existing(text)
    try:
        if path.stat().st_size > BYTES_MAX:
            raise PlayError(f"{path} is too long", expected=f"at most {BYTES_MAX} bytes")
        return loaded(path.read_bytes(), str(path))
    except OSError as problem:
        expected = "a token, a play's name, a play's file or a saved lab"
        reason = problem.strerror or "it cannot be read"
        raise PlayError(f"{text[:80]}: {reason}", expected=expected) from None


def _existing(text: str) -> Path:
    """The path of the file; a mere name may also be in the folder of saved labs."""
    nowhere = PlayError("there is no such file", expected="a token, or the name of a file")
    if not text.isprintable():
        raise nowhere
    path = Path(text)
    try:
        return path if path.exists() or path.is_absolute() else folder() / path
    except OSError:
        # For example, a name that is too long.
        raise nowhere from None


def loaded(data: bytes, name: str) -> Tree:
    """The tree of a file's content: a saved lab, a play or a token.

    Raises PlayError when it is none of them, damaged, or too long.
    """
    if data.lstrip()[:1] == b"{":
        return unpacked(data, name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PlayError(f"{name} is no text", expected="a play, a token or a saved lab") from None
    if library.is_token(text):
        return _planted(*library.decode(text))
    if len(text) > library.FILE_MAX:
        raise PlayError(f"{name} is too long", expected=f"at most {library.FILE_MAX} characters")
    return _planted(parse(text, name), None)


def _planted(play: Play, features: Features | None) -> Tree:
    return plant(playbacks.open_playback(play, features))


def unpacked(data: bytes, name: str) -> Tree:
    """The tree that `packed` wrote. Raises PlayError when `data` is not what it wrote."""
    saved = _decoded(data, name)
    if not _is_sound(saved):
        raise _damaged(name)
    try:
        own = parse(saved.branches[0].play, saved.name)
        branches = tuple(_branch(branch, own) for branch in saved.branches)
        tree = Tree(branches, check_features(saved.rules), saved.current, saved.made)
    except (PlayError, UnknownFeatureError):
        raise _damaged(name) from None
    for branch in branches:
        if branch.parent is not None:
            # It has the lines that it shares with its parent, and one of its own.
            lines, parent = branch.playback.play.statements, tree.branch(branch.parent)
            shared = parent.playback.play.statements[: branch.lines]
            if not 0 <= branch.lines < len(lines) or lines[: branch.lines] != shared:
                raise _damaged(name)
    return tree


def _decoded(data: bytes, name: str) -> Saved:
    try:
        # A newer one may have other fields.
        if msgspec.json.decode(data, type=dict[str, Any]).get("kiplab_lab", 0) > VERSION:
            problem = f"{name} was saved by a newer kiplab"
            raise PlayError(problem, expected="update kiplab to load it")
        return msgspec.json.decode(data, type=Saved)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError, RecursionError):
        raise _damaged(name) from None


def _is_sound(saved: Saved) -> bool:
    """Numbers and names are unique, the trunk is first, and parents are older than children."""
    ids = [branch.id for branch in saved.branches]
    trunk, *others = saved.branches or (None,)
    return (
        saved.kiplab_lab == VERSION
        and trunk is not None
        and (trunk.id, trunk.name, trunk.parent) == (TRUNK, TRUNK_NAME, None)
        and len(ids) <= BRANCHES_MAX
        and all(older < younger for older, younger in pairwise(ids))
        and ids[-1] <= saved.made
        and saved.current in ids
        and len({branch.name for branch in saved.branches}) == len(ids)
        and all(b.parent in ids and b.parent is not None and b.parent < b.id for b in others)
    )


def _branch(saved: SavedBranch, own: Play) -> Branch:
    play = parse(saved.play, own.name)
    opened = playbacks.open_playback(play, check_features(saved.features))
    playback = playbacks.seek(replace(opened, own=own), saved.at)
    return Branch(saved.id, saved.name, playback, saved.parent, saved.lines)


def _damaged(name: str) -> PlayError:
    return PlayError(f"{name} is damaged, or no saved lab", expected="nothing of it was loaded")
