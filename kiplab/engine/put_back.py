"""A node's new state goes back to its place, and control planes plan what follows from it."""

from __future__ import annotations

from typing import Any

from ..protocol.ids import BrokerId
from .cluster import Cluster
from .nodes import control_planes, is_in_control, state_of, with_state
from .routes import PLANS


def put_back(cluster: Cluster, node: BrokerId, state: Any) -> Cluster:
    """`cluster` with another state at `node`, which may be a reason to plan something."""
    cluster = with_state(cluster, node, state)
    return planned(cluster) if cluster.timed and is_in_control(node, state) else cluster


def planned(cluster: Cluster) -> Cluster:
    """Control planes plan what they put off, whatever has just given them a reason."""
    for node in control_planes(cluster):
        state = state_of(cluster, node)
        plan = PLANS.get(type(state))
        if plan is not None:
            cluster = with_state(cluster, node, plan(state, cluster))
    return cluster
