"""AlterPartition vectors as a plain table: given, request, reply, records.

A member of a requested ISR is written ``broker: broker epoch``; request versions below 3 carry the
plain ids. Versions that a release does not speak are left out for it.
"""

from typing import Any

import msgspec
from msgspec.structs import replace

from kiplab.protocol import messages
from kiplab.protocol.errors import KafkaError
from kiplab.protocol.ids import BrokerEpoch, BrokerId, LeaderEpoch, PartitionEpoch
from kiplab.protocol.kraft.records import PartitionChangeRecord
from kiplab.protocol.registrations import LeaderRecoveryState, PartitionRegistration, Registration
from tests.protocol.building import brokers, but, change, partition

RECOVERED, RECOVERING = LeaderRecoveryState
E = KafkaError


class Ask(msgspec.Struct, frozen=True):
    """An AlterPartition request without its version."""

    sender: int
    epoch: int
    items: tuple[messages.AlterPartitionItem, ...]


class Row(msgspec.Struct, frozen=True):
    """`results` is the reply; `top` its top-level error; `after` the partitions that changed."""

    id: str
    releases: str
    metadata: str
    versions: tuple[int, ...]
    brokers: tuple[Registration, ...]
    partitions: tuple[PartitionRegistration, ...]
    ask: Ask
    results: tuple[messages.AlterPartitionResult, ...]
    records: tuple[PartitionChangeRecord, ...] = ()
    after: tuple[PartitionRegistration, ...] = ()
    top: KafkaError = KafkaError.NONE


def item(
    name: str,
    isr: dict[int, int],
    *,
    le: int = 0,
    pe: int = 0,
    recovery: messages.RecoveryOnWire = RECOVERED,
) -> messages.AlterPartitionItem:
    members = tuple(messages.IsrMember(BrokerId(b), BrokerEpoch(e)) for b, e in isr.items())
    return messages.AlterPartitionItem(name, LeaderEpoch(le), PartitionEpoch(pe), members, recovery)


def refusals(
    id: str, releases: str, metadata: str, versions: tuple[int, ...], state: Any, ask: Ask, why: E
) -> Row:
    """One partition is asked for and refused; nothing changes."""
    registered, *partitions = state
    result = messages.AlterPartitionResult(ask.items[0].partition, why)
    return Row(id, releases, metadata, versions, registered, tuple(partitions), ask, (result,))


def stale(
    id: str, releases: str, metadata: str, versions: tuple[int, ...], state: Any, ask: Ask
) -> Row:
    """The request as a whole is refused: no topic entries, nothing changes."""
    registered, *partitions = state
    return Row(
        id, releases, metadata, versions, registered, tuple(partitions), ask, (),
        top=E.STALE_BROKER_EPOCH,
    )  # fmt: skip


def accepted(
    id: str, releases: str, metadata: str, versions: tuple[int, ...], state: Any, ask: Ask,
    *changed: tuple[PartitionChangeRecord | None, PartitionRegistration],
) -> Row:  # fmt: skip
    """Every partition asked for becomes what the row says, and the reply says the same."""
    registered, *partitions = state
    return Row(
        id, releases, metadata, versions, registered, tuple(partitions), ask,
        tuple(messages.AlterPartitionResult.granted(after) for _, after in changed),
        tuple(record for record, _ in changed if record is not None),
        tuple(after for _, after in changed),
    )  # fmt: skip


def ask(sender: int, epoch: int, *items: messages.AlterPartitionItem) -> Ask:
    return Ask(sender, epoch, items)


ANY, OLD, NEW = "any", "< 3.6-IV0", ">= 3.6-IV0"
V0_1, V0_2, V0_3, V1_3, V2_3, V3 = (0, 1), (0, 1, 2), (0, 1, 2, 3), (1, 2, 3), (2, 3), (3,)

FOO = partition("foo-0", [0, 1, 2], [0, 1, 2], 0)
THREE = (brokers(0, 1, 2), FOO)
SHRUNK = but(FOO, isr=[0, 1], pe=1)
SHRUNK_OLD = but(SHRUNK, le=1)

WITHOUT_3 = partition("foo-0", [1, 2, 3, 4], [1, 2, 4], 1, pe=1)
ONE_FENCED = (brokers(0, 1, 2, 4, fenced=[3]), WITHOUT_3)
ONE_FENCED_OLD = (ONE_FENCED[0], but(WITHOUT_3, le=1))

