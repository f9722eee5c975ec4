"""What the controller's log says of an AlterPartition that it refuses, and why of each check."""

import pytest

from kiplab.protocol.errors import KafkaError
from kiplab.protocol.facts import Compared, Refused
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.ids import (
    CONTROLLER,
    ApiVersion,
    BrokerEpoch,
    BrokerId,
    LeaderEpoch,
    PartitionEpoch,
)
from kiplab.protocol.kraft.alter_partition import CHECKS
from kiplab.protocol.messages import AlterPartitionItem, AlterPartitionRequest, IsrMember
from kiplab.protocol.releases import RELEASES, Mode, of_mode
from kiplab.rows.rejection_lines import RejectionLine, alter_partition

ITEM = AlterPartitionItem("a-0", LeaderEpoch(1), PartitionEpoch(1), (IsrMember(BrokerId(2)),))
REQUEST = AlterPartitionRequest(
    version=ApiVersion(3), broker=BrokerId(1), broker_epoch=BrokerEpoch(7), items=(ITEM,)
)
INELIGIBLE = [g.id for g in GUARDS.values() if g.built and g.error is KafkaError.INELIGIBLE_REPLICA]
"""What nobody ever built (KIP-343) logs nothing."""


def line_of(guard: str, release: str) -> RejectionLine | None:
    """What the controller of a release logs when it refuses a partition by this guard."""
    refused = Refused(
        node=CONTROLLER,
        request="alter-partition",
        error=GUARDS[guard].error or KafkaError.NONE,
        guard=guard,
        compared=(Compared("broker 2 epoch", "1", "2"),),
        partition="a-0",
    )
    return alter_partition(refused, REQUEST, RELEASES[release].code, ())


@pytest.mark.parametrize("guard", [*(id for id, _, _ in CHECKS if id), *INELIGIBLE])
def test_every_check_of_a_partition_has_a_line_in_the_log(guard: str) -> None:
    lines = {release: line_of(guard, release) for release in of_mode(Mode.KRAFT)}
    silent = ", ".join(release for release, line in lines.items() if line is None)
    table = "_INELIGIBLE" if guard in INELIGIBLE else "_why"
    assert not silent, (
        f"{guard} refuses without a line in the log of Kafka {silent}: add its words to `{table}`"
        " in kiplab/rows/rejection_lines.py"
    )
    for level, text in filter(None, lines.values()):
        assert level in ("DEBUG", "INFO", "ERROR")
        assert "a-0" in text
