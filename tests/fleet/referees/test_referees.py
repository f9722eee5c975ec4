"""The fleet, refereed: every metric by somebody who ought to know, and all of them agree."""

from functools import cache

import pytest

from kiplab.fleet.fleet_answers.counted_metrics import COUNTED, who_checks
from kiplab.fleet.statistics.block_means import Weights
from kiplab.fleet.statistics.event_rates import Interval
from tests.fleet.referees.claims import claims
from tests.fleet.referees.compared import BLOCKS, Claim, certain, judged, weighed_blocks
from tests.fleet.test_racing_schedules import COUNTED_IN_TRACES
from tests.made_pages import ROOT, holds_as_made
from tests.repeated import in_long

JOINT, SMALL = 0.999, 0.05
"""If the fleet is right all claims hold with this probability; with less effort the intervals are
wider."""
FILE = ROOT / "kiplab/fleet/fleet_answers/who_checks.toml"


@cache
def verdicts(effort: float) -> dict[Claim, tuple[bool, bool, str]]:
    every = [*claims(effort)]
    # Bonferroni, over two intervals in each comparison.
    each = 1 - (1 - JOINT) / (2 * len(every))
    return {claim: judged(claim, each) for claim in every}


@pytest.mark.parametrize("effort", [SMALL, *in_long([1.0])])
def test_everybody_agrees(effort: float) -> None:
    parted = [sentence for agrees, _, sentence in verdicts(effort).values() if not agrees]
    assert not parted, "\n".join(["these metrics are not what their referees say:", *parted])


def test_every_metric_was_seen_to_happen() -> None:
    happened = {claim.metric for claim, (_, seen, _) in verdicts(SMALL).items() if seen}
    assert COUNTED.keys() == who_checks().keys() == happened | COUNTED_IN_TRACES
    assert len({claim[:4] for claim in verdicts(SMALL)}) == len(verdicts(SMALL)), "made twice"


def _words(metric: str) -> str:
    referees = [claim.referee for claim in claims() if claim.metric == metric]
    referees += ["engine"] if metric in COUNTED_IN_TRACES else []
    return "; ".join(dict.fromkeys(referees))


def test_the_package_says_who_checks_what(rewrite: bool) -> None:
    lines = ["# Who ought to know each number: `pytest --rewrite tests/fleet/referees` writes it."]
    lines += [f'{metric} = "{_words(metric)}"' for metric in COUNTED]
    made = "\n".join(lines) + "\n"
    holds_as_made(FILE, made, "tests/fleet/referees/test_referees.py", rewrite=rewrite)


# --- what a verdict is worth ----------------------------------------------------------------------

SURE, WIDE = certain(1.02), lambda _confidence: Interval(0.99, 1.01)


def test_two_percent_off_is_seen_unless_that_much_is_left_out() -> None:
    claim = Claim("offline", "none", "exact chain", "made up", WIDE, SURE)
    assert not judged(claim, 0.999)[0]
    assert judged(claim._replace(margin=0.02), 0.999)[0]
    assert judged(claim._replace(theirs=certain(1.0)), 0.999)[:2] == (True, True)
    assert not judged(claim._replace(theirs=certain(0.0)), 0.999)[0]


def test_an_estimate_that_is_not_to_be_believed_is_none() -> None:
    one = {"offline": Weights(samples=1, total=1.0, squares=1.0, largest=1.0)}
    estimates = weighed_blocks(lambda **_numbers: one, 1.0)
    with pytest.raises(AssertionError, match=f"only {BLOCKS} effective samples, of 100 wanted"):
        estimates()
