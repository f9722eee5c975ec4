"""Rules that no conversation can try with some pair, each with the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...protocol.releases import RELEASES, Release, at_least
from .controller_rules import ControllerRule, Family
from .judged_pairs import JudgedPair

Where = Callable[[Release, JudgedPair], bool]


class Unreachable(NamedTuple):
    """A rule, where it cannot be reached, and why."""

    rule: ControllerRule
    where: Where
    why: str


def why_unreachable(rule: ControllerRule, pair: JudgedPair) -> str | None:
    """Why no conversation with `pair` tries `rule`; None if one can."""
    release = RELEASES[pair.release]
    return next((u.why for u in UNREACHABLE if u.rule == rule and u.where(release, pair)), None)


def _everywhere(_release: Release, _pair: JudgedPair) -> bool:
    return True


def _speaks_below(version: int) -> Where:
    """AlterPartition is not spoken up to that version."""
    return lambda release, _pair: release.alter_partition < version


def _from(version: str) -> Where:
    return lambda _release, pair: at_least(pair.metadata_version, version)


UNREACHABLE = (
    Unreachable(
        ControllerRule(Family.ERROR, "NEW_LEADER_ELECTED"),
        _everywhere,
        "Only a reassignment that completes takes the leadership from the sender, and conversations"
        " reassign nothing.",
    ),
    Unreachable(
        ControllerRule(Family.ERROR, "NOT_CONTROLLER"),
        lambda release, _pair: release.code < (3, 3),
        "Up to 3.2 epochs that are too new get the answers of those that are too old.",
    ),
    Unreachable(
        ControllerRule(Family.ERROR, "INELIGIBLE_REPLICA"),
        _speaks_below(2),
        "It came with version 2 of AlterPartition.",
    ),
    Unreachable(
        ControllerRule(Family.ERROR, "OPERATION_NOT_ATTEMPTED"),
        lambda release, _pair: release.code < (3, 3) or release.oldest_alter_partition >= 2,
        "It tells old leaders of members that may not join: 3.2 lets everybody join, and from 4.0"
        " on there are no such leaders.",
    ),
    Unreachable(
        ControllerRule(Family.ERROR, "UNKNOWN_TOPIC_ID"),
        _speaks_below(2),
        "Topics have ids since version 2 of AlterPartition.",
    ),
    Unreachable(
        ControllerRule(Family.TRANSITION, "FENCED falls silent"),
        lambda release, _pair: release.code < (4, 0),
        "Up to 3.9 a fenced broker has no session.",
    ),
    Unreachable(
        ControllerRule(Family.RECORD, "ConfigRecord"),
        _everywhere,
        "Conversations change no setting of a topic; what comes of it is unjudged.",
    ),
    Unreachable(
        ControllerRule(Family.RECORD, "FenceBrokerRecord"),
        _from("3.3-IV2"),
        "From metadata version 3.3-IV2 on a BrokerRegistrationChangeRecord stands for it.",
    ),
    Unreachable(
        ControllerRule(Family.RECORD, "UnfenceBrokerRecord"),
        _from("3.3-IV2"),
        "From metadata version 3.3-IV2 on a BrokerRegistrationChangeRecord stands for it.",
    ),
    Unreachable(
        ControllerRule(Family.RECORD, "BrokerRegistrationChangeRecord"),
        lambda release, _pair: not at_least(release.latest, "3.3-IV2"),
        "It waits for metadata version 3.3-IV2.",
    ),
)
"""What is named here and reached all the same fails a test."""
