"""Upgrades: what an older release has let through is not promised by a newer one."""

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.play_errors import PlayError
from kiplab.plays.runner import run_play
from kiplab.plays.verdict import breaks_promise, verdict

RACE = """
kafka 3.4
broker 1 epoch=40
broker 2 epoch=41
topic orders replicas=1,2 isr=1 leader=1 leader-epoch=5 partition-epoch=10 log=100@5
hold alter-partition from=1
fetch 2
crash 2 disk=replaced
expire 2
start 2
unfence 2
upgrade all kafka=3.5
upgrade metadata=3.5-IV2
deliver alter-partition from=1
crash 1
expire 1
"""


def test_an_old_request_does_harm_after_the_upgrade_and_breaks_no_promise() -> None:
    stage = run_play(parse(RACE))
    assert verdict(stage) == "loss"
    assert not breaks_promise(stage)


def test_between_releases_that_promise_it_the_promise_stays() -> None:
    stage = run_play(parse("kafka 3.5\nbroker 1\ntopic t\nupgrade all kafka=3.6"))
    assert not stage.cluster.inherited


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("kafka 3.9\nbroker 1\nupgrade all kafka=3.2", "does not know metadata version 3.9-IV0"),
        (
            "kafka 3.9\nmetadata 3.4-IV0\nbroker 1 kafka=3.4\nupgrade metadata=3.9-IV0",
            "broker 1 runs Kafka 3.4",
        ),
        ("kafka 3.5\nbroker 1\nupgrade metadata=3.4-IV0", "an upgrade lowers nothing"),
        (
            "kafka 3.4/3.0-IV1\nbroker 1\nupgrade metadata=3.2-IV0",
            "no metadata version below 3.3-IV0 can be upgraded to",
        ),
    ],
)
def test_no_release_runs_at_a_metadata_version_it_does_not_know(lines: str, reason: str) -> None:
    with pytest.raises(PlayError, match=reason):
        run_play(parse(lines))
