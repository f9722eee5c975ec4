"""Every case that a broker is asked: epochs below, at and above what it knows, and what follows."""

from collections.abc import Iterator
from typing import Any, get_args

from .control_bodies import (
    ASKED_BROKER,
    OTHER_BROKER,
    USUAL_EPOCH,
    AcceptanceCase,
    ControlApi,
    ControlQuestion,
    GivenEpoch,
)

_BOTH = (ASKED_BROKER, OTHER_BROKER)
_FOLLOWING: dict[str, Any] = {"leader": OTHER_BROKER, "isr": _BOTH, "replicas": _BOTH}
_ELSEWHERE: dict[str, Any] = {
    "leader": OTHER_BROKER,
    "isr": (OTHER_BROKER,),
    "replicas": (OTHER_BROKER, 2),
}
_LOWER, _EQUAL, _HIGHER = USUAL_EPOCH - 1, USUAL_EPOCH, USUAL_EPOCH + 1


def _lai(*leader_epochs: int, **more: Any) -> ControlQuestion:
    return ControlQuestion("LeaderAndIsr", leader_epochs or (USUAL_EPOCH,), **more)


def _metadata(*leader_epochs: int, **more: Any) -> ControlQuestion:
    return ControlQuestion("UpdateMetadata", leader_epochs, **more)


def _stop(*leader_epochs: int, **more: Any) -> ControlQuestion:
    return ControlQuestion("StopReplica", leader_epochs, **more)


def acceptance_cases() -> tuple[AcceptanceCase, ...]:
    """All of them, each with a name of its own."""
    return (
        *_broker_epochs(),
        *_controller_epochs(),
        *_both_epochs(),
        *_leader_epochs(),
        *_stopping(),
        *_metadata_cases(),
        *_sessions(),
    )


def _next(api: ControlApi, **more: Any) -> ControlQuestion:
    """A request of this kind that a broker would obey, but for what `more` says."""
    return {
        "LeaderAndIsr": _lai(_HIGHER, **more),
        "UpdateMetadata": _metadata(_HIGHER, **{"live": _BOTH, **more}),
        "StopReplica": _stop(_HIGHER, delete=True, **more),
    }[api]


def _begun(*rest: ControlQuestion) -> tuple[ControlQuestion, ...]:
    """A broker that leads, and that clients know of."""
    return _metadata(USUAL_EPOCH), _lai(USUAL_EPOCH), *rest


def _broker_epochs() -> Iterator[AcceptanceCase]:
    for api in get_args(ControlApi):
        for epoch in get_args(GivenEpoch):
            asked = _next(api, broker_epoch=epoch)
            yield AcceptanceCase(f"{api} with broker epoch: {epoch}", _begun(asked))
    first = _lai(USUAL_EPOCH, broker_epoch="older")
    name = "LeaderAndIsr for a new partition with broker epoch: older, then own"
    yield AcceptanceCase(name, (first, _lai(USUAL_EPOCH)))


def _controller_epochs() -> Iterator[AcceptanceCase]:
    after = _lai(_HIGHER + 1)
    for api in get_args(ControlApi):
        for apart, name in ((-1, "stale"), (0, "known"), (1, "newer")):
            asked = _next(api, controller_epoch=apart)
            said = f"{api} with controller epoch: {name}, then LeaderAndIsr with the known one"
            yield AcceptanceCase(said, _begun(asked, after))


def _both_epochs() -> Iterator[AcceptanceCase]:
    after = _lai(_HIGHER + 1)
    for api in get_args(ControlApi):
        for given in ("older", "newer", "none"):
            stale = _next(api, broker_epoch=given, controller_epoch=-1)
            yield AcceptanceCase(
                f"{api} with broker epoch: {given}, controller epoch: stale", _begun(stale)
            )
        for given in ("older", "newer"):
            newer = _next(api, broker_epoch=given, controller_epoch=1)
            yield AcceptanceCase(
                f"{api} with broker epoch: {given}, controller epoch: newer, then LeaderAndIsr with"
                " the known one",
                _begun(newer, after),
            )


def _leader_epochs() -> Iterator[AcceptanceCase]:
    for name, epoch in (("lower", _LOWER), ("equal", _EQUAL), ("higher", _HIGHER)):
        yield AcceptanceCase(f"LeaderAndIsr with leader epoch: {name}", _begun(_lai(epoch)))
        for change, more in (
            ("another zkVersion", {"zk_version": 9}),
            ("itself as a follower", _FOLLOWING),
            ("itself not in the replicas", _ELSEWHERE),
        ):
            yield AcceptanceCase(
                f"LeaderAndIsr with leader epoch: {name}, and {change}", _begun(_lai(epoch, **more))
            )
    yield AcceptanceCase(
        "LeaderAndIsr for a new partition, itself not in the replicas", (_lai(**_ELSEWHERE),)
    )
    yield AcceptanceCase(
        "LeaderAndIsr for two partitions, one leader epoch lower and one higher",
        (_lai(_EQUAL, _EQUAL), _lai(_LOWER, _HIGHER)),
    )
    yield from _followers()
    yield from _zk_versions()


