"""Eight changes to a fleet. What becomes of a rate that each of them names?

The estimator says what comes true: the same fleet twice, before the change and after it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from ...fleet.parameters.fleet_study import FleetStudy, read_study

FLEET = "small"
MORE, LESS, SAME, NEVER = "MLSN"
WAYS = {
    MORE: "More: at least twice as much.",
    LESS: "Less: at most half as much.",
    SAME: "About the same: by less than a factor of two.",
    NEVER: "It cannot happen, before or after.",
}
"""What may become of a rate; their words are the choices of every question."""
TWICE = 2.0


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """`metric` under the KIPs of `features`, with the parameters `before` and `after` the change.

    `features` are two where the KIPs are what changes. `about` is what is asked for, `names` are
    those of the fleet before and after, `comes` is one of WAYS, and `reason` says why.
    """

    change: str
    about: str
    names: tuple[str, str]
    metric: str
    features: tuple[str, str]
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    comes: str
    reason: str

    @property
    def question(self) -> str:
        """Change and rate, as a question."""
        return f"{self.change}: what becomes of {self.about}?"


WHAT_IFS = {
    "A": WhatIf(
        change="KIP-841 alone, in place of KIP-903 alone",
        about="stale joins after a crash",
        names=("KIP-903 alone", "KIP-841 alone"),
        metric="stale_join_after_crash",
        features=("903", "841"),
        comes=LESS,
        reason="A restart takes minutes, a slow request half of one: it is usually read while the"
        " broker is still down, and fenced. Then KIP-841 refuses it; to KIP-903 nothing"
        " has changed yet.",
    ),
    "B": WhatIf(
        change="Both KIPs, in place of none",
        about="records lost with the last replica",
        names=("no KIP", "both KIPs"),
        metric="last_replica_loss",
        features=("none", "841+903"),
        comes=SAME,
        reason="Nobody compares an epoch when the only member of the ISR comes back with less:"
        " no KIP of this lab asks what it still has.",
    ),
    "C": WhatIf(
        change="Three replicas, in place of two",
        about="partitions that go offline",
        names=("two replicas", "three replicas"),
        metric="offline",
        features=("841+903", "841+903"),
        after={"replication_factor": 3},
        comes=SAME,
        reason="That three fail one by one is very rare; but what takes all brokers at once takes"
        " three as well. The curve ends at a floor.",
    ),
    "D": WhatIf(
        change="A reboot a week, in place of one a month",
        about="losses by the race, without KIPs",
        names=("a reboot a month", "a reboot a week"),
        metric="race_loss",
        features=("none", "none"),
        after={"bounces_per_year": 52},
        comes=MORE,
        reason="Four times the reboots, 16 times the losses: more windows, more crashes in them,"
        " and more leaders that go in time.",
    ),
    "E": WhatIf(
        change="A crashed broker is back in one minute, in place of five",
        about="stale joins after a crash, under KIP-841 alone",
        names=("back in five minutes", "back in one minute"),
        metric="stale_join_after_crash",
        features=("841", "841"),
        after={"crash_restart_s": 60},
        comes=MORE,
        reason="KIP-841 refuses while the broker is fenced. One that is back before the slow"
        " request is read is fenced no longer: what KIP-841 leaves to KIP-903 grows.",
    ),
    "F": WhatIf(
        change="Ten times as many slow requests",
        about="losses by the race, with both KIPs",
        names=("one request in 1,000 is slow", "one in 100"),
        metric="race_loss",
        features=("841+903", "841+903"),
        after={"slow_alter_partition_share": 0.01},
        comes=NEVER,
        reason="Zero by construction stays zero, however often and however late a request comes.",
    ),
    "G": WhatIf(
        change="Of three replicas min.insync.replicas=2, in place of 1",
        about="the time in which acks=all cannot write",
        names=("min.insync.replicas=1", "min.insync.replicas=2"),
        metric="under_min_us",
        features=("841+903", "841+903"),
        before={"replication_factor": 3},
        after={"replication_factor": 3, "min_insync_replicas": 2},
        comes=MORE,
        reason="With 2, a crash beside a restart stops the producers: being strict is paid for in"
        " time. (Not asked, because so small a study cannot say: how many losses of the last"
        " replica it prevents.)",
    ),
    "H": WhatIf(
        change="KIP-704 as well, where unclean elections are on",
        about="what such elections lose",
        names=("without KIP-704", "with KIP-704"),
        metric="unclean_loss",
        features=("841+903", "841+903+704"),
        before={"unclean_elections": True},
        after={"unclean_elections": True},
        comes=SAME,
        reason="KIP-704 has the new leader find out, and recover: it brings nothing back.",
    ),
}


def what_if_id(letter: str) -> str:
    """What a prediction of a what-if is kept under."""
    return f"fleet/what-if-{letter.lower()}"


ALL_WHAT_IFS = tuple(map(what_if_id, WHAT_IFS))


# --- what the estimator says ----------------------------------------------------------------------


@cache
def outcome_of(letter: str) -> str:
    """One of WAYS. Raises KeyError for no letter, MissingExtraError as an estimate does."""
    before, after = rates_of(letter)
    if before.why_never and after.why_never:
        return NEVER
    if (after.rate or 0.0) >= TWICE * (before.rate or 0.0):
        return MORE
    return LESS if TWICE * (after.rate or 0.0) <= (before.rate or 0.0) else SAME


def rates_of(letter: str) -> tuple[Any, Any]:
    """The rows before the change and after it. Raises what `outcome_of` raises."""
    asked = WHAT_IFS[letter]
    found = [
        _answer(features, tuple(sorted(given.items()))).row(features, asked.metric)
        for features, given in zip(asked.features, (asked.before, asked.after), strict=True)
    ]
    return found[0], found[1]


@cache
def _answer(features: str, given: tuple[tuple[str, Any], ...]) -> Any:
    from ...fleet.fleet_answers.quick_estimate import changed, estimate

    study: FleetStudy = changed(read_study(FLEET), dict(given))
    return estimate(msgspec.structs.replace(study, feature_sets=(features,)))
