"""A history as a tree: no branch loses a line to another, and every branch can be replayed."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kiplab.engine.cluster import Cluster
from kiplab.plays.library import load
from kiplab.plays.play import Statement
from kiplab.plays.play_errors import PlayError
from kiplab.protocol.features import parse_features
from kiplab.widgets.history_tree import branch_tree as trees
from kiplab.widgets.history_tree.branch_tree import Tree
from kiplab.widgets.history_tree.playback import Playback, open_playback

CRASH, EXPIRE = Statement("crash", ("1",)), Statement("expire", ("1",))
HOLD, START = Statement("hold", ("fetch",)), Statement("start", ("2",))
OPENED = open_playback(load("kafka-14139"))


@pytest.fixture
def tree() -> Tree:
    """The play, not touched yet."""
    return trees.plant(OPENED)


@pytest.fixture
def forked(tree: Tree) -> Tree:
    """A branch at step 3 with two lines, and one at step 4 of that one."""
    twice = trees.act(trees.act(trees.seek(tree, 3), CRASH), EXPIRE)
    return trees.act(trees.seek(twice, 4), HOLD)


def lines(tree: Tree, id: int) -> list[str]:
    return [statement.text for statement in tree.branch(id).own_lines]


def test_acting_in_the_middle_makes_a_branch_and_keeps_the_play(tree: Tree) -> None:
    after = trees.act(trees.seek(tree, 3), CRASH)
    assert after.names == ("the play", "branch 2 at step 3: crash 1")
    assert (after.here.parent, after.here.step, lines(after, 2)) == (trees.TRUNK, 3, ["crash 1"])
    assert after.trunk.playback.play is OPENED.play
    assert after.trunk.playback.frames is OPENED.frames


def test_acting_at_the_end_of_a_branch_makes_it_longer(tree: Tree) -> None:
    after = trees.act(trees.act(trees.seek(tree, 3), CRASH), EXPIRE)
    assert len(after.branches) == 2
    assert lines(after, 2) == ["crash 1", "expire 1"]


def test_acting_at_the_end_of_the_play_makes_a_branch_too(tree: Tree) -> None:
    after = trees.act(trees.seek(tree, 11), CRASH)
    assert (after.here.id, after.here.step, after.here.playback.at) == (2, 11, 12)
    assert after.trunk.playback.last == 11


def test_a_branch_forks_from_the_one_that_did_the_last_shared_line(forked: Tree) -> None:
    assert (forked.here.id, forked.here.parent, forked.here.step) == (3, 2, 4)
    beside = trees.act(trees.seek(forked, 3), Statement("fail-over"))
    assert (beside.here.parent, beside.here.step) == (trees.TRUNK, 3)
    before = trees.act(trees.seek(forked, 1), CRASH)
    assert (before.here.parent, before.here.step) == (trees.TRUNK, 1)


def test_undo_takes_lines_back_and_then_the_branch(tree: Tree) -> None:
    twice = trees.act(trees.act(trees.seek(tree, 3), CRASH), EXPIRE)
    once = trees.undo(twice)
    assert (lines(once, 2), once.here.playback.at) == (["crash 1"], 4)
    none = trees.undo(once)
    assert (none.names, none.here.playback.at) == (("the play",), 3)
    with pytest.raises(PlayError, match="the play keeps its lines"):
        trees.undo(none)


def test_what_forked_after_a_line_that_is_undone_keeps_its_own_lines(forked: Tree) -> None:
    before = forked.branch(3).playback
    shorter = trees.undo(trees.undo(trees.switch(forked, 2)))
    assert [branch.id for branch in shorter.branches] == [trees.TRUNK, 3]
    assert shorter.branch(3).playback is before
    assert lines(shorter, 3) == ["crash 1", "hold fetch"]
    assert (shorter.branch(3).parent, shorter.branch(3).step) == (trees.TRUNK, 3)


def test_numbers_are_never_given_twice(tree: Tree) -> None:
    again = trees.act(trees.undo(trees.act(trees.seek(tree, 3), CRASH)), CRASH)
    assert again.names == ("the play", "branch 3 at step 3: crash 1")


def test_a_deleted_branch_hands_its_forks_to_its_parent(forked: Tree) -> None:
    left = trees.delete(forked, 2)
    assert (left.branch(3).parent, lines(left, 3)) == (trees.TRUNK, ["crash 1", "hold fetch"])
    assert left.current == 3
    gone = trees.delete(left, 3)
    assert (gone.current, gone.here.playback.at) == (trees.TRUNK, 3)


def test_rules_belong_to_a_branch(forked: Tree) -> None:
    new = parse_features("3.5")
    after = trees.rerun(trees.switch(forked, 2), new)
    assert [branch.playback.features == new for branch in after.branches] == [False, True, False]
    younger = trees.act(trees.seek(after, 4), START)
    assert younger.here.playback.features == new
    assert younger.rules == OPENED.features


def test_switching_comes_back_to_where_one_stood(forked: Tree) -> None:
    there = trees.switch(trees.seek(trees.switch(forked, trees.TRUNK), 7), 2)
    assert (there.here.id, there.here.playback.at) == (2, 4)
    assert trees.switch(there, trees.TRUNK).here.playback.at == 7
    assert trees.reset(there).here.playback.at == 0


def test_a_branch_can_have_a_better_name(forked: Tree) -> None:
    named = trees.rename(forked, 2, "  the   leader dies ")
    assert named.named("the leader dies").id == 2
    with pytest.raises(PlayError, match="there is no branch 'nobody'"):
        named.named("nobody")


@pytest.mark.parametrize(
    ("id", "name", "problem"),
    [
        (1, "mine", "the play keeps its name"),
        (2, " ", "no name"),
        (2, "x" * (trees.NAME_MAX + 1), "no name"),
        (2, "a\x07b", "no name"),
        (2, "the play", "already"),
    ],
)
def test_names_that_will_not_do(forked: Tree, id: int, name: str, problem: str) -> None:
    with pytest.raises(PlayError, match=problem):
        trees.rename(forked, id, name)


def test_a_name_that_was_taken_on_purpose_is_not_given_again(forked: Tree) -> None:
    taken = trees.rename(forked, 2, "branch 4 at step 3: crash 1")
    after = trees.act(trees.seek(trees.switch(taken, trees.TRUNK), 3), CRASH)
    assert after.here.name == "branch 4 (2)"


def test_a_very_long_line_makes_a_name_of_ordinary_length(tree: Tree) -> None:
    long = Statement("produce", ("orders-0",), (("count", "1" + "0" * 5), ("acks", "1")))
    assert len(trees.act(trees.seek(tree, 1), long).here.name) <= trees.NAME_MAX


def test_there_is_an_end_to_branches(tree: Tree) -> None:
    for _ in range(trees.BRANCHES_MAX - 1):
        tree = trees.act(trees.seek(trees.switch(tree, trees.TRUNK), 1), HOLD)
    with pytest.raises(PlayError, match="too many branches"):
        trees.act(trees.seek(trees.switch(tree, trees.TRUNK), 1), HOLD)


def test_the_tree_is_drawn_with_every_branch_below_its_parent(forked: Tree) -> None:
    wider = trees.act(trees.seek(trees.switch(forked, trees.TRUNK), 5), CRASH)
    assert [lead + str(branch.id) for lead, branch in trees.drawn(wider)] == [
        "1",
        "├─ 2",
        "│  └─ 3",
        "└─ 4",
    ]


# --- whatever is done -----------------------------------------------------------------------------

LINES = [
    CRASH,
    EXPIRE,
    HOLD,
    START,
    Statement("crash", ("2",)),
    Statement("produce", ("orders-0",)),
]
RULES = [parse_features("3.4"), parse_features("3.5"), parse_features("3.2")]
DEEDS = st.one_of(
    st.tuples(st.just("act"), st.sampled_from(LINES)),
    st.tuples(st.just("seek"), st.integers(-1, 15)),
    st.tuples(st.just("undo"), st.none()),
    st.tuples(st.just("switch"), st.integers(0, 9)),
    st.tuples(st.just("delete"), st.integers(0, 9)),
    st.tuples(st.just("rerun"), st.sampled_from(RULES)),
    st.tuples(st.just("reset"), st.none()),
)


def done(tree: Tree, deed: str, what: object) -> Tree:
    """The tree after a deed; branches are picked by their place."""
    if deed in ("switch", "delete"):
        assert isinstance(what, int)
        what = tree.branches[what % len(tree.branches)].id
    args = () if what is None else (what,)
    changed: Tree = getattr(trees, deed)(tree, *args)
    return changed


def clusters(playback: Playback) -> list[Cluster]:
    return [stop.stage.cluster for stop in playback.frames]


def assert_kept(before: Tree, after: Tree, deed: str) -> None:
    """Only what is done to a branch itself changes its lines; only an end is an end."""
    left = {branch.id: branch.playback for branch in after.branches}
    gone = [branch.id for branch in before.branches if branch.id not in left]
    assert len(gone) <= (deed in ("undo", "delete"))
    for branch in before.branches:
        if branch.id in gone:
            continue
        if branch.id != before.current:
            assert left[branch.id].frames is branch.playback.frames
        elif deed != "undo":
            lines = branch.playback.play.statements
            assert left[branch.id].play.statements[: len(lines)] == lines
    assert after.trunk.playback.play is OPENED.play


@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(st.lists(DEEDS, max_size=14))
def test_every_branch_keeps_its_lines_and_replays(deeds: list[tuple[str, object]]) -> None:
    tree = trees.plant(OPENED)
    for deed, what in deeds:
        before = tree
        try:
            tree = done(before, deed, what)
        except PlayError:
            assert tree is before
        assert_kept(before, tree, deed)
    for branch in tree.branches:
        playback = branch.playback
        assert clusters(open_playback(playback.play, playback.features)) == clusters(playback)
        if branch.parent is not None:
            parent = tree.branch(branch.parent).playback.play.statements
            assert branch.own_lines
            assert playback.play.statements[: branch.lines] == parent[: branch.lines]
