"""Eligible leader replicas (KIP-966): PartitionChangeBuilder, registration, and who may be elected.

Kafka's tests of the builder switch the last known leader off where they do not ask for it; in
production it is always on, and so it is in these rows. The sizes of ISRs are judged by three
replicas unless a row says otherwise.
"""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest
from msgspec import structs

from kiplab.protocol.features import Features, UnknownFeatureError, with_elr
from kiplab.protocol.ids import BrokerId, Count
from kiplab.protocol.kraft.controller_state import effective_min_isr
from kiplab.protocol.kraft.partition_change import Code, Election, Targets, build
from kiplab.protocol.kraft.records import ClearElrRecord, PartitionChangeRecord
from kiplab.protocol.kraft.replay import merge, replay
from kiplab.protocol.kraft.topic_settings import finalize_elr
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration
from kiplab.protocol.releases import at_least
from tests.protocol.building import at, brokers, but, change, controller, partition, written

RECOVERING = LeaderRecoveryState.RECOVERING
ONLINE, PREFERRED, UNCLEAN = Election.ONLINE, Election.PREFERRED, Election.UNCLEAN
FIRST = "4.0-IV1"


def switched(rows: Iterable[Any]) -> list[Any]:
    """(row, features) for every release of a row, with the feature at the row's level."""
    return [
        pytest.param(row, with_elr(f, row.elr), id=f"{row.id} {f.release}@{f.metadata_version}")
        for row in rows
        for f in at(row.releases, f">= {FIRST}")
    ]


def all_but(*brokers: int) -> Callable[[int], bool]:
    return lambda broker: broker not in brokers


def anybody(_broker: int) -> bool:
    return True


def nobody(_broker: int) -> bool:
    return False


# --- the builder ----------------------------------------------------------------------------------


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """Build, and merge the record into the partition."""

    id: str
    releases: str = "4.0-4.3"
    elr: int = 1
    state: PartitionRegistration
    acceptable: Callable[[int], bool] = anybody
    elections: tuple[Election, ...] = (PREFERRED,)
    isr: tuple[int, ...] | None = None
    unclean: int | None = None
    record: PartitionChangeRecord | None
    after: dict[str, Any] = {}


def foo(replicas: int, isr: list[int], elr: list[int], last_known: list[int]) -> Any:
    leader = (*isr, -1)[0]
    state = partition("foo-0", [*range(1, replicas + 1)], isr, leader, le=100, pe=200)
    return but(state, elr=elr, last_known=last_known)


def writes(**fields: Any) -> PartitionChangeRecord:
    return change("foo-0", **fields)


