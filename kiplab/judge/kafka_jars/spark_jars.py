"""Where PySpark keeps its jars: Ivy, which fetches, and a whole ZooKeeper server."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def spark_jars() -> Path | None:
    """The folder of PySpark's jars; None where PySpark is not installed."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "jars"
