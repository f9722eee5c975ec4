"""Brokers and controllers: two processes under one id, stops without an end, silence."""

from collections.abc import Iterator

from ..records import Moment
from ..states import BrokerLife, LogEvent
from .finding import Finding
from .finding_words import and_words, duration_ms, lasted, span
from .rule import EndOfLog, Thresholds, rule

REGISTERED = "REGISTER_BROKER_RECORD"
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


def _is_fence(event: LogEvent) -> bool:
    now = event.life
    is_change = event.record.type != REGISTERED
    return is_change and now is not None and now.fenced and now.changed == event.record.moment


@rule("F9", "sure", "broker")
def two_processes(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """An incarnation that registers again after another one had its broker id."""
    if (present := event.life) is None or event.record.type != REGISTERED:
        return
    earlier = event.cluster.earlier_lives.get(present.broker, ())
    own = [life for life in earlier if life.incarnation == present.incarnation]
    # Behind a gap the incarnation is not known: "".
    if own and earlier[-1].incarnation not in ("", present.incarnation):
        yield two_processes.finding(
            event,
            f"Incarnation {present.incarnation} of broker {present.broker} registered as epoch "
            f"{own[-1].epoch} and, after incarnation {earlier[-1].incarnation} (epoch "
            f"{earlier[-1].epoch}), again at {event.record.offset} as epoch {present.epoch}: two "
            "processes use one id.",
            lives=tuple((life.broker, life.epoch) for life in (own[-1], earlier[-1], present)),
        )


@rule("F10", "note", "broker")
def all_fenced_after_failover(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """Brokers that are fenced together, a session after a controller epoch began."""
    since, now = event.cluster.controller_since, event.record.moment
    waited = duration_ms(since, now) if since else None
    if since is None or waited is None or not _is_fence(event):
        return
    fenced = [
        life
        for life in event.cluster.lives.values()
        if life.fenced and life.changed and since.offset < life.changed.offset
        if (duration_ms(life.changed, now) or 0) <= TOGETHER_MS
    ]
    if FAILOVER_MS[0] <= waited <= FAILOVER_MS[1] and len(fenced) > 1:
        yield all_fenced_after_failover.finding(
            event,
            f"Brokers {and_words(life.broker for life in fenced)} were fenced within "
            f"{span(TOGETHER_MS)}, up to {now.offset}, {span(waited)} after controller epoch "
            f"{event.cluster.controller_epoch} began (at {since.offset}).",
            lives=tuple((life.broker, life.epoch) for life in fenced),
            cannot_say="whether they were down or only could not reach the new controller",
            event=since.offset,
        )


@rule("F11", "sure", "log")
def silent_controller(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """No record for more than 5 s where an idle controller writes one every half second."""
    previous, now = event.cluster.previous, event.record.moment
    if previous is None or not event.cluster.idles or now.offset != previous.offset + 1:
        return  # Records are missing there.
    if (duration_ms(previous, now) or 0) > SILENT_MS:
        is_first = event.cluster.controller_since == now
        next_epoch = ", and another controller epoch begins" if is_first else ""
        yield silent_controller.finding(
            event,
            f"No record from {previous.offset} to {now.offset}, {lasted(previous, now)}"
            f"{next_epoch}.",
            previous,
            cannot_say="whether no controller was active or the disk of the active one stood still",
            partitions=(),
            event=now.offset,
        )


def _never_finished(end: EndOfLog) -> Iterator[Finding]:
    for life in end.cluster.lives.values():
        said = "" if life.fenced or life.ended else _long_stop(life, end.last)
        if said and (since := life.shutting_down_since):
            lives = ((life.broker, life.epoch),)
            yield stop_not_finished.open_finding(since, f"{said} It is still so.", lives=lives)


@rule("F12", "note", "broker", _never_finished)
def stop_not_finished(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """A controlled shutdown that neither a fence nor a registration ends within 6 minutes."""
    over = event.life
    if over and event.record.type == REGISTERED:
        over = next(reversed(event.cluster.earlier_lives.get(over.broker, ())), None)
        over = None if over and over.fenced else over
    elif not (over and (_is_fence(event) or over.ended)):
        return
    said = _long_stop(over, event.record.moment) if over else ""
    if over and said:
        lives = ((over.broker, over.epoch),)
        yield stop_not_finished.finding(event, said, over.shutting_down_since, lives=lives)


def _long_stop(life: BrokerLife, until: Moment) -> str:
    since = life.shutting_down_since
    if since is None or (duration_ms(since, until) or 0) <= STOP_MS:
        return ""
    said = f"Broker {life.broker}, epoch {life.epoch}, was shutting down from {since.offset} on"
    return f"{said}, {lasted(since, until)}."
