"""Exercises of lab 13: what a dump of a real metadata log tells of one incident, and which changes
keep the records in the play that is made of it.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...incident.metadata_history import MetadataHistory, read_metadata_log
from ...incident.states import LogEvent, RegisteredIncarnation
from ...plays import grammar, verdict
from ...plays.play import Play
from ..exercise_table import UnfitError, exercise
from .answers import BLANK, PartsInOrder, TrueStatements
from .committed import PARTITION
from .losing_schedule import changed

INCIDENT_DUMP = Path(__file__).parents[1] / "given" / "orders-incident.txt.gz"
"""What kafka-dump-log of 3.5.2 says of a log of 3.5.2: tests/incident/real_logs made it."""
CHANGES = exercise("incident/prevented").changes
"""What is changed in the play. After some of these no committed record is lost."""


class Join(NamedTuple):
    """The event by which a process entered the ISR, and how long after it was unfenced."""

    waited_ms: int
    event: LogEvent
    incarnation: RegisteredIncarnation


@cache
def incident() -> MetadataHistory:
    """The dump, read as the lab reads it."""
    return read_metadata_log(INCIDENT_DUMP, partitions=(PARTITION,))


def quickest_join() -> Join:
    """Of all processes that entered the ISR of the partition, the one that waited least."""
    found = (join for event in _changes() for join in _joins(event))
    return min(found, key=lambda join: join.waited_ms)


def _changes() -> list[LogEvent]:
    events = (event for event in incident().events(PARTITION) if event.before)
    return [event for event in events if event.after and event.after.name == PARTITION]


def _joins(event: LogEvent) -> list[Join]:
    assert event.before
    assert event.after
    new = {*event.after.isr} - {*event.before.isr}
    entered = (event.cluster.incarnations[broker] for broker in new)
    return [Join(event.record.time - (x.changed or x.registered).time, event, x) for x in entered]


def report() -> list[str]:
    """The five numbers: epoch, join, wait, election, and who else was in sync, unchanged."""
    wait, joined, incarnation = quickest_join()
    later = (e for e in _changes() if e.record.offset > joined.record.offset)
    elected = next(e for e in later if e.after and e.after.leader == incarnation.broker)
    assert elected.after
    (other,) = {*elected.after.isr} - {incarnation.broker}
    joins = (incarnation.epoch, joined.record.offset, wait)
    return [*map(str, (*joins, elected.record.offset, other))]


def _numbers(words: list[str]) -> list[str]:
    if not all(word == BLANK or word.isdecimal() for word in words):
        raise UnfitError("Each part is a whole number, as in 4; ? stands for one not found yet.")
    return words


check_numbers = PartsInOrder(read=_numbers, true=report)
"""The numbers of the report, in order: ``["4", "15", ...]`` has the right shape."""


@cache
def story() -> Play:
    """The play that leaves the records of the partition."""
    return grammar.parse(incident().play(PARTITION).text, "incident")


@TrueStatements
def check_prevented() -> list[str]:
    """After which of CHANGES no committed record is lost: ``"AB"`` names two of them."""
    return [letter for letter, one in CHANGES.items() if not verdict.lost(changed(one, story()))]
