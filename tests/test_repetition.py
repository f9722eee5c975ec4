"""Whatever is left to `make test-long` has a quick test of the same kind of mistake."""

from pathlib import Path

import pytest

from tests.conftest import COLLECTED, REPETITION

ROOT = Path(__file__).resolve().parent.parent


def test_each_names_a_quick_test_that_is_there(pytestconfig: pytest.Config) -> None:
    marked = pytestconfig.stash[REPETITION]
    repetition = dict(marked)
    collected = (id for id in pytestconfig.stash[COLLECTED] if id not in repetition)
    # A test with its parameters, without them, and its file.
    quick = {part for id in collected for part in (id, id.split("[")[0], id.split("::")[0])}
    whole = pytestconfig.getoption("file_or_dir") == []
    for id, named in repetition.items():
        assert named, f"{id} is marked long: name a quick test, @pytest.mark.long(quick=...)"
        file = named.partition("::")[0]
        assert (ROOT / file).exists(), f"{id} names {named}, which is not there"
        assert named in quick or not whole, f"{id} names {named}, which is no quick test"
