"""The first input of the specification, written by hand: 1 is elected in another life (3.5.2)."""

from typing import Any

from msgspec.structs import replace

from kiplab.incident.findings.finding import Finding
from kiplab.incident.incident_rows import incident_rows
from kiplab.incident.records import LogRecord, Moment
from kiplab.incident.states import (
    BrokerLife,
    ClusterState,
    Handler,
    LogEvent,
    PartitionKey,
    PartitionState,
)
from kiplab.rows.columns import Rows

BEGAN = 1_795_452_573_347
KEY = PartitionKey("_5gQcwHRSfCAChyWEsVtJg", 1)
_CHANGE, _LIFE = "PARTITION_CHANGE_RECORD", "BROKER_REGISTRATION_CHANGE_RECORD"


class Writing:
    """Events one after the other; what is not told stays as it was."""

    def __init__(self) -> None:
        self.events: list[LogEvent] = []
        lives = {
            broker: BrokerLife(broker, epoch, f"X{broker}", Moment(epoch), False, release="3.5")
            for broker, epoch in {1: 3, 2: 6, 3: 9}.items()
        }
        self.cluster = ClusterState(1, lives=lives, features={"metadata.version": 8})
        self.state: PartitionState | None = None

    def _add(self, offset: int, seconds: float, type: str, fields: Any, **about: Any) -> None:
        record = LogRecord(offset, BEGAN + round(seconds * 1000), 1, type, 0, fields)
        self.events.append(LogEvent(record, self.cluster, **about))
        self.cluster = replace(self.cluster, previous=record.moment)

    def partition(self, offset: int, seconds: float, by: Handler, **changes: Any) -> None:
        before, self.state = self.state, None
        if before is None:
            self.state = PartitionState(KEY, "orders", (2, 3, 1), **changes)
        else:
            led = before.leader_epoch + ("leader" in changes)
            epochs = {"leader_epoch": led, "partition_epoch": before.partition_epoch + 1}
            self.state = replace(before, **changes, **epochs)
        about = {"before": before, "after": self.state, "handlers": (by,)}
        self._add(offset, seconds, "PARTITION_RECORD" if before is None else _CHANGE, {}, **about)

    def life(self, offset: int, seconds: float, fields: Any, **changes: Any) -> None:
        id = fields["brokerId"]
        life = replace(self.cluster.lives[id], **changes)
        if "epoch" in changes:
            earlier = {**self.cluster.earlier_lives, id: (self.cluster.lives[id],)}
            self.cluster = replace(self.cluster, earlier_lives=earlier)
        self.cluster = replace(self.cluster, lives={**self.cluster.lives, id: life})
        type = "REGISTER_BROKER_RECORD" if "epoch" in changes else _LIFE
        self._add(offset, seconds, type, fields, life=life)


def other_life() -> tuple[LogEvent, ...]:
    """Records 15 to 62."""
    log = Writing()
    first = {"isr": (2, 3, 1), "leader": 2, "leader_epoch": 0, "partition_epoch": 0}
    log.partition(15, 2.5, "created", **first)
    log.partition(23, 11.5, "fenced", isr=(2, 1), leader=2)
    log.life(24, 11.5, {"brokerId": 3, "fenced": 1}, fenced=True)
    leaving = {"brokerId": 2, "inControlledShutdown": 1}
    log.life(32, 16.0, leaving, shutting_down_since=Moment(32))
    log.partition(34, 16.0, "controlled shutdown", isr=(1,), leader=1)
    log.partition(54, 37.0, "fenced", leader=-1)
    log.life(55, 37.0, {"brokerId": 1, "fenced": 1}, fenced=True)
    registered = {"epoch": 60, "incarnation": "Y1", "registered": Moment(60)}
    log.life(60, 40.3, {"brokerId": 1}, fenced=True, **registered)
    log.life(61, 40.3, {"brokerId": 1, "fenced": -1}, fenced=False)
    log.partition(62, 40.3, "unfenced", leader=1)
    return tuple(log.events)


def found(events: tuple[LogEvent, ...]) -> tuple[Finding, ...]:
    """What the rules say of it, in the order in which it is told."""
    by_offset = {event.record.offset: event.record for event in events}

    def finding(rule: str, kind: Any, sentence: str, offset: int, *evidence: int) -> Finding:
        return Finding(
            rule,
            kind,
            sentence,
            offset,
            by_offset[offset].time,
            partitions=("orders-1",),
            evidence=tuple(by_offset[n] for n in evidence),
        )

    return (
        finding(
            "other-life",
            "occasion",
            "orders-1: 1 was elected cleanly at 62; it had been in sync as broker epoch 3 (since"
            " 15) and was registered as epoch 60 (at 60): another process, whose disk nobody"
            " checked.",
            62,
            *(15, 60, 62),
        ),
        finding("leaderless", "sure", "orders-1 had no leader for 3.3 s, from 54 to 62.", 54, 54),
        finding("alone-then-gone", "note", "1 was alone in the ISR since 34.", 54, 34, 54),
    )


def rows() -> Rows:
    """What a picture of it is drawn from."""
    events = other_life()
    return incident_rows(events, KEY, [*enumerate(found(events), 1)])
