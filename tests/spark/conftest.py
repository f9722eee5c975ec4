"""One Spark session for a whole test module: starting one takes seconds."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from kiplab.spark import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def spark() -> Iterator["SparkSession"]:
    with session(app="kiplab tests") as live:
        yield live
