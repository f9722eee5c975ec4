"""A play's header: what it says of the situation before the first line, and of its rules."""

from collections.abc import Iterable

from msgspec.structs import replace

from ..engine.setup import BrokerSetup, ConsumerSetup, PartitionSetup, Setup
from ..protocol import ids
from ..protocol.clients.consumer import Reset
from ..protocol.features import (
    Features,
    UnknownFeatureError,
    at_metadata_version,
    fitting,
    parse_features,
    switched,
)
from ..protocol.registrations import LeaderRecoveryState
from . import values
from .play import Play, Statement
from .play_errors import PlayError
from .rule_lines import in_mode
from .values import Names

DEFAULT_RELEASE = "3.5"


def names_of(play: Play) -> Names:
    """The brokers and partitions that the header introduces."""
    brokers = (s.words[0] for s in play.statements if s.verb == "broker" and s.words)
    topics = (s for s in play.statements if s.verb == "topic" and s.words)
    senders = (s.arg("from", "1") or "" for s in play.statements if s.verb == "send")
    return Names(
        tuple(ids.BrokerId(int(b)) for b in brokers if values.is_broker_id(b)),
        tuple(partition_name(s) for s in topics),
        tuple(ids.BrokerId(int(b)) for b in dict.fromkeys(senders) if values.is_broker_id(b)),
        tuple(consumer_name(s) for s in play.statements if s.verb == "consumer"),
    )


def partition_name(statement: Statement) -> str:
    """``topic orders`` is partition orders-0; ``partition=1`` names another."""
    return f"{statement.words[0]}-{statement.arg('partition', '0')}"


def consumer_name(statement: Statement) -> str:
    """``consumer orders-0`` is called "consumer"; ``name=billing`` calls it otherwise."""
    return statement.arg("name") or values.DEFAULT_CONSUMER


def features_of(play: Play) -> Features:
    """The feature set that the header asks for.

    Raises PlayError when the release does not know the metadata version that a line names.
    """
    kafka = play.first("kafka")
    features = parse_features(
        kafka.words[0] if kafka else DEFAULT_RELEASE,
        off=tuple(w for s in _all(play, "off") for w in s.words),
        on=tuple(w for s in _all(play, "on") for w in s.words),
    )
    nodes = [(ids.BrokerId(int(s.words[0])), s.arg("kafka")) for s in _all(play, "broker")]
    nodes += [(ids.CONTROLLER, s.arg("kafka")) for s in _all(play, "controller")]
    features = replace(features, nodes=tuple(sorted((n, r) for n, r in nodes if r)))
    metadata = play.first("metadata")
    if metadata is None:
        return features
    try:
        return at_metadata_version(features, metadata.words[0])
    except UnknownFeatureError as problem:
        raise PlayError(str(problem), token=metadata.words[0]) from None


def setup_of(play: Play, features: Features) -> Setup:
    """What the run begins with, under `features`; what is said of the other mode is not."""
    play = replace(play, statements=tuple(in_mode(play.statements, features.mode)))
    names = names_of(play)
    brokers = tuple(_broker(s) for s in _all(play, "broker"))
    statement = play.first("given")
    offset = statement.arg("next-metadata-offset") if statement else None
    asked = next((s.arg("broker") for s in _all(play, "controller")), None)
    return Setup(
        features=features,
        brokers=brokers,
        partitions=tuple(_partition(s, play, brokers, names) for s in _all(play, "topic")),
        next_offset=ids.MetadataOffset(int(offset)) if offset else None,
        timed=play.first("timed") is not None,
        auto_leader_rebalance=any(
            s.arg("auto-leader-rebalance") == "yes" for s in _all(play, "controller")
        ),
        consumers=tuple(_consumer(s) for s in _all(play, "consumer")),
        controller=None if asked is None else ids.BrokerId(int(asked)),
        controller_epoch=ids.ControllerEpoch(_of_controller(play, "epoch", 1)),
        zookeeper_servers=_number(statement, "zookeeper-servers", 1) if statement else 1,
    )