SHRUNK, LONE, EMPTY = foo(4, [1, 2], [3], [4]), foo(4, [1], [3], [2]), foo(4, [], [], [1])
FULL, MARKED, ELIGIBLE = foo(4, [1, 2, 3, 4], [], []), foo(4, [1], [2, 3], []), foo(4, [1], [3], [])
LED_BY_1 = writes(isr=[1], leader=1, recovery=RECOVERING, last_known=[])
RECOVERS = {"isr": [1], "leader": 1, "le": 101, "recovery": RECOVERING, "last_known": []}
# fmt: off
BUILT = (
    Built(id="V1a", state=FULL, acceptable=all_but(3), isr=(1, 2),
          record=writes(isr=[1, 2], elr=[3, 4]), after={"isr": [1, 2], "elr": [3, 4]}),
    Built(id="V1b", elr=0, state=FULL, acceptable=all_but(3), isr=(1, 2),
          record=writes(isr=[1, 2]), after={"isr": [1, 2]}),
    Built(id="V2a", releases="4.1-4.3", state=foo(3, [1], [2], []), acceptable=nobody,
          record=writes(leader=-1, last_known=[1]),
          after={"leader": -1, "le": 101, "last_known": [1]}),
    Built(id="V2b", releases="4.0", state=foo(3, [1], [2], []), acceptable=nobody,
          record=writes(leader=-1), after={"leader": -1, "le": 101}),
    Built(id="V3a on", releases="4.1-4.3", state=SHRUNK, acceptable=all_but(3), isr=(1, 2, 3),
          record=writes(isr=[1, 2, 3], elr=[]), after={"isr": [1, 2, 3], "elr": []}),
    # Up to 4.1.0 any record of a partition that keeps its leader forgets the last one.
    Built(id="V3a old", releases="4.0", state=SHRUNK, acceptable=all_but(3), isr=(1, 2, 3),
          record=writes(isr=[1, 2, 3], elr=[], last_known=[]),
          after={"isr": [1, 2, 3], "elr": [], "last_known": []}),
    Built(id="V3a off", elr=0, state=SHRUNK, acceptable=all_but(3), isr=(1, 2, 3),
          record=writes(isr=[1, 2, 3], elr=[]), after={"isr": [1, 2, 3], "elr": []}),
    Built(id="V4a", releases="4.1-4.3", state=LONE, isr=(1, 4),
          record=writes(isr=[1, 4]), after={"isr": [1, 4]}),
    Built(id="V4b", elr=0, state=LONE, isr=(1, 4),
          record=writes(isr=[1, 4], elr=[]), after={"isr": [1, 4], "elr": []}),
    Built(id="V5a", state=MARKED, acceptable=all_but(3), unclean=3,
          record=writes(elr=[2]), after={"elr": [2]}),
    Built(id="V5b", elr=0, state=MARKED, unclean=3, record=writes(elr=[]), after={"elr": []}),
    Built(id="V6", state=ELIGIBLE, acceptable=all_but(1), isr=(),
          record=writes(isr=[3], leader=3, elr=[1]),
          after={"isr": [3], "leader": 3, "le": 101, "elr": [1]}),
    Built(id="V7", state=FULL, acceptable=nobody, isr=(),
          record=writes(isr=[], leader=-1, elr=[1, 2, 3, 4], last_known=[1]),
          after={"isr": [], "leader": -1, "le": 101, "elr": [1, 2, 3, 4], "last_known": [1]}),
    Built(id="V8", state=foo(4, [], [1, 2, 3, 4], [1]), acceptable=nobody, unclean=2,
          record=writes(elr=[1, 3, 4]), after={"elr": [1, 3, 4]}),
    Built(id="V9", state=EMPTY, isr=(), record=LED_BY_1, after=RECOVERS),
    Built(id="V10", state=foo(4, [], [3], [1]), acceptable=all_but(3), isr=(), record=None),
    Built(id="V11a", releases="4.1-4.3", state=EMPTY, acceptable=nobody,
          elections=(PREFERRED, ONLINE, UNCLEAN), isr=(), record=None),
    Built(id="V11b", releases="4.0", state=EMPTY, acceptable=nobody,
          elections=(PREFERRED, ONLINE, UNCLEAN), isr=(), record=LED_BY_1, after=RECOVERS),
    # Of what a cluster had that was switched off a member is elected still.
    Built(id="leftover", elr=0, state=foo(3, [], [1, 2], [1]), acceptable=all_but(1),
          record=writes(isr=[2], leader=2, elr=[]),
          after={"isr": [2], "leader": 2, "le": 101, "elr": []}),
    # With unclean elections nobody waits for a member of the ELR that is fenced.
    Built(id="unclean", state=foo(3, [], [2], [1]), acceptable=all_but(1, 2), elections=(UNCLEAN,),
          record=writes(isr=[3], leader=3, recovery=RECOVERING, elr=[], last_known=[]),
          after={"isr": [3], "leader": 3, "le": 101, "recovery": RECOVERING, "elr": [],
                 "last_known": []}),
    # 4.0 notes that there was no leader, and then not even an unclean election finds one.
    Built(id="no-leader-a", releases="4.0", state=but(foo(3, [1], [], []), leader=-1), unclean=1,
          isr=(), acceptable=nobody, record=writes(isr=[], last_known=[-1]),
          after={"isr": [], "last_known": [-1]}),
    Built(id="no-leader-b", releases="4.0", state=foo(3, [], [], [-1]), elections=(UNCLEAN,),
          record=None),
    Built(id="no-leader-c", releases="4.1-4.3", state=but(foo(3, [1], [], []), leader=-1),
          unclean=1, isr=(), acceptable=nobody, record=writes(isr=[]), after={"isr": []}),
)
# fmt: on


