"""What every node holds: every field of the state, in Kafka's words, and what a step changed."""

import re
from collections.abc import Iterator

import msgspec
import pytest

from kiplab.engine import moves
from kiplab.engine.cluster import Cluster
from kiplab.engine.history import History
from kiplab.engine.routes import NOT_ADDRESSED, node_kinds
from kiplab.plays.request_words import WORDS
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.kraft.controller_state import Controller
from kiplab.protocol.messages import BODIES
from kiplab.protocol.replica.broker_state import Broker
from kiplab.rows import state_words
from kiplab.rows.state_tree import StateNode, changed, tree_of
from kiplab.widgets.controls.inspector import LISTED_MAX, Inspector, inspected
from tests.repeated import COVERING
from tests.test_completeness import structs_of
from tests.widgets.hands import SIX, at, at_panel, done, made, opened, text

STRUCTS: set[type] = set()
for root in (Cluster, *node_kinds()):
    list(structs_of(root, STRUCTS))
FIELDS = {f"{s.__name__}.{field.name}" for s in STRUCTS for field in msgspec.structs.fields(s)}
"""Every field of the state."""


def rows(branch: StateNode) -> Iterator[StateNode]:
    """A row and all rows under it."""
    yield branch
    for child in branch.children:
        yield from rows(child)


def found(tree: StateNode, *path: str) -> StateNode:
    """A row by the keys that lead to it."""
    for key in path:
        tree = next(child for child in tree.children if child.key == key)
    return tree


def is_addressed(kind: str) -> bool:
    """Whether a node of KRaft can be sent such a request."""
    return any((node, BODIES[kind]) not in NOT_ADDRESSED for node in (Broker, Controller))


def clusters() -> Iterator[Cluster]:
    """Every situation of the plays that cover the rest, move by move; and a run with a clock."""
    for name in (*COVERING, "380-session-expiry"):
        history = opened(name).whole.history
        yield from (history.start, *(step.cluster for step in history.steps))
    timed = made("timed\n" + SIX)
    yield done(timed, "advance 2s").here.cluster
    yield done(timed, "produce orders-0 count=2 producer=shop").here.cluster
    newer = made("timed\n" + "kafka 4.0\n" + SIX)
    yield done(newer, "advance 2s").here.cluster
    elr = made("kafka 4.3 elr=1\n" + SIX.replace("replicas=", "min-insync-replicas=2 replicas="))
    for line in ("crash 3", "expire 3", "crash 2", "expire 2"):
        elr = done(elr, line)
    yield done(elr, "configure orders min-insync-replicas=1").here.cluster
    apart = made("kafka zk-2.1\n" + SIX)
    announced = ("hold watcher-event", "produce orders-0 count=1", "check-lag 1", "announce-isr 1")
    for line in (*announced, "cut 1 zookeeper", "catch-up 2"):
        apart = done(apart, line)
    yield from (step.cluster for step in apart.here.history.steps)
    strange = made(SIX)
    for line in (
        "poll orders-1",
        "fail-over",
        *(f"send {kind} from=2" for kind in WORDS if is_addressed(kind)),
        "cut 2 1",
        "send alter-partition from=2 partition=orders-0 isr=2",
    ):
        strange = done(strange, line)
    yield from (step.cluster for step in strange.here.history.steps)
    history = History(made(SIX).here.cluster)
    for move in (moves.Elect("orders-0", unclean=True), moves.Fire(BrokerId(2), moves.Timer.FETCH)):
        history = history.do(move)
        while history.cluster.messages:
            yield history.cluster
            history = history.do(moves.Deliver(history.cluster.messages[0].name))


@pytest.fixture(scope="module")
def every_row() -> list[StateNode]:
    """All rows of all situations."""
    return [row for cluster in clusters() for row in rows(tree_of(cluster))]


@pytest.fixture(scope="module")
def shown(every_row: list[StateNode]) -> set[str]:
    """The fields that appear in some situation."""
    return {row.field for row in every_row}


def test_every_field_of_the_state_is_shown_or_left_out_for_a_reason(shown: set[str]) -> None:
    identities = {f"{owner}.{field}" for owner, field in state_words.IDENTITY.items()}
    hidden = set(state_words.LEFT_OUT) | set(state_words.OF_OTHER_MODES)
    assert FIELDS - shown - hidden - identities - state_words.INLINE == set()


def test_what_is_left_out_is_not_shown_and_exists(shown: set[str]) -> None:
    assert all(state_words.LEFT_OUT.values())
    assert shown & set(state_words.LEFT_OUT) == set()
    tables = (state_words.LABELS, state_words.NOTES, state_words.NOTHING, state_words.LEFT_OUT)
    spoken_of = {*state_words.CLOCKED, *state_words.OF_OTHER_MODES}.union(*tables)
    names = {place.partition(".")[2] for place in FIELDS}
    assert spoken_of - FIELDS - names == set()


