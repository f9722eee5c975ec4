"""Events in words: one line each, and for a refusal the clause that decided it."""

from collections.abc import Callable
from typing import Any

from ..protocol import facts, guards, zookeeper_facts
from ..protocol.ids import NO_LEADER, BrokerId, SessionId, broker_list, node_name
from . import events


def sentence(event: events.Event) -> str:
    """One line of a transcript, without its line number."""
    return _SENTENCES[type(event)](event)


def explain(refused: facts.Refused | facts.NotProposed) -> str:
    """Which check failed, what was compared, and the clause behind it."""
    compared = "; ".join(comparison(c) for c in refused.compared)
    guard = guards.GUARDS.get(refused.guard or "")
    clause = "" if guard is None else f"{guard.subject} ({guard.id}): {guard.clause}"
    return ". ".join(filter(None, (compared, clause)))


def comparison(compared: facts.Compared) -> str:
    """``broker 2 epoch: request 41, registered 57``; ``broker 2: proposed, but fenced``."""
    if compared.name.startswith("broker") and not compared.name.endswith("epoch"):
        in_request = "proposed" if compared.requested == "member" else compared.requested
        return f"{compared.name}: {in_request}, but {compared.held}"
    where = "registered" if compared.name.startswith("broker") else "here"
    return f"{compared.name}: request {compared.requested}, {where} {compared.held}"


def span(first: int, last: int) -> str:
    """``offset 7`` or ``offsets 0-99``."""
    return f"offset {first}" if first == last else f"offsets {first}-{last}"


def _who(leader: BrokerId) -> str:
    return "nobody" if leader == NO_LEADER else f"broker {leader}"


def _records(count: int) -> str:
    return f"{count} record{'s' * (count != 1)}"


def _refused(e: facts.Refused) -> str:
    where = f" for {e.partition}" if e.partition else ""
    refusal = f"{node_name(e.node)} refuses {e.request}{where}: {e.error.name}"
    return ". ".join(filter(None, (refusal, explain(e))))


def _elected(e: facts.LeaderElected) -> str:
    if e.leader == NO_LEADER:
        return f"{e.partition} has no leader (leader epoch {e.leader_epoch})"
    how = "is elected uncleanly to lead" if e.unclean else "leads"
    return f"broker {e.leader} {how} {e.partition} from leader epoch {e.leader_epoch} on"


def _periodic_elections(e: facts.PeriodicElections) -> str:
    led = "without a leader" if e.unclean else "not led by their preferred replica"
    done = [f"it elects for {', '.join(e.elected)}"] if e.elected else []
    done += [f"no replica can be elected for {', '.join(e.left)}"] if e.left else []
    return f"the controller checks partitions {led}: {', '.join(done)}"


def _configured(e: facts.TopicConfigured) -> str:
    who = "a controller of this release does not read it (KAFKA-12670)"
    if e.heeded:
        when = "when a broker is fenced or unfenced, and when it checks leaderless partitions"
        who = f"the controller reads it at its next election: {when}"
    return f"{e.name} of {e.topic} is {e.value}; {who}"


def _delivered(e: events.Delivered) -> str:
    ghost = " (sent by a process that no longer runs)" if e.previous_incarnation else ""
    sender, receiver = node_name(e.message.sender), node_name(e.receiver)
    return f"{sender} -> {receiver}: {e.body.in_words()}{ghost}"


def _deleted(e: facts.RecordsDeleted) -> str:
    start, where = f"at offset {e.start}", "where its leader's log begins"
    if e.last < e.first:
        if e.follows:
            return f"broker {e.node} begins its empty log of {e.partition} {start}, {where}"
        return f"broker {e.node} has nothing to delete: its log of {e.partition} begins {start}"
    done = f"broker {e.node} deletes {span(e.first, e.last)} of {e.partition}"
    if not e.follows:
        return f"{done}, as a client asked it to: its log begins {start}"
    return f"{done}: it begins {'anew ' * (e.last < e.start - 1)}{start}, {where}"


def _polled(e: facts.Polled) -> str:
    records = span(e.first, e.last) if e.last >= e.first else f"nothing new at offset {e.first}"
    mark = f"high watermark {e.high_watermark}{_isolated(e)}"
    return f"{e.consumer} reads {records} of {e.partition} from broker {e.node} ({mark})"


