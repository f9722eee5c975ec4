"""minicheck as a judge: another search over the same successors counts and concludes the same."""

from itertools import product
from typing import Any

import pytest
from minicheck import Protocol, Verdict, check_safety, from_holds

from kiplab.engine.properties import ELECTABLE_HOLDS_COMMITTED, NO_COMMITTED_RECORD_LOST
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.memoised_model import MemoisedModel
from kiplab.explore.search_terms import PROVED, REFUTED, Model
from tests.explore.bounds import PARTITION, begun, searched
from tests.explore.bounds import bounds as within
from tests.repeated import in_long

LOSS = (NO_COMMITTED_RECORD_LOST.id, ELECTABLE_HOLDS_COMMITTED.id)
PENDING = ("497.pending-outlives-metadata",)
MOST = 1_000_000
ONE_LIVE = "631.one-live-incarnation"
MORE = [(1, 0, 1), (1, 1, 0), (0, 2, 0)]
VERDICTS = {Verdict.PROVED: PROVED, Verdict.REFUTED: REFUTED}


def judged(model: Model, asked: tuple[str, ...]) -> tuple[int, str, int | None]:
    """States, verdict, and the steps of the shortest way to break a property that was asked for.

    minicheck judges states, and a loss is a step: one that loses data leads to a state of its own,
    from where nothing goes on.
    """
    first = (*model.first(), False)

    def transitions(state: tuple[Any, ...]) -> list[tuple[str, tuple[Any, ...]]]:
        *parts, lost = state
        return [
            (f"{action.kind} {action.node}", (*after, not set(asked).isdisjoint(broken)))
            for action, after, broken in (() if lost else model.successors(tuple(parts)))
        ]

    protocol = Protocol(
        name="partition",
        candidate=False,
        fields=(*(f"part {n}" for n in range(1, len(first))), "lost"),
        initial=first,
        transitions=transitions,
        invariants={"nothing is lost": lambda state: not state["lost"]},
    )
    answer = check_safety(protocol, max_states=MOST)
    said = answer["properties"]["nothing is lost"]
    verdict = VERDICTS[from_holds(said["holds"], exhaustive=answer["exhaustive"])]
    way = said["counterexample"]
    return answer["reachable_states"], verdict, None if way is None else len(way) - 1


@pytest.mark.parametrize("bounds", [(0, 1, 0), *in_long(MORE)])
def test_another_search_proves_the_same(bounds: tuple[int, int, int]) -> None:
    """KIP-841, KIP-903, pending ISRs that outlive metadata: nothing is lost, in as many states."""
    cluster = begun(on=PENDING)
    found = searched(cluster, bounds, LOSS)
    assert found.verdict == PROVED
    there = judged(MemoisedModel(PARTITION, cluster, within(*bounds)), LOSS)
    assert there == (found.states, found.verdict, None)


@pytest.mark.parametrize(
    ("off", "on", "bounds"),
    [
        (("903",), PENDING, (1, 1, 0)),
        (("497.maximal-isr",), PENDING, (1, 0, 0)),
        *in_long(
            [
                ((), (), (1, 1, 0)),
                (("841",), PENDING, (1, 1, 0)),
                (("903", "841"), PENDING, (1, 1, 0)),
                (("631.one-live-incarnation",), PENDING, (1, 1, 0)),
            ],
            rows=True,
        ),
    ],
)
def test_another_search_refutes_the_same(
    off: tuple[str, ...], on: tuple[str, ...], bounds: tuple[int, int, int]
) -> None:
    """One row is Kafka 3.5 as it was built: late metadata undoes a pending ISR."""
    cluster = begun(off=off, on=on)
    found = searched(cluster, bounds, LOSS)
    assert found.verdict == REFUTED
    there = judged(MemoisedModel(PARTITION, cluster, within(*bounds)), LOSS)
    assert there[1:] == (found.verdict, len(found.path))


@pytest.mark.parametrize(
    ("play", "off"),
    [
        ("kafka-14139", ("903", "841")),
        *in_long(product(["isr-two-of-three"], [(ONE_LIVE,), ("903", "841")]), rows=True),
    ],
)
def test_as_many_states_also_beyond_a_loss(play: str, off: tuple[str, ...]) -> None:
    cluster = begun(off=off, play=play)
    found = searched(cluster, (1, 1, 0))
    there = judged(MemoisedModel(PARTITION, cluster, within(1, 1, 0)), ())
    assert there == (found.states, PROVED, None)


def test_also_over_the_plain_successors() -> None:
    cluster = begun(off=("841",))
    found = search(EngineModel(PARTITION, cluster, within(0, 1, 0)), LOSS)
    there = judged(EngineModel(PARTITION, cluster, within(0, 1, 0)), LOSS)
    assert there == (found.states, found.verdict, None)
