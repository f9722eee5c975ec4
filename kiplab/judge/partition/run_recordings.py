"""Recorded runs: what happened to Kafka's own broker side, and all that was seen of it.

The turns are in it, so that they can be done again whatever the generator does by now.
"""

from __future__ import annotations

import lzma
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from ...protocol.features import Features, parse_features
from ..corpus.recordings import SUFFIX, NoRecordingError
from .broker_runs import PARTITIONS, BrokerRun, TurnDone
from .broker_sight import BrokerSight, SeenPartition, SeenRead, SeenRequest
from .broker_turns import BrokerTurn
from .engine_leader import EngineLeader

_STRONGEST = 9 | lzma.PRESET_EXTREME


class RecordedSight(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was seen after a turn; None for a partition that was as before."""

    partitions: tuple[SeenPartition | None, ...]
    error: int = 0
    read: SeenRead | None = None
    sent: tuple[SeenRequest, ...] = ()


class RecordedRun(msgspec.Struct, frozen=True):
    """One run: as many turns as sights."""

    seed: int
    timed: bool
    turns: tuple[BrokerTurn, ...]
    sights: tuple[RecordedSight, ...]


class RunsHead(msgspec.Struct, frozen=True):
    """Where runs came from: the patch release that was run, and the release it stands for."""

    kafka: str
    release: str


class RecordedRuns(msgspec.Struct, frozen=True):
    """All that is kept of one release."""

    head: RunsHead
    runs: tuple[RecordedRun, ...]

    @property
    def turns(self) -> int:
        """Of all runs."""
        return sum(len(run.turns) for run in self.runs)


class ToldLeader:
    """Kafka's side of a recorded run: it says again what it said."""

    def __init__(self, run: RecordedRun) -> None:
        self._left = iter(run.sights)
        self._partitions: tuple[SeenPartition, ...] = ()

    def do(self, _turn: BrokerTurn) -> BrokerSight:
        """What was seen after the turn that is next."""
        told = next(self._left)
        kept = dict(enumerate(self._partitions))
        kept |= {index: new for index, new in enumerate(told.partitions) if new is not None}
        self._partitions = tuple(kept.values())
        return BrokerSight(told.error, told.read, told.sent, self._partitions)


def recorded(run: BrokerRun, seed: int, *, timed: bool) -> RecordedRun:
    """What is kept of a run."""
    turns = tuple(done.turn for done in run.done)
    return RecordedRun(seed, timed, turns, tuple(_changes(run.done)))


def _changes(done: Iterable[TurnDone]) -> Iterator[RecordedSight]:
    before: tuple[SeenPartition | None, ...] = (None,) * PARTITIONS
    for seen in (one.kafka for one in done):
        both = zip(seen.partitions, before, strict=True)
        partitions = tuple(None if new == old else new for new, old in both)
        yield RecordedSight(partitions, seen.error, seen.read, seen.sent)
        before = seen.partitions


def replayed(
    runs: RecordedRuns, features: Features | None = None
) -> Iterator[tuple[RecordedRun, int, TurnDone | None]]:
    """The engine beside each recorded run: how many turns were done, and that in which the two
    part, or None.

    `features` are those of the release, unless others are tried.
    """
    under = features or parse_features(runs.head.release)
    for run in runs.runs:
        again = BrokerRun(ToldLeader(run), EngineLeader(under, PARTITIONS, timed=run.timed))
        last = again.follow(run.turns)
        yield run, len(again.done), last


def save_runs(runs: RecordedRuns, folder: Path) -> Path:
    """Write them into `folder`, and say where."""
    lines = [msgspec.json.encode(part) for part in (runs.head, *runs.runs)]
    file = folder / f"{runs.head.release}{SUFFIX}"
    folder.mkdir(parents=True, exist_ok=True)
    file.write_bytes(lzma.compress(b"\n".join(lines), preset=_STRONGEST))
    return file


def load_runs(release: str, folder: Path) -> RecordedRuns:
    """Those of ``"3.5"``. Raises NoRecordingError without any, or for a file that is none."""
    file = folder / f"{release}{SUFFIX}"
    try:
        first, *others = lzma.decompress(file.read_bytes()).split(b"\n")
        head = msgspec.json.decode(first, type=RunsHead)
        decoder = msgspec.json.Decoder(RecordedRun)
        return RecordedRuns(head, tuple(map(decoder.decode, others)))
    except FileNotFoundError:
        problem = f"no run of Kafka {release} was recorded: there is no {file}"
    except (lzma.LZMAError, msgspec.MsgspecError, OSError) as unreadable:
        problem = f"{file} is no recording of runs ({unreadable})"
    raise NoRecordingError(f"{problem}; `make judge-record` writes it.")
