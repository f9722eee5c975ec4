"""A play's header: the situation before the first line, and its rules."""

import tomllib
from collections.abc import Iterable
from importlib.resources import files
from typing import Any

from msgspec.structs import replace

from ..engine.setup import BrokerSetup, ConsumerSetup, LogRuns, PartitionSetup, Setup
from ..protocol import features as feature_rules
from ..protocol import ids
from ..protocol.clients.consumer import Reset
from ..protocol.features import Features
from . import values
from .play import Play, Statement
from .play_errors import PlayError
from .rule_lines import heeded
from .values import Keys, Names, WordCheck

DEFAULT_RELEASE = "3.5"
LINES: dict[str, dict[str, Any]] = tomllib.loads(
    (files(__package__) / "verbs.toml").read_text("utf-8")
)
"""What verbs.toml says of each verb."""


def value_kind(named: str | list[str]) -> WordCheck:
    """The check of a kind of value, as verbs.toml names it."""
    check: WordCheck = values.one_of(*named) if isinstance(named, list) else getattr(values, named)
    return check


KEYS: dict[str, Keys] = {
    verb: {key: value_kind(kind) for key, kind in said["keys"].items()}
    for verb, said in LINES.items()
    if said.get("header") and "keys" in said
}
"""What lines of the header say of a situation, and how it is read."""


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
    """The header's feature set. Raises PlayError when the release lacks a metadata version, or
    eligible leader replicas.
    """
    kafka = play.first("kafka")
    features = feature_rules.parse_features(
        kafka.words[0] if kafka else DEFAULT_RELEASE,
        off=tuple(w for s in _all(play, "off") for w in s.words),
        on=tuple(w for s in _all(play, "on") for w in s.words),
    )
    nodes = [(ids.BrokerId(int(s.words[0])), s.arg("kafka")) for s in _all(play, "broker")]
    nodes += [(ids.CONTROLLER, s.arg("kafka")) for s in _all(play, "controller")]
    features = replace(features, nodes=tuple(sorted((n, r) for n, r in nodes if r)))
    metadata = play.first("metadata")
    level = (kafka.arg("elr") if kafka else None) or "0"
    token = "elr=" if metadata is None else metadata.words[0]
    try:
        if metadata is not None:
            features = feature_rules.at_metadata_version(features, metadata.words[0])
        token = "elr="
        return feature_rules.with_elr(features, int(level))
    except feature_rules.UnknownFeatureError as problem:
        raise PlayError(str(problem), token=token) from None


def setup_of(play: Play, features: Features) -> Setup:
    """What the run begins with, under `features`; what means nothing there is not said."""
    play = replace(play, statements=tuple(heeded(play.statements, features)))
    brokers = brokers_of(play)
    given, controller = (_read(play.first(verb)) for verb in ("given", "controller"))
    return Setup(
        features=features,
        brokers=brokers,
        partitions=tuple(partition_of(s, play, brokers, features) for s in _all(play, "topic")),
        next_offset=given.get("next_metadata_offset"),
        timed=play.first("timed") is not None,
        auto_leader_rebalance=controller.get("auto_leader_rebalance", False),
        static_min_insync_replicas=_static_min_insync(play, of_controller=True),
        topics_with_min_insync=tuple(
            sorted({s.words[0] for s in _all(play, "topic") if s.arg("min-insync-replicas")})
        ),
        consumers=tuple(_consumer(s) for s in _all(play, "consumer")),
        controller=controller.get("broker"),
        controller_epoch=controller.get("epoch", ids.ControllerEpoch(1)),
        zookeeper_servers=given.get("zookeeper_servers", 1),
    )


def _static_min_insync(play: Play, *, of_controller: bool) -> ids.Count:
    """In the properties of every node, unless the controller's line says otherwise."""
    given, controller = (_read(play.first(verb)) for verb in ("given", "controller"))
    count: ids.Count = given.get("min_insync_replicas", ids.Count(1))
    if of_controller:
        count = controller.get("min_insync_replicas", count)
    return count


