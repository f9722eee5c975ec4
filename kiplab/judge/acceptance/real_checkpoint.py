"""`kiplab.real_checkpoint`: mail of an earlier life at real brokers, as it was recorded."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from ...protocol.errors import KafkaError
from .acceptance_recordings import recorded_acceptance
from .checkpoint_story import FOLLOWED, LED, CheckpointStory

BROKERS = ("2.1.1", "2.2.2", "2.2.2/2.1")
"""Before KIP-380, since, and in the middle of the upgrade."""
_WHAT = (
    f"A real broker has the partitions {FOLLOWED} and {LED}, and stops.\n"
    f"In its next life the first that it gets is a LeaderAndIsr of before, about {FOLLOWED} alone."
)


class RealCheckpoint(msgspec.Struct, frozen=True):
    """KIP-380's third case at real brokers: the file of high watermarks, before and after."""

    stories: dict[str, CheckpointStory]
    """By broker: ``"2.2.2"``, or ``"2.2.2/2.1"`` at another inter.broker.protocol.version."""

    def text(self) -> str:
        """What happened, and a paragraph for each broker."""
        told = ("\n".join(_of(name, story)) for name, story in self.stories.items())
        return "\n\n".join([_WHAT, *told])

    def __repr__(self) -> str:
        return self.text()


def real_checkpoint(*brokers: str) -> RealCheckpoint:
    """What was recorded of these brokers: of BROKERS, unless others are named.

    Raises UnaskedBrokerError for one that was never asked.
    """
    names = brokers or BROKERS
    return RealCheckpoint({name: recorded_acceptance(name).checkpoint for name in names})


def _of(name: str, story: CheckpointStory) -> Iterator[str]:
    patch, _, protocol = name.partition("/")
    yield f"Kafka {patch}{f' at protocol {protocol}' * bool(protocol)}, recorded"
    yield f"  the file says       {_marks(story.before_any_mail)}"
    yield f"  it answers          {KafkaError(story.old_mail).name}"
    yield f"  the file says then  {_marks(story.after_old_mail)}"
    yield f"  {LED} begins at         {story.begun_at[LED]}"


def _marks(file: dict[str, int]) -> str:
    return ", ".join(f"{topic} {offset}" for topic, offset in file.items()) or "nothing"