def test_there_is_one_branch_per_node_and_the_observer_is_none() -> None:
    tree = tree_of(at(6).here.cluster)
    keys = [child.key for child in tree.children]
    assert keys == ["controller", "broker 1", "broker 2", "network", "observer"]
    assert found(tree, "observer").note == "no node knows this"


def test_siblings_have_different_names(every_row: list[StateNode]) -> None:
    for row in every_row:
        keys = [child.key for child in row.children]
        assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("controller", "metadata_version"), "3.4-IV0"),
        (("controller", "partitions", "orders-0", "isr"), "{1}"),
        (("controller", "registrations", "broker 2", "fenced"), "yes"),
        (("broker 2", "process"), "down"),
        (("broker 1", "durable", "replicas.orders-0", "log.epochs"), "epoch 5 from offset 0"),
        (("broker 1", "process", "replicas", "orders-0", "role"), "leader"),
        (("broker 1", "process", "replicas", "orders-0", "leading.isr_state.maximal"), "{1, 2}"),
        (("broker 1", "process", "replicas", "orders-0", "leading.isr_state.isr"), "{1}"),
        (("network",), "1 message in flight"),
        (("observer", "orders-0", "isr_epochs"), "broker 1 as epoch 40"),
    ],
)
def test_values_are_in_kafkas_words(path: tuple[str, ...], value: str) -> None:
    """Broker 2 is dead and fenced; the request that would take it into the ISR is on its way."""
    assert found(tree_of(at(3).here.cluster), *path).value == value


def test_only_a_run_with_a_clock_shows_times() -> None:
    plain, timed = made(SIX).here.cluster, made("timed\n" + SIX).here.cluster
    assert {r.field for r in rows(tree_of(plain))} & state_words.CLOCKED == set()
    assert "Volatile.timers" in {r.field for r in rows(tree_of(timed))}


def test_nothing_changed_is_nothing() -> None:
    tree = tree_of(at(4).here.cluster)
    assert changed(tree, tree) == ()


def test_a_step_marks_exactly_what_it_changed() -> None:
    before, after = tree_of(at(5).here.cluster), tree_of(at(6).here.cluster)
    changes = {change.path: (change.old, change.new) for change in changed(before, after)}
    assert changes["controller", "partitions", "orders-0", "partition_epoch"] == ("10", "11")
    assert changes["controller", "partitions", "orders-0", "isr"] == ("{1}", "{1, 2}")
    assert changes["network", "alter-partition #1 from broker 1"][1] is None
    assert not any(path[:2] == ("broker 2", "durable") for path in changes)


def test_back_and_forth_is_the_same_the_other_way_round() -> None:
    one, other = tree_of(at(5).here.cluster), tree_of(at(6).here.cluster)
    there = {(c.path, c.old, c.new) for c in changed(one, other)}
    assert {(c.path, c.new, c.old) for c in changed(other, one)} == there


def test_a_process_that_dies_is_one_change() -> None:
    before, after = tree_of(at(1).here.cluster), tree_of(at(2).here.cluster)
    (died,) = (c for c in changed(before, after) if c.path[:2] == ("broker 2", "process"))
    assert (died.old, died.new) == ("RUNNING, broker epoch 41", "down")


def test_the_page_marks_changes_with_a_sign_and_both_values() -> None:
    page = text(inspected(at(6)))
    assert "Changed by step 6: controller / next metadata offset ◆ 59 → 60" in page
    assert "partition epoch : ◆ 10 → 11" in page
    assert "alter-partition #1 from broker 1 ◆ to controller:" in page
    assert page.count("(gone)") == 2, "in the list on top, and where it was"


def test_of_many_changes_the_first_are_listed_and_the_rest_counted() -> None:
    before, after = tree_of(at(5).here.cluster), tree_of(at(6).here.cluster)
    left = len(changed(before, after)) - LISTED_MAX
    assert left > 0
    assert f"and {left} more, marked ◆ below" in inspected(at(6))


def test_the_start_has_no_changes() -> None:
    page = inspected(at(0))
    assert "nothing has changed yet" in page
    assert "◆" not in page


def test_every_fold_has_a_path_of_its_own() -> None:
    paths = re.findall(r'data-path="([^"]*)"', inspected(at(6)))
    assert len(paths) == len(set(paths)) > 20


def test_the_widget_shows_the_step_where_one_stands() -> None:
    hands = at_panel(at(3), Inspector)
    before = hands.panel.box.value
    hands.seek(6)
    assert before != hands.panel.box.value
    assert "alter-partition #1" in before
