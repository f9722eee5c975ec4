"""Exercise: eight changes to a fleet. What happens to a rate that each of them names?

The estimator says what is right: the same fleet twice, before the change and after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from ...fleet.fleet_answers.counted_metrics import COUNTED
from ...fleet.parameters.fleet_study import FleetStudy, read_study
from .answers import BLANK, Slip, in_order, still_open, summed, unfit
from .check_result import Checked

FLEET = "small"
MORE, LESS, SAME, NEVER = "MLSN"
WAYS = {
    MORE: "at least twice as often",
    LESS: "at most half as often",
    SAME: "about the same: by less than a factor of two",
    NEVER: "it cannot happen, before or after",
}


TWICE = 2.0


class WhatIf(msgspec.Struct, frozen=True, kw_only=True):
    """`metric` under the KIPs of `features`, with the parameters `before` and `after` the change.

    `features` are two where the KIPs are what changes.
    """

    change: str
    metric: str
    features: tuple[str, str]
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    idea: str = ""
    hint: str = ""


WHAT_IFS = {
    "A": WhatIf(
        change="KIP-841 alone, in place of KIP-903 alone",
        metric="stale_join_after_crash",
        features=("903", "841"),
        idea="both KIPs close the same hole",
        hint="A restart takes minutes, a slow request half of one. Is the broker back by then?",
    ),
    "B": WhatIf(
        change="both KIPs, in place of none",
        metric="last_replica_loss",
        features=("none", "841+903"),
        idea="the KIPs close every way to lose data",
        hint="Who compares epochs when the only member of the ISR comes back with less?",
    ),
    "C": WhatIf(
        change="three replicas, in place of two",
        metric="offline",
        features=("841+903", "841+903"),
        after={"replication_factor": 3},
        idea="one more replica makes everything rarer",
        hint="What takes all brokers of the cluster at once, however many there are?",
    ),
    "D": WhatIf(
        change="a reboot a week, in place of one a month",
        metric="race_loss",
        features=("none", "none"),
        after={"bounces_per_year": 52},
        idea="planned restarts are harmless",
        hint="Each reboot makes a follower leave the ISR and come back, and a leader go.",
    ),
    "E": WhatIf(
        change="a crashed broker is back in one minute, in place of five",
        metric="stale_join_after_crash",
        features=("841", "841"),
        after={"crash_restart_s": 60},
        idea="faster is always safer",
        hint="KIP-841 refuses while the broker is fenced. How long is that now?",
    ),
    "F": WhatIf(
        change="ten times as many slow requests",
        metric="race_loss",
        features=("841+903", "841+903"),
        after={"slow_alter_partition_share": 0.01},
        idea="a slow controller always costs something",
        hint="Whenever the slow request is read: what do the two KIPs compare?",
    ),
    "G": WhatIf(
        change="three replicas: min.insync.replicas=2, in place of 1",
        metric="under_min_us",
        features=("841+903", "841+903"),
        before={"replication_factor": 3},
        after={"replication_factor": 3, "min_insync_replicas": 2},
        idea="being stricter costs nothing",
        hint="One broker restarts, and another one crashes: who may write with acks=all?",
    ),
    "H": WhatIf(
        change="KIP-704 as well, where unclean elections are on",
        metric="unclean_loss",
        features=("841+903", "841+903+704"),
        before={"unclean_elections": True},
        after={"unclean_elections": True},
        idea="who knows of a loss can prevent it",
        hint="KIP-704 has the new leader recover. Which records does it get back?",
    ),
}
_ABOUT = dict(zip(WHAT_IFS, [half for half in ("A to D", "E to H") for _ in range(4)], strict=True))


def check_what_ifs(answer: object) -> Checked:
    """Judge what becomes of eight rates, in the order of WHAT_IFS: letters of WAYS.

    Raises MissingExtraError without what an estimate of a fleet needs.
    """
    given = in_order(answer, len(WHAT_IFS), "letters, one for each change")
    if isinstance(given, Checked):
        return given
    said = [part.upper() for part in given]
    strange = [part[:20] for part in said if part not in (*WAYS, BLANK)]
    if strange:
        return unfit(len(WHAT_IFS), f"There is no {', '.join(strange[:3])}. Use {' '.join(WAYS)}.")
    slips = [
        _slip(letter, part)
        for letter, part in zip(WHAT_IFS, said, strict=True)
        if part != outcome_of(letter)
    ]
    praise = "All eight: it is tails and what is shared that decide, and never a mean."
    return summed(len(WHAT_IFS), slips, praise)


def _slip(letter: str, said: str) -> Slip:
    if said == BLANK:
        return still_open(letter, _ABOUT[letter])
    asked = WHAT_IFS[letter]
    return Slip(letter, asked.hint, asked.idea, _ABOUT[letter])


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


def told_what_ifs() -> str:
    """Each change with its rate before and after, and their intervals, in lines.

    Raises what `outcome_of` raises.
    """
    return "\n".join(line for letter in WHAT_IFS for line in _told(letter))


def _told(letter: str) -> Iterator[str]:
    asked = WHAT_IFS[letter]
    yield f"{letter}  {asked.change}: {WAYS[outcome_of(letter)]}"
    yield f"   {asked.metric}, {COUNTED[asked.metric].unit}"
    for when, row in zip(("before", "after "), rates_of(letter), strict=True):
        yield f"   {when} {row.words}"
