"""Schedules in which a broker of the replica set is the controller, and both are hit at once.

The controller's broker dies, or is cut off for longer than its session lasts; nobody is the
controller until ZooKeeper ends that session, and the next one lives on a broker without a replica.
A planned stop is neither: there the session is closed, and another is elected within milliseconds.
"""

from msgspec.structs import replace

from kiplab.fleet.agreement.outside_events import Outside, OutsideSchedule, ordered


def with_its_controller(schedule: OutsideSchedule) -> OutsideSchedule:
    """The same schedule, but that the last broker that is hit for the first time is the controller.

    Until then it is the controller without a pause; if nobody is hit it is who an outage names.
    """
    hit, over = _hit(schedule), schedule.session + 1
    first = replace(hit, kind="crash") if hit.kind != "cut" else hit
    if first.kind == "cut" and first.lasts <= over:
        first = replace(first, lasts=first.lasts + over)
    outside = Outside(at=hit.at, kind="beat", broker=hit.broker)
    silent = Outside(at=hit.at, kind="outage", lasts=over)
    rest = (e for e in schedule.events if e is not hit and not (_is_outage(e) and e.at <= hit.at))
    events = (outside, silent, first, *rest)
    return ordered(replace(schedule, host=hit.broker, events=events))


def is_whole(schedule: OutsideSchedule) -> bool:
    """Whether who is the controller is hit as `with_its_controller` says, if it is a replica."""
    events, host = schedule.events, schedule.host
    lost = [e.at for e in events if _is_outage(e) and e.lasts == schedule.session + 1]
    hit = [e.at for e in events if e.broker == host and e.kind in ("crash", "cut")]
    beats = [e.at for e in events if e.broker == host and e.kind == "beat"]
    return not host or bool({*lost[:1]} & {*hit[:1]} & {*beats})


def _is_outage(event: Outside) -> bool:
    return event.kind == "outage"


def _hit(schedule: OutsideSchedule) -> Outside:
    incidents = [event for event in schedule.events if event.kind not in ("beat", "flush")]
    brokers: set[int] = set()
    first_time: list[Outside] = []
    for event in incidents:
        if not _is_outage(event) and event.broker not in brokers:
            brokers.add(event.broker)
            first_time.append(event)
    return (first_time or incidents)[-1]
