"""What real Kafka made of the plays that come with kiplab, shipped, so that it can be seen at once.

Only what agreed with the engine line by line is recorded: of each move the events are kept where
Kafka's are not to the letter the engine's. `make judge-record` writes it, of answers that are
stored beside the tests.
"""

import lzma
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ...engine.events import Event
from ...plays.runner import run_play
from ..zookeeper_era.sequences import Passage
from ..zookeeper_plays.control_columns import CONTROL_RECORDINGS
from .chosen import Chosen
from .deciding import StaleRecordingError
from .two_columns import RealSide, TwoColumns

RECORDED_COLUMNS = Path(str(files(__package__))) / "recorded_columns.json.xz"
"""Of every play, by its name."""


class RecordedColumn(RealSide, frozen=True, kw_only=True):
    """Kafka's column of a play of so many `moves`: what followed from a move, by its number."""

    moves: int
    events: dict[int, tuple[Event, ...]]


class RecordedPlay(msgspec.Struct, frozen=True, omit_defaults=True):
    """One play on one patch release: a column for each word of ``--judge`` that can be asked.

    `why` says why brokers are the engine's, where no real one can be told the play.
    """

    columns: dict[str, RecordedColumn]
    why: str = ""


Shipped = Mapping[str, Mapping[str, RecordedPlay]]
"""By the name of the play, and by patch release."""


@cache
def shipped_columns() -> Shipped:
    """All there are."""
    kept = dict[str, dict[str, RecordedPlay]]
    return msgspec.json.decode(lzma.decompress(RECORDED_COLUMNS.read_bytes()), type=kept)


def keep_columns(shipped: Shipped) -> None:
    """Write all there are."""
    text = msgspec.json.encode(shipped)
    RECORDED_COLUMNS.write_bytes(lzma.compress(text, preset=9 | lzma.PRESET_EXTREME))
    shipped_columns.cache_clear()


def recorded_column(both: TwoColumns) -> RecordedColumn:
    """What is shipped of a run of which the columns agree."""
    mine, theirs = both.engine.history.steps, both.kafka.history.steps
    steps = enumerate(zip(mine, theirs, strict=True))
    other = {n: kafka.events for n, (own, kafka) in steps if own.events != kafka.events}
    side = {name: getattr(both, name) for name in RealSide.__struct_fields__}
    return RecordedColumn(**side, moves=len(mine), events=other)


def columns_of(chosen: Chosen, recorded: RecordedColumn) -> TwoColumns:
    """Both columns. Raises StaleRecordingError where the play has other moves by now."""
    engine = run_play(chosen.play, chosen.features)
    history = engine.history
    if len(history.steps) != recorded.moves:
        raise StaleRecordingError(
            f"{chosen.play.name} has other moves than were recorded: `make judge-record`"
        )
    steps = tuple(
        replace(step, events=recorded.events.get(n, step.events))
        for n, step in enumerate(history.steps)
    )
    kafka = replace(engine, history=replace(history, steps=steps), strict=False)
    side = {name: getattr(recorded, name) for name in RealSide.__struct_fields__}
    return TwoColumns(**side, engine=engine, kafka=kafka, judges=chosen.judges)


class HeardPlay(msgspec.Struct, frozen=True):
    """What a controller of ZooKeeper's time sent and answered in a play, line by line."""

    passages: tuple[Passage, ...]


def heard_plays(play: str) -> dict[str, HeardPlay]:
    """What is recorded of a play with ZooKeeper, by patch release; nothing of another."""
    path = CONTROL_RECORDINGS / f"{play}.json.xz"
    if not path.is_file():
        return {}
    return msgspec.json.decode(lzma.decompress(path.read_bytes()), type=dict[str, HeardPlay])
