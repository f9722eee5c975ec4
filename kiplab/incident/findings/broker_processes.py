"""Brokers and controllers: two processes under one id, stops without an end, silence."""

from collections.abc import Iterable, Iterator

from ..records import UNKNOWN, Moment
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


@rule("F9", "sure", "broker")
def two_processes(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """An incarnation that registers again after another one had its id: two processes live."""
    present = event.life
    if present is None or event.record.type != REGISTERED:
        return
    earlier = event.cluster.earlier_lives.get(present.broker, ())
    own = [life for life in earlier if life.incarnation == present.incarnation]
    if not own or earlier[-1].incarnation == present.incarnation:
        return
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
    """Brokers fenced together a session after a controller took over: it never heard of them."""
    since, now = event.cluster.controller_since, event.record.moment
    if since is None or not _is_fence(event) or not _is_session_later(since, now):
        return
    fenced = [
        life
        for life in event.cluster.lives.values()
        if life.fenced and life.changed and since.offset < life.changed.offset <= now.offset
        if (duration_ms(life.changed, now) or 0) <= TOGETHER_MS
    ]
    if len(fenced) > 1:
        said = (
            f"Brokers {and_words(life.broker for life in fenced)} were fenced within "
            f"{span(TOGETHER_MS)}, up to {now.offset}, {span(now.time - since.time)} after "
            f"controller epoch {event.cluster.controller_epoch} began (at {since.offset}): their "
            "sessions ended under a controller that had not heard from them."
        )
        yield all_fenced_after_failover.finding(
            event,
            said,
            lives=tuple((life.broker, life.epoch) for life in fenced),
            cannot_say="whether the brokers were down or only could not reach the controller",
            event=since.offset,
        )


def _is_fence(event: LogEvent) -> bool:
    now = event.life
    is_change = event.record.type != REGISTERED
    return is_change and now is not None and now.fenced and now.changed == event.record.moment


def _is_session_later(since: Moment, now: Moment) -> bool:
    first, last = FAILOVER_MS
    return first <= (duration_ms(since, now) or 0) <= last


@rule("F11", "sure", "log")
def silent_controller(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """No record for more than 5 s where an idle controller writes one every half second."""
    previous, now = event.cluster.previous, event.record.moment
    if previous is None or now.time - previous.time <= SILENT_MS or not event.cluster.idles:
        return
    if previous.time == UNKNOWN or now.offset != previous.offset + 1:
        return  # Records are missing there.
    took_over = event.cluster.controller_since
    is_next = took_over is not None and took_over.offset == now.offset
    then = ", and another controller epoch begins behind it" if is_next else ""
    yield silent_controller.finding(
        event,
        f"No record from {previous.offset} to {now.offset}, {lasted(previous, now)}{then}.",
        previous,
        cannot_say="whether no controller was active or the disk of the active one stood still",
        partitions=(),
        event=now.offset,
    )


def _never_finished(end: EndOfLog) -> Iterator[Finding]:
    for life in end.cluster.lives.values():
        since = life.shutting_down_since
        if since and not life.fenced and not life.ended and _is_long(since, end.last):
            said = _stop_words(life, since, end.last)
            yield stop_not_finished.open_finding(
                since, f"{said} It is not over at the end.", lives=((life.broker, life.epoch),)
            )


@rule("F12", "note", "broker", at_end=_never_finished)
def stop_not_finished(event: LogEvent, _: Thresholds) -> Iterator[Finding]:
    """A controlled shutdown that neither a fence nor a registration ends within 6 minutes."""
    for life in _over(event):
        since = life.shutting_down_since
        if since and _is_long(since, event.record.moment):
            said = _stop_words(life, since, event.record.moment)
            lives = ((life.broker, life.epoch),)
            yield stop_not_finished.finding(event, said, since, lives=lives)


def _over(event: LogEvent) -> Iterable[BrokerLife]:
    """The process that the record fences, replaces or ends."""
    if event.life is None:
        return ()
    if event.record.type == REGISTERED:
        earlier = event.cluster.earlier_lives.get(event.life.broker, ())[-1:]
        return [life for life in earlier if not life.fenced]
    return [event.life] if _is_fence(event) or event.life.ended else []


def _is_long(since: Moment, until: Moment) -> bool:
    return (duration_ms(since, until) or 0) > STOP_MS


def _stop_words(life: BrokerLife, since: Moment, until: Moment) -> str:
    return (
        f"Broker {life.broker}, epoch {life.epoch}, was shutting down from {since.offset} on, "
        f"{lasted(since, until)}."
    )
