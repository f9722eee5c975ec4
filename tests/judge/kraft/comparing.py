"""Whether Kafka and the engine made the same of a turn, and if not, where they part."""

from collections.abc import Iterator

from msgspec.structs import asdict

from kiplab.judge.conversation.real_controller import record_texts

from ..skeleton.sides import Parting
from .turns import Answer


def partings(kafka: Answer, engine: Answer) -> tuple[Parting, ...]:
    """Where the two part; nothing if they agree.

    Records that change several partitions at once stand in an order that hangs on hash tables and
    on the random ids of topics: within such a run any order is the same. Of a refusal only that it
    is one is compared: its text is for people.
    """
    return (*_fields(kafka, engine), *_refusals(kafka, engine), *_records(kafka, engine))


def _fields(kafka: Answer, engine: Answer) -> Iterator[Parting]:
    if kafka.response is None or engine.response is None:
        return
    theirs, mine = asdict(kafka.response), asdict(engine.response)
    for name in theirs:
        if theirs[name] != mine.get(name):
            yield Parting(name, repr(theirs[name]), repr(mine.get(name)))


def _refusals(kafka: Answer, engine: Answer) -> Iterator[Parting]:
    if bool(kafka.refused) != bool(engine.refused):
        yield Parting("refusal", kafka.refused or "none", engine.refused or "none")


def _records(kafka: Answer, engine: Answer) -> Iterator[Parting]:
    theirs, mine = record_texts(kafka.records), record_texts(engine.records)
    if theirs != mine:
        yield Parting("records", "; ".join(theirs) or "none", "; ".join(mine) or "none")
