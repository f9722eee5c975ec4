"""`canonical` keeps futures: a step from the canonical state leads where the step itself leads."""

from random import Random

import pytest

from kiplab.engine import moves
from kiplab.engine.canonical import canonical
from kiplab.engine.cluster import Cluster
from kiplab.engine.enabled import EVERYTHING, enabled, settle
from kiplab.engine.step import step
from kiplab.protocol.features import parse_features
from kiplab.protocol.ids import CONTROLLER, BrokerId
from tests.engine.small_clusters import BROKER_1, BROKER_2, cluster, partition


def orders(release: str, brokers: int, partitions: int) -> Cluster:
    """One more broker is in sync with each partition."""
    log = ((3, 4), (2, 5))
    return cluster(
        parse_features(release),
        *(partition(f"orders-{n}", brokers, isr=1 + n, log=log) for n in range(partitions)),
    )


def in_canonical(move: moves.Move, here: Cluster, there: Cluster) -> moves.Move:
    """The same move among renamed messages."""
    if not isinstance(move, moves.AboutMessage):
        return move
    at = [m.name for m in here.messages].index(move.message)
    return type(move)(there.messages[at].name)


@pytest.mark.parametrize("seed", range(24))
def test_equal_states_have_equal_futures(seed: int) -> None:
    random = Random(seed)
    here = orders(random.choice(["3.2", "3.4", "3.9"]), 2 + seed % 2, 1 + seed % 2)
    for _ in range(50):
        there = canonical(here)
        arriving = [m for m in enabled(here, EVERYTHING) if isinstance(m, moves.Deliver)]
        calm = bool(arriving) and random.random() < 0.5
        move = arriving[0] if calm else random.choice(enabled(here, EVERYTHING))
        after = step(there, in_canonical(move, here, there)).cluster
        here = step(here, move).cluster
        assert canonical(after) == canonical(here), move
    assert canonical(settle(settle(here))) == canonical(settle(here))


@pytest.mark.parametrize("link", [(CONTROLLER, BROKER_2), (BROKER_1, BROKER_2)])
def test_a_cluster_comes_to_rest_behind_a_cut_link(link: tuple[BrokerId, BrokerId]) -> None:
    cut = step(orders("3.5", 2, 1), moves.Cut(*link)).cluster
    cut = step(cut, moves.Produce("orders-0", BROKER_1, 1)).cluster
    rested = settle(cut)
    assert canonical(settle(rested)) == canonical(rested)


def test_every_retry_has_a_connection_of_its_own() -> None:
    busy = step(orders("3.5", 2, 1), moves.Fire(BROKER_2, moves.Timer.FETCH)).cluster
    for _ in range(5):
        busy = step(busy, moves.Duplicate(busy.messages[-1].name)).cluster
    assert len({m.connection for m in busy.messages}) == len(busy.messages)