def _isolated(e: facts.Polled) -> str:
    """What a read_committed consumer reads up to, and skips."""
    if e.last_stable is None:
        return ""
    skipped = f"; of these it skips {e.aborted}, which were aborted" if e.aborted else ""
    return f", last stable offset {e.last_stable}{skipped}"


def _transaction_ended(e: facts.TransactionEnded) -> str:
    how = "commits" if e.commits else "aborts"
    why = ", as it recovers" if e.recovery else ""
    return (
        f"broker {e.node} {how} the transaction of {e.partition} that is open from offset {e.first}"
        f" on{why}: the marker is at offset {e.marker}"
    )


def _raised(e: facts.ConsumerRaised) -> str:
    parted = f", the logs diverge at {e.diverging}" if e.diverging is not None else ""
    return (
        f"{e.consumer} throws {e.exception} at offset {e.position} of {e.partition}{parted};"
        " it has no reset policy"
    )


def _refreshed(e: facts.MetadataRefreshed) -> str:
    doubt = "; its position has to be validated" if e.validating else ""
    return (
        f"{e.consumer} asks broker {e.node} who leads {e.partition}: {_who(e.leader)} in"
        f" leader epoch {e.leader_epoch}{doubt}"
    )


_RECOVERY = {
    facts.RecoveryPhase.BEGINS: (
        "broker {0.node} leads {0.partition} after an unclean election, and recovers first"
    ),
    facts.RecoveryPhase.DONE: (
        "broker {0.node} has recovered {0.partition}, and asks the controller to write RECOVERED"
    ),
    facts.RecoveryPhase.OVER: "the recovery of {0.partition} is over for broker {0.node}",
}
_LIFE = {
    "STARTING": "starts a new process",
    "RECOVERY": "recovers its logs",
    "RUNNING": "runs",
    "PENDING_CONTROLLED_SHUTDOWN": "requests a controlled shutdown",
    "STOPPED": "stops cleanly",
    "CRASHED": "crashes",
}


# --- with ZooKeeper ------------------------------------------------------------------------------


def session_name(session: SessionId) -> str:
    """``"0x100000000000001"``: as Kafka and ZooKeeper write it."""
    return f"0x{session:x}"


def _session_ended(e: zookeeper_facts.SessionEnded) -> str:
    gone = "its ephemeral znodes are deleted"
    if e.expired:
        return f"ZooKeeper ends session {session_name(e.session)} of broker {e.broker}: {gone}"
    return f"broker {e.broker} closes its session {session_name(e.session)}: {gone}"


def _compared(e: zookeeper_facts.BrokersCompared) -> str:
    """``... with those it knows: bounced 1 (broker epoch 7 -> 12); gone {2}``."""
    bounced = ", ".join(f"{b} (broker epoch {old} -> {new})" for b, old, new in e.bounced)
    changes = [f"new {broker_list(e.new)}"] if e.new else []
    changes += [f"bounced {bounced}"] if bounced else []
    changes += [f"gone {broker_list(e.dead)}"] if e.dead else []
    words = "; ".join(changes) or "it finds no change"
    return f"{node_name(e.node)} compares the registered brokers with those that it knows: {words}"


def _queue_dropped(e: zookeeper_facts.QueueDropped) -> str:
    whose = f"{node_name(e.node)} closes its connection to broker {e.broker}"
    return f"{whose} and drops its queue: {'; '.join(e.requests)}"


def _shutdown_tried(e: zookeeper_facts.ShutdownTried) -> str:
    left = f"attempts left: {e.left}" if e.left else "no attempt is left: the broker stops anyway"
    return f"broker {e.node}'s controlled shutdown has failed ({e.reason}); {left}"


