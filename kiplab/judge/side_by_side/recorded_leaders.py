"""What real brokers have once held in a play, kept, so that it can be seen without any."""

from __future__ import annotations

from itertools import repeat

import msgspec

from ...engine.cluster import Cluster
from ...protocol.ids import BrokerId
from ...protocol.replica.broker_state import Broker
from ..partition.broker_sight import BrokerSight, SeenPartition, SeenRead, SeenRequest
from .leader_questions import LeaderQuestion, ProcessBegun
from .leader_words import LeaderWords, digest, is_driven

ReadRun = tuple[int, int, int]
"""Records that were read in a row: their leader epoch, the first offset, the end."""


class ChangedSight(msgspec.Struct, frozen=True, omit_defaults=True, array_like=True):
    """What was seen of a broker; None for a partition that was as before."""

    partitions: tuple[SeenPartition | None, ...]
    sent: tuple[SeenRequest, ...] = ()
    error: int = 0
    read: SeenRead | None = None
    """Without its records, which are in `runs`."""
    runs: tuple[ReadRun, ...] = ()


class LeaderAnswer(msgspec.Struct, frozen=True, array_like=True):
    """One turn of a real broker: what it was told, as a digest, and what was seen then."""

    asked: int
    seen: ChangedSight


class StaleLeadersError(Exception):
    """A recording was made of another play, or beside others; the message says what now."""


class RecordedLeaders:
    """Holds what `answers` say. Raises StaleLeadersError where something else was told."""

    def __init__(self, answers: tuple[LeaderAnswer, ...], start: Cluster) -> None:
        self._answers = answers
        self._words = LeaderWords(start)
        self._last: dict[BrokerId, BrokerSight] = {}
        self.turns = 0

    def plays(self, broker: Broker, cluster: Cluster) -> bool:
        """See `DecidingLeaders`."""
        return is_driven(broker, cluster)

    def decide(self, broker: Broker, question: LeaderQuestion, cluster: Cluster) -> BrokerSight:
        """See `DecidingLeaders`."""
        asked = digest(self._words.lines(broker, question, cluster))
        if self.turns == len(self._answers) or self._answers[self.turns].asked != asked:
            raise StaleLeadersError(
                f"broker {broker.id} was told something else than {question} when this was"
                " recorded: make it anew, by pytest --rewrite tests/judge/test_recorded_plays.py"
            )
        before = None if isinstance(question, ProcessBegun) else self._last.get(broker.id)
        seen = _whole_sight(before, self._answers[self.turns].seen)
        self._last[broker.id] = seen
        self.turns += 1
        return seen


def changed_sight(before: BrokerSight | None, seen: BrokerSight) -> ChangedSight:
    """What is kept of a sight, after another one of the same broker."""
    known = before.partitions if before is not None else repeat(None, len(seen.partitions))
    both = zip(seen.partitions, known, strict=True)
    read = seen.read
    return ChangedSight(
        partitions=tuple(None if new == old else new for new, old in both),
        sent=seen.sent,
        error=seen.error,
        read=None if read is None else msgspec.structs.replace(read, records=()),
        runs=() if read is None else tuple(_runs(read.records)),
    )


def _whole_sight(before: BrokerSight | None, kept: ChangedSight) -> BrokerSight:
    known = before.partitions if before is not None else ()
    found = [new if new is not None else known[place] for place, new in enumerate(kept.partitions)]
    each = tuple((epoch, offset) for epoch, first, end in kept.runs for offset in range(first, end))
    read = None if kept.read is None else msgspec.structs.replace(kept.read, records=each)
    return BrokerSight(kept.error, read, kept.sent, tuple(found))


def _runs(records: tuple[tuple[int, int], ...]) -> list[ReadRun]:
    runs: list[ReadRun] = []
    for epoch, offset in records:
        if runs and runs[-1][0] == epoch and runs[-1][2] == offset:
            runs[-1] = (epoch, runs[-1][1], offset + 1)
        else:
            runs.append((epoch, offset, offset + 1))
    return runs
