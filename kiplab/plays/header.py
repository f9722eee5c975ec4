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
_ANY = Names()


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
    brokers = tuple(_broker(s) for s in _all(play, "broker"))
    given, controller = (play.first(verb) or Statement() for verb in ("given", "controller"))
    offset, host = given.arg("next-metadata-offset"), controller.arg("broker")
    return Setup(
        features=features,
        brokers=brokers,
        partitions=tuple(_partition(s, play, brokers) for s in _all(play, "topic")),
        next_offset=ids.MetadataOffset(int(offset)) if offset else None,
        timed=play.first("timed") is not None,
        auto_leader_rebalance=controller.arg("auto-leader-rebalance") == "yes",
        consumers=tuple(_consumer(s) for s in _all(play, "consumer")),
        controller=None if host is None else ids.BrokerId(int(host)),
        controller_epoch=ids.ControllerEpoch(_number(controller, "epoch", 1)),
        zookeeper_servers=_number(given, "zookeeper-servers", 1),
    )


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
    statement: Statement, play: Play, brokers: tuple[BrokerSetup, ...]
) -> PartitionSetup:
    name = partition_name(statement)
    replicas = _ids(statement, "replicas", tuple(b.id for b in brokers))
    active = {b.id for b in brokers if not b.fenced and not b.in_controlled_shutdown}
    isr = _ids(statement, "isr", tuple(r for r in replicas if r in active))
    logs = [s for s in _all(play, "replica") if s.words[0] == name]
    leader, flushed = statement.arg("leader"), statement.arg("flushed")
    return PartitionSetup(
        name=name,
        replicas=replicas,
        isr=isr,
        leader=values.leader(leader or str((*isr, "none")[0]), _ANY),
        leader_epoch=ids.LeaderEpoch(
            _number(statement, "leader-epoch", newest_epoch((statement, *logs)))
        ),
        partition_epoch=ids.PartitionEpoch(_number(statement, "partition-epoch")),
        recovery=LeaderRecoveryState[(statement.arg("recovery") or "recovered").upper()],
        adding=_ids(statement, "adding", ()),
        removing=_ids(statement, "removing", ()),
        min_insync_replicas=_number(statement, "min-insync-replicas", 1),
        unclean_leader_election=statement.arg("unclean-leader-election") == "yes",
        log=_log(statement),
        logs=tuple((ids.BrokerId(_number(s, "broker", -1)), _log(s)) for s in logs),
        flushed=ids.Offset(int(flushed)) if flushed else None,
    )


def newest_epoch(lines: Iterable[Statement]) -> int:
    """The leader epoch in which the newest records of all logs were written; 0 without records."""
    return max((epoch for line in lines for _, epoch in _log(line)), default=0)


def _log(line: Statement) -> tuple[tuple[int, ids.LeaderEpoch], ...]:
    return values.log(line.arg("log") or "empty", _ANY)


def _ids(
    statement: Statement, key: str, default: tuple[ids.BrokerId, ...]
) -> tuple[ids.BrokerId, ...]:
    given = statement.arg(key)
    return default if given is None else values.brokers(given, _ANY)


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
    for names, is_on in ((off, False), (on, True)):
        for name in names:
            features = switched(features, name, is_on)
    return fitting(features)
