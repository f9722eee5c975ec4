"""`kiplab.second_proposal`: what Kafka's own Partition forgets, run now or as recorded."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from ...machine.lacking import LackingError
from ...protocol.features import UnknownFeatureError
from ..java_process.child_jvm import DeadKafkaError
from ..kafka_jars.jar_cache import have_jars
from ..kafka_jars.judged_releases import MEGABYTES, UnjudgedReleaseError, patch_release
from .forgotten_proposal import ProposalStory, stories_of
from .partition_command import forgotten_table
from .partition_process import PartitionProcess, partition_releases

STORIES = Path(__file__).parent / "second_proposal.json"
"""What each patch release made of the four ways."""


class SecondProposal(msgspec.Struct, frozen=True):
    """What Kafka's own Partition made of a second proposal, four ways.

    `kafka` is the patch release, `note` says why it is a recording; empty for a live run.
    """

    kafka: str
    stories: tuple[ProposalStory, ...]
    note: str = ""

    def text(self) -> str:
        """One line for each of the four, and whether it was run now."""
        said = self.note or f"Run now, on Kafka {self.kafka}."
        return "\n".join([*forgotten_table(self.stories), said])

    def report(self) -> dict[str, Any]:
        """Plain values."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    def __repr__(self) -> str:
        return self.text()


def second_proposal(kafka: str = "3.5", *, live: bool | None = None) -> SecondProposal:
    """Let Kafka's own ``kafka.cluster.Partition`` lead, and ask for two followers in turn.

    `kafka` is a release from 3.3 on, or one of its patch releases. It runs live if that is in the
    cache; where it cannot, what was recorded of it is shown, which says why. With `live` it is a
    live run or an error, fetched if need be; with False the recording is shown.

    Raises UnknownFeatureError for another release, MissingKafkaError for what the machine lacks,
    DeadKafkaError for a Kafka that ended by itself.
    """
    patch = _patch(kafka)
    if live or (live is None and have_jars(patch)):
        try:
            return _told_live(patch)
        except (LackingError, DeadKafkaError) as why:
            if live:
                raise
            return _told_recorded(
                patch, why.sentence if isinstance(why, LackingError) else f"{why}."
            )
    how = f"Kafka {patch} is not here: live=True fetches it (about {MEGABYTES} MB)."
    return _told_recorded(patch, how if live is None else "It was asked for as recorded.")


@cache
def recorded_stories() -> dict[str, tuple[ProposalStory, ...]]:
    """What is recorded, by patch release."""
    kept = dict[str, tuple[ProposalStory, ...]]
    return msgspec.json.decode(STORIES.read_bytes(), type=kept)


def keep_stories(told: SecondProposal) -> None:
    """Write what a live run came to beside the others."""
    kept = recorded_stories() if STORIES.exists() else {}
    text = msgspec.json.encode(dict(sorted((kept | {told.kafka: told.stories}).items())))
    STORIES.write_bytes(msgspec.json.format(text) + b"\n")
    recorded_stories.cache_clear()


def _patch(kafka: str) -> str:
    try:
        patch = patch_release(kafka)
    except UnjudgedReleaseError as unknown:
        raise UnknownFeatureError(str(unknown)) from None
    if patch.rpartition(".")[0] not in partition_releases():
        there = ", ".join(partition_releases())
        raise UnknownFeatureError(f"the Partition of Kafka {kafka!r} is not run; there are {there}")
    return patch


def _told_live(patch: str) -> SecondProposal:
    with PartitionProcess(patch) as process:
        return SecondProposal(process.patch, stories_of(process))


def _told_recorded(patch: str, why: str) -> SecondProposal:
    latest = patch_release(patch.rpartition(".")[0])
    said = f"Recorded from Kafka {latest}, not run now. {why}"
    return SecondProposal(latest, recorded_stories()[latest], said)