_SENTENCES: dict[type, Callable[[Any], str]] = {
    facts.Refused: _refused,
    facts.NotProposed: lambda e: (
        f"broker {e.node} does not propose broker {e.follower} for {e.partition}. {explain(e)}"
    ),
    facts.IsrProposed: lambda e: (
        f"broker {e.node} proposes ISR {broker_list(e.isr)} for {e.partition}"
    ),
    facts.IsrReverted: lambda e: (
        f"broker {e.node} goes back to ISR {broker_list(e.isr)} of {e.partition} ({e.error.name})"
    ),
    facts.IsrStuck: lambda e: (
        f"broker {e.node} keeps its proposal for {e.partition} and waits for newer metadata"
        f" ({e.error.name})"
    ),
    facts.RecordWritten: lambda e: f"controller writes {e.text} at offset {e.offset}",
    facts.IsrChanged: lambda e: (
        f"ISR of {e.partition} {broker_list(e.before)} -> {broker_list(e.after)}"
        f" (partition epoch {e.partition_epoch})"
    ),
    facts.RecoveryStateChanged: lambda e: (
        f"leader recovery state of {e.partition} {e.before.name} -> {e.after.name}"
    ),
    facts.LeaderElected: _elected,
    facts.BrokerChanged: lambda e: f"broker {e.broker} is {e.change} (broker epoch {e.epoch})",
    facts.BecameLeader: lambda e: (
        f"broker {e.node} begins to lead {e.partition} at offset {e.start_offset}"
        f" (leader epoch {e.leader_epoch})"
    ),
    facts.LeaderRecovery: lambda e: _RECOVERY[e.phase].format(e),
    facts.BecameFollower: lambda e: (
        f"broker {e.node} follows {_who(e.leader)} for {e.partition}"
        f" (leader epoch {e.leader_epoch})"
    ),
    facts.Fetched: lambda e: (
        f"broker {e.node} learns that broker {e.follower} has {e.partition} up to offset {e.offset}"
        + (": caught up" if e.caught_up else "")
    ),
    facts.Appended: lambda e: f"broker {e.node} appends {span(e.first, e.last)} of {e.partition}",
    facts.Truncated: lambda e: (
        f"broker {e.node} truncates {span(e.first, e.last)} of {e.partition}"
    ),
    facts.EpochDropped: lambda e: (
        f"broker {e.node} drops leader epoch {e.epoch} from its log of {e.partition}:"
        " no record has it"
    ),
    facts.RecordsDeleted: _deleted,
    facts.Destroyed: lambda e: f"broker {e.node} loses {span(e.first, e.last)} of {e.partition}",
    facts.HighWatermarkMoved: lambda e: (
        f"high watermark of {e.partition} {e.before} -> {e.after} on broker {e.node}"
    ),
    facts.ControllerResigned: lambda e: (
        f"the controller of epoch {e.before} resigns: {e.request} ended in an unexpected exception"
        f" ({e.exception}); controller epoch {e.epoch} takes over"
    ),
    facts.PeriodicElections: _periodic_elections,
    facts.TopicConfigured: _configured,
    facts.Registered: lambda e: f"broker {e.node} now has broker epoch {e.epoch}",
    facts.LifecycleChanged: lambda e: f"broker {e.node} {_LIFE[str(e.state)]}",
    facts.Polled: _polled,
    facts.TransactionBegun: lambda e: (
        f"a transaction is open in {e.partition} on broker {e.node} from offset {e.first} on:"
        " read_committed consumers wait there"
    ),
    facts.TransactionEnded: _transaction_ended,
    facts.PollFailed: lambda e: (
        f"{e.consumer} knows no leader of {e.partition} ({e.error.name})"
        if e.node == NO_LEADER
        else f"{e.consumer} gets no answer from broker {e.node} for {e.partition} ({e.error.name})"
    ),
    facts.PositionValidated: lambda e: (
        f"{e.consumer} validates offset {e.position} of {e.partition}: on broker {e.node} leader"
        f" epoch {e.last_epoch} ends at {e.end}, so the records that it has read still exist"
    ),
    facts.PositionTruncated: lambda e: (
        f"{e.consumer} detects a truncation of {e.partition}: on broker {e.node} leader epoch"
        f" {e.end_epoch} ends at {e.after}, and the consumer has read up to {e.before} of leader"
        f" epoch {e.last_epoch}; it goes back to {e.after}"
    ),
    facts.PositionReset: lambda e: (
        f"{e.consumer} goes to the {e.to} offset of {e.partition}: {e.before} -> {e.after}"
    ),
    facts.ConsumerRaised: _raised,
    facts.ReplicaPreferred: lambda e: (
        f"broker {e.node} sends {e.consumer} to broker {e.replica} for {e.partition}: that replica"
        " is nearer to it"
    ),
    facts.MetadataRefreshed: _refreshed,
    facts.BatchQueued: lambda e: (
        f"{e.producer} keeps batch {e.number} of {e.partition} ({_records(e.count)}) back:"
        f" batch {e.behind} is not acknowledged yet"
    ),
    facts.BatchWaits: lambda e: (
        f"{e.producer} waits until {span(e.first, e.last)} of {e.partition}"
        f" (batch {e.number}) {'is' if e.first == e.last else 'are'} committed"
    ),
    facts.BatchAcknowledged: lambda e: (
        f"broker {e.node} acknowledges {span(e.first, e.last)} of {e.partition} (batch {e.number})"
        f" to {e.producer}: acks={'all' if e.acks_all else '1'}"
    ),
    facts.BatchRequeued: lambda e: (
        f"{e.producer} requeues batch {e.number} of {e.partition} ({_records(e.count)}):"
        f" {e.error.name}" + ("; it asks who leads first" if e.asks_who_leads else "")
    ),
    facts.BatchFailed: lambda e: (
        f"{e.producer} gives batch {e.number} of {e.partition} up ({_records(e.count)}):"
        f" {e.exception}"
    ),
    facts.ProducerInformed: lambda e: (
        f"{e.producer} asks broker {e.node} who leads {e.partition}: {_who(e.leader)} in leader"
        f" epoch {e.leader_epoch}"
    ),
    events.Sent: lambda e: (
        f"{node_name(e.message.sender)} sends {node_name(e.receiver)}: {e.body.in_words()}"
    ),
    events.Delivered: _delivered,
    events.Dropped: lambda e: f"{e.message} never arrives: {e.why}",
    events.Happened: lambda e: e.text,
    events.NotApplicable: lambda e: f"not applicable under these features: {e.text} ({e.reason})",
    events.CommittedLost: lambda e: (
        f"LOST: broker {e.leader} leads {e.partition} without committed {span(e.first, e.last)}"
    ),
    events.PropertyBroken: lambda e: (
        f"property {e.property} is broken"
        f" ({'' if e.promised else 'not '}promised in this run): {e.detail}"
    ),
    zookeeper_facts.ZnodeChanged: lambda e: f"ZooKeeper, transaction {e.zxid}: {e.path}: {e.text}",
    zookeeper_facts.SessionOpened: lambda e: (
        f"broker {e.broker} opens session {session_name(e.session)} with ZooKeeper"
    ),
    zookeeper_facts.SessionEnded: _session_ended,
    zookeeper_facts.ControllerElected: lambda e: (
        f"broker {e.broker} is the controller from now on (controller epoch {e.controller_epoch})"
    ),
    zookeeper_facts.ControllerStoodDown: lambda e: (
        f"broker {e.broker} stands down as the controller: {e.reason}"
    ),
    zookeeper_facts.BrokersCompared: _compared,
    zookeeper_facts.RequestsQueued: lambda e: (
        f"{node_name(e.node)} queues for broker {e.broker}: {'; '.join(e.requests)}"
    ),
    zookeeper_facts.QueueDropped: _queue_dropped,
    zookeeper_facts.ReplicaStopped: lambda e: (
        f"broker {e.node} stops fetching {e.partition}: {e.reason}"
    ),
    zookeeper_facts.CheckpointLost: lambda e: (
        f"broker {e.node} writes its high watermark checkpoint without {e.partition}: the value"
        f" {e.high_watermark} is no longer on the disk"
    ),
    zookeeper_facts.ShutdownTried: _shutdown_tried,
    zookeeper_facts.BrokerDeclared: lambda e: (
        f"{node_name(e.node)} declares broker {e.broker} {e.after}: {e.reason}"
    ),
    zookeeper_facts.BrokerStateChanged: lambda e: (
        f"broker {e.node} considers itself {e.after} from now on: {e.reason}"
    ),
}
