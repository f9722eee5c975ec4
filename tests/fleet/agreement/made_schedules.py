"""Schedules for what chance seldom tells, and guards of which none can tell, in either mode."""

import tomllib
from pathlib import Path

import msgspec

from kiplab.fleet.agreement.outside_events import OutsideSchedule
from kiplab.protocol.releases import Mode

_MADE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["made"]
MADE = {
    mode: [
        (msgspec.convert(one, OutsideSchedule), one["sets"][mode])
        for one in _MADE
        if mode in one["sets"]
    ]
    for mode in Mode
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
