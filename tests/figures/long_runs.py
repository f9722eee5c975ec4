"""Long plays, the same every time: six brokers, three partitions, quiet hours and races."""

from collections.abc import Iterator
from itertools import count

from kiplab.plays.grammar import parse
from kiplab.plays.play import Play
from kiplab.plays.runner import do_line, open_stage
from kiplab.plays.stage import Stage
from kiplab.protocol.features import parse_features

BROKERS = (1, 2, 3, 4, 5, 6)
HEADER = (
    "title A long day of a busy cluster",
    "question Which of these hours would you want to see again?",
    *(f"broker {id}" for id in BROKERS),
    "topic orders replicas=1,2,3 leader=1 log=10@0",
    "topic invoices replicas=3,4,5 leader=3 log=10@0",
    "topic parcels replicas=5,6,1 leader=5 log=10@0",
)
FOLLOWERS = {
    "orders-0": (1, (2, 3)),
    "invoices-0": (3, (4, 5)),
    "parcels-0": (5, (6, 1)),
}
"""Partition: who leads it, and who copies it."""
VICTIMS = (2, 4, 6)
"""They follow and never lead, so that the story goes on as it was written."""


DEATHS = ("", " disk=replaced")
"""How a victim of the race dies, at first and then."""


def long_stage(steps: int, kafka: str = "3.5") -> Stage:
    """The run of a play of so many steps, each of them several events."""
    features = parse_features(kafka)
    stage = open_stage(long_play(steps), features)
    for line, statement in enumerate(stage.play.statements, 1):
        stage = do_line(stage, statement, line)
    return stage


def long_play(steps: int) -> Play:
    """The play; ``hold`` and ``release`` are lines of it and no steps."""
    moving = 0
    lines = list(HEADER)
    for line in endless():
        lines.append(line)
        moving += not line.startswith(("hold", "release"))
        if moving == steps:
            break
    return parse("\n".join(lines) + "\n", "a-long-day")


def endless() -> Iterator[str]:
    """Hours of produce and fetch, and after each of them a broker that dies and comes back."""
    for hour in count():
        yield from quiet(hour)
        victim = VICTIMS[hour % len(VICTIMS)]
        yield from (race if hour % 2 else outage)(victim)


def quiet(hour: int) -> Iterator[str]:
    """Records are written and copied; nobody would look."""
    for part in range(2):
        for name, (_, followers) in FOLLOWERS.items():
            yield f"produce {name} count={1 + (hour + part) % 5}"
            yield from (f"fetch {follower}" for follower in followers)
    yield "heartbeat 3"
    yield "flush 1"


def outage(victim: int) -> list[str]:
    """It dies, comes back with its log, and catches up."""
    fetches = [f"fetch {id}" for id in BROKERS if id != victim]
    back = [f"{verb} {victim}" for verb in ("start", "unfence", "catch-up")]
    return [f"crash {victim}", f"expire {victim}", *fetches, *back]


def race(victim: int) -> list[str]:
    """KAFKA-14139: the request that would take it back is slow, and it loses its disk meanwhile."""
    leader = next(lead for lead, copies in FOLLOWERS.values() if victim in copies)
    request, back = f"alter-partition from={leader}", ("expire", "start", "unfence")
    incarnations = [
        [f"crash {victim}{how}", *(f"{verb} {victim}" for verb in back)] for how in DEATHS
    ]
    asks = [f"hold {request}", f"fetch {victim}"]
    answers = [f"deliver {request}", f"release {request}", f"catch-up {victim}"]
    return [*incarnations[0], *asks, *incarnations[1], *answers]
