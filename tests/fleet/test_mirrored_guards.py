"""Which guards the fleet's kernel has, and why it needs no others: the table is complete."""

from kiplab.fleet.kernel.mirrored_guards import MIRRORED, WITHOUT_EFFECT, guard_bits
from kiplab.protocol.guards import GUARDS
from kiplab.protocol.releases import Mode
from tests.fleet.agreement.trace_comparison import COMPARED


def test_every_guard_of_kraft_is_in_the_kernel_or_without_effect_there() -> None:
    known = {id for id, guard in GUARDS.items() if Mode.KRAFT in guard.modes}
    unknown = known - {*MIRRORED} - {*WITHOUT_EFFECT}
    assert not unknown, f"mirror them in kernel/mirrored_guards.py, or say why not: {unknown}"
    assert not {*MIRRORED} & {*WITHOUT_EFFECT}
    assert {*MIRRORED} | {*WITHOUT_EFFECT} == known


def test_every_guard_that_is_mirrored_is_on_in_a_set_that_is_compared() -> None:
    bits = [guard_bits(features) for features in COMPARED.values()]
    assert all(any(found >> n & 1 for found in bits) for n in range(len(MIRRORED)))


def test_a_feature_set_is_the_bits_of_its_guards() -> None:
    bits = guard_bits(COMPARED["841+903"]) & ~guard_bits(COMPARED["903"])
    assert {MIRRORED[n] for n in range(len(MIRRORED)) if bits >> n & 1} == {
        guard for guard in MIRRORED if guard.startswith("841.")
    }
