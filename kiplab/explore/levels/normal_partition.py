"""The normal form of a state at the level "partition"; levels.toml has its fields."""

from collections.abc import Iterable, Mapping

import msgspec
from msgspec.structs import replace

from ...engine.cluster import Cluster, Message, MessageName, Observed
from ...plays.play_errors import PlayError
from ...protocol import ids, messages
from ...protocol.kraft.controller_state import Contact, Controller, HeartbeatState
from ...protocol.kraft.replay import image
from ...protocol.kraft.sessions import contact_of
from ...protocol.log import Log
from ...protocol.registrations import PartitionRegistration, Registration
from ...protocol.replica import broker_state
from ...protocol.replica.broker_state import Broker, RemoteReplica, Replica

NEXT_OFFSET = ids.MetadataOffset(1000)
"""Next offset of the metadata log: above every incarnation, so that new epochs stand out."""
BEHIND, LEVEL = ids.MetadataOffset(NEXT_OFFSET - 2), ids.MetadataOffset(NEXT_OFFSET - 1)
"""The metadata offset of a broker that an image is under way to, and of one that knows it all."""
Incarnations = Mapping[tuple[ids.BrokerId, int], int]
"""(broker, broker epoch) to the number of the incarnation that had it, where the two differ."""
NO_INCARNATIONS: Incarnations = {}


class Parts(msgspec.Struct, frozen=True):
    """A normal form taken apart. Every running broker has caught up here."""

    controller: Controller
    brokers: tuple[Broker, ...]
    requests: tuple[Message, ...]
    observed: tuple[Observed, ...]


def normal(cluster: Cluster, earlier: Incarnations = NO_INCARNATIONS) -> Cluster:
    """The representative of all clusters that no action of this level can tell apart.

    The epoch that a broker is registered under becomes the number of its incarnation; other epochs
    are taken from `earlier`, or are such numbers already: that is so after every action in a normal
    form. Only clusters in which each running process is registered have one.
    """
    apart = parts(cluster, earlier)
    late = {b.id: behind(b) for b in apart.brokers if has_news(apart.controller, b)}
    return whole(cluster, apart, late)


def parts(cluster: Cluster, earlier: Incarnations = NO_INCARNATIONS) -> Parts:
    """The normal form of `cluster`, in parts that change independently of each other."""
    held = kraft_controller(cluster)
    incarnations = {**earlier, **new_incarnations(held)}
    return Parts(
        controller=of_controller(held, incarnations),
        brokers=tuple(of_broker(b, incarnations) for b in cluster.brokers),
        requests=of_requests(cluster.messages, incarnations),
        observed=of_observed(cluster.observed, incarnations),
    )


def whole(cluster: Cluster, parts: Parts, late: Mapping[ids.BrokerId, Broker]) -> Cluster:
    """The cluster with these parts; whatever never changes is that of `cluster`.

    `late` are the brokers that an image is under way to, as they are until it arrives.
    """
    in_flight = (*parts.requests, *images(parts.controller, late.values()))
    return replace(
        cluster,
        controller=parts.controller,
        brokers=tuple([late.get(b.id, b) for b in parts.brokers]),
        messages=in_flight,
        observed=parts.observed,
        sent=counters(in_flight),
        broken=(),
    )


def kraft_controller(cluster: Cluster) -> Controller:
    """The control plane, of KRaft alone. Raises PlayError for a cluster in another mode."""
    struct = cluster.controller
    if not isinstance(struct, Controller):
        problem = "level partition knows KRaft, and none of its controllers is in this play"
        raise PlayError(problem, expected="levels zookeeper and cluster explore that")
    return struct


def new_incarnations(controller: Controller) -> dict[tuple[ids.BrokerId, int], int]:
    """The registered epochs that are not the number of an incarnation yet."""
    registrations = controller.registrations
    return {
        (r.broker, r.epoch): r.incarnation for r in registrations if int(r.epoch) != r.incarnation
    }


def has_news(controller: Controller, node: Broker) -> bool:
    """Whether the controller's metadata would change anything for a broker's process."""
    process = node.process
    if process is None or process.image is None:
        return False
    state = controller.partitions[0]
    for replica in process.replicas:
        if replica.leading is not None:
            return process.image != kept_by_leader(controller, node.id)
        if (replica.leader, replica.leader_epoch) != (state.leader, state.leader_epoch):
            return True
    return False


