"""Schedules for what chance seldom tells, and guards of which none can tell."""

import tomllib
from pathlib import Path

import msgspec

from kiplab.fleet.agreement.kernel_run import OutsideSchedule

_MADE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["made"]
MADE = [(msgspec.convert(one, OutsideSchedule), one["set"]) for one in _MADE]
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
