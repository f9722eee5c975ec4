"""The lines in which a controller refuses a request: (level, text), as each release words them."""

from collections.abc import Iterable

from ..protocol.errors import KafkaError
from ..protocol.facts import Compared, ControllerResigned, Refused
from ..protocol.ids import NO_LEADER, BrokerId
from ..protocol.messages import BODIES, AlterPartitionItem, AlterPartitionRequest
from ..protocol.registrations import PartitionRegistration, topic_of
from ..protocol.releases import CodeVersion
from .snapshots import LOG_WORDS

RejectionLine = tuple[str, str]
_NO_TOPIC_ID = "A" * 22
"""Uuid.ZERO_UUID as Kafka prints it: sixteen bytes of zero in base64."""
_WHY: dict[str, RejectionLine] = LOG_WORDS["rejections"]
"""By the guard that refuses: the level, and what follows the name of the partition."""


def alter_partition(
    refused: Refused,
    request: AlterPartitionRequest,
    code: CodeVersion,
    partitions: tuple[PartitionRegistration, ...],
) -> RejectionLine | None:
    """`partitions` are the controller's; None for what Kafka does not log."""
    item = next((i for i in request.items if i.partition == refused.partition), None)
    if refused.error in (KafkaError.UNKNOWN_TOPIC_OR_PARTITION, KafkaError.UNKNOWN_TOPIC_ID):
        return _unknown(refused, request, code, partitions)
    if item is None or refused.guard is None or not refused.compared:
        return None
    state = next((p for p in partitions if p.name == item.partition), None)
    why = _why(refused, item, request, code, NO_LEADER if state is None else state.leader)
    if why is None:
        return None
    level, reason = why
    text = f"Rejecting AlterPartition request from node {request.broker} for {item.partition}"
    stands = "" if code < (4, 3) or state is None else _stands(state, _isr(item, request, code))
    return level, f"{text} {reason} {stands}".rstrip()


def _stands(state: PartitionRegistration, proposed: str) -> str:
    """How the partition stands, which from 4.3 on ends every refusal.

    Source: ReplicationControlManager.logPartitionChangeInfo, 4.3.
    """
    return (
        f"Proposed ISR was {proposed} and current ISR is {ids(state.isr)}."
        f" Current replica set is {ids(state.replicas)}."
        f" Current partitionEpoch is {state.partition_epoch}."
        f" Current leaderEpoch is {state.leader_epoch}."
    )


def ids(brokers: Iterable[object]) -> str:
    """Broker ids as Java prints a list of them."""
    return "[" + ", ".join(map(str, brokers)) + "]"


def _unknown(
    refused: Refused,
    request: AlterPartitionRequest,
    code: CodeVersion,
    partitions: tuple[PartitionRegistration, ...],
) -> RejectionLine | None:
    """An unknown topic is logged once, however many of its partitions were asked for.

    Source: ReplicationControlManager.alterPartition and validateAlterPartitionData, 3.2 to 4.3.
    """
    start, name = "Rejecting AlterPartition request for unknown", str(refused.partition)
    topic = topic_of(name)
    if any(topic_of(p.name) == topic for p in partitions):
        return "INFO", f"{start} partition {name}."
    if name != next(i.partition for i in request.items if topic_of(i.partition) == topic):
        return None
    if code < (3, 3):
        # The id that it looked up by the name, and did not find.
        return "INFO", f"{start} topic ID null."
    if code >= (4, 0):
        return "INFO", f"{start} topic ID …."
    # Up to version 1 a request has names, and prints the id of nothing; from 2 on it has ids.
    named = f"{_NO_TOPIC_ID} or name {topic}" if request.version < 2 else "… or name "
    return "INFO", f"{start} topic ID {named}."


def _why(
    refused: Refused,
    item: AlterPartitionItem,
    request: AlterPartitionRequest,
    code: CodeVersion,
    leader: int,
) -> RejectionLine | None:
    if refused.guard not in _WHY:
        return None
    level, text = _WHY[refused.guard]
    compared = refused.compared[0]
    words = {
        "greater": _greater(compared, code),
        "who": _who(compared),
        "leader": leader,
        "epochs": f"{compared.held}, not {compared.requested}.",
        # From 4.3 on the ISR that was asked for stands at the end.
        "isr": f" {_isr(item, request, code)}" if code < (4, 3) else "",
        # The word is misspelt up to 3.2, and this is what one has to search such a log for.
        "unclean": "unlcean" if code < (3, 3) else "unclean",
    }
    return level, text.format(c=compared, **words)


