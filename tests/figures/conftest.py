"""Runs that several files of these tests draw."""

import pytest

from kiplab.plays.library import load
from kiplab.plays.runner import run_play
from kiplab.rows.columns import Rows
from kiplab.rows.rows_of_stage import rows_of
from kiplab.runs import run
from tests.figures.long_runs import long_stage
from tests.repeated import every_play


@pytest.fixture(scope="session")
def implemented() -> Rows:
    return run("unclean-election", kafka="3.5").rows()


@pytest.fixture(scope="session")
def specified() -> Rows:
    return run("unclean-election", kafka="3.5", on="704.specified").rows()


@pytest.fixture(scope="session")
def long_run() -> Rows:
    return rows_of(long_stage(70))


@pytest.fixture(scope="session", params=every_play())
def shipped(request: pytest.FixtureRequest) -> Rows:
    """A shipped play, to its end."""
    return rows_of(run_play(load(request.param)))