WITHOUT_4 = partition("foo-0", [1, 2, 3, 4], [1, 2, 3], 1, pe=1)
REBORN = (brokers(0, 1, 2, 3, 4, epochs={4: 1104}), WITHOUT_4)
REBORN_OLD = (REBORN[0], but(WITHOUT_4, le=1))
ALL_FOUR = {1: 101, 2: 102, 3: 103, 4: 104}

MOVING = partition("foo-1", [0, 2, 1, 3], [3, 2, 1], 3, pe=1, adding=[0], removing=[3])
REASSIGNING = (
    brokers(0, 1, 2, 3),
    partition("bar-0", [1, 2, 3], [1, 2, 3], 1),
    partition("foo-0", [3, 2, 1], [1, 2, 3], 1, pe=1),
    MOVING,
)
MOVED = but(MOVING, replicas=[0, 2, 1], isr=[0, 2, 1], leader=0, adding=[], removing=[], le=1, pe=2)
COMPLETES = change("foo-1", replicas=[0, 2, 1], isr=[0, 2, 1], leader=0, adding=[], removing=[])
GROWING = partition("bar-0", [1, 2, 3, 4, 0], [4, 2], 4, pe=2, adding=[0, 1])
SHRINKING = partition("bar-0", [2, 3, 4, 5, 0, 1], [0, 1], 0, pe=2, adding=[5], removing=[0, 1])
TOPIC_1 = partition("topic-1-0", [2, 3, 0, 1], [0, 1], 0, pe=1, adding=[2, 3], removing=[0, 1])

FOO_0 = partition("foo-0", [1, 2, 3], [2, 3], 2)
FOO_1 = partition("foo-1", [2, 3, 4], [2, 3, 4], 2)
FOO_2 = partition("foo-2", [0, 2, 1], [2], 2)
UNCLEAN_0 = partition("foo-0", [1, 2, 3], [1], -1, le=1, pe=3)
UNCLEAN_1 = partition("foo-1", [2, 3, 4], [4], 4, le=2, pe=2)
UNCLEAN_2 = partition("foo-2", [0, 2, 1], [0], 0, pe=2)

PAIR = partition("p-0", [1, 2], [1], 1, le=5, pe=10)
KAFKA_14139 = (brokers(1, fenced=[2], epochs={2: 250}), PAIR)
LATE = ask(1, 101, item("p-0", {1: 101, 2: 102}, le=5, pe=10))
FULL = partition("p-0", [1, 2, 3], [1, 2, 3], 1, le=5, pe=10)
RECOVERS = partition("p-0", [1, 2, 3], [2], 2, le=5, pe=10, recovery=RECOVERING)
ACTIVE = brokers(1, 2, 3)
ONLY_1 = item("p-0", {1: 101}, le=5, pe=10)

