"""Which guards the fleet's kernel has, and why it needs no others: the table is complete."""

from pathlib import Path

import pytest

from kiplab.fleet.kernel.feature_sets import feature_sets, features_of, mask_of
from kiplab.fleet.kernel.mirrored_guards import (
    ALWAYS_IN_THE_KERNEL,
    ALWAYS_WITH_ZOOKEEPER,
    ASKED_BY_BROKERS,
    CONTROLLER_OF_4_0,
    LATER_WITH_ZOOKEEPER,
    MIRRORED,
    WITHOUT_EFFECT,
    guard_bits,
    mirrored_in,
    without_effect_in,
)
from kiplab.fleet.kernel.simulation_loop import KIP_343, KIP_380
from kiplab.protocol.features import parse_features
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.releases import Mode
from tests.fleet.agreement.compared_sets import COMPARED, COMPARED_IN
from tests.protocol.asked_for import asked_for

PROTOCOL = Path(__file__).parents[2] / "kiplab/protocol"
ON_THE_WIRE = {"903.fetch-epoch"}
"""A follower does what the Fetch version says: protocol/features.py asks for it."""


@pytest.mark.parametrize("mode", Mode)
def test_every_guard_of_a_mode_is_in_the_kernel_or_without_effect_there(mode: Mode) -> None:
    known = {id for id, guard in GUARDS.items() if mode in guard.modes} - {*ALWAYS_IN_THE_KERNEL}
    unknown = known - set(mirrored_in(mode)) - set(without_effect_in(mode))
    assert not unknown, f"mirror them in kernel/mirrored_guards.py, or say why not: {unknown}"
    assert not set(mirrored_in(mode)) & set(without_effect_in(mode))
    always = set(ALWAYS_WITH_ZOOKEEPER) if mode is Mode.ZOOKEEPER else set()
    assert set(mirrored_in(mode)) | set(without_effect_in(mode)) == known | always
    assert not known & always


def test_what_is_without_effect_is_so_in_a_mode_that_knows_it() -> None:
    assert set(WITHOUT_EFFECT) <= set(without_effect_in(Mode.KRAFT))
    assert set(LATER_WITH_ZOOKEEPER) < set(without_effect_in(Mode.ZOOKEEPER))


@pytest.mark.parametrize("mode", Mode)
def test_every_guard_that_is_mirrored_in_a_mode_is_on_in_a_set_that_is_compared(mode: Mode) -> None:
    bits = [guard_bits(features) for features in COMPARED_IN[mode].values()]
    on = {id for n, id in enumerate(MIRRORED) if any(found >> n & 1 for found in bits)}
    assert on == set(mirrored_in(mode))


@pytest.mark.parametrize("name", feature_sets("zookeeper"))
def test_a_set_of_the_fleet_with_zookeeper_is_that_of_the_comparison(name: str) -> None:
    compared = "+".join(kip for kip in name.split("+") if kip != "343") or "none"
    bits = guard_bits(COMPARED_IN[Mode.ZOOKEEPER][compared])
    assert mask_of(name, zookeeper=True) & ~(KIP_380 | KIP_343) == bits


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
