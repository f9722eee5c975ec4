"""The four failures of KIP-380's motivation and a failover, as small plays of ZooKeeper's time."""

from functools import cache

from kiplab.figures.timeline.bounce_panels import OFF, ON
from kiplab.rows.columns import Rows
from tests.figures.small_plays import play

CLUSTER = """\
kafka zk-2.1
controller broker=0 epoch=5
broker 0 epoch=90
broker 1 epoch=100
broker 2 epoch=91
topic L replicas=1,2 isr=1,2 leader=1 leader-epoch=3 partition-epoch=6 log=900@3
topic F replicas=2,1 isr=2,1 leader=2 leader-epoch=7 partition-epoch=10 log=500@7
given next-metadata-offset=140
"""
STOP_REPLICA = CLUSTER + (
    "hold leader-and-isr to=1\nhold watcher-event to=controller-0\nshut-down 1\nstart 1\n"
    "release leader-and-isr to=1\ndeliver watcher-event n=1\nfetch 1\n"
    "crash 2\nexpire 2\ndeliver watcher-event\n"
)
"""Mail that waits while broker 1 bounces; the controller looks after the mail is delivered."""
LATE_SHUTDOWN = CLUSTER + (
    "hold controlled-shutdown n=2\nhold controlled-shutdown-reply n=1\nshut-down 1\nshut-down 1\n"
    "release controlled-shutdown-reply\nstart 1\nfetch 1\ndeliver controlled-shutdown n=2\n"
)
"""The second try of an earlier incarnation reaches the controller when broker 1 is back."""
FIRST_MAIL = CLUSTER.replace("isr=2,1 leader=2", "isr=1,2 leader=1") + (
    "hold leader-and-isr to=1\nhold watcher-event to=controller-0\nelect F-0\ncrash 1\nexpire 1\n"
    "start 1\ndeliver leader-and-isr to=1\ndeliver watcher-event\n"
)
"""The first LeaderAndIsr of an incarnation was for the one before, and names one partition."""
MISSED_BOUNCE = CLUSTER + (
    "hold watcher-event to=controller-0\ncrash 1\nexpire 1\nstart 1\ndeliver watcher-event\n"
)
"""Broker 1 is back before the controller looks."""
SEEN_IN_TIME = CLUSTER + "hold leader-and-isr to=1\nshut-down 1\nstart 1\n"
"""Mail waits, and goes with the connection that the controller closes."""
FAILED_OVER = CLUSTER + "crash 0\nexpire 0\nfetch 1\nstart 0\n"
"""Another broker becomes the controller."""
ALL = {
    "stop replica": STOP_REPLICA,
    "late shutdown": LATE_SHUTDOWN,
    "first mail": FIRST_MAIL,
    "missed bounce": MISSED_BOUNCE,
    "seen in time": SEEN_IN_TIME,
    "failed over": FAILED_OVER,
}


@cache
def run(name: str, kafka: str) -> Rows:
    """The rows of one of these plays."""
    return play(ALL[name], kafka)


def runs() -> list[Rows]:
    """All of them, on both releases."""
    return [run(name, kafka) for name in ALL for kafka in (OFF, ON)]
