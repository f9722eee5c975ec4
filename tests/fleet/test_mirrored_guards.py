"""Which guards the fleet's kernel has, and why it needs no others: the table is complete."""

from __future__ import annotations

from pathlib import Path

from kiplab.fleet.agreement.compared_sets import COMPARED
from kiplab.fleet.kernel.feature_sets import features_of
from kiplab.fleet.kernel.mirrored_guards import (
    ASKED_BY_BROKERS,
    CONTROLLER_OF_4_0,
    MIRRORED,
    WITHOUT_EFFECT,
    guard_bits,
)
from kiplab.protocol.features import parse_features
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.releases import Mode
from tests.protocol.asked_for import asked_for

PROTOCOL = Path(__file__).parents[2] / "kiplab/protocol"
ON_THE_WIRE = {"903.fetch-epoch"}
"""A follower does what the Fetch version says: protocol/features.py asks for it."""


def test_every_guard_of_kraft_is_in_the_kernel_or_without_effect_there() -> None:
    kraft = {id for id, guard in GUARDS.items() if Mode.KRAFT in guard.modes}
    unknown = kraft - set(MIRRORED) - set(WITHOUT_EFFECT)
    assert not unknown, f"mirror them in kernel/mirrored_guards.py, or say why not: {unknown}"
    assert not set(MIRRORED) & set(WITHOUT_EFFECT)
    assert set(MIRRORED) | set(WITHOUT_EFFECT) <= kraft


def test_a_feature_set_is_the_bits_of_its_guards() -> None:
    bits = guard_bits(COMPARED["841+903"]) & ~guard_bits(COMPARED["903"])
    assert {MIRRORED[n] for n in range(len(MIRRORED)) if bits >> n & 1} == {
        guard for guard in MIRRORED if guard.startswith("841.")
    }


def test_of_each_node_those_guards_count_that_its_rules_ask_for() -> None:
    files = sorted((PROTOCOL / "replica").glob("*.py"))
    asked = asked_for({file.name: file.read_text() for file in files}).keys() | ON_THE_WIRE
    theirs = {guard for n, guard in enumerate(MIRRORED) if ASKED_BY_BROKERS >> n & 1}
    assert theirs == asked & {*MIRRORED}
    mixed = guard_bits(features_of("841+903+purge_on_register"))
    later = guard_bits(parse_features("4.0"))
    assert mixed & later & CONTROLLER_OF_4_0
    assert mixed & ASKED_BY_BROKERS == guard_bits(parse_features("3.5")) & ASKED_BY_BROKERS
    assert mixed & ASKED_BY_BROKERS != later & ASKED_BY_BROKERS
