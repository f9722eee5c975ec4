"""Who leads and who is in sync is read through one surface, whoever keeps it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from kiplab.engine.cluster import Cluster
from kiplab.engine.truth import NoTruthReaderError, partition_of, registration_of, truth
from kiplab.plays.library import load
from kiplab.plays.runner import open_stage
from kiplab.protocol.ids import BrokerId

KIPLAB = Path(__file__).resolve().parents[2] / "kiplab"
MAY_NAME_THE_CONTROLLER = {
    "engine/truth.py": "is the surface",
    "engine/nodes.py": "finds the state of every node",
    "engine/routes.py": "names its rules, and hands it to them",
    "engine/setup.py": "makes the first one",
    "rows/state_tree.py": "shows every state there is, field by field",
    "explore/levels/normal_partition.py": "renumbers the states of a level",
    "explore/levels/normal_recovery.py": "renumbers the states of a level",
    "explore/search/numbered_parts.py": "keeps the states of a level apart, node by node",
    "explore/search/hidden_parts.py": "hides a controller that nobody has looked at yet",
    "explore/search/observer_views.py": "shows the observer the controller of each moment",
    "explore/compiled/packing.py": "makes states from words",
    "judge/side_by_side/initial_state.py": "keeps what the log of a real KRaft controller says",
}
"""Why each of these may."""
NO_CLUSTER = ("self", "lanes", "panel", "effect", "setup", "request")
"""What has a `controller` and is no cluster: a lane, buttons, an effect, what a play or a request
says.
"""


def _names_it(tree: ast.AST) -> Iterator[int]:
    """The lines on which a cluster's controller is reached into, or its type imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "controller":
            owner = node.value
            last = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if last not in NO_CLUSTER:
                yield node.lineno
        if isinstance(node, ast.ImportFrom) and "controller_state" in (node.module or ""):
            yield node.lineno


@pytest.fixture(scope="module")
def reaching() -> dict[str, list[int]]:
    """The lines on which each module but those of the rules names the controller."""
    modules = {path.relative_to(KIPLAB).as_posix(): path for path in KIPLAB.rglob("*.py")}
    return {
        name: [*_names_it(ast.parse(modules[name].read_text()))]
        for name in sorted(modules)
        if not name.startswith("protocol/")
    }


def test_nobody_else_reaches_into_the_controller(reaching: dict[str, list[int]]) -> None:
    found = [
        f"kiplab/{name}:{line} reaches into the controller: read truth(cluster) instead"
        for name, lines in reaching.items()
        if name not in MAY_NAME_THE_CONTROLLER
        for line in lines
    ]
    assert not found, "\n".join(found)


def test_who_may_reach_into_the_controller_does(reaching: dict[str, list[int]]) -> None:
    idle = sorted(name for name in MAY_NAME_THE_CONTROLLER if not reaching.get(name))
    assert not idle, f"take {', '.join(idle)} off MAY_NAME_THE_CONTROLLER: nothing is named there"


@pytest.mark.parametrize(
    ("line", "reaches"),
    [
        ("cluster.controller.partitions", True),
        ("before = moment.before.controller", True),
        ("from ..protocol.kraft.controller_state import heartbeat", True),
        ("self.controller.show()", False),
        ("panel.lanes.controller", False),
    ],
)
def test_the_test_sees_who_reaches_into_it(line: str, reaches: bool) -> None:
    assert any(_names_it(ast.parse(line))) is reaches


class MadeUpState(msgspec.Struct, frozen=True):
    """The state of a control plane of which nobody says how it is read."""


@pytest.fixture
def cluster() -> Cluster:
    return open_stage(load("kafka-14139")).cluster


def test_a_control_plane_without_a_reader_is_named(cluster: Cluster) -> None:
    strange = msgspec.structs.replace(cluster, controller=MadeUpState())
    with pytest.raises(NoTruthReaderError, match="MadeUpState is read: add a TruthReader"):
        truth(strange)


def test_looking_makes_nothing_new(cluster: Cluster) -> None:
    assert truth(cluster) is truth(cluster)
    assert truth(cluster).partitions is truth(cluster).partitions


def test_partitions_and_brokers_are_found_by_name(cluster: Cluster) -> None:
    (state,) = truth(cluster).partitions
    assert partition_of(cluster, state.name) is state
    assert partition_of(cluster, "elsewhere-0") is None
    found = registration_of(cluster, state.leader)
    assert found is not None
    assert found.broker == state.leader
    assert registration_of(cluster, BrokerId(77)) is None
