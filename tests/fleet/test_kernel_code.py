"""The kernel's machine code: where there is none, and where none may be kept."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from kiplab.fleet.kernel import machine_code
from kiplab.fleet.kernel.quantile_tables import bit_length, lower_product, upper_product
from kiplab.fleet.kernel.simulation import simulate
from kiplab.fleet.kernel.world import DAY, World
from kiplab.machine.cache import sources_digest
from kiplab.spark.session import package_zip

WITHOUT_NUMBA = """
import sys
from kiplab.fleet.kernel.machine_code import has_compiler
from kiplab.fleet.kernel.simulation import simulate
from kiplab.fleet.kernel.world import DAY, World
assert not has_compiler() and "numba.core" not in sys.modules
counts = simulate(
    World(), seed=1, first=0, last=2, horizon_us=90 * DAY, feature_sets=["none", "841"]
)
print(*counts.table.ravel())
"""


@pytest.mark.parametrize(
    ("first", "environment"),
    [
        pytest.param("import sys; sys.modules['numba'] = None", {}, id="no numba"),
        pytest.param("", {"NUMBA_DISABLE_JIT": "1"}, id="told to compile nothing"),
    ],
)
def test_a_machine_without_a_compiler_gets_the_same_numbers_from_plain_python(
    first: str, environment: dict[str, str]
) -> None:
    command = [sys.executable, "-c", first + WITHOUT_NUMBA]
    told = subprocess.run(
        command, check=True, capture_output=True, text=True, env={**os.environ, **environment}
    ).stdout
    here = simulate(
        World(),
        seed=1,
        first=0,
        last=2,
        horizon_us=90 * DAY,
        feature_sets=["none", "841"],
        compiled=False,
    )
    assert tuple(map(int, told.split())) == tuple(here.table.ravel().tolist())
    assert here.total("none", "incidents") > 0


def test_the_digest_is_the_same_in_the_zip_that_executors_get() -> None:
    kernel = "kiplab.fleet.kernel"
    code = f"from kiplab.machine import cache as c; print(c.__file__, c.sources_digest({kernel!r}))"
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, sys.argv[1]); {code}"]
    told = subprocess.run(
        [*command, str(package_zip())], check=True, capture_output=True, text=True, cwd="/"
    ).stdout.split()
    assert told[0].startswith(str(package_zip()))
    assert int(told[1]) == sources_digest(kernel) < 1 << 56


def test_a_kernel_that_may_be_kept_nowhere_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caching = pytest.importorskip("numba.core.caching")
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])

    def made(version: int) -> Callable[[int], int]:
        def more(number: int) -> int:
            return number + 1 + 0 * version

        return more

    assert machine_code.root(made)(41) == 42


def test_a_number_in_the_source_makes_no_function_compile_twice() -> None:
    pytest.importorskip("numba")

    @machine_code.inner
    def twice(number: int) -> int:
        return 2 * number

    @machine_code.exposed
    def summed(number: int) -> int:
        return twice(1) + twice(2) + twice(number)

    assert summed(3) == 12
    assert len(twice.signatures) == 1  # type: ignore[attr-defined]


def test_the_arithmetic_of_words_is_that_of_whole_numbers() -> None:
    @machine_code.exposed
    def both(one: int, other: int) -> tuple[int, int, int]:
        return upper_product(one, other), lower_product(one, other), bit_length(one)

    words = (1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xD2511F53, 0xFFFFFFFF)
    for one in words:
        for other in words:
            expected = (one * other >> 32, one * other & 0xFFFFFFFF, one.bit_length())
            assert tuple(map(int, both(one, other))) == expected