# fmt: off
ROWS = (
    # 1. Validation
    refusals("A1", "3.2-4.3", ANY, V0_3, THREE,
             ask(1, 101, item("foo-0", {0: 100, 1: 101})), E.INVALID_REQUEST),
    stale("A2", "3.2-4.3", ANY, V0_3, THREE,
          ask(0, 99, item("foo-0", {0: 100, 1: 101}))),
    refusals("A3a", "3.3-4.3", ANY, V0_3, THREE,
             ask(0, 100, item("foo-0", {0: 100, 1: 101}, le=500)), E.NOT_CONTROLLER),
    refusals("A3b", "3.2", ANY, V0_1, THREE,
             ask(0, 100, item("foo-0", {0: 100, 1: 101}, le=500)), E.FENCED_LEADER_EPOCH),
    refusals("A4a", "3.3-4.3", ANY, V0_3, THREE,
             ask(0, 100, item("foo-0", {0: 100, 1: 101}, pe=500)), E.NOT_CONTROLLER),
    refusals("A4b", "3.2", ANY, V0_1, THREE,
             ask(0, 100, item("foo-0", {0: 100, 1: 101}, pe=500)), E.INVALID_UPDATE_VERSION),
    refusals("A8", "3.2-4.3", ANY, V1_3, THREE,
             ask(0, 100, item("foo-0", {0: 100}, recovery=RECOVERING)), E.INVALID_REQUEST),
    accepted("A9a", "3.6-4.3", NEW, V0_3, THREE,
             ask(0, 100, item("foo-0", {0: 100, 1: 101})),
             (change("foo-0", isr=[0, 1]), but(FOO, isr=[0, 1], pe=1))),
    accepted("A9b", "3.2-4.3", OLD, V0_3, THREE,
             ask(0, 100, item("foo-0", {0: 100, 1: 101})),
             (change("foo-0", isr=[0, 1], leader=0), but(FOO, isr=[0, 1], le=1, pe=1))),
    accepted("A9c", "3.6-4.3", NEW, V0_3, (THREE[0], SHRUNK),
             ask(0, 100, item("foo-0", {0: 100, 1: 101, 2: 102}, pe=1)),
             (change("foo-0", isr=[0, 1, 2]), but(FOO, pe=2))),
    accepted("A9d", "3.2-4.3", OLD, V0_3, (THREE[0], SHRUNK_OLD),
             ask(0, 100, item("foo-0", {0: 100, 1: 101, 2: 102}, le=1, pe=1)),
             (change("foo-0", isr=[0, 1, 2]), but(FOO, le=1, pe=2))),
    refusals("A10", "3.3-3.9", ANY, V0_1, (THREE[0],),
             ask(0, 100, item("foo-0", {})), E.UNKNOWN_TOPIC_OR_PARTITION),
    refusals("A11", "3.3-4.3", ANY, V2_3, (THREE[0],),
             ask(0, 100, item("foo-0", {})), E.UNKNOWN_TOPIC_ID),
    refusals("A12a", "3.6-3.9", NEW, V0_1, ONE_FENCED,
             ask(1, 101, item("foo-0", ALL_FOUR, pe=1)), E.OPERATION_NOT_ATTEMPTED),
    refusals("A12b", "3.3-3.9", OLD, V0_1, ONE_FENCED_OLD,
             ask(1, 101, item("foo-0", ALL_FOUR, le=1, pe=1)), E.OPERATION_NOT_ATTEMPTED),
    refusals("A13a", "3.6-4.3", NEW, V2_3, ONE_FENCED,
             ask(1, 101, item("foo-0", ALL_FOUR, pe=1)), E.INELIGIBLE_REPLICA),
    refusals("A13b", "3.3-4.3", OLD, V2_3, ONE_FENCED_OLD,
             ask(1, 101, item("foo-0", ALL_FOUR, le=1, pe=1)), E.INELIGIBLE_REPLICA),
    refusals("A15a", "3.6-4.3", NEW, V3, REBORN,
             ask(1, 101, item("foo-0", ALL_FOUR, pe=1)), E.INELIGIBLE_REPLICA),
    refusals("A15b", "3.5-4.3", OLD, V3, REBORN_OLD,
             ask(1, 101, item("foo-0", ALL_FOUR, le=1, pe=1)), E.INELIGIBLE_REPLICA),
    accepted("A16a", "3.6-4.3", NEW, V0_2, REBORN,
             ask(1, 101, item("foo-0", ALL_FOUR, pe=1)),
             (change("foo-0", isr=[1, 2, 3, 4]), but(WITHOUT_4, isr=[1, 2, 3, 4], pe=2))),
    accepted("A16b", "3.5-4.3", OLD, V0_2, REBORN_OLD,
             ask(1, 101, item("foo-0", ALL_FOUR, le=1, pe=1)),
             (change("foo-0", isr=[1, 2, 3, 4]), but(WITHOUT_4, isr=[1, 2, 3, 4], le=1, pe=2))),
    # 2. A reassignment that completes: the sender loses the leadership, and the record stands
    Row("R4", "3.2-3.9", ANY, V0_1, REASSIGNING[0], REASSIGNING[1:],
        ask(3, 103, item("foo-1", {3: 103, 0: 100, 2: 102, 1: 101}, pe=1)),
        (messages.AlterPartitionResult("foo-1", E.FENCED_LEADER_EPOCH),), (COMPLETES,), (MOVED,)),
    Row("R5", "3.3-4.3", ANY, V2_3, REASSIGNING[0], REASSIGNING[1:],
        ask(3, 103, item("foo-1", {3: 103, 0: 100, 2: 102, 1: 101}, pe=1)),
        (messages.AlterPartitionResult("foo-1", E.NEW_LEADER_ELECTED),), (COMPLETES,), (MOVED,)),
    accepted("R11a", "3.6-3.7", NEW, V2_3, (brokers(0, 1, 2, 4, fenced=[3]), GROWING),
             ask(4, 104, item("bar-0", {4: 104, 1: 101, 2: 102, 0: 100}, pe=2)),
             (change("bar-0", isr=[4, 1, 2, 0], adding=[]),
              but(GROWING, isr=[4, 1, 2, 0], adding=[], pe=3))),
    # Replica 3 was there before and is out of the ISR: from 3.8 to 4.2 it is waited for too.
    accepted("R11e", "3.8-4.2", NEW, V2_3, (brokers(0, 1, 2, 4, fenced=[3]), GROWING),
             ask(4, 104, item("bar-0", {4: 104, 1: 101, 2: 102, 0: 100}, pe=2)),
             (change("bar-0", isr=[4, 1, 2, 0]),
              but(GROWING, isr=[4, 1, 2, 0], pe=3))),
    accepted("R11f", "4.3", NEW, V2_3, (brokers(0, 1, 2, 4, fenced=[3]), GROWING),
             ask(4, 104, item("bar-0", {4: 104, 1: 101, 2: 102, 0: 100}, pe=2)),
             (change("bar-0", isr=[4, 1, 2, 0], adding=[]),
              but(GROWING, isr=[4, 1, 2, 0], adding=[], pe=3))),
    # With fewer replicas to come than to go, all that stay are waited for in 4.3 as well.
    accepted("R11g", "3.8-4.3", NEW, V2_3, (brokers(0, 1, 2, 3, 4, 5), SHRINKING),
             ask(0, 100, item("bar-0", {0: 100, 1: 101, 5: 105}, pe=2)),
             (change("bar-0", isr=[0, 1, 5]), but(SHRINKING, isr=[0, 1, 5], pe=3))),
    accepted("R12", "3.5-4.3", ANY, V2_3, (brokers(0, 1, 2, 3, 4, 5), TOPIC_1),
             ask(0, 100, item("topic-1-0", {0: 100, 1: 101, 2: 102}, pe=1)),
             (change("topic-1-0", isr=[0, 1, 2]), but(TOPIC_1, isr=[0, 1, 2], pe=2))),
    # 3. AlterPartition among elections
    accepted("E5b", "3.6-4.3", NEW, V0_3,
             (brokers(0, 2, 4, fenced=[1, 3]), UNCLEAN_0, UNCLEAN_1, UNCLEAN_2),
             ask(4, 104, item("foo-1", {2: 102, 4: 104}, le=2, pe=2)),
             (change("foo-1", isr=[2, 4]), but(UNCLEAN_1, isr=[2, 4], pe=3))),
    accepted("E8", "3.3-4.3", ">= 3.3-IV3", V2_3, (brokers(0, 1, 2, 3, 4), FOO_0, FOO_1, FOO_2),
             ask(2, 102, item("foo-0", {1: 101, 2: 102, 3: 103}),
                 item("foo-2", {0: 100, 2: 102, 1: 101})),
             (change("foo-0", isr=[1, 2, 3]), but(FOO_0, isr=[1, 2, 3], pe=1)),
             (change("foo-2", isr=[0, 2, 1]), but(FOO_2, isr=[0, 2, 1], pe=1))),
    accepted("E10a", "3.2-4.3", ANY, V0_3,
             (brokers(1, 2, 3, 4, fenced=[0]), FOO_0, FOO_1, FOO_2),
             ask(2, 102, item("foo-0", {1: 101, 2: 102, 3: 103})),
             (change("foo-0", isr=[1, 2, 3]), but(FOO_0, isr=[1, 2, 3], pe=1))),
    # 9. Derived: KAFKA-14139, resent requests, order, recovery, a bounced sender
    accepted("D2a", "3.2", ANY, (1,), KAFKA_14139, LATE,
             (change("p-0", isr=[1, 2]), but(PAIR, isr=[1, 2], pe=11))),
    refusals("D2b", "3.3-3.4", ANY, (2,), KAFKA_14139, LATE, E.INELIGIBLE_REPLICA),
    refusals("D2c", "3.5-4.3", ANY, V3, KAFKA_14139, LATE, E.INELIGIBLE_REPLICA),
    refusals("D11", "3.2-4.3", ANY, V0_3, (ACTIVE, but(FULL, isr=[1, 2], pe=11)),
             ask(1, 101, item("p-0", {1: 101, 2: 102}, le=5, pe=10)), E.INVALID_UPDATE_VERSION),
    accepted("D12", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, item("p-0", {1: 101, 2: 102, 3: 103}, le=5, pe=10)),
             (None, FULL)),
    accepted("D13", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, item("p-0", {1: 101, 3: 103, 2: 102}, le=5, pe=10)),
             (change("p-0", isr=[1, 3, 2]), but(FULL, isr=[1, 3, 2], pe=11))),
    accepted("D15a", "3.2", ">= 3.2-IV0", (1,), (ACTIVE, RECOVERS),
             ask(2, 102, item("p-0", {2: 102}, le=5, pe=10)),
             (None, RECOVERS)),
    accepted("D15b", "3.3-4.3", ">= 3.2-IV0", V1_3, (ACTIVE, RECOVERS),
             ask(2, 102, item("p-0", {2: 102}, le=5, pe=10)),
             (change("p-0", recovery=RECOVERED), but(RECOVERS, recovery=RECOVERED, pe=11))),
    accepted("D16", "3.2-3.9", ">= 3.2-IV0", (0,), (ACTIVE, RECOVERS),
             ask(2, 102, item("p-0", {2: 102, 3: 103}, le=5, pe=10)),
             (change("p-0", isr=[2, 3], recovery=RECOVERED),
              but(RECOVERS, isr=[2, 3], recovery=RECOVERED, pe=11))),
    stale("D20a", "3.5-4.3", ANY, V0_3, (brokers(1, 2, epochs={1: 111}), PAIR),
          ask(1, 100, item("p-0", {1: 100, 2: 102}, le=5, pe=10))),
    # Rows of the decision table that no vector reaches
    refusals("row-1", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, item("p-1", {1: 101}, le=5, pe=10)), E.UNKNOWN_TOPIC_OR_PARTITION),
    refusals("row-4", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, item("p-0", {1: 101}, le=4, pe=10)), E.FENCED_LEADER_EPOCH),
    refusals("row-7-stranger", "3.2-4.3", ANY, V0_3, (brokers(1, 2, 3, 4), FULL),
             ask(1, 101, item("p-0", {1: 101, 4: 104}, le=5, pe=10)), E.INVALID_REQUEST),
    refusals("row-7-twice", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, replace(ONLY_1, isr=ONLY_1.isr * 2)), E.INVALID_REQUEST),
    refusals("row-8", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, item("p-0", {2: 102, 3: 103}, le=5, pe=10)), E.INVALID_REQUEST),
    refusals("row-8-empty", "3.2-4.3", ANY, V0_3, (ACTIVE, FULL),
             ask(1, 101, item("p-0", {}, le=5, pe=10)), E.INVALID_REQUEST),
    refusals("row-9", "3.2-4.3", ANY, V1_3, (ACTIVE, RECOVERS),
             ask(2, 102, item("p-0", {2: 102, 3: 103}, le=5, pe=10, recovery=RECOVERING)),
             E.INVALID_REQUEST),
    refusals("row-11-unregistered", "3.3-4.3", ANY, V2_3, (brokers(1), PAIR), LATE,
             E.INELIGIBLE_REPLICA),
    refusals("row-11-unregistered", "3.3-3.9", ANY, V0_1, (brokers(1), PAIR), LATE,
             E.OPERATION_NOT_ATTEMPTED),
    accepted("row-11-unregistered", "3.2", ANY, V0_1, (brokers(1), PAIR), LATE,
             (change("p-0", isr=[1, 2]), but(PAIR, isr=[1, 2], pe=11))),
    refusals("row-11-leaving", "3.3-4.3", ">= 3.3-IV3", V2_3, (brokers(1, leaving=[2]), PAIR),
             LATE, E.INELIGIBLE_REPLICA),
    refusals("row-11-leaving", "3.3-3.9", ">= 3.3-IV3", V0_1, (brokers(1, leaving=[2]), PAIR),
             LATE, E.OPERATION_NOT_ATTEMPTED),
    # Every member is judged, the leader too: here it is itself in controlled shutdown.
    refusals("row-11-leader", "3.3-4.3", ">= 3.3-IV3", V2_3, (brokers(2, leaving=[1]), PAIR),
             LATE, E.INELIGIBLE_REPLICA),
    refusals("row-11-newer-epoch", "3.5-4.3", ANY, V3, (brokers(1, 2), PAIR),
             ask(1, 101, item("p-0", {1: 101, 2: 250}, le=5, pe=10)), E.INELIGIBLE_REPLICA),
    accepted("row-11-no-epoch", "3.5-4.3", ANY, V3, (brokers(1, 2), PAIR),
             ask(1, 101, item("p-0", {1: 101, 2: -1}, le=5, pe=10)),
             (change("p-0", isr=[1, 2]), but(PAIR, isr=[1, 2], pe=11))),
)
# fmt: on