def _followers() -> Iterator[AcceptanceCase]:
    known = _metadata(USUAL_EPOCH, live=_BOTH, **_FOLLOWING)
    follow = _lai(_EQUAL, **_FOLLOWING)
    yield AcceptanceCase(
        "LeaderAndIsr to follow a leader that is known, then again at the same leader epoch",
        (known, follow, follow),
    )
    yield AcceptanceCase(
        "LeaderAndIsr to follow a leader that is not known, then again when it is",
        (follow, known, follow, follow),
    )
    nobody = _lai(_EQUAL, leader=-1, isr=_BOTH, replicas=_BOTH)
    yield AcceptanceCase(
        "LeaderAndIsr without a leader, then one at the same leader epoch and one at a higher",
        (nobody, _lai(_EQUAL), _lai(_HIGHER)),
    )
    yield AcceptanceCase(
        "LeaderAndIsr to follow, then to lead at the same leader epoch and at a higher",
        (known, follow, _lai(_EQUAL), _lai(_HIGHER)),
    )


def _zk_versions() -> Iterator[AcceptanceCase]:
    yield AcceptanceCase(
        "LeaderAndIsr with a higher leader epoch and a lower zkVersion",
        _begun(_lai(_HIGHER, zk_version=9), _lai(_HIGHER + 1, zk_version=5)),
    )
    yield AcceptanceCase(
        "LeaderAndIsr that says recovering, then recovered at the same leader epoch",
        _begun(_lai(_HIGHER, recovering=True), _lai(_HIGHER, recovering=False)),
    )


def _stopping() -> Iterator[AcceptanceCase]:
    asked = (
        ("lower", _LOWER),
        ("equal", _EQUAL),
        ("higher", _HIGHER),
        ("unknown (-1)", -1),
        ("during delete (-2)", -2),
    )
    for name, epoch in asked:
        for delete, what in ((False, "stops"), (True, "deletes")):
            yield AcceptanceCase(
                f"StopReplica that {what} with leader epoch: {name}, then LeaderAndIsr at the same"
                " leader epoch and at a higher",
                _begun(_stop(epoch, delete=delete), _lai(_EQUAL), _lai(_HIGHER)),
            )
    for delete, what in ((False, "stops"), (True, "deletes")):
        name = f"StopReplica that {what} a replica that is not there, then LeaderAndIsr"
        yield AcceptanceCase(name, (_stop(_EQUAL, delete=delete), _lai(_EQUAL)))
    yield AcceptanceCase(
        "StopReplica that stops a follower, then LeaderAndIsr at the same leader epoch and at a"
        " higher",
        (
            _metadata(_EQUAL, live=_BOTH, **_FOLLOWING),
            _lai(_EQUAL, **_FOLLOWING),
            _stop(_HIGHER, delete=False),
            _lai(_EQUAL, **_FOLLOWING),
            _lai(_HIGHER, **_FOLLOWING),
        ),
    )
    yield AcceptanceCase(
        "StopReplica for two partitions, one leader epoch lower and one higher",
        (_lai(_EQUAL, _EQUAL), _stop(_LOWER, _HIGHER, delete=True)),
    )


def _metadata_cases() -> Iterator[AcceptanceCase]:
    yield AcceptanceCase(
        "UpdateMetadata with a lower leader epoch",
        (_metadata(_EQUAL), _metadata(_LOWER, leader=OTHER_BROKER, live=_BOTH)),
    )
    yield AcceptanceCase(
        "UpdateMetadata of brokers alone leaves partitions, and replaces brokers",
        (_metadata(_EQUAL, live=_BOTH), _metadata(live=(OTHER_BROKER,)), _metadata()),
    )
    yield AcceptanceCase(
        "UpdateMetadata whose leader is being deleted (-2)",
        (_metadata(_EQUAL), _metadata(_HIGHER, leader=-2)),
    )
    yield AcceptanceCase(
        "UpdateMetadata of a partition of one that is known",
        (_metadata(_EQUAL, _EQUAL), _metadata(_HIGHER)),
    )


def _sessions() -> Iterator[AcceptanceCase]:
    """A broker's own epoch is another one as soon as it has registered again, and not before.

    A broker without ZooKeeper cannot answer about a partition that is new to it: it wants the
    topic's configuration first.
    """
    yield AcceptanceCase(
        "A session that ends without a restart, before the broker finds out and after",
        (
            *_begun(),
            _metadata(_HIGHER, session="ends"),
            _metadata(_HIGHER, live=_BOTH, broker_epoch="newer"),
            _lai(_HIGHER, broker_epoch="older", session="is found to have ended"),
            _lai(_EQUAL),
            _lai(_HIGHER),
        ),
    )
