"""What the controller's log says of an AlterPartition that it refuses, and why of each check."""

import pytest

from kiplab.protocol import facts, ids, messages, releases
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.kraft.alter_partition import CHECKS
from kiplab.rows.rejection_lines import RejectionLine, alter_partition

ITEM = messages.AlterPartitionItem(
    "a-0", ids.LeaderEpoch(1), ids.PartitionEpoch(1), (messages.IsrMember(ids.BrokerId(2)),)
)
REQUEST = messages.AlterPartitionRequest(
    version=ids.ApiVersion(3),
    broker=ids.BrokerId(1),
    broker_epoch=ids.BrokerEpoch(7),
    items=(ITEM,),
)
INELIGIBLE = [g.id for g in GUARDS.values() if g.built and g.error is KafkaError.INELIGIBLE_REPLICA]
"""What nobody ever built (KIP-343) logs nothing."""


def line_of(guard: str, release: str) -> RejectionLine | None:
    """What the controller of a release logs when it refuses a partition by this guard."""
    refused = facts.Refused(
        node=ids.CONTROLLER,
        request="alter-partition",
        error=GUARDS[guard].error or KafkaError.NONE,
        guard=guard,
        compared=(facts.Compared("broker 2 epoch", "1", "2"),),
        partition="a-0",
    )
    return alter_partition(refused, REQUEST, releases.RELEASES[release].code, ())


@pytest.mark.parametrize("guard", [*(id for id, _, _ in CHECKS if id), *INELIGIBLE])
def test_every_check_of_a_partition_has_a_line_in_the_log(guard: str) -> None:
    lines = {release: line_of(guard, release) for release in releases.of_mode(releases.Mode.KRAFT)}
    silent = ", ".join(release for release, line in lines.items() if line is None)
    assert not silent, (
        f"{guard} refuses without a line in the log of Kafka {silent}: add its words to"
        " [rejections] of kiplab/rows/log_words.toml"
    )
    for level, text in filter(None, lines.values()):
        assert level in ("DEBUG", "INFO", "ERROR")
        assert "a-0" in text
