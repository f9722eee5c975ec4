"""UnregisterBroker: a broker is forgotten, running or not."""

import pytest

from kiplab.engine.truth import registration_of, session_lasts, stale_sessions
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.stage import Stage
from kiplab.protocol.facts import ControllerResigned
from kiplab.protocol.ids import BrokerId

RELEASES = ("3.2", "3.5", "3.9")
ONE, TWO = BrokerId(1), BrokerId(2)
PAIR = """
broker 1 epoch=101
broker 2 epoch=102
topic orders replicas=1,2 isr=1,2 leader=1 leader-epoch=5 partition-epoch=10
topic logs replicas=2 isr=2 leader=2 leader-epoch=3
"""


def played(release: str, *lines: str, timed: bool = False) -> Stage:
    """Two brokers of `release`, and what happens to them; every expectation holds."""
    header = f"kafka {release}\n{PAIR}" + ("timed\n" if timed else "")
    stage = run_play(parse(header + "\n".join(lines)))
    assert [e for e in stage.expectations if e.status != "held"] == []
    return stage


@pytest.mark.parametrize("release", RELEASES)
def test_a_broker_leaves_every_isr_but_the_last_and_is_forgotten(release: str) -> None:
    stage = played(
        release,
        "send unregister-broker from=1 broker=1",
        "expect error=NONE records=PartitionChangeRecord,UnregisterBrokerRecord",
        "expect orders-0 leader=2 isr=2 leader-epoch=6 partition-epoch=11",
        "send unregister-broker from=1 broker=2",
        "expect orders-0 leader=none isr=2 leader-epoch=7",
        "expect logs-0 leader=none isr=2 leader-epoch=4",
    )
    assert registration_of(stage.cluster, ONE) is None


@pytest.mark.parametrize("release", RELEASES)
def test_a_broker_that_nobody_knows_is_an_error(release: str) -> None:
    played(
        release,
        "send unregister-broker from=1 broker=7",
        "expect error=BROKER_ID_NOT_REGISTERED records=none",
    )


@pytest.mark.parametrize("release", RELEASES)
def test_it_hears_that_its_epoch_is_stale_from_then_on(release: str) -> None:
    played(
        release,
        "send unregister-broker from=1 broker=2",
        "heartbeat 2",
        "expect error=STALE_BROKER_EPOCH",
    )


@pytest.mark.parametrize(("release", "lasts"), [("3.2", True), ("3.3", False), ("3.9", False)])
def test_3_2_goes_on_counting_on_it(release: str, lasts: bool) -> None:
    stage = played(release, "send unregister-broker from=1 broker=2")
    assert session_lasts(stage.cluster, TWO) is lasts


def test_a_controller_of_3_2_gives_up_when_it_is_silent() -> None:
    """As a real 3.2.3 does: it does not know whom to fence."""
    lines = ("crash 2", "send unregister-broker from=1 broker=2", "advance 10s")
    stage = played("3.2", *lines, timed=True)
    (resigned,) = (e for e in stage.events if isinstance(e, ControllerResigned))
    assert (resigned.request, resigned.exception) == ("maybeFenceReplicas", "RuntimeException")
    assert not stale_sessions(stage.cluster)
    assert not session_lasts(stage.cluster, TWO)
