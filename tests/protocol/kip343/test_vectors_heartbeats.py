"""KIP-343, which nobody built: its plays are its vectors, and each guard decides one of them.

Kafka has no test of it, and no release can judge it.
"""

from importlib import resources

import pytest

from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.protocol.features import Features, parse_features

PLAYS = (
    *("343-partitioned-broker", "343-two-processes", "343-isr-change", "343-swapped-isr-changes"),
    *("343-legacy-brokers", "343-controller-failover", "343-stopping", "343-two-leaders"),
    "343-stale-leader",
)
RELEASE_LINE = "kafka     kip-343\n"


@pytest.mark.parametrize("features", [pytest.param(parse_features("kip-343"), id="kip-343")])
@pytest.mark.parametrize("name", PLAYS)
def test_what_a_play_of_kip_343_expects(name: str, features: Features) -> None:
    """With a guard off the play is one that has it off, and expects the same."""
    file = resources.files("kiplab.plays") / "scenarios" / f"{name}.play"
    off = "".join(f"off {id}\n" for id, on in features.overrides if not on)
    text = file.read_text(encoding="utf-8").replace(RELEASE_LINE, RELEASE_LINE + off)
    expected = run_play(parse(text, name)).expectations
    assert [e.text for e in expected if e.status == "failed"] == []
    assert any(e.status == "held" for e in expected)
