"""PartitionChangeBuilder, fed directly: who is elected, what is written, which epoch rises.

P11 (ZooKeeper migration) is not modelled. Rows about eligible leader replicas are in
`test_vectors_elr`.
"""

from collections.abc import Callable

import msgspec
import pytest

from kiplab.protocol.features import Features
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.kraft.partition_change import Code, Election, Targets, build, elect
from kiplab.protocol.kraft.records import PartitionChangeRecord
from kiplab.protocol.kraft.replay import merge
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration
from tests.protocol.building import but, cases, change, partition

RECOVERED, RECOVERING = LeaderRecoveryState
ONLINE, UNCLEAN = Election.ONLINE, Election.UNCLEAN
FOO = partition("foo-0", [2, 1, 3], [2, 1, 3], 1, le=100, pe=200)
MOVING = partition("foo-0", [1, 2, 3, 4], [1, 2, 3], 1, le=100, pe=200, adding=[4], removing=[1])
LEADERLESS = but(FOO, isr=[3], leader=-1)
RECOVERS = partition("foo-0", [1, 2, 3], [1], 1, le=100, pe=200, recovery=RECOVERING)
HEADLESS = but(RECOVERS, leader=-1, le=101, pe=201)
ABANDONED = partition("foo-0", [1, 2, 3], [2, 3], -1, le=100, pe=200)
RETIRING = partition("foo-0", [2, 3, 0, 1], [0, 1], 0, adding=[2, 3], removing=[0, 1])

RETARGETED = partition(
    "foo-0", [2, 1, 4, 5], [2], -1, le=100, pe=200, adding=[5], removing=[1, 4, 5]
)
"""Broker 5 was to be added, and then broker 2 alone was to stay."""
SWAPPED = partition("foo-0", [2, 4, 5, 1], [2, 1], 2, le=100, pe=200, adding=[5], removing=[1])


def all_but_3(broker: int) -> bool:
    return broker != 3


def only_1(broker: int) -> bool:
    return broker == 1


def anybody(_broker: int) -> bool:
    return True


def nobody(_broker: int) -> bool:
    return False


def target(**fields: list[int]) -> Targets:
    lists = {name: tuple(map(BrokerId, members)) for name, members in fields.items()}
    return msgspec.convert(lists, Targets)


@pytest.mark.parametrize(
    ("election", "isr", "replicas", "elected"),
    [
        pytest.param(ONLINE, (1, 3), (2, 1, 3), (1, False), id="P3a"),
        pytest.param(UNCLEAN, (1, 3), (2, 1, 3), (1, False), id="P3b"),
        pytest.param(ONLINE, (3,), (2, 1, 3), (-1, False), id="P4"),
        pytest.param(UNCLEAN, (3,), (2, 1, 3), (2, True), id="P5"),
        pytest.param(UNCLEAN, (4,), (2, 1, 3, 4), (4, False), id="P6"),
    ],
)
def test_elects(
    election: Election,
    isr: tuple[BrokerId, ...],
    replicas: tuple[BrokerId, ...],
    elected: tuple[int, bool],
) -> None:
    assert elect(FOO, isr, replicas, all_but_3, election) == elected


class Row(msgspec.Struct, frozen=True):
    """Build, and merge the record into the partition; no record leaves it as it was."""

    id: str
    releases: str
    metadata: str
    state: PartitionRegistration
    acceptable: Callable[[int], bool]
    election: Election
    targets: Targets
    record: PartitionChangeRecord | None
    after: PartitionRegistration


