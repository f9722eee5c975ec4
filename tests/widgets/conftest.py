"""A Lab that nobody has touched yet."""

import pytest

import kiplab
from kiplab.widgets.lab import Lab


@pytest.fixture
def lab() -> Lab:
    """At the start of the play that most labs use."""
    return kiplab.Lab("kafka-14139")
