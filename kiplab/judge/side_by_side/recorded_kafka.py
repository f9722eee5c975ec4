"""What a real controller has once decided in a play, kept, so that it can be seen without one."""

from __future__ import annotations

import lzma
from functools import cache
from importlib.resources import files
from pathlib import Path

import msgspec

from ...engine.cluster import Cluster
from ..zookeeper_era.sequences import Passage
from .decisions import ControllerQuestion, Decision
from .recorded_leaders import LeaderAnswer
from .renaming import Renaming

FOLDER = Path(str(files(__package__))) / "recordings"
SUFFIX = ".json.xz"


class PlayRecording(msgspec.Struct, frozen=True, omit_defaults=True):
    """The decisions of one patch release in one play, in order: a controller's, and brokers'; of a
    controller of ZooKeeper's time, what was heard of it, line by line.
    """

    renaming: Renaming
    scene_records: int
    decisions: tuple[Decision, ...]
    leaders: tuple[LeaderAnswer, ...] = ()
    passages: tuple[Passage, ...] = ()


class StaleRecordingError(Exception):
    """A recording was made of another play, or beside other brokers; the message says what now."""


class RecordedKafka:
    """Decides as `recording` says. Raises StaleRecordingError where that was asked otherwise."""

    def __init__(self, recording: PlayRecording) -> None:
        self.renaming = recording.renaming
        self.scene_records = recording.scene_records
        self._left = list(reversed(recording.decisions))

    def decide(self, question: ControllerQuestion, cluster: Cluster, expected: int) -> Decision:
        """See `DecidingKafka`."""
        del cluster, expected
        if not self._left or self._left[-1].question != question:
            asked = self._left[-1].question if self._left else "nothing more"
            raise StaleRecordingError(
                f"the recording was asked {asked}, and the play asks {question} by now: make it"
                " anew, by pytest --rewrite tests/judge/test_recorded_plays.py"
            )
        return self._left.pop()


def recordings_of(play: str, folder: Path = FOLDER) -> dict[str, PlayRecording]:
    """What is recorded of a play that comes with kiplab, by patch release; nothing of another."""
    path = folder / f"{play}{SUFFIX}"
    return _read(path) if path.is_file() else {}


@cache
def _read(path: Path) -> dict[str, PlayRecording]:
    return msgspec.json.decode(lzma.decompress(path.read_bytes()), type=dict[str, PlayRecording])


def keep_recordings(play: str, recordings: dict[str, PlayRecording], folder: Path = FOLDER) -> None:
    """Write what is recorded of a play into its file."""
    folder.mkdir(exist_ok=True)
    text = msgspec.json.encode(dict(sorted(recordings.items())), order="deterministic")
    (folder / f"{play}{SUFFIX}").write_bytes(lzma.compress(text, preset=9))
    _read.cache_clear()
