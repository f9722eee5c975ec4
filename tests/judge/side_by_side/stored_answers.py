"""What real controllers and brokers once answered in the plays that come with kiplab, kept.

The columns that are shipped come of these answers; here they are asked again of the live path.
"""

import lzma
from collections.abc import Callable, Iterator
from functools import cache
from itertools import repeat
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from msgspec.structs import replace

from kiplab.engine.cluster import Cluster
from kiplab.judge.partition import observed_broker
from kiplab.judge.side_by_side import deciding, live_kafka
from kiplab.protocol.ids import BrokerId
from kiplab.protocol.replica.broker_state import Broker

FOLDER, SUFFIX = Path(__file__).parent / "recordings", ".json.xz"
ANEW = "make it anew, by `python -m tests.judge.side_by_side --record`"
ReadRun = tuple[int, int, int]
"""Records that were read in a row: their leader epoch, the first offset, the end."""


class ChangedSight(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """What was observed of a broker; None for a partition that was as before."""

    partitions: tuple[observed_broker.SeenPartition | None, ...]
    sent: tuple[observed_broker.SeenRequest, ...] = ()
    error: int = 0
    read: observed_broker.SeenRead | None = None
    """Without its records, which are in `runs`."""
    runs: tuple[ReadRun, ...] = ()


class LeaderAnswer(msgspec.Struct, frozen=True, array_like=True):
    """One turn of a real broker: what it was told, as a digest, and what was observed then."""

    asked: int
    seen: ChangedSight


class PlayRecording(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answers of one patch release in one play, in order: a controller's, and brokers'."""

    renaming: deciding.Renaming
    scene_records: int
    decisions: tuple[deciding.Decision, ...]
    leaders: tuple[LeaderAnswer, ...] = ()


def recordings_of(play: str) -> dict[str, PlayRecording]:
    """What is recorded of a play that comes with kiplab, by patch release; nothing of another."""
    path = FOLDER / f"{play}{SUFFIX}"
    return _read(path) if path.is_file() else {}


@cache
def _read(path: Path) -> dict[str, PlayRecording]:
    return msgspec.json.decode(lzma.decompress(path.read_bytes()), type=dict[str, PlayRecording])


def keep_recordings(play: str, recordings: dict[str, PlayRecording]) -> None:
    """Write what is recorded of a play into its file."""
    text = msgspec.json.encode(dict(sorted(recordings.items())), order="deterministic")
    (FOLDER / f"{play}{SUFFIX}").write_bytes(lzma.compress(text, preset=9))
    _read.cache_clear()


# --- answered again -------------------------------------------------------------------------------


class RecordedKafka:
    """Decides as `recording` says. Raises StaleRecordingError where that was asked otherwise."""

    def __init__(self, recording: PlayRecording) -> None:
        self.renaming = recording.renaming
        self.scene_records = recording.scene_records
        self._left = list(reversed(recording.decisions))

    def decide(
        self, question: deciding.ControllerQuestion, cluster: Cluster, expected: int
    ) -> deciding.Decision:
        """See `DecidingKafka`."""
        del cluster, expected
        if not self._left or self._left[-1].question != question:
            asked = self._left[-1].question if self._left else "nothing more"
            raise deciding.StaleRecordingError(
                f"the recording was asked {asked}, and the play asks {question} by now: {ANEW}"
            )
        return self._left.pop()


class RecordedLeaders:
    """Holds what `answers` say. Raises StaleRecordingError where something else was told."""

    def __init__(self, answers: tuple[LeaderAnswer, ...], start: Cluster) -> None:
        self._answers = answers
        self._words = live_kafka.LeaderWords(start)
        self._last: dict[BrokerId, observed_broker.ObservedBroker] = {}
        self.turns = 0

    def decide(
        self, broker: Broker, question: deciding.LeaderQuestion, cluster: Cluster
    ) -> observed_broker.ObservedBroker:
        """See `DecidingLeaders`."""
        asked = digest(self._words.lines(broker, question, cluster))
        if self.turns == len(self._answers) or self._answers[self.turns].asked != asked:
            raise deciding.StaleRecordingError(
                f"broker {broker.id} was told something else than {question} when this was"
                f" recorded: {ANEW}"
            )
        begins = isinstance(question, deciding.ProcessBegun)
        before = None if begins else self._last.get(broker.id)
        seen = _whole_sight(before, self._answers[self.turns].seen)
        self._last[broker.id] = seen
        self.turns += 1
        return seen


# --- noted while they are live --------------------------------------------------------------------


class Noting:
    """Stands between a play and its real nodes, and keeps what they answer."""

    def __init__(self) -> None:
        self._kafka: deciding.DecidingKafka | None = None
        self._decisions: list[deciding.Decision] = []
        self.leaders: list[LeaderAnswer] = []

    def between(self, start: Cluster, nodes: deciding.RealNodes) -> deciding.RealNodes:
        """See `live_columns`."""
        self._kafka, self._words = nodes.deciding, live_kafka.LeaderWords(start)
        self._last: dict[BrokerId, observed_broker.ObservedBroker] = {}
        kafka: Any = nodes.deciding and _Noted(nodes.deciding, self._decided)
        leaders: Any = nodes.leading and _Noted(nodes.leading, self._led)
        return deciding.RealNodes(kafka, leaders)

    def recording(self) -> PlayRecording:
        """All that was answered."""
        decisions, leaders = tuple(self._decisions), tuple(self.leaders)
        if self._kafka is None:
            return PlayRecording(deciding.Renaming(), 0, decisions, leaders)
        kafka = self._kafka
        return PlayRecording(kafka.renaming, kafka.scene_records, decisions, leaders)

    def _decided(self, decision: deciding.Decision, *_question: object) -> None:
        self._decisions.append(decision)

    def _led(
        self,
        seen: observed_broker.ObservedBroker,
        broker: Broker,
        question: deciding.LeaderQuestion,
        cluster: Cluster,
    ) -> None:
        asked = digest(self._words.lines(broker, question, cluster))
        begins = isinstance(question, deciding.ProcessBegun)
        before = None if begins else self._last.get(broker.id)
        self.leaders.append(LeaderAnswer(asked, _changed_sight(before, seen)))
        self._last[broker.id] = seen


class _Noted:
    """A real node whose answers go to `note` as well, each with its question."""

    def __init__(self, node: Any, note: Callable[..., None]) -> None:
        self._node, self._note = node, note

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)

    def decide(self, *question: Any) -> Any:
        answer = self._node.decide(*question)
        self._note(answer, *question)
        return answer


# --- in short -------------------------------------------------------------------------------------


def digest(lines: tuple[tuple[str, str], ...]) -> int:
    """A number that is another one for other lines."""
    return crc32("\n".join(f"{who} {line}" for who, line in lines).encode())


def _changed_sight(
    before: observed_broker.ObservedBroker | None, seen: observed_broker.ObservedBroker
) -> ChangedSight:
    known = before.partitions if before is not None else repeat(None, len(seen.partitions))
    both = zip(seen.partitions, known, strict=True)
    return ChangedSight(
        partitions=tuple(None if new == old else new for new, old in both),
        sent=seen.sent,
        error=seen.error,
        read=None if seen.read is None else replace(seen.read, records=()),
        runs=() if seen.read is None else tuple(_runs(seen.read.records)),
    )


def _whole_sight(
    before: observed_broker.ObservedBroker | None, kept: ChangedSight
) -> observed_broker.ObservedBroker:
    known = before.partitions if before is not None else ()
    partitions = tuple(
        new if new is not None else known[place] for place, new in enumerate(kept.partitions)
    )
    each = tuple((epoch, offset) for epoch, first, end in kept.runs for offset in range(first, end))
    read = None if kept.read is None else replace(kept.read, records=each)
    return observed_broker.ObservedBroker(kept.error, read, kept.sent, partitions)


def _runs(records: tuple[tuple[int, int], ...]) -> Iterator[ReadRun]:
    start = end = epoch = -1
    for each, offset in records:
        if (each, offset) != (epoch, end):
            if start >= 0:
                yield epoch, start, end
            epoch, start = each, offset
        end = offset + 1
    if start >= 0:
        yield epoch, start, end
