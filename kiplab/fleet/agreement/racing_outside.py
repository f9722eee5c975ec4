"""Random schedules in which a stale replica comes to lead often enough to be counted.

A follower is back and caught up, and its leader proposes it, slowly. Meanwhile it crashes again and
loses records. Without a check it joins all the same. Then the leader goes. The times are random, so
only some schedules end that way.
"""

from random import Random

from .outside_events import Fate, Outside, OutsideKind, OutsideSchedule, ordered

LEADER, FOLLOWER = 1, 2
_FATES: tuple[Fate, ...] = ("kept", "tail-lost", "replaced")
_KINDS: tuple[OutsideKind, ...] = ("crash", "bounce")
_REST_MS = 60_000


def racing_schedule(seed: int, index: int) -> OutsideSchedule:
    """Schedule `index` of `seed`: a follower goes twice, then its leader."""
    random = Random(f"race/{seed}/{index}")
    left = random.randint(3_000, 5_000)
    first = Outside(
        at=left,
        kind=random.choice(_KINDS),
        broker=FOLLOWER,
        restart=random.randint(1, 12_000),
        ready=random.randint(1, 1_000),
        level=random.randint(1, 2_000),
        lag_phase=random.randint(0, 14_999),
        delays=(random.choice((1, 8_000, 16_000, 24_000)),),
    )
    request_at = left + first.restart + first.ready + first.level
    again = _crash(random, FOLLOWER, request_at + random.randint(1, 9_000), random.choice(_FATES))
    last = _crash(random, LEADER, again[-1].at + random.randint(1, 30_000), "kept")
    return ordered(
        OutsideSchedule(
            replicas=random.choice((2, 2, 3)),
            leader=LEADER,
            end=last[-1].at + _REST_MS,
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