def _who(compared: Compared) -> str:
    return compared.name.removeprefix("broker ").removesuffix(" epoch")


def _greater(compared: Compared, code: CodeVersion) -> str:
    """4.2 forgets to fill in what 4.3 says at the end."""
    if code < (4, 2):
        return f"{compared.held}, which is greater than the local value {compared.requested}."
    left_over = " {}" if code < (4, 3) else ""
    lower = f"which is lower than the request value {compared.requested}."
    return f"{compared.held}, {lower}{left_over}"


def _isr(item: AlterPartitionItem, request: AlterPartitionRequest, code: CodeVersion) -> str:
    """From 3.5 on the controller has epochs, -1 where the request brought none."""
    if code < (3, 5):
        return ids(m.broker for m in item.isr)
    carried = request.version >= 3
    epochs = ((m.broker, m.epoch if carried else -1) for m in item.isr)
    return ids(f"BrokerState(brokerId={broker}, brokerEpoch={epoch})" for broker, epoch in epochs)


def stale_epoch(refused: Refused, code: CodeVersion) -> RejectionLine | None:
    """STALE_BROKER_EPOCH is an exception, and the controller's queue logs it.

    None where nobody says what was compared: a real controller answers with the error alone.
    """
    compared = next(iter(refused.compared), None)
    if compared is None:
        return None
    reason = f"Expected broker epoch {compared.held}, but got broker epoch {compared.requested}"
    if compared.held == "none":
        reason = f"No broker registration found for broker id {_who(compared)}"
    event = BODIES[refused.request].api.log_event or refused.request
    return "INFO", f"{event}: {_failed('StaleBrokerEpochException', reason, code)}"


def resignation(resigned: ControllerResigned, code: CodeVersion) -> tuple[str, str, str]:
    """(level, logger, text) of an exception that makes the controller renounce its epoch."""
    body = BODIES.get(resigned.request)
    event = (body.api.log_event if body else None) or resigned.request
    last = f"last committed offset {resigned.last_committed}."
    if code >= (3, 6):
        failed = f"event failed with {resigned.exception} (treated as UnknownServerException)"
        after = f"at epoch {resigned.before} in … microseconds. Renouncing leadership and reverting"
        text = f"Encountered quorum controller fault: {event}: {failed} {after} to the {last}"
        return "ERROR", "LoggingFaultHandler", text
    failed = f"{event}: failed with unknown server exception {resigned.exception}"
    after = "Reverting to" if code < (3, 3) else "Renouncing leadership and reverting to the"
    text = f"{failed} at epoch {resigned.before} in … us.  {after} {last}"
    return "WARN", "QuorumController", text


def duplicate_registration(code: CodeVersion) -> RejectionLine:
    """DUPLICATE_BROKER_REGISTRATION is one too."""
    reason = "Another broker is registered with that broker id."
    if code >= (4, 1):
        reason += (
            " If the broker was recently restarted this should self-resolve once the heartbeat"
            " manager expires the broker's session."
        )
    failed = _failed("DuplicateBrokerRegistrationException", reason, code)
    return "INFO", f"registerBroker: {failed}"


def not_registered(broker: BrokerId, code: CodeVersion) -> RejectionLine:
    """BROKER_ID_NOT_REGISTERED is one too."""
    reason = f"Broker ID {broker} is not currently registered"
    return "INFO", f"unregisterBroker: {_failed('BrokerIdNotRegisteredException', reason, code)}"


def _failed(exception: str, reason: str, code: CodeVersion) -> str:
    """3.5 told the reason, 3.6 forgot it again, 3.7 tells it in other words."""
    if code < (3, 5):
        return f"failed with {exception} in … us"
    if code < (3, 6):
        return f"failed with {exception} in … us. Reason: {reason}"
    if code < (3, 7):
        return f"event failed with {exception} in … microseconds."
    return f"event failed with {exception} in … microseconds. Exception message: {reason}"
