"""The level "recovery": what KIP-704 prevents, rule by rule, and what nothing of it prevents."""

import pytest
from msgspec.structs import replace

from kiplab.explore.levels.all_levels import level_named
from kiplab.explore.levels.level_table import ExploreError
from kiplab.explore.search.breadth_first import EngineModel, search
from kiplab.explore.search.explored import play_of
from kiplab.explore.search.question import question_about
from kiplab.explore.search_terms import PROVED, REFUTED, SearchOutcome
from kiplab.plays.grammar import parse
from kiplab.plays.runner import run_play
from kiplab.plays.values import feature_set
from kiplab.plays.verdict import expectations
from kiplab.protocol.features import parse_features
from tests.explore.bounds import begun
from tests.repeated import in_long

TWO = """\
title     Two replicas, and one of them leads alone
kafka     3.5
broker    1
broker    2
topic     orders replicas=1,2 isr=1 leader=1 leader-epoch=5 log=1@5
"""
LATE_METADATA_OF_THE_RECOVERY = f"""\
{TWO}
hold      metadata
expire    1
elect     orders-0 unclean=yes
drop      metadata to=1
deliver   metadata to=1
heartbeat 1
drop      metadata to=2
drop      metadata to=2
deliver   metadata to=2
finish-recovery orders-0 by=2        # its answer is there before its metadata
hold      alter-partition
fetch     1                          # 2 asks for 1
produce   orders-0 count=1 to=2
deliver   metadata to=2              # of the recovery: the proposal is forgotten
deliver   alter-partition from=2     # and accepted: 1 is in the ISR, without the record
expire    2
drop      metadata to=1
drop      metadata to=1
drop      metadata to=1
deliver   metadata to=1
expect    property recovered-records-stay broken
expect    @3.5+704.specified+497.pending-outlives-metadata property recovered-records-stay holds
"""
CUT_OFF = f"""\
{TWO.replace("leader-epoch=5", "leader-epoch=6")}consumer  orders-0

hold      metadata to=1
expire    1                          # 1 does not hear of it
elect     orders-0 unclean=yes
expect    orders-0 leader=2 recovery=recovering
produce   orders-0 count=1 to=1      # and commits: it is the ISR that it knows
poll      orders-0
expect    read=0..1
finish-recovery orders-0
expect    property given-while-recovering-stays holds
expect    property recovered-records-stay holds
expect    property consumer-reads-stay broken
"""
QUICK = "tests/explore/test_recovery_level.py::test_pinned_counts"
RULES = (
    "704.leader-recovers",
    "704.leader-refuses",
    "704.follower-refuses",
    "704.unclean-again",
)
LEVEL = level_named("recovery")
GIVEN, STAYS = LEVEL.asks
AGAIN = LEVEL.with_defaults({"fences": 2})
ONCE = LEVEL.with_defaults({"elections": 1})


def asked(
    on: tuple[str, ...], within: dict[str, int], properties: tuple[str, ...] = LEVEL.asks
) -> SearchOutcome:
    start = begun(TWO, "3.5", on=on)
    return search(EngineModel(LEVEL, start, within), properties)


@pytest.mark.parametrize(
    ("on", "states", "transitions", "depth"),
    [((), 1_088, 2_670, 13), (("704.specified",), 1_565, 4_064, 16)],
)
def test_pinned_counts(on: tuple[str, ...], states: int, transitions: int, depth: int) -> None:
    found = asked(on, ONCE)
    assert (found.states, found.transitions, found.depth) == (states, transitions, depth)
    assert found.verdict == PROVED


@pytest.mark.parametrize(
    "on",
    [(), *in_long(((RULES[1], *RULES[2:]), (RULES[0], *RULES[2:])), QUICK)],
    ids=["as implemented", "without leader-recovers", "without leader-refuses"],
)
def test_what_a_recovering_leader_gives_is_contradicted_in_nine_steps(on: tuple[str, ...]) -> None:
    found = asked(on, AGAIN)
    assert (found.verdict, found.violated, len(found.path)) == (REFUTED, GIVEN, 9)
    shown = play_of(parse(TWO, "two"), parse_features("3.5", on=on), LEVEL, found.path, GIVEN)
    assert expectations(run_play(shown)) == {"held": 1, "failed": 0, "skipped": 0}


@pytest.mark.long(quick=QUICK)
def test_as_specified_a_committed_record_is_lost_in_thirteen_steps() -> None:
    found = asked(("704.specified",), AGAIN, (STAYS,))
    assert (found.verdict, found.violated, len(found.path)) == (REFUTED, STAYS, 13)


@pytest.mark.parametrize("missing", RULES[2:])
def test_two_of_its_rules_prevent_nothing_here(missing: str) -> None:
    kept = (*(r for r in RULES if r != missing), "497.pending-outlives-metadata")
    assert asked(kept, ONCE).verdict == PROVED


def test_the_answer_that_ends_a_recovery_lets_late_metadata_undo_a_proposal() -> None:
    """With two replicas, where a Kafka that recovers nothing needs three: test_found.py."""
    play = parse(LATE_METADATA_OF_THE_RECOVERY, "late-metadata-of-the-recovery")
    stage = run_play(play, feature_set("@3.5+704.specified"))
    broken = {property for property, _ in stage.cluster.broken}
    assert STAYS in broken
    kept = run_play(play, feature_set("@3.5+704.specified+497.pending-outlives-metadata"))
    assert expectations(kept)["failed"] == 0
    assert STAYS not in {property for property, _ in kept.cluster.broken}


def test_a_leader_that_is_cut_off_is_no_part_of_it_and_answers() -> None:
    """As specified, too: it does not know that anybody recovers, and no rule could bar it."""
    stage = run_play(parse(CUT_OFF, "cut-off"), feature_set("@3.5+704.specified"))
    broken = {property for property, _ in stage.cluster.broken}
    assert "consumer-reads-stay" in broken
    assert not broken & {GIVEN, STAYS}


def test_of_several_consumers_one_is_kept_and_one_near_a_follower_before_all() -> None:
    lines = "consumer  orders-0\nconsumer  orders-0 name=near reads-from=2\n"
    start = begun(TWO + lines, "3.5")
    assert [c.name for c in LEVEL.admit(start).consumers] == ["near"]
    asking = tuple(replace(c, update_requested=True) for c in start.consumers)
    assert [c.name for c in LEVEL.admit(replace(start, consumers=asking)).consumers] == ["near"]


def test_it_asks_of_recoveries_and_says_what_it_is_blind_for() -> None:
    play = parse(TWO, "two")
    assert question_about(play, level="recovery").properties == (GIVEN, STAYS)
    with pytest.raises(ExploreError, match="no search sees it yet"):
        question_about(play, level="recovery", property="consumer-reads-stay")
    with pytest.raises(ExploreError, match="it is for level recovery"):
        question_about(play, property=GIVEN)
