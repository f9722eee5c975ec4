"""What an `expect` line may speak of, and which keys each subject has."""

import re

from . import values
from .play import Statement
from .play_errors import Part, PlayError, nearest
from .values import Names

USAGE = (
    "expect reads PARTITION key=value, broker ID key=value, replica ID PARTITION key=value,"
    " consumer PARTITION [NAME] key=value, producer PARTITION NAME key=value,"
    " reply PARTITION key=value,"
    " lost PARTITION FIRST..LAST, lost nothing, property ID broken|holds, error=NAME, guard=ID,"
    " records=A,B, read=FIRST..LAST, acknowledged=FIRST..LAST or verdict=WORD"
)
LINE = ("error", "guard", "records", "read", "acknowledged", "verdict")
PARTITION = ("leader", "isr", "replicas", "leader-epoch", "partition-epoch", "recovery")
BROKER = ("epoch", "fenced", "shutting-down", "state", "declared", "own-state")
REPLICA = ("start", "end", "high-watermark", "leader-epoch", "isr")
CONSUMER = ("position", "last-epoch", "leader", "leader-epoch", "reads-from")
PRODUCER = ("queued", "leader", "leader-epoch")
REPLY = ("error", "leader", "isr", "leader-epoch", "partition-epoch", "recovery")


_SUBJECTS = ("broker", "replica", "consumer", "producer", "reply", "lost", "property")


def check_form(statement: Statement, names: Names) -> None:
    """Raise PlayError for an `expect` that no run could judge."""
    words, first = statement.words, 0
    if words and words[0].startswith("@"):
        _part(lambda: values.feature_set(words[0]), 0)
        first = 1
    keys = _keys(words[first:], first, names)
    for position, (key, _) in enumerate(statement.args):
        if key not in keys:
            subject = " ".join(words[first:]) or "what followed from the last line"
            expected = nearest(key, keys) if keys else USAGE
            problem = PlayError(f"{subject} has no {key!r}", expected=expected, token=f"{key}=")
            problem.part = Part(pair=True, number=position)
            raise problem
    if keys and not statement.args:
        raise PlayError(f"{statement.text!r} expects nothing", expected=USAGE)


def _keys(words: tuple[str, ...], first: int, names: Names) -> tuple[str, ...]:
    """The keys that the subject has; none where the words say everything."""
    if not words:
        return LINE
    subject, *rest = words
    if subject == "broker" and len(rest) == 1:
        _part(lambda: values.broker(rest[0], names), first + 1)
        return BROKER
    if subject == "replica" and len(rest) == 2:
        _part(lambda: values.broker(rest[0], names), first + 1)
        _part(lambda: values.partition(rest[1], names), first + 2)
        return REPLICA
    if subject == "consumer" and len(rest) in (1, 2):
        _part(lambda: values.partition(rest[0], names), first + 1)
        _part(lambda: values.consumer(rest[-1], names) if rest[1:] else None, first + 2)
        return CONSUMER
    if subject == "producer" and len(rest) == 2:
        _part(lambda: values.partition(rest[0], names), first + 1)
        _part(lambda: values.producer(rest[1], names), first + 2)
        return PRODUCER
    if subject == "reply" and len(rest) <= 1:
        _part(lambda: values.any_partition(rest[0], names) if rest else None, first + 1)
        return REPLY
    if subject == "lost" and _is_loss(rest):
        _part(lambda: values.partition(rest[0], names) if rest[1:] else None, first + 1)
        return ()
    if subject == "property" and len(rest) == 2 and rest[1] in ("broken", "holds"):
        _part(lambda: values.property_id(rest[0], names), first + 1)
        return ()
    if subject in _SUBJECTS or rest:
        problem = PlayError(f"{' '.join(words)!r} cannot be read", expected=USAGE, token=subject)
        problem.part = Part(pair=False, number=first)
        raise problem
    _part(lambda: values.partition(subject, names), first)
    return PARTITION


def _is_loss(rest: list[str]) -> bool:
    if rest == ["nothing"]:
        return True
    return len(rest) == 2 and bool(re.fullmatch(r"[0-9]{1,12}\.\.[0-9]{1,12}", rest[1]))


def _part(check: values.Judgement, index: int) -> None:
    try:
        check()
    except PlayError as problem:
        problem.part = Part(pair=False, number=index)
        raise
