"""Joins of the ISR: too early, of brokers that may not, and too often."""

from collections.abc import Iterator

from ...protocol.guards import GUARDS
from ...protocol.releases import METADATA_LEVEL, at_least
from ..log_items import UNKNOWN
from ..states import LogEvent, RegisteredIncarnation
from .finding import Finding, FindingKind
from .finding_words import duration_ms, first_release, is_before, prevented_by, span
from .rule import ISR, JOIN, LoggedChange, Thresholds, change_rule, rule

SHORT_MS = 1000
"""A follower fetches every half second at least, when nothing is written (replica.fetch.wait.max.ms
is 500): two fetches do not bring back a log of any size."""
FLAPPING_CHANGES = 10
FLAPPING_MS = 5 * 60_000
"""A rolling restart changes an ISR twice for each replica, over minutes; ten is no such thing."""
COMPARED = ("903.fetch-epoch", "903.leader-epoch", "903.controller-epoch")
ONE_PROCESS = ("kafka-15221.stale-fetch", "kafka-15221.locked-state")
"""Without them a leader may still name the present epoch for what an earlier process fetched."""


@change_rule("F4", "occasion", JOIN)
def quick_join(change: LoggedChange) -> Iterator[Finding]:
    """A join of the ISR by a broker that restarted under the same leader epoch (KAFKA-14139)."""
    for broker in change.joins:
        present = change.event.cluster.incarnations.get(broker)
        earlier = _process_under_leader(change, present) if present else None
        if present is None or earlier is None:
            continue
        kind, grade, guards = _grade(change)
        if kind == "note" and not change.thresholds.every:
            continue
        unfenced = None if present.fenced else present.changed
        waited = duration_ms(unfenced, change.event.record.moment) if unfenced else None
        after = "" if waited is None else f", {span(waited)} after it was unfenced"
        after += ", which is short" * (waited is not None and waited < SHORT_MS)
        yield quick_join.finding(
            change.event,
            f"Broker {broker} joined the ISR at {change.offset} as epoch {present.epoch}{after}; "
            f"its process before, epoch {earlier.epoch}, may have fetched under the same leader "
            f"epoch. {grade}",
            kind=kind,
            incarnations=((broker, earlier.epoch), (broker, present.epoch)),
            cannot_say="which of the two processes the leader had seen as caught up",
            event=present.registered.offset,
            **prevented_by(*guards),
        )


def _process_under_leader(
    change: LoggedChange, present: RegisteredIncarnation
) -> RegisteredIncarnation | None:
    """The process before, if it may have fetched under the present leader epoch.

    One that the controller fenced may still fetch: it is over with the next registration only.
    """
    led_since = change.before.led_since
    earlier = change.event.cluster.earlier_incarnations.get(present.broker, ())
    if not led_since or present.registered.offset <= led_since.offset or not earlier:
        return None
    last = earlier[-1]
    again = last.incarnation_id == present.incarnation_id or last.epoch == present.epoch
    return None if again else last


def _grade(change: LoggedChange) -> tuple[FindingKind, str, tuple[str, ...]]:
    """Kind, words and guards. KIP-903 compares broker epochs where followers send them.

    The controller knows how where they do: it knows the metadata version that lets them.
    """
    cluster, needed = change.event.cluster, GUARDS[COMPARED[0]].metadata_version or ""
    level = cluster.features.get("metadata.version")
    version = next((name for name, at in METADATA_LEVEL.items() if at == level), "")
    if version and not at_least(version, needed):
        below = f"metadata version {version} is below {needed}"
        return "occasion", f"Nothing compared broker epochs here: {below}.", COMPARED
    leader, guards = cluster.incarnations.get(change.before.leader), (*COMPARED, *ONE_PROCESS)
    release, first = leader.release if leader else "", first_release(*guards)
    is_late = is_before(release, first)
    if version and release and not is_late:
        return "note", "It is excluded, unless the request named no broker epoch (-1).", guards
    said = "It is not excluded: the version of the request and its broker epochs are not in the log"
    late = f", and before {first} a leader may take two processes for one" * is_late
    return "occasion", f"{said}{late}.", guards


@change_rule("F8", "sure", JOIN)
def not_alive_in_isr(change: LoggedChange) -> Iterator[Finding]:
    """A join of the ISR by a broker that is fenced, not registered or shutting down (KIP-841)."""
    incarnations = change.event.cluster.incarnations
    for present in filter(None, map(incarnations.get, change.joins)):
        state = "fenced" if present.fenced else "shutting down"
        guard = f"841.{'registered' if present.ended else state.replace(' ', '-')}"
        state = "not registered" if present.ended else state
        if not present.may_lead:
            said = f"Broker {present.broker} joined the ISR at {change.offset} while {state}."
            process = (present.broker, present.epoch)
            better = prevented_by(guard)
            yield not_alive_in_isr.finding(change.event, said, incarnations=(process,), **better)


@rule("F20", "note", ISR)
def flapping(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """More than ten changes of one ISR within five minutes."""
    times = event.after.isr_changes if event.after else ()
    # While it goes on, it is one finding.
    if _is_flapping(times) and event.before and not _is_flapping(event.before.isr_changes):
        said = f"The ISR changed {len(times)} times within {span(times[-1] - times[0])}"
        yield flapping.finding(event, f"{said}, the last time at {event.record.offset}.")


def _is_flapping(changes: tuple[int, ...]) -> bool:
    many = len(changes) > FLAPPING_CHANGES and 0 <= changes[-1] - changes[0] <= FLAPPING_MS
    return many and UNKNOWN not in changes
