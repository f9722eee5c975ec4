"""Why an operator does not read of something: every quotation of Kafka can be looked up."""

import re
from collections.abc import Iterator

import pytest

from kiplab.protocol.releases import RELEASES
from tests.rows import unlogged

WRITTEN = re.compile(r"\(([A-Z]\w+\.[a-z]\w+)[^()]*?((?:zk-)?[234]\.\d+) to ((?:zk-)?[234]\.\d+)")
"""``(Partition.maybeShrinkIsr, 3.2 to 4.3``: who writes, from which release to which."""


def reasons() -> Iterator[str]:
    for name, table in vars(unlogged).items():
        if name.startswith("UNLOGGED"):
            yield from table.values()


QUOTING = sorted({reason for reason in reasons() if "Kafka writes" in reason})


@pytest.mark.parametrize("reason", QUOTING, ids=lambda reason: reason[14:40])
def test_a_reason_that_quotes_kafka_names_who_writes_it_and_in_which_releases(reason: str) -> None:
    found = WRITTEN.findall(reason)
    assert found, f"name class, method and releases as (Class.method, 3.2 to 4.3) in: {reason}"
    for _, first, last in found:
        assert first in RELEASES, f"{first} is no release: {reason}"
        assert last in RELEASES, f"{last} is no release: {reason}"
