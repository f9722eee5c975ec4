"""A "real" controller that is none: the engine's own under other features decides. It shows what a
parting looks like without any Kafka.
"""

from typing import Any

from msgspec.structs import replace

from kiplab.engine import moves, nodes
from kiplab.engine.cluster import Cluster, Message, MessageName
from kiplab.engine.routes import MODE_MOVES, ROUTES
from kiplab.judge.side_by_side import deciding
from kiplab.protocol import ids, messages
from kiplab.protocol.facts import RecordWritten
from kiplab.protocol.features import Features
from kiplab.protocol.kraft import records
from kiplab.protocol.messages.api_message import ApiResponse


class AnotherEngine:
    """Decides as the engine does under `features`."""

    renaming = deciding.Renaming()
    scene_records = 0

    def __init__(self, features: Features) -> None:
        self.features = features

    def decide(
        self, question: deciding.ControllerQuestion, cluster: Cluster, expected: int
    ) -> deciding.Decision:
        """The engine's answer and records under the other features."""
        del expected
        other = replace(cluster, features=self.features)
        node = nodes.state_of(other, ids.CONTROLLER)
        match question:
            case deciding.RequestAsked():
                message = _arrived(question.request)
                _, sends, facts = ROUTES[type(node), type(message.body)](node, message, other)
            case deciding.SessionOver():
                rule = MODE_MOVES[type(node), moves.ExpireSession]
                ((_, (_, sends, facts)),) = rule(other, moves.ExpireSession(question.broker))
            case _:
                return deciding.Decision(question)
        answers = [send.body for send in sends if isinstance(send.body, ApiResponse)]
        response: Any = answers[0] if answers else None
        written = tuple(_written(f) for f in facts if isinstance(f, RecordWritten))
        return deciding.Decision(question, response, written)


def _arrived(request: Any) -> Message:
    sender = getattr(request, "broker", ids.CLIENT)
    name = MessageName(sender, ids.Incarnation(1), messages.KINDS[type(request)], 1)
    return Message(name, ids.CONTROLLER, ids.Incarnation(1), request.api.lane, request)


def _written(fact: RecordWritten) -> deciding.Written:
    return deciding.Written(
        offset=fact.offset,
        kafka_offset=fact.offset,
        name=fact.record,
        version=fact.version,
        record=_record(fact.text),
    )


def _record(text: str) -> records.Record:
    """Back from `record_text`, which leaves out what is not set."""
    name, *words = text.split()
    fields = dict(word.split("=") for word in words)
    made: records.Record = getattr(records, name)(**{k: _value(v) for k, v in fields.items()})
    return made


def _value(word: str) -> Any:
    if word.startswith("["):
        return tuple(int(number) for number in word[1:-1].split(",") if number)
    if word in ("true", "false"):
        return word == "true"
    return int(word) if word.lstrip("-").isdecimal() else word
