"""Whatever is left to `make test-long` has a quick test of the same kind of mistake."""

from pathlib import Path

import pytest

from tests.conftest import COLLECTED, REPETITION

ROOT = Path(__file__).resolve().parent.parent


def test_each_names_a_quick_test_that_is_there(pytestconfig: pytest.Config) -> None:
    marked = pytestconfig.stash[REPETITION]
    repetition = dict(marked)
    quick = {id for id in pytestconfig.stash[COLLECTED] if id not in repetition}
    whole = pytestconfig.getoption("file_or_dir") == []
    for id, named in repetition.items():
        assert named, f"{id} is marked long: name a quick test, @pytest.mark.long(quick=...)"
        file = named.partition("::")[0]
        assert (ROOT / file).exists(), f"{id} names {named}, which is not there"
        found = any(one == named or one.startswith((f"{named}[", f"{named}::")) for one in quick)
        assert found or not whole, f"{id} names {named}, which is no quick test"
