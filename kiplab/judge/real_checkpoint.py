"""`kiplab.real_checkpoint`: a request of an earlier incarnation at real brokers, as recorded.

A broker has F and L; it stops, and its checkpoint of high watermarks names both. In its next
incarnation a request of before that is about F alone comes first (KAFKA-7235). Whether the broker
obeys it decides what the checkpoint says then, and at which high watermark L begins when the rest
comes: KIP-380's third case.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec

from ..protocol.errors import KafkaError

FOLLOWED, LED = "F", "L"
STORIES = Path(__file__).parent / "real_checkpoint.json"
"""Of every broker that was asked; `make judge-record` writes it."""
BROKERS = ("2.1.1", "2.2.2", "2.2.2/2.1")
"""Before KIP-380, since, and in the middle of the upgrade."""
_WHAT = (
    f"A real broker has the partitions {FOLLOWED} and {LED}, and stops.\n"
    f"Its next incarnation gets a LeaderAndIsr of before first, about {FOLLOWED} alone."
)


class UnaskedBrokerError(ValueError):
    """A broker that nobody asks; the message lists those that are."""


class CheckpointStory(msgspec.Struct, frozen=True):
    """The checkpoint's high watermark of each topic, from one incarnation into the next.

    `old_mail` is the answer to the request of the first. `begun_at` are the high watermarks that
    the partitions have after everything that came then: a follower that is not there keeps them
    where they began.
    """

    stopped_with: dict[str, int]
    before_any_mail: dict[str, int]
    old_mail: int
    after_old_mail: dict[str, int]
    begun_at: dict[str, int]
    at_the_end: dict[str, int]


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
    recorded = recorded_checkpoints()
    for name in brokers:
        if name not in recorded:
            known = ", ".join(recorded)
            raise UnaskedBrokerError(f"no broker of Kafka {name!r} is asked; there are {known}")
    return RealCheckpoint({name: recorded[name] for name in brokers or BROKERS})


@cache
def recorded_checkpoints() -> dict[str, CheckpointStory]:
    """By broker."""
    return msgspec.json.decode(STORIES.read_bytes(), type=dict[str, CheckpointStory])


def _of(name: str, story: CheckpointStory) -> Iterator[str]:
    patch, _, protocol = name.partition("/")
    before, after = (
        ", ".join(f"{topic} {offset}" for topic, offset in file.items()) or "nothing"
        for file in (story.before_any_mail, story.after_old_mail)
    )
    yield f"Kafka {patch}{f' at protocol {protocol}' * bool(protocol)}, recorded"
    yield f"  the file says       {before}"
    yield f"  it answers          {KafkaError(story.old_mail).name}"
    yield f"  the file says then  {after}"
    yield f"  {LED} begins at         {story.begun_at[LED]}"
