"""The result of a run: the verdict, and the facts that a report of it needs."""

from typing import Any

from msgspec.structs import asdict

from ..engine.events import CommittedLost, PropertyBroken
from ..engine.properties import NO_COMMITTED_RECORD_LOST, PROPERTIES
from ..engine.truth import truth
from ..protocol.facts import LeaderElected, Refused
from ..protocol.ids import NO_LEADER
from .stage import Stage

SAFE, LOSS, HARM = "safe", "loss", "harm"
VERDICT_SIGNS = {LOSS: "▼", HARM: "■", SAFE: "●"}
"""Each stands for one thing in every text and picture: ▲ is for records at risk, and not here."""


def verdict(stage: Stage) -> str:
    """``loss`` when committed records were lost, ``harm`` when another property broke."""
    broken = [id for id, _ in stage.cluster.broken]
    if NO_COMMITTED_RECORD_LOST.id in broken:
        return LOSS
    return HARM if broken else SAFE


def sentence(stage: Stage) -> str:
    """The verdict in words, as under a picture."""
    losses = lost(stage)
    if losses:
        total = sum(item["last"] - item["first"] + 1 for item in losses)
        return f"{total} committed record{'s' * (total != 1)} lost"
    if verdict(stage) == HARM:
        broken = {id for id, _ in stage.cluster.broken}
        *most, last = dict.fromkeys(p.harm for id, p in PROPERTIES.items() if id in broken)
        return f"nothing lost yet, but {', '.join(most)}{' and ' if most else ''}{last}"
    return "unavailable for a while, nothing lost" if offline(stage) else "nothing lost"


def lost(stage: Stage) -> list[dict[str, Any]]:
    """{"partition", "first", "last"} per loss, offsets inclusive."""
    return [
        {"partition": e.partition, "first": e.first, "last": e.last}
        for e in stage.events
        if isinstance(e, CommittedLost)
    ]


def violated(stage: Stage) -> list[dict[str, Any]]:
    """{"property", "step", "partition", "detail", "promised"} in order of breaking."""
    return [
        {"property": e.property, "step": step, **asdict(e)}
        for step, recorded in enumerate(stage.history.steps, 1)
        for e in recorded.events
        if isinstance(e, PropertyBroken)
    ]


def offline(stage: Stage) -> list[dict[str, Any]]:
    """{"partition", "from", "to"} in steps; ``to`` is None while a partition has no leader yet."""
    spans: list[dict[str, Any]] = []
    for step, recorded in enumerate(stage.history.steps, 1):
        for event in recorded.events:
            if isinstance(event, LeaderElected):
                _note_leader(spans, event, step)
    return spans


def _note_leader(spans: list[dict[str, Any]], event: LeaderElected, step: int) -> None:
    open_ = next((s for s in spans if s["partition"] == event.partition and s["to"] is None), None)
    if event.leader == NO_LEADER and open_ is None:
        spans.append({"partition": event.partition, "from": step, "to": None})
    elif event.leader != NO_LEADER and open_ is not None:
        open_["to"] = step


def refused(stage: Stage) -> list[dict[str, Any]]:
    """{"guard", "error", "request", "compared": [{"name", "requested", "held"}]} per refusal."""
    return [
        {
            "guard": e.guard,
            "error": e.error.name,
            "request": e.request,
            "compared": [asdict(c) for c in e.compared],
        }
        for e in stage.events
        if isinstance(e, Refused)
    ]


def partitions(stage: Stage) -> list[dict[str, Any]]:
    """The controller's view at the end: leader -1 means offline."""
    return [
        {
            "name": p.name,
            "leader": p.leader,
            "isr": list(p.isr),
            "leader_epoch": p.leader_epoch,
            "partition_epoch": p.partition_epoch,
            "recovery": p.recovery.name,
        }
        for p in truth(stage.cluster).partitions
    ]


def expectations(stage: Stage) -> dict[str, int]:
    """{"held", "failed", "skipped"}."""
    statuses = [e.status for e in stage.expectations]
    return {status: statuses.count(status) for status in ("held", "failed", "skipped")}


def breaks_promise(stage: Stage) -> bool:
    """Whether a property broke where it was promised: a bug, not a lesson."""
    return any(v["promised"] for v in violated(stage))
