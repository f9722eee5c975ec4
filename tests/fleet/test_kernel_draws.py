"""Draws of the kernel: known answers, whole microseconds, the same with and without a compiler."""

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

import pytest

from kiplab.fleet.kernel import machine_code, quantile_tables
from kiplab.fleet.kernel.machine_code import as_words, plain
from kiplab.fleet.kernel.quantile_tables import (
    HALF,
    TABLE,
    constant,
    exponential,
    log_normal,
    longest,
    philox,
    uniform,
)

drawn = machine_code.exposed(quantile_tables.drawn)
MINUTE = 60_000_000
TABLES = {
    "exponential": exponential(3 * MINUTE),
    "log-normal": log_normal(5 * MINUTE, Decimal("0.5")),
    "uniform": uniform(0, 2_000_000),
    "years": exponential(500 * 365 * 86_400 * 1_000_000),
}
FORMS = [machine_code.exposed(philox), plain(philox)]
EVENLY = range(1 << 15, 1 << 32, 1 << 16)
"""Words in the middle of as many equal parts."""

# Random123, tests/kat_vectors, "philox4x32 10": counter, key, expected.
KNOWN = (
    ("00000000 00000000 00000000 00000000", "00000000 00000000",
     "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff",
     "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0",
     "d16cfe09 94fdcceb 5001e420 24126ea1"),
)  # fmt: skip


def _words(text: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in text.split())


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
@pytest.mark.parametrize(
    "form", [machine_code.exposed(philox), plain(philox)], ids=["compiled", "plain"]
)
def test_philox_gives_the_answers_that_its_authors_published(
    form: Callable[..., tuple[int, ...]], counter: str, key: str, expected: str
) -> None:
    assert tuple(form(*_words(key), *_words(counter))) == _words(expected)


@pytest.mark.parametrize("name", TABLES)
def test_a_draw_is_the_same_with_and_without_a_compiler(name: str) -> None:
    table, slow = as_words(TABLES[name]), plain(quantile_tables.drawn)
    words = [*EVENLY[::97], 0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
    fast = [int(drawn(table, 0, word)) for word in words]
    assert fast == [slow(list(TABLES[name]), 0, word) for word in words]


@pytest.mark.parametrize("name", TABLES)
def test_a_larger_word_never_draws_a_shorter_time(name: str) -> None:
    table = as_words(TABLES[name])
    drawn_times = [int(drawn(table, 0, word)) for word in EVENLY]
    assert drawn_times == sorted(drawn_times)


def test_the_means_are_those_of_the_distributions() -> None:
    e_mean = float(5 * MINUTE * Decimal("0.125").exp())
    expected = {"exponential": 3.0 * MINUTE, "log-normal": e_mean}
    for name, mean in expected.items():
        table = as_words(TABLES[name])
        found = Fraction(sum(int(drawn(table, 0, w)) for w in EVENLY), len(EVENLY))
        assert abs(float(found) / mean - 1) < 3e-4, name


def test_quantiles_are_exact_at_the_knots_and_near_in_between() -> None:
    table = as_words(TABLES["exponential"])
    for word in EVENLY[::513]:
        left = Decimal((1 << 33) - (2 * word + 1)) / (1 << 33)
        exact = -left.ln() * 3 * MINUTE
        assert abs(Decimal(int(drawn(table, 0, word))) - exact) < Decimal("1e-5") * 3 * MINUTE


def test_no_draw_is_longer_than_the_longest() -> None:
    for name, table in TABLES.items():
        words = as_words(table)
        assert max(int(drawn(words, 0, w)) for w in (0, 0xFFFFFFFF)) <= longest(table), name


def test_a_constant_is_what_it_is() -> None:
    table = as_words(constant(7))
    assert {int(drawn(table, 0, word)) for word in (0, 5, 1 << 31, 0xFFFFFFFF)} == {7}
    assert log_normal(7, Decimal(0)) == constant(7)


def test_tables_are_the_same_on_every_machine() -> None:
    text = ",".join(map(str, (*TABLES["exponential"], *TABLES["log-normal"])))
    assert sha256(text.encode()).hexdigest()[:16] == "0a635da7f38532a1"


def test_a_table_has_two_halves_that_meet_in_the_middle() -> None:
    for table in TABLES.values():
        assert len(table) == TABLE
        assert table[HALF - 1] == table[-1]
    assert quantile_tables.OCTAVES == 32