def _read(statement: Statement | None) -> dict[str, Any]:
    """What a line says, by the names of fields."""
    if statement is None:
        return {}
    keys = KEYS[statement.verb]
    return {key.replace("-", "_"): keys[key](text, values.ANY) for key, text in statement.args}


def _consumer(statement: Statement) -> ConsumerSetup:
    line = _read(statement)
    return ConsumerSetup(
        name=consumer_name(statement),
        partition=statement.words[0],
        position=line.get("position", ids.Offset(0)),
        reset=line.get("reset", Reset.LATEST),
        nearest=line.get("reads_from", ids.NO_LEADER),
        read_committed=line.get("isolation", False),
    )


def _broker(statement: Statement) -> BrokerSetup:
    id, line = ids.BrokerId(int(statement.words[0])), _read(statement)
    return BrokerSetup(
        id=id,
        epoch=line.get("epoch", ids.BrokerEpoch(100 + id)),
        fenced=line.get("fenced", False),
        in_controlled_shutdown=line.get("shutting_down", False),
        up=not line.get("down", False),
        log_dirs=tuple(range(1, line.get("directories", 1) + 1)),
    )


def brokers_of(play: Play) -> tuple[BrokerSetup, ...]:
    """The brokers that the header introduces."""
    return tuple(_broker(s) for s in _all(play, "broker"))


def partition_of(
    statement: Statement, play: Play, brokers: tuple[BrokerSetup, ...], features: Features
) -> PartitionSetup:
    """The partition that a line of the header introduces.

    With eligible leader replicas the cluster has a min.insync.replicas, which is the controller's
    and beats that of the brokers' properties.
    """
    line, name = _read(statement), partition_name(statement)
    line.pop("partition", None)
    replicas = line.setdefault("replicas", tuple(b.id for b in brokers))
    active = {b.id for b in brokers if not b.fenced and not b.in_controlled_shutdown}
    isr = line.setdefault("isr", tuple(r for r in replicas if r in active))
    line.setdefault("leader", (*isr, ids.NO_LEADER)[0])
    least = _static_min_insync(play, of_controller=features.has_elr)
    line.setdefault("min_insync_replicas", least)
    own = [_read(s) for s in _all(play, "replica") if s.words[0] == name]
    logs = tuple((replica["broker"], replica["log"]) for replica in own)
    homes = {replica["broker"]: replica.get("directory", 1) for replica in own}
    if any(home > 1 for home in homes.values()):
        line["directories"] = tuple(homes.get(r, 1) for r in replicas)
    newest = newest_epoch([line.get("log", ()), *(log for _, log in logs)])
    return PartitionSetup(name=name, logs=logs, **{"leader_epoch": newest, **line})


def newest_epoch(logs: Iterable[LogRuns]) -> ids.LeaderEpoch:
    """The leader epoch in which the newest records of all logs were written; 0 without records."""
    return max((epoch for log in logs for _, epoch in log), default=ids.LeaderEpoch(0))


def _all(play: Play, verb: str) -> Iterable[Statement]:
    return (s for s in play.statements if s.verb == verb)


def features_asked_for(
    play: Play,
    shared: Features | None,
    kafka: str | None,
    off: tuple[str, ...],
    on: tuple[str, ...],
    elr: int | None = None,
) -> Features | None:
    """The features asked for, None for the play's own.

    A release that is asked for is a new cluster, which has eligible leader replicas from 4.1 on; a
    play, or a run that was written down, has them where it says so.
    """
    if kafka is not None:
        features = feature_rules.parse_features(kafka)
        level = feature_rules.default_elr(features) if elr is None else elr
        return feature_rules.parse_features(kafka, off=off, on=on, elr=level)
    if not off and not on and elr is None:
        return shared
    features = features_of(play) if shared is None else shared
    if elr is not None:
        features = feature_rules.with_elr(features, elr)
    for names, is_on in ((off, False), (on, True)):
        for name in names:
            features = feature_rules.switched(features, name, is_on)
    return feature_rules.fitting(features)
