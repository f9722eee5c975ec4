"""The Spark session this process has already, if it is one that still works."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .unavailable import SparkUnavailable

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

_ENDING_S = 1
"""Its connections are closed before it is gone."""


def is_connect(spark: "SparkSession") -> bool:
    """Whether the session talks to a Spark Connect server, and so has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def live_session(master: str | None) -> "SparkSession | None":
    """The live session, from whichever thread it was started, or None.

    Raises SparkUnavailable if it is on another ``master``: only one can live in a process, and
    stopping somebody's session is not ours to do.
    """
    from pyspark.sql import SparkSession
    from pyspark.sql.utils import is_remote

    spark = SparkSession.getActiveSession() if is_remote() else _live_classic()
    if spark is None or master is None:
        return spark
    live_master = "sc://" if is_connect(spark) else str(spark.sparkContext.master)
    if not (master == live_master or (live_master == "sc://" and master.startswith(live_master))):
        raise SparkUnavailable(
            f"A Spark session on {live_master} is live in this process, but {master} was asked"
            " for.",
            "Stop the live one with `spark.stop()`, or leave the master out to use it.",
        )
    return spark


@contextlib.contextmanager
def without_spark_remote() -> Iterator[None]:
    """PySpark lets SPARK_REMOTE overrule a master given by name; in the body the name wins."""
    remote = os.environ.pop("SPARK_REMOTE", None)
    try:
        yield
    finally:
        if remote is not None:
            os.environ["SPARK_REMOTE"] = remote


def _live_classic() -> "SparkSession | None":
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # Java keeps "active" per thread; the context tells whether any thread has a session.
    context = SparkContext._active_spark_context
    if context is None:
        return None
    if _is_over(context):
        context.stop()
        return None
    with without_spark_remote():
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _is_over(context: "SparkContext") -> bool:
    """PySpark goes on offering a context that Java stopped, say because the master went away."""
    from py4j.protocol import Py4JError

    try:
        return bool(context._jsc.sc().isStopped())
    except (OSError, Py4JError):
        raise java_gone() from None


def java_gone() -> SparkUnavailable:
    """What is said when it has ended: it starts once in a process."""
    return SparkUnavailable(
        "The Java that Spark ran in has gone away.",
        "Restart this Python process (in a notebook, the kernel).",
    )


def java_has_ended() -> bool:
    """Whether this process had a Java for Spark, and that is no more, or ends just now."""
    from pyspark import SparkContext

    started = getattr(SparkContext._gateway, "proc", None)
    if started is None:
        return False
    try:
        started.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        return False
    return True
