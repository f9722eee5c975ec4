"""Random schedules full of ties: a function of a seed and a number.

Times come from a few lengths that mean something to Kafka (a heartbeat, a session, a lag), one
millisecond more or less, so that events meet, in every order.
"""

from random import Random

from .outside_events import Fate, Outside, OutsideKind, OutsideSchedule, ordered

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
