"""Where searches of the tests begin, and their bounds: `explore(play, **bounds)`."""

from typing import TypedDict

from kiplab.engine.cluster import Cluster
from kiplab.engine.setup import cluster_of
from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.search.breadth_first import search
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search_terms import SearchOutcome
from kiplab.plays.grammar import parse
from kiplab.plays.header import setup_of
from kiplab.plays.library import load
from kiplab.protocol.features import parse_features

PARTITION = level_named("partition")
ELR = """\
kafka     4.3 elr=1
broker    1 epoch=101
broker    2 epoch=102
broker    3 epoch=103
topic     orders replicas=1,2,3 isr={isr} leader=1 leader-epoch=1 partition-epoch=1 log=empty \
min-insync-replicas={m}
"""
"""The header of a play with eligible leader replicas."""
THREE = """\
kafka     3.5
broker    1 epoch=101
broker    2 epoch=102
broker    3 epoch=103
topic     orders replicas=1,2,3 isr=1 leader=1 leader-epoch=1 partition-epoch=1 log=empty
"""
"""One of three replicas is in sync: the header of a play."""


class Bounds(TypedDict, total=False):
    """What a level counts. A bound that is left out has the level's default."""

    writes: int
    crashes: int
    fences: int
    shutdowns: int
    lags: int
    kills: int
    stops: int


FAR: Bounds = {"writes": 2, "crashes": 2, "fences": 1}
"""Out of reach."""
RACE: Bounds = {"writes": 0, "crashes": 1, "fences": 0}
"""Within these lies the race of KAFKA-14139, and little else."""


def bounds(writes: int, crashes: int, fences: int) -> dict[str, int]:
    """All bounds of the level "partition"."""
    return {"writes": writes, "crashes": crashes, "fences": fences}


def begun(
    play: str = "isr-two-of-three",
    kafka: str = "3.5",
    off: tuple[str, ...] = (),
    on: tuple[str, ...] = (),
    elr: int = 0,
) -> Cluster:
    """The cluster that a play begins with: one of the library, or the text of one."""
    begins = parse(play, "two") if "\n" in play else load(play)
    return cluster_of(setup_of(begins, parse_features(kafka, off=off, on=on, elr=elr)))


def searched(
    cluster: Cluster, within: tuple[int, int, int], properties: tuple[str, ...] = ()
) -> SearchOutcome:
    """The engine's own search at the level "partition", within (writes, crashes, fences)."""
    return search(MemoisedModel(PARTITION, cluster, bounds(*within)), properties)
