"""Schedules for what chance seldom tells, and guards of which none can tell, in either mode."""

from kiplab.fleet.agreement.outside_events import Outside, OutsideSchedule
from kiplab.protocol.releases import Mode

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

# With ZooKeeper

BOTH_SHUT_DOWN = OutsideSchedule(
    min_insync=2,
    unclean=True,
    end=101_003,
    events=(
        Outside(at=32_002, kind="bounce", delays=(500,)),
        Outside(at=32_002, kind="bounce", broker=2, delays=(9_000,)),
    ),
)
"""Broker 2 is to lead as broker 1 goes, and goes itself in the same moment."""
RECOVERS_WHILE_CUT_OFF = OutsideSchedule(
    unclean=True,
    leader=2,
    end=126_001,
    events=(
        Outside(at=9_000, kind="bounce", broker=2, restart=31_000, delays=(35_000,)),
        Outside(at=49_000, kind="bounce", ready=7_001, delays=(2,)),
        Outside(at=64_001, kind="beat", broker=2),
        Outside(at=64_001, kind="cut", broker=2, lasts=20_000, delays=(14_000,)),
    ),
)
"""Broker 2 recovers as it is cut off: while it answers nobody, broker 1 does not follow it."""
LOST_WHILE_RECOVERING = OutsideSchedule(
    unclean=True,
    end=134_004,
    events=(
        Outside(at=9_002, kind="bounce", restart=9_000, delays=(10,)),
        Outside(at=9_002, kind="bounce", broker=2, ready=31_000, delays=(10,)),
        Outside(at=18_004, kind="beat"),
        Outside(at=18_004, kind="crash", recover=20_000),
        Outside(at=25_003, kind="beat"),
        Outside(at=27_003, kind="crash", delays=(5_000,)),
        Outside(at=34_004, kind="outage", delays=(1_000,)),
    ),
)
"""A new controller writes down a leader that died as it recovered, and is alone in the ISR."""
UNCLEAN_TWICE = OutsideSchedule(
    min_insync=2,
    unclean=True,
    leader=2,
    end=61_505,
    events=(
        Outside(at=1, kind="beat"),
        Outside(at=500, kind="bounce", restart=500, level=9_000),
        Outside(at=503, kind="beat", broker=2),
        Outside(at=1_003, kind="crash", broker=2, delays=(1_000,)),
        Outside(at=1_005, kind="crash"),
    ),
)
"""Broker 1 is elected with nothing, dies, and broker 2 comes before it: unclean once more."""
MISSED_NEWS = OutsideSchedule(
    replicas=3,
    end=200_000,
    events=(
        Outside(at=1_000, kind="beat", broker=2),
        Outside(at=1_000, kind="crash", broker=2, restart=100_000),
        Outside(at=5_000, kind="beat"),
        Outside(at=5_000, kind="cut", lasts=8_000, level=500, lag_phase=7_000),
        Outside(at=11_000, kind="outage", lasts=40_000),
        Outside(at=14_000, kind="beat", broker=3),
        Outside(at=14_000, kind="crash", broker=3, restart=20_000, level=1_000),
        Outside(at=70_000, kind="beat"),
        Outside(at=70_000, kind="crash", fate="replaced", restart=60_000),
    ),
)
"""Broker 1 is reached again when there is no controller, and does not know that broker 2 is out."""
LAST_WORDS = OutsideSchedule(
    replicas=3,
    min_insync=2,
    leader=3,
    end=129_000,
    events=(
        Outside(at=30_000, kind="beat"),
        Outside(at=31_000, kind="crash"),
        Outside(at=36_999, kind="beat", broker=3),
        Outside(at=37_001, kind="crash", broker=3, fate="tail-lost"),
        Outside(at=39_000, kind="beat", broker=2),
        Outside(at=39_001, kind="crash", broker=2, restart=7_001, ready=9_000),
        Outside(at=44_001, kind="outage", lasts=8_000),
    ),
)
"""As the controller is lost it is telling broker 3, which is down, who leads. Broker 3 is back
before the next controller, and hears from that one, not from the one before it."""
DEAD_MEMBER = OutsideSchedule(
    replicas=3,
    end=118_000,
    events=(
        Outside(at=9_002, kind="beat", broker=3),
        Outside(at=9_002, kind="crash", broker=3, delays=(14_000,)),
        Outside(at=29_002, kind="bounce", broker=3, restart=9_001),
        Outside(at=38_003, kind="bounce", delays=(35_000,)),
    ),
)
"""Broker 3 is let in when it is gone already. Broker 1 shuts down, and leaves broker 3 in the ISR:
the choice among the members that stay does not check which of them is live."""
MADE = {
    Mode.KRAFT: (
        (PENDING_COUNTS, "none"),
        (SHORT_OF_REPLICAS, "later"),
        (ACCEPTED_WITHOUT_THE_LEADER, "903"),
        # What the long comparison found.
        (ELECTED_WHILE_CUT_OFF, "841+903+704"),
        (WITHOUT_HEARTBEAT, "704"),
    ),
    Mode.ZOOKEEPER: (
        (PENDING_COUNTS, "none"),
        (BOTH_SHUT_DOWN, "380"),
        (RECOVERS_WHILE_CUT_OFF, "380+704"),
        (LOST_WHILE_RECOVERING, "380+704"),
        (UNCLEAN_TWICE, "none"),
        (MISSED_NEWS, "none"),
        (LAST_WORDS, "none"),
        (DEAD_MEMBER, "380"),
    ),
}
"""Each with a feature set under which a guard makes a difference."""
UNDETECTED = {
    Mode.KRAFT: {
        "497.sender-is-leader": "Another leader has another leader epoch, which is judged before.",
        "841.shutting-down": "Who leaves has led: the request is of an earlier leader epoch.",
    },
    Mode.ZOOKEEPER: {
        "497.partition-epoch": (
            "A controller writes nothing under the leader epoch that it finds, and a leader has one"
            " request under way: an earlier partition epoch is one of an earlier leader epoch."
        )
    },
}
"""Guards that no schedule can detect, and why: test_kernel_rules.py does."""
_OF_FETCHES = "It refuses fetches and clients, which are no lines of a trace."
REFUSE_NEVER = {
    Mode.KRAFT: {**UNDETECTED[Mode.KRAFT], "704.leader-refuses": _OF_FETCHES},
    Mode.ZOOKEEPER: {
        **UNDETECTED[Mode.ZOOKEEPER],
        "631.one-live-incarnation": "NODEEXISTS comes of a registration: it is no line of a trace.",
        "704.leader-refuses": _OF_FETCHES,
    },
}
"""Guards with an error that no line of a trace can name, and why."""
