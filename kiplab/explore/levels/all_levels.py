"""The levels by name, and the plays that each of them can speak of.

levels.toml has their actions, each one step of a search, with the bound that it uses up;
action_kinds.py has the effects of these.
"""

import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Any

import msgspec
from msgspec.structs import replace

from ...engine.canonical import canonical
from ...engine.cluster import Cluster, broker
from ...engine.truth import truth
from ...plays.play_errors import PlayError
from . import action_kinds as actions
from . import level_table as table
from . import normal_partition, normal_recovery, zookeeper_level

_FILE = tomllib.loads((files(__package__) / "levels.toml").read_text("utf-8"))
_KINDS: dict[str, Any] = vars(actions) | {"DRAIN": zookeeper_level.DRAIN}


def _admission(
    level: str, normal: Callable[[Cluster], Cluster], **unread: Any
) -> Callable[[Cluster], Cluster]:
    """`Level.admit`: who writes, what time it is, and what is `unread` is no part of the level."""

    def admit(cluster: Cluster) -> Cluster:
        for problem, expected in _problems(cluster, level):
            raise PlayError(problem, expected=expected)
        return normal(replace(cluster, producers=(), timed=False, now_ms=0, **unread))

    return admit


def _problems(cluster: Cluster, level: str) -> Iterator[tuple[str, str]]:
    """(what a level of KRaft cannot speak of, what is expected), the first one first."""
    names = [p.name for p in truth(cluster).partitions]
    if len(names) != 1:
        there = f"{len(names)} ({', '.join(names) or 'none'})"
        problem = f"the search covers one partition, and the play has {there}"
        yield problem, "a play with one `topic` line"
    if level == "cluster":
        return
    state, elsewhere = truth(cluster).partitions[0], "level cluster explores that"
    for id in state.replicas:
        if broker(cluster, id) is None:
            problem = f"{state.name} has a replica on broker {id}, which the play does not have"
            yield problem, f"level {level} needs a `broker` line for each replica"
    if level == "partition" and (state.recovery or state.unclean_leader_election):
        yield f"{state.name} recovers from an unclean election, or may have one", elsewhere
    if state.adding or state.removing:
        yield f"{state.name} is being reassigned", elsewhere
    deleted = any(r.log.start for b in cluster.brokers for r in b.durable.replicas)
    if level == "partition" and deleted:
        yield f"records of {state.name} were deleted before the play begins", elsewhere
    if any(r.in_controlled_shutdown for r in truth(cluster).registrations):
        problem = "a broker is shutting down as the play begins"
        yield problem, "level cluster explores controlled shutdowns"


def _normal(cluster: Cluster) -> Cluster:
    """Which properties broke before, unasked for, makes no difference to what can happen."""
    return canonical(replace(cluster, broken=()) if cluster.broken else cluster)


def _level(name: str, normal: Callable[[Cluster], Cluster], **more: Any) -> table.Level:
    """A level as levels.toml has it; `more` is what only code can say."""
    about = _FILE[name] | {"kinds": [_KINDS[kind] for kind in _FILE[name]["kinds"]]}
    about["bounds"] = msgspec.convert(about["bounds"], list[table.Bound])
    about["pace"] = msgspec.convert(about["pace"], table.Pace)
    lists = {key: tuple(value) for key, value in about.items() if isinstance(value, list)}
    own = {"brokers": actions.with_replicas} | about | lists | more
    return table.Level(name=name, normal=normal, **own)


_OF_KRAFT = (
    _level(
        "partition",
        normal_partition.normal,
        admit=_admission("partition", normal_partition.normal, consumers=()),
    ),
    _level("cluster", _normal, admit=_admission("cluster", _normal, consumers=())),
    _level(
        "recovery", normal_recovery.normal, admit=_admission("recovery", normal_recovery.normal)
    ),
)
_OF_ZOOKEEPER = _level(
    "zookeeper",
    zookeeper_level.normal,
    admit=zookeeper_level.admit,
    brokers=zookeeper_level.others,
    holds=zookeeper_level.HELD,
    unasked=zookeeper_level.NOT_ASKED,
    passes=zookeeper_level.own_queue,
)
LEVELS = {level.name: level for level in (*_OF_KRAFT, _OF_ZOOKEEPER)}


def level_named(name: str) -> table.Level:
    """The level of this name. Raises ExploreError that lists what there is."""
    if name not in LEVELS:
        listed = "; ".join(f"{level.name}: {level.sentence}" for level in LEVELS.values())
        raise table.ExploreError(f"there is no level {name!r}; the levels are {listed}")
    return LEVELS[name]