ANY, OLD, NEW = "any", "< 3.6-IV0", ">= 3.6-IV0"
KIP_704 = ">= 3.2-IV0"
# fmt: off
ROWS = (
    Row("P8c", "3.2-4.3", ANY, MOVING, all_but_3, ONLINE, target(),
        None, MOVING),
    Row("P8d", "3.2-4.3", ANY, MOVING, all_but_3, UNCLEAN, target(),
        None, MOVING),
    Row("P9", "3.6-4.3", NEW, FOO, all_but_3, ONLINE, target(isr=[2, 1]),
        change("foo-0", isr=[2, 1]), but(FOO, isr=[2, 1], pe=201)),
    Row("P10", "3.2-4.3", OLD, FOO, all_but_3, ONLINE, target(isr=[2, 1]),
        change("foo-0", isr=[2, 1], leader=1), but(FOO, isr=[2, 1], le=101, pe=201)),
    Row("P12", "3.2-4.3", ANY, FOO, all_but_3, ONLINE, target(isr=[2, 1, 3, 4]),
        change("foo-0", isr=[2, 1, 3, 4]), but(FOO, isr=[2, 1, 3, 4], pe=201)),
    Row("P13", "3.2-4.3", ANY, FOO, all_but_3, ONLINE, target(replicas=[2, 1, 4]),
        change("foo-0", replicas=[2, 1, 4], leader=1),
        but(FOO, replicas=[2, 1, 4], le=101, pe=201)),
    Row("P15a", "3.6-4.3", NEW, FOO, all_but_3, ONLINE, target(isr=[2, 1]),
        change("foo-0", isr=[2, 1]), but(FOO, isr=[2, 1], pe=201)),
    Row("P15b", "3.2-4.3", OLD, FOO, all_but_3, ONLINE, target(isr=[2, 1]),
        change("foo-0", isr=[2, 1], leader=1), but(FOO, isr=[2, 1], le=101, pe=201)),
    Row("P17", "3.2-4.3", ANY, FOO, all_but_3, ONLINE, target(replicas=[3, 2, 1]),
        change("foo-0", replicas=[3, 2, 1]), but(FOO, replicas=[3, 2, 1], pe=201)),
    Row("P18", "3.2-4.3", ANY, MOVING, all_but_3, ONLINE, target(isr=[1, 2, 3, 4]),
        change("foo-0", replicas=[2, 3, 4], isr=[2, 3, 4], leader=2, removing=[], adding=[]),
        but(MOVING, replicas=[2, 3, 4], isr=[2, 3, 4], leader=2, removing=[], adding=[],
            le=101, pe=201)),
    Row("P19", "3.2-4.3", ANY, MOVING, all_but_3, ONLINE,
        target(replicas=[1, 2, 3], isr=[1, 2, 3], removing=[], adding=[]),
        change("foo-0", replicas=[1, 2, 3], leader=1, removing=[], adding=[]),
        but(MOVING, replicas=[1, 2, 3], removing=[], adding=[], le=101, pe=201)),
    Row("P20", "3.2-4.3", ANY, FOO, all_but_3, ONLINE, target(replicas=[1, 2, 3], removing=[3]),
        change("foo-0", replicas=[1, 2], isr=[2, 1], leader=1),
        but(FOO, replicas=[1, 2], isr=[2, 1], le=101, pe=201)),
    Row("P21", "3.2-4.3", ANY, FOO, all_but_3, ONLINE, target(replicas=[1, 2, 3, 4], adding=[4]),
        change("foo-0", replicas=[1, 2, 3, 4], adding=[4]),
        but(FOO, replicas=[1, 2, 3, 4], adding=[4], pe=201)),
    Row("P22", "3.2-4.3", KIP_704, FOO, all_but_3, UNCLEAN, target(isr=[3]),
        change("foo-0", isr=[2], leader=2, recovery=RECOVERING),
        but(FOO, isr=[2], leader=2, recovery=RECOVERING, le=101, pe=201)),
    Row("P23a", "3.2-4.3", KIP_704, LEADERLESS, only_1, UNCLEAN, target(),
        change("foo-0", isr=[1], leader=1, recovery=RECOVERING),
        but(FOO, isr=[1], leader=1, recovery=RECOVERING, le=101, pe=201)),
    Row("P23b", "3.2-4.3", KIP_704, LEADERLESS, only_1, UNCLEAN, target(isr=[2]),
        change("foo-0", isr=[1], leader=1, recovery=RECOVERING),
        but(FOO, isr=[1], leader=1, recovery=RECOVERING, le=101, pe=201)),
    Row("P24", "3.2-4.3", ANY, RECOVERS, nobody, ONLINE, target(isr=[]),
        change("foo-0", leader=-1), but(RECOVERS, leader=-1, le=101, pe=201)),
    Row("P25", "3.2-4.3", ANY, HEADLESS, anybody, ONLINE, target(),
        change("foo-0", leader=1), but(HEADLESS, leader=1, le=102, pe=202)),
    Row("P26", "3.2-4.3", KIP_704, ABANDONED, only_1, UNCLEAN, target(),
        change("foo-0", isr=[1], leader=1, recovery=RECOVERING),
        but(ABANDONED, isr=[1], leader=1, recovery=RECOVERING, le=101, pe=201)),
    Row("P27", "3.2-3.9", "< 3.2-IV0", ABANDONED, only_1, UNCLEAN, target(),
        change("foo-0", isr=[1], leader=1),
        but(ABANDONED, isr=[1], leader=1, recovery=RECOVERED, le=101, pe=201)),
    Row("P28", "3.5-4.3", ANY, RETIRING, nobody, ONLINE, target(isr=[0, 1, 2, 3]),
        change("foo-0", replicas=[2, 3], isr=[2, 3], leader=-1, removing=[], adding=[]),
        but(RETIRING, replicas=[2, 3], isr=[2, 3], leader=-1, removing=[], adding=[], le=1, pe=1)),
    # Found beside real controllers. From 4.3 on what is added is waited for, even if it is to go.
    Row("retargeted-a", "3.2-3.7", ANY, RETARGETED, anybody, ONLINE, target(),
        change("foo-0", leader=2), but(RETARGETED, leader=2, le=101, pe=201)),
    Row("retargeted-b", "3.8-4.2", ANY, RETARGETED, anybody, ONLINE, target(),
        change("foo-0", leader=2, replicas=[2], adding=[], removing=[]),
        but(RETARGETED, leader=2, replicas=[2], adding=[], removing=[], le=101, pe=201)),
    Row("retargeted-c", "4.3", ANY, RETARGETED, anybody, ONLINE, target(),
        change("foo-0", leader=2), but(RETARGETED, leader=2, le=101, pe=201)),
    # As many come as go, and broker 4, which stays, is behind.
    Row("swapped-a", "3.8-4.2", NEW, SWAPPED, anybody, ONLINE, target(isr=[2, 1, 5]),
        change("foo-0", isr=[2, 1, 5]), but(SWAPPED, isr=[2, 1, 5], pe=201)),
    Row("swapped-b", "4.3", NEW, SWAPPED, anybody, ONLINE, target(isr=[2, 1, 5]),
        change("foo-0", isr=[2, 5], leader=2, replicas=[2, 4, 5], adding=[], removing=[]),
        but(SWAPPED, isr=[2, 5], replicas=[2, 4, 5], adding=[], removing=[], le=101, pe=201)),
)
# fmt: on


@pytest.mark.parametrize(("row", "features"), cases(ROWS))
def test_builds(row: Row, features: Features) -> None:
    record = build(row.state, row.targets, row.acceptable, Code.of(features), row.election)
    assert record == row.record
    assert (row.state if record is None else merge(row.state, record)) == row.after