@pytest.mark.parametrize(("row", "features"), switched(BUILT))
def test_builds(row: Built, features: Features) -> None:
    isr = None if row.isr is None else tuple(map(BrokerId, row.isr))
    unclean = None if row.unclean is None else BrokerId(row.unclean)
    targets = Targets(isr=isr, min_isr=Count(3), unclean_shutdown=unclean)
    for election in row.elections:
        record = build(row.state, targets, row.acceptable, Code.of(features), election)
        assert record == row.record
        if record is not None:
            assert merge(row.state, record) == but(row.state, pe=201, **row.after)


# --- the effective min ISR, and records that clear ------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "configured", "effective"),
    [
        pytest.param([1, 2, 3], [1, 2, 3], 5, 3, id="V17"),
        pytest.param([1, 2, 3], [1, 2, 3], 2, 2, id="configured"),
        pytest.param([1], [1, 2, 3], 2, 1, id="of partition 0"),
    ],
)
def test_v17_the_effective_min_isr(
    first: list[int], second: list[int], configured: int, effective: int
) -> None:
    foo_0, foo_1 = partition("foo-0", first, first, 1), partition("foo-1", second, second, 1)
    foo_1 = but(foo_1, min_insync_replicas=configured)
    assert effective_min_isr(controller((), foo_0, foo_1), foo_1) == effective


@pytest.mark.parametrize(
    ("topic", "elr", "last_known", "epoch"),
    [
        pytest.param("", [], [], 0, id="V20"),
        pytest.param("", [1], [], 1, id="V20 with an ELR"),
        pytest.param("foo", [2], [3], 1, id="V28"),
        pytest.param("bar", [2], [3], 0, id="V28 of another topic"),
    ],
)
def test_v28_a_record_that_clears_raises_the_epoch_where_it_changes_something(
    topic: str, elr: list[int], last_known: list[int], epoch: int
) -> None:
    before = but(partition("foo-0", [1, 2, 3, 4], [1], 1), elr=elr, last_known=last_known)
    (after,) = replay(controller((), before), ClearElrRecord(topic)).partitions
    expected = but(before, elr=[], last_known=[], pe=1) if epoch else before
    assert after == expected


# --- the feature ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "features",
    [pytest.param(f, id=f"V26 V27 {f.release}@{f.metadata_version}") for f in at("3.2-4.3")],
)
def test_v26_v27_the_feature_needs_its_code_and_its_metadata_version(features: Features) -> None:
    if at_least(features.metadata_version, FIRST):
        assert with_elr(features, 1).has_elr
        return
    with pytest.raises(UnknownFeatureError, match=r"eligible leader replicas \(KIP-966\) need"):
        with_elr(features, 1)


@pytest.mark.parametrize(
    ("static", "entry", "value", "features"),
    [
        pytest.param(static, entry, value, f, id=f"V24 {static} {f.release}@{f.metadata_version}")
        for static, entry, value in ((1, None, 1), (2, None, 2), (2, 3, None))
        for f in at("4.0-4.3", f">= {FIRST}")
    ],
)
def test_v24_switching_it_on_writes_the_cluster_level_min_insync_replicas(
    static: int, entry: int | None, value: int | None, features: Features
) -> None:
    """From the controller's properties, unless there is one. No broker has one of its own here."""
    foo_0, bar_0 = (partition(f"{topic}-0", [1, 2], [1, 2], 1) for topic in ("foo", "bar"))
    before = structs.replace(
        controller(brokers(1, 2), foo_0, bar_0),
        static_min_insync_replicas=static,
        cluster_min_insync_replicas=entry,
        topics_with_min_insync=("foo",),
    )
    after, _, facts = finalize_elr(before, Count(1), with_elr(features, 1))
    text = f"ConfigRecord topic= name=min.insync.replicas value={value}"
    assert written(facts) == ([] if value is None else [text])
    assert after.cluster_min_insync_replicas == (entry or value)
    assert after.partitions == (foo_0, but(bar_0, min_insync_replicas=value or 1))
