"""Brokers and controllers: two processes under one id, stops without an end, silence."""

from collections.abc import Iterator

from ..log_items import OffsetAndTime
from ..states import LogEvent, RegisteredIncarnation
from .finding import Finding
from .finding_words import duration_ms, lasted, span
from .rule import BROKER, SILENCE, EndOfLog, Thresholds, rule

FAILOVER_MS = (8_000, 12_000)
"""A new controller counts every session from its own start, and a session is 9 s by default
(broker.session.timeout.ms)."""
TOGETHER_MS = 2_000
"""Heartbeats come every 2 s (broker.heartbeat.interval.ms): sessions that end within that ended
for one reason."""
SILENT_MS = 5_000
"""Ten times what an idle controller waits for (metadata.max.idle.interval.ms is 500)."""
STOP_MS = 6 * 60_000
"""A broker waits five minutes for its controlled shutdown (BrokerServer.shutdown, 3.3 to 4.3), and
its session ends 9 s after its last heartbeat."""


@rule("F9", "sure", BROKER)
def two_processes(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """An incarnation that registers again after another one had its broker id."""
    now = event.incarnation
    if now is None or now.registered != event.record.moment:
        return
    earlier = event.cluster.earlier_incarnations.get(now.broker, ())
    own = [one for one in earlier if one.incarnation_id == now.incarnation_id]
    # Behind a gap the incarnation is not known: "".
    if own and earlier[-1].incarnation_id not in ("", now.incarnation_id):
        three = (own[-1], earlier[-1], now)
        names = [f"{one.incarnation_id} (epoch {one.epoch})" for one in three]
        said = f"Broker {now.broker} registered as incarnation {names[0]}, then {names[1]}, then "
        said += f"{names[2]} at {now.registered.offset}: two processes use one id."
        incarnations = tuple((incarnation.broker, incarnation.epoch) for incarnation in three)
        yield two_processes.finding(event, said, incarnations=incarnations)


@rule("F10", "note", BROKER)
def all_fenced_after_failover(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """Two brokers or more, fenced together a session after a controller epoch began."""
    since, now, cluster = event.cluster.controller_since, event.record.moment, event.cluster
    if event.incarnation is None or event.incarnation.changed != now or since is None:
        return
    waited = duration_ms(since, now) or 0
    last = [one for one in map(cluster.incarnations.get, cluster.fenced_last) if one and one.fenced]
    lately = [one for one in last if one.changed and now.time - one.changed.time <= TOGETHER_MS]
    is_then = FAILOVER_MS[0] <= waited <= FAILOVER_MS[1]
    if is_then and event.incarnation in lately and len(lately) > 1:
        said = f"Two brokers or more were fenced within {span(TOGETHER_MS)}, {span(waited)} after "
        said += f"controller epoch {cluster.controller_epoch} began (at {since.offset}), about as "
        said += "long as a session lasts."
        incarnations = tuple((incarnation.broker, incarnation.epoch) for incarnation in lately)
        cannot_say = "whether they were down, or only could not reach the new controller"
        yield all_fenced_after_failover.finding(
            event, said, incarnations=incarnations, cannot_say=cannot_say, event=since.offset
        )


@rule("F11", "sure", SILENCE)
def silent_controller(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """No record for more than 5 s where an idle controller writes one every half second."""
    previous, now = event.cluster.previous, event.record.moment
    if previous is None or not event.cluster.idles or now.offset != previous.offset + 1:
        return  # Or records are missing there.
    if (duration_ms(previous, now) or 0) > SILENT_MS:
        said = f"No record from {previous.offset} to {now.offset}, {lasted(previous, now)}"
        if event.cluster.controller_since == now:
            said += ", and another controller epoch begins"
        cannot_say = "whether no controller was active, or the disk of the active one stood still"
        yield silent_controller.finding(
            event, f"{said}.", previous, partitions=(), event=now.offset, cannot_say=cannot_say
        )


def _never_finished(end: EndOfLog) -> Iterator[Finding]:
    for incarnation in end.cluster.incarnations.values():
        since = None if incarnation.fenced or incarnation.ended else incarnation.shutting_down_since
        if since and (said := _long_stop(incarnation, since, end.last)):
            who = {"incarnations": ((incarnation.broker, incarnation.epoch),)}
            yield stop_not_finished.open_finding(since, f"{said} It is still so.", **who)


@rule("F12", "note", BROKER, at_end=_never_finished)
def stop_not_finished(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """A controlled shutdown that neither a fence nor a registration ends within 6 minutes."""
    now, moment = event.incarnation, event.record.moment
    if now is None:
        return
    for incarnation in (*event.cluster.earlier_incarnations.get(now.broker, ())[-1:], now):
        since = incarnation.shutting_down_since
        is_over = incarnation.changed if incarnation.fenced else incarnation.ended
        if since and is_over == moment and (said := _long_stop(incarnation, since, moment)):
            incarnations = ((incarnation.broker, incarnation.epoch),)
            yield stop_not_finished.finding(event, said, since, incarnations=incarnations)


def _long_stop(
    incarnation: RegisteredIncarnation, since: OffsetAndTime, until: OffsetAndTime
) -> str:
    """In words; empty where it was not long."""
    who = f"Broker {incarnation.broker}, epoch {incarnation.epoch}"
    is_long = (duration_ms(since, until) or 0) > STOP_MS
    said = f"{who}, was shutting down from {since.offset} on, {lasted(since, until)}."
    return said if is_long else ""
