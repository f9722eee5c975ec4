"""Schedules for what chance seldom tells, and guards of which none can tell."""

from kiplab.fleet.agreement.outside_events import Outside, OutsideSchedule

PENDING_COUNTS = OutsideSchedule(
    end=150_000,
    events=(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, delays=(48_998,)),
        Outside(at=28_000, kind="beat", broker=2),
        Outside(at=28_000, kind="crash", broker=2, restart=34_000, level=30_000),
        Outside(at=63_000, kind="beat", broker=1),
        Outside(at=63_000, kind="crash", broker=1, restart=60_000),
    ),
)
"""Broker 2 dies long before it is let in: who counts it meanwhile commits nothing that it lacks."""
SHORT_OF_REPLICAS = OutsideSchedule(
    min_insync=2,
    end=60_000,
    events=(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=100_000),
        Outside(at=4_000, kind="flush", broker=1),
        Outside(at=12_000, kind="beat", broker=1),
        Outside(at=12_000, kind="crash", broker=1, fate="tail-lost", restart=1_000),
    ),
)
"""Broker 1 loses what it wrote alone; short of min.insync.replicas nothing of it is committed."""
ELECTED_WHILE_CUT_OFF = OutsideSchedule(
    replicas=3,
    unclean=True,
    leader=2,
    end=103_500,
    events=(
        Outside(at=8_500, kind="beat"),
        Outside(at=9_000, kind="crash", delays=(10,)),
        Outside(at=9_999, kind="beat", broker=2),
        Outside(at=9_999, kind="cut", broker=2, lasts=20_000, delays=(9_001,)),
        Outside(at=17_000, kind="beat"),
        Outside(at=17_501, kind="beat", broker=3),
        Outside(at=19_000, kind="cut", level=500, delays=(2_000,)),
        Outside(at=19_500, kind="crash", broker=3, delays=(2_000,)),
        Outside(at=34_500, kind="beat"),
        Outside(at=34_500, kind="crash", delays=(2,)),
    ),
)
"""Broker 2 is elected while it is cut off, and is no leader any more when it learns of it."""
WITHOUT_HEARTBEAT = OutsideSchedule(
    end=81_002, events=(Outside(at=3_000, kind="crash", delays=(10_000,)),)
)
"""Without a heartbeat the session is over at the moment of a registration: it comes first."""
ACCEPTED_WITHOUT_THE_LEADER = OutsideSchedule(
    leader=2,
    end=135_000,
    events=(
        Outside(at=57_000, kind="bounce", broker=2, restart=9_000, ready=20_000, shutdown=500),
        Outside(at=74_000, kind="outage", lasts=1_000),
        Outside(at=74_001, kind="beat"),
        Outside(at=74_001, kind="crash", ready=8_000, delays=(35_000,)),
    ),
)
"""Broker 1 asks for broker 2 and restarts; what it asked for comes when it is fenced."""
MADE = (
    (PENDING_COUNTS, "none"),
    (SHORT_OF_REPLICAS, "later"),
    (ACCEPTED_WITHOUT_THE_LEADER, "903"),
    # What the long comparison found.
    (ELECTED_WHILE_CUT_OFF, "841+903+704"),
    (WITHOUT_HEARTBEAT, "704"),
)
"""Each with a feature set under which a guard makes a difference."""
UNDETECTED = {
    "497.sender-is-leader": "Another leader has another leader epoch, which is judged before.",
    "841.shutting-down": "Who leaves has led: the request is of an earlier leader epoch.",
}
"""Guards that no schedule can detect, and why: test_kernel_rules.py does."""
REFUSE_NEVER = {
    **UNDETECTED,
    "704.leader-refuses": "It refuses fetches and clients, which are no lines of a trace.",
}
"""Guards with an error that no line of a trace can name, and why."""