def behind(node: Broker) -> Broker:
    """The broker as it is while an image is under way to it."""
    process = node.process
    assert process is not None
    assert process.image is not None
    return replace(node, process=replace(process, image=replace(process.image, offset=BEHIND)))


# --- the controller -----------------------------------------------------------------------------


def of_controller(controller: Controller, incarnations: Incarnations) -> Controller:
    """Registrations by incarnation, heartbeats as whether there is a session, the ISR as a set."""
    return replace(
        controller,
        next_offset=NEXT_OFFSET,
        registrations=tuple(_registration(r, incarnations) for r in controller.registrations),
        partitions=tuple(_partition(p) for p in controller.partitions),
        heartbeats=tuple(
            HeartbeatState(h.broker, fenced=h.fenced, metadata_offset=BEHIND)
            for h in controller.heartbeats
        ),
        contacts=_noted(controller, incarnations),
    )


def _noted(controller: Controller, incarnations: Incarnations) -> tuple[Contact, ...]:
    """What was noted under an epoch of the past is no session."""
    contacts = (
        (contact_of(controller, r) for r in controller.registrations) if controller.contacts else ()
    )
    return tuple(
        Contact(c.broker, _incarnation(incarnations, c.broker, c.epoch))
        for c in contacts
        if c is not None
    )


def _partition(state: PartitionRegistration) -> PartitionRegistration:
    isr = tuple(sorted(state.isr))
    return state if isr == state.isr else replace(state, isr=isr)


def _incarnation(incarnations: Incarnations, broker: ids.BrokerId, epoch: int) -> ids.BrokerEpoch:
    return ids.BrokerEpoch(incarnations.get((broker, epoch), epoch) if incarnations else epoch)


# --- brokers ------------------------------------------------------------------------------------


def of_broker(node: Broker, incarnations: Incarnations) -> Broker:
    """A broker, caught up with the metadata: what is under way to it can be told from the parts."""
    kept = node.durable.replicas
    durable = broker_state.Durable(
        tuple(
            broker_state.DurableReplica(r.partition, _flushed(r.log), r.checkpoint) for r in kept
        ),
        _incarnation(incarnations, node.id, node.durable.clean_epoch),
    )
    process = node.process
    if process is None:
        return Broker(node.id, node.incarnation, durable)
    process = broker_state.Volatile(
        lifecycle=broker_state.Lifecycle.RUNNING,
        epoch=_incarnation(incarnations, node.id, process.epoch),
        ready_to_unfence=True,
        image=metadata_seen(process.image, node.id, incarnations)
        if leads(node) and process.image
        else NOTHING_KNOWN,
        published=True,
        replicas=tuple(_replica(r, incarnations) for r in process.replicas),
        items=tuple(_item(i, incarnations) for i in process.items),
        in_flight=tuple(_item(i, incarnations) for i in process.in_flight),
    )
    return Broker(node.id, node.incarnation, durable, process)


def leads(node: Broker) -> bool:
    """Whether it leads, or believes so."""
    process = node.process
    return process is not None and any(r.leading is not None for r in process.replicas)


def without_image(node: Broker) -> Broker:
    """A broker in normal form without what it keeps of the metadata."""
    process = node.process
    if process is None or process.image is NOTHING_KNOWN:
        return node
    return replace(node, process=replace(process, image=NOTHING_KNOWN))


NOTHING_KNOWN = messages.MetadataUpdate(offset=LEVEL, registrations=(), partitions=())
"""What a follower keeps of the metadata beside its replica: nothing that a rule reads later."""


def _flushed(log: Log) -> Log:
    return log if log.flushed == log.end else Log(log.epochs, log.end, log.end, log.start)


def kept_by_leader(controller: Controller, id: ids.BrokerId) -> messages.MetadataUpdate:
    """What the leader `id` would keep of the controller's metadata."""
    return metadata_seen(image(controller), id, NO_INCARNATIONS)