def _of_controller(play: Play, key: str, default: int) -> int:
    return next((_number(s, key, default) for s in _all(play, "controller")), default)


def _consumer(statement: Statement) -> ConsumerSetup:
    return ConsumerSetup(
        name=consumer_name(statement),
        partition=statement.words[0],
        position=ids.Offset(_number(statement, "position")),
        reset=Reset(statement.arg("reset") or Reset.LATEST),
        nearest=ids.BrokerId(_number(statement, "reads-from", ids.NO_LEADER)),
        read_committed=statement.arg("isolation") == "read_committed",
    )


def _broker(statement: Statement) -> BrokerSetup:
    id = ids.BrokerId(int(statement.words[0]))
    return BrokerSetup(
        id=id,
        epoch=ids.BrokerEpoch(int(statement.arg("epoch") or 100 + id)),
        fenced=statement.arg("fenced") == "yes",
        in_controlled_shutdown=statement.arg("shutting-down") == "yes",
        up=statement.arg("down") != "yes",
    )


def _partition(
    statement: Statement, play: Play, brokers: tuple[BrokerSetup, ...], names: Names
) -> PartitionSetup:
    name = partition_name(statement)
    replicas = _ids(statement, "replicas", tuple(b.id for b in brokers), names)
    active = {b.id for b in brokers if not b.fenced and not b.in_controlled_shutdown}
    isr = _ids(statement, "isr", tuple(r for r in replicas if r in active), names)
    logs = [s for s in _all(play, "replica") if s.words[0] == name]
    flushed = statement.arg("flushed")
    return PartitionSetup(
        name=name,
        replicas=replicas,
        isr=isr,
        leader=_leader(statement, isr, names),
        leader_epoch=ids.LeaderEpoch(
            _number(statement, "leader-epoch", _last_epoch(statement, logs))
        ),
        partition_epoch=ids.PartitionEpoch(_number(statement, "partition-epoch")),
        recovery=LeaderRecoveryState[(statement.arg("recovery") or "recovered").upper()],
        adding=_ids(statement, "adding", (), names),
        removing=_ids(statement, "removing", (), names),
        min_insync_replicas=_number(statement, "min-insync-replicas", 1),
        unclean_leader_election=statement.arg("unclean-leader-election") == "yes",
        log=values.log(statement.arg("log") or "empty", names),
        logs=tuple(
            (ids.BrokerId(int(s.arg("broker") or -1)), values.log(s.arg("log") or "empty", names))
            for s in logs
        ),
        flushed=ids.Offset(int(flushed)) if flushed else None,
    )


def _last_epoch(topic: Statement, replicas: Iterable[Statement]) -> int:
    """The leader epoch in which the newest records of all logs were written."""
    logs = (values.log(s.arg("log") or "empty", Names()) for s in (topic, *replicas))
    return max((epoch for log in logs for _, epoch in log), default=0)


def _leader(statement: Statement, isr: tuple[ids.BrokerId, ...], names: Names) -> ids.BrokerId:
    given = statement.arg("leader")
    if given is not None:
        return values.leader(given, names)
    return isr[0] if isr else ids.NO_LEADER


def _ids(
    statement: Statement, key: str, default: tuple[ids.BrokerId, ...], names: Names
) -> tuple[ids.BrokerId, ...]:
    given = statement.arg(key)
    return default if given is None else values.brokers(given, names)


def _number(statement: Statement, key: str, default: int = 0) -> int:
    return int(statement.arg(key) or default)


def _all(play: Play, verb: str) -> Iterable[Statement]:
    return (s for s in play.statements if s.verb == verb)


def features_asked_for(
    play: Play,
    shared: Features | None,
    kafka: str | None,
    off: tuple[str, ...],
    on: tuple[str, ...],
) -> Features | None:
    """The features asked for, None for the play's own."""
    if kafka is not None:
        return parse_features(kafka, off=off, on=on)
    if not off and not on:
        return shared
    features = features_of(play) if shared is None else shared
    for name in off:
        features = switched(features, name, False)
    for name in on:
        features = switched(features, name, True)
    return fitting(features)
