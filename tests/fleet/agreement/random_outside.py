"""Random schedules full of ties: a function of a seed and a number.

Times come from a few lengths that mean something to Kafka (a heartbeat, a session, a lag), one
millisecond more or less, so that events meet, in every order. In those of the race a follower is
back, and its leader proposes it, slowly. Meanwhile it crashes again and loses records. Without a
check it joins all the same; then the leader goes. Only some of them end that way.
"""

from random import Random

from kiplab.fleet.agreement.kernel_run import (
    Fate,
    Outside,
    OutsideKind,
    OutsideSchedule,
    ordered,
)

GAPS = (0, 0, 0, 1, 1, 2, 500, 999, 1_000, 2_000, 2_001, 5_000, 8_999, 9_000, 9_001, 15_000, 40_000)
LENGTHS = (
    *(1, 1, 2, 500, 1_000, 2_000, 4_000, 7_001, 8_000, 9_000, 9_001, 9_002),
    *(12_000, 20_000, 31_000),
)
DELAYS = (1, 1, 1, 2, 10, 500, 1_000, 2_000, 5_000, 9_000, 9_001, 14_000, 20_000, 35_000)
AGES = (0, 0, 1, 2, 500, 1_000, 1_999, 2_000)
FATES: tuple[Fate, ...] = ("kept", "kept", "tail-lost", "replaced")
DRAWN_KINDS: tuple[OutsideKind, ...] = (*("crash",) * 3, "bounce", "bounce", "cut", "outage")
REST_MS = 60_000


def random_schedule(seed: int, index: int) -> OutsideSchedule:
    """Schedule `index` of `seed`: one to six events to one to four replicas."""
    random = Random(f"{seed}/{index}")
    replicas = random.choice((1, 2, 2, 2, 3, 3, 3, 4))
    events: list[Outside] = []
    now = random.choice(LENGTHS)
    for _ in range(random.randint(1, 6)):
        events += _incident(random, now, replicas)
        now += random.choice(GAPS) + random.choice((0, 0, random.choice(LENGTHS)))
    return ordered(
        OutsideSchedule(
            replicas=replicas,
            min_insync=min(replicas, random.choice((1, 1, 2))),
            unclean=random.random() < 0.3,
            bounces_wait=random.random() < 0.3,
            leader=random.randint(1, replicas),
            patience=random.choice((2_000, 9_000, 300_000)),
            end=now + REST_MS,
            events=tuple(events),
        )
    )


def _incident(random: Random, at: int, replicas: int) -> list[Outside]:
    """One event, and the heartbeat and the flush before it."""
    kind, broker = random.choice(DRAWN_KINDS), random.randint(1, replicas)
    fate = random.choice(FATES) if kind == "crash" else "kept"
    event = Outside(
        at=at,
        kind=kind,
        broker=1 if kind == "outage" else broker,
        fate=fate,
        restart=random.choice(LENGTHS),
        ready=random.choice(LENGTHS),
        level=random.choice(LENGTHS),
        lag_phase=random.choice((0, 1, 1_000, 7_000, 14_999)),
        shutdown=random.choice((1, 2, 500, 2_000, 3_000)),
        lasts=random.choice(LENGTHS),
        recover=random.choice(LENGTHS),
        delays=tuple(random.choice(DELAYS) for _ in range(random.choice((1, 2, 4)))),
    )
    if kind == "outage":
        return [event]
    outsides = [event]
    if kind != "bounce":
        outsides.append(Outside(at=max(1, at - random.choice(AGES)), kind="beat", broker=broker))
    if fate == "tail-lost":
        age = random.choice((*AGES, *LENGTHS))
        outsides.append(Outside(at=max(1, at - age), kind="flush", broker=broker))
    return outsides


# --- the race -------------------------------------------------------------------------------------

LEADER, FOLLOWER = 1, 2
RACE_FATES: tuple[Fate, ...] = ("kept", "tail-lost", "replaced")
RACE_KINDS: tuple[OutsideKind, ...] = ("crash", "bounce")


def racing_schedule(seed: int, index: int) -> OutsideSchedule:
    """Schedule `index` of `seed`: a follower goes twice, then its leader."""
    random = Random(f"race/{seed}/{index}")
    left = random.randint(3_000, 5_000)
    first = Outside(
        at=left,
        kind=random.choice(RACE_KINDS),
        broker=FOLLOWER,
        restart=random.randint(1, 12_000),
        ready=random.randint(1, 1_000),
        level=random.randint(1, 2_000),
        lag_phase=random.randint(0, 14_999),
        delays=(random.choice((1, 8_000, 16_000, 24_000)),),
    )
    # With ZooKeeper a start waits for the end of an earlier session: some of the crashes come late.
    request_at = left + first.restart + first.ready + first.level
    again = _crash(
        random, FOLLOWER, request_at + random.randint(1, 9_000), random.choice(RACE_FATES)
    )
    last = _crash(random, LEADER, again[-1].at + random.randint(1, 30_000), "kept")
    return ordered(
        OutsideSchedule(
            replicas=random.choice((2, 2, 3)),
            leader=LEADER,
            end=last[-1].at + REST_MS,
            events=(Outside(at=left, kind="beat", broker=FOLLOWER), first, *again, *last),
        )
    )


def _crash(random: Random, broker: int, at: int, fate: Fate) -> list[Outside]:
    """With the heartbeat and the flush before it."""
    crash = Outside(
        at=at,
        kind="crash",
        broker=broker,
        fate=fate,
        restart=random.randint(1, 15_000),
        ready=random.randint(1, 1_000),
        level=random.randint(1, 30_000),
        lag_phase=random.randint(0, 14_999),
        delays=(random.choice((1, 8_000, 16_000)),),
    )
    beat = Outside(at=at - random.randint(0, 2_000), kind="beat", broker=broker)
    flush = Outside(at=at - random.randint(0, 35_000) % at, kind="flush", broker=broker)
    return [beat, *([flush] if fate == "tail-lost" else []), crash]
