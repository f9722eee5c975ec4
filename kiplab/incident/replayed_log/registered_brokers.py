"""The incarnations of brokers: one from each RegisterBrokerRecord to the next, or to its end.

Source: ClusterControlManager.replay (3.5.0, 4.3.1).
"""

from typing import Any

from msgspec.structs import replace

from ...protocol.releases import METADATA_LEVEL
from ..log_items import LogRecord, OffsetAndTime
from ..states import RegisteredIncarnation

_RELEASE_OF_LEVEL = {level: name.partition("-")[0] for name, level in METADATA_LEVEL.items()}
_FENCED = {"FENCE_BROKER_RECORD": 1, "UNFENCE_BROKER_RECORD": -1}
"""Below metadata version 3.3-IV2, in place of a field of BrokerRegistrationChangeRecord."""


def release_of(fields: dict[str, Any]) -> str:
    """The release of who registered: ``"4.1"``, empty where its highest metadata version is none
    that kiplab knows.
    """
    for feature in fields.get("features", ()):
        if feature["name"] == "metadata.version":
            return _RELEASE_OF_LEVEL.get(feature["maxSupportedVersion"], "")
    return ""


def broker_of(record: LogRecord) -> tuple[int, int]:
    """The broker that a record is about, and its broker epoch there."""
    fields = record.fields
    if record.type in _FENCED:
        return fields["id"], fields["epoch"]
    return fields["brokerId"], fields["brokerEpoch"]


def registered(
    before: RegisteredIncarnation | None, record: LogRecord, *, exact: bool
) -> RegisteredIncarnation:
    """The incarnation that a RegisterBrokerRecord begins. From 3.9 on a process that registers
    again keeps its broker epoch (KAFKA-16952), and is the same one here.
    """
    fields, at = record.fields, record.moment
    broker, epoch = broker_of(record)
    again = before if before and before.epoch == epoch and before.ended is None else None
    fenced = bool(fields.get("fenced", True))
    stopping = (again and again.shutting_down_since) or at
    points: list[dict[str, Any]] = fields.get("endPoints") or [{}]
    incarnation = RegisteredIncarnation(
        broker=broker,
        epoch=epoch,
        incarnation_id=fields["incarnationId"],
        registered=at if exact else OffsetAndTime(epoch),
        fenced=fenced,
        shutting_down_since=stopping if fields.get("inControlledShutdown") else None,
        release=release_of(fields),
        host=points[0].get("host", ""),
        directories=tuple(fields.get("logDirs") or ()),
        exact=exact,
    )
    if again is None:
        return incarnation
    changed = again.changed if again.fenced == fenced else at
    return replace(incarnation, registered=again.registered, changed=changed, exact=again.exact)


def met(record: LogRecord) -> RegisteredIncarnation:
    """An incarnation that began before what is known of the log, as far as a later record tells."""
    broker, epoch = broker_of(record)
    return RegisteredIncarnation(broker, epoch, "", OffsetAndTime(epoch), fenced=False, exact=False)


def changed(incarnation: RegisteredIncarnation, record: LogRecord) -> RegisteredIncarnation:
    """It after its broker was fenced, unfenced or unregistered, asked for a controlled shutdown, or
    has other log directories.
    """
    fields, at = record.fields, record.moment
    if record.type == "UNREGISTER_BROKER_RECORD":
        return replace(incarnation, ended=at)
    fenced = _FENCED.get(record.type, fields.get("fenced", 0))
    if fenced:
        incarnation = replace(incarnation, fenced=fenced == 1, changed=at)
    if fields.get("inControlledShutdown", 0) == 1 and incarnation.shutting_down_since is None:
        incarnation = replace(incarnation, shutting_down_since=at)
    if fields.get("logDirs"):
        incarnation = replace(incarnation, directories=tuple(fields["logDirs"]))
    return incarnation
