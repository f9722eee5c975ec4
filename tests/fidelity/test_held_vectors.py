"""Every case that was taken from Kafka's unit tests is held by a test of ours, or says why not."""

import pytest

from tests.fidelity.held_vectors import Held, Listed, held, listed, not_as_listed, vectors_named


def test_every_vector_is_held_or_says_why_not() -> None:
    said = list(not_as_listed(listed(), held()))
    assert not said, "\n".join(said)


def test_every_vector_is_listed_once() -> None:
    ids = [vector.id for vector in listed()]
    assert len(ids) == len(set(ids))


def test_a_vector_that_nothing_holds_is_told_where_it_goes() -> None:
    (said,) = not_as_listed((Listed("A99", "SomeTest testIt", ""),), {})
    assert said == "no test holds A99: add it to tests/protocol, or say why in vectors.tsv"


def test_a_reason_that_is_over_is_told() -> None:
    (said,) = not_as_listed(
        (Listed("A1", "SomeTest testIt", "not modelled"),), {"A1": [Held("a::test", frozenset())]}
    )
    assert said.startswith("A1 is held: take the reason out")


@pytest.mark.parametrize(
    ("row", "ids"),
    [
        ("A1 3.2@3.2-IV0 v0", ["A1"]),
        ("3.9-B1a", ["B1a"]),
        ("L26a-c 3.7@3.7-IV4", ["L26a", "L26b", "L26c"]),
        ("registers-again", []),
    ],
)
def test_the_ids_of_a_row_are_read(row: str, ids: list[str]) -> None:
    listed_ids = {vector.id for vector in listed()} | {"L26c"}
    assert [id for id in vectors_named(row) if id in listed_ids] == ids