def metadata_seen(
    update: messages.MetadataUpdate, id: ids.BrokerId, incarnations: Incarnations
) -> messages.MetadataUpdate:
    """What a leader's rules read in its metadata: the others' incarnations, the partition epoch."""
    others = (_registration(r, incarnations) for r in update.registrations if r.broker != id)
    states = (
        PartitionRegistration(p.name, (), (), ids.NO_LEADER, partition_epoch=p.partition_epoch)
        for p in update.partitions
    )
    return messages.MetadataUpdate(
        offset=LEVEL, registrations=tuple(others), partitions=tuple(states)
    )


def _registration(registration: Registration, incarnations: Incarnations) -> Registration:
    """Its epoch, and the offset of its record, are the incarnation."""
    epoch = _incarnation(incarnations, registration.broker, registration.epoch)
    return Registration(
        registration.broker,
        epoch,
        ids.Incarnation(epoch),
        registration.fenced,
        registration.in_controlled_shutdown,
        record_offset=ids.MetadataOffset(epoch),
    )


def _replica(replica: Replica, incarnations: Incarnations) -> Replica:
    leading = replica.leading
    if leading is None:
        return replace(replica, partition_epoch=ids.PartitionEpoch(-1))
    sent, recovery = leading.isr_state.sent, leading.isr_state.recovery
    state = broker_state.IsrState(
        tuple(sorted(leading.isr_state.isr)),
        None if sent is None else _item(sent, incarnations),
        recovery,
    )
    remotes = tuple(_remote(r, incarnations) for r in leading.remotes)
    return replace(replica, leading=broker_state.Leading(leading.start_offset, state, remotes))


def _remote(remote: RemoteReplica, incarnations: Incarnations) -> RemoteReplica:
    """Without a clock the log end at the previous fetch has no effect."""
    epoch = remote.epoch
    return RemoteReplica(
        remote.broker,
        remote.end,
        epoch=None if epoch is None else _incarnation(incarnations, remote.broker, epoch),
        observed=_incarnation(incarnations, remote.broker, remote.observed),
    )


# --- messages and the observer ------------------------------------------------------------------


def of_requests(in_flight: Iterable[Message], incarnations: Incarnations) -> tuple[Message, ...]:
    """The AlterPartition requests in flight, as a set: at most one of each incarnation."""
    requests = (_request(m, incarnations) for m in in_flight if m.name.kind == "alter-partition")
    return tuple(sorted(requests, key=lambda m: m.name))


def _request(message: Message, incarnations: Incarnations) -> Message:
    body = message.body
    assert isinstance(body, messages.AlterPartitionRequest)
    body = replace(
        body,
        broker_epoch=_incarnation(incarnations, body.broker, body.broker_epoch),
        items=tuple(_item(i, incarnations) for i in body.items),
    )
    name = MessageName(message.name.sender, message.name.incarnation, message.name.kind, 1)
    return replace(message, name=name, body=body)


def _item(
    item: messages.AlterPartitionItem, incarnations: Incarnations
) -> messages.AlterPartitionItem:
    members = (
        messages.IsrMember(
            m.broker,
            _incarnation(incarnations, m.broker, m.epoch),
            _incarnation(incarnations, m.broker, m.observed),
        )
        for m in item.isr
    )
    return replace(item, isr=tuple(sorted(members, key=lambda m: m.broker)))


def images(controller: Controller, to: Iterable[Broker]) -> tuple[Message, ...]:
    """The newest image, under way to every broker that is behind."""
    news = image(controller)
    return tuple(
        Message(
            name=MessageName(ids.CONTROLLER, ids.Incarnation(0), "metadata", number),
            receiver=node.id,
            receiver_incarnation=node.incarnation,
            lane="metadata",
            body=news,
        )
        for number, node in enumerate(to, 1)
    )


def counters(in_flight: tuple[Message, ...]) -> tuple[tuple[ids.BrokerId, int, str, int], ...]:
    taken = {m.name[:3]: m.name.ordinal for m in in_flight}
    return tuple((*key, ordinal) for key, ordinal in sorted(taken.items()))


def of_observed(
    observeds: tuple[Observed, ...], incarnations: Incarnations
) -> tuple[Observed, ...]:
    """The observer's knowledge, the ISR as a set."""
    return tuple(
        Observed(
            o.partition,
            _flushed(o.committed),
            tuple(sorted((b, _incarnation(incarnations, b, e)) for b, e in o.isr_epochs)),
            tuple(sorted(o.damaged)),
            o.excused,
        )
        for o in observeds
    )
