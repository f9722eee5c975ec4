"""A run as text: one line per event, grouped under the line of the play that caused it."""

import tomllib
from collections.abc import Iterator
from importlib.resources import files

from ..engine import events
from ..engine.explain import sentence
from ..protocol import facts, zookeeper_facts
from ..protocol.messages.zookeeper_messages import UPDATE_METADATA
from .stage import Performed, Stage
from .verdict import HARM, LOSS, VERDICT_SIGNS, verdict
from .verdict import sentence as verdict_sentence

_QUIET = (events.Sent, facts.RecordWritten, facts.Registered)
"""Said already by another event of the same move."""
_STATE = "/state"
"""Of a partition: what changed in it has events of its own."""
_SIGNS = tomllib.loads((files(__package__) / "signs.toml").read_text("utf-8"))
_MARKS: dict[type, str] = {
    **{events.EVENT_KINDS[name]: sign for sign, names in _SIGNS.items() for name in names},
    events.CommittedLost: VERDICT_SIGNS[LOSS],
    events.PropertyBroken: VERDICT_SIGNS[HARM],
}


def transcript(stage: Stage, *, every: bool = False) -> str:
    """The whole run; `every` shows also what another line says already."""
    lines = [f"{stage.play.title} (Kafka {stage.features.label()})", ""]
    for performed in stage.performed:
        lines += lines_of(stage, performed, every=every)
    return "\n".join([*lines, "", f"{verdict(stage)}: {verdict_sentence(stage)}", ""])


def lines_of(stage: Stage, performed: Performed, *, every: bool = False) -> Iterator[str]:
    """The line of the play, then what followed from it."""
    yield f"{number_of(stage, performed):>3}  {performed.statement.text}"
    for _, line in event_lines(stage, performed, every=every):
        yield f"     {line}"


def number_of(stage: Stage, performed: Performed) -> str:
    """The number of a step before its first line; nothing before others, such as after a hold."""
    first = next(p for p in stage.performed if p.moment == performed.moment)
    return str(performed.moment) if first is performed else ""


def event_lines(
    stage: Stage, performed: Performed, *, every: bool = False
) -> Iterator[tuple[str, str]]:
    """(id, line) of what followed from a line of the play."""
    for id, event in stage.named_events_of(performed):
        if every or not _goes_without_saying(event):
            yield id, f"{_MARKS.get(type(event), '·')} {sentence(event)}"


def _goes_without_saying(event: events.Event) -> bool:
    if isinstance(event, events.Delivered):
        return event.body.api.routine and not event.previous_incarnation
    if isinstance(event, zookeeper_facts.RequestsQueued):
        return all(request.startswith(UPDATE_METADATA.label) for request in event.requests)
    if isinstance(event, zookeeper_facts.ZnodeChanged):
        return event.path.endswith(_STATE)
    return isinstance(event, _QUIET)
