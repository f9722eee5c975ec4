"""The Spark session that this process has already, and the error where there can be none."""

import contextlib
import os
import re
import subprocess
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..machine import LackingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ENDING_S = 1
"""Its connections are closed before it is gone."""


class SparkUnavailable(LackingError):  # noqa: N818 - a state of the machine, not a mistake in code
    """Spark cannot do what was asked."""


class NoSuchMasterError(SparkUnavailable, ValueError):
    """What was named is no master at all: no machine has it."""


def complaint(error: Exception) -> str:
    """Python's own complaint if the report quotes one, else the program that could not be run, else
    the message of the innermost Java
    exception that has one, else what a server's refusal has for details, else the report's first
    line; without a full stop."""
    text = str(error).strip() or type(error).__name__
    named = re.findall(
        r"^(?:Caused by: |: )?([\w.$]+(?:Error|Exception)): (\S.*)$", text, re.MULTILINE
    )
    python = [f"{name}: {message}" for name, message in named if "." not in name]
    java = [message for name, message in named if "." in name]
    lacking = re.findall(r'Cannot run program "[^"]+"', text)
    details = re.findall(r'^\s*details = "(.+)"$', text, re.MULTILINE)
    return (python or lacking or java[-1:] or details or text.splitlines())[0].rstrip(".")


def complaint_in_log(log: str) -> str:
    """The last line of Java's log that names an error, or nothing; without a full stop."""
    errors = re.findall(r"^.*(?:ERROR|Error|Exception).*$", log, re.MULTILINE)
    return errors[-1].strip().rstrip(".") if errors else ""


def is_connect(spark: "SparkSession") -> bool:
    """Whether the session talks to a Spark Connect server, and so has no SparkContext."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def live_session(master: str | None) -> "SparkSession | None":
    """The live session, from whichever thread it was started, or None.

    Raises SparkUnavailable if it is on another ``master``: only one can live in a process, and
    another owner's session is not ours to stop.
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
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # Java keeps "active" per thread; the context tells whether any thread has a session.
    context = SparkContext._active_spark_context
    if context is None:
        return None
    try:
        # PySpark goes on offering a context that Java stopped, say because the master went away.
        over = bool(context._jsc.sc().isStopped())
    except (OSError, Py4JError):
        raise java_gone() from None
    if over:
        context.stop()
        return None
    with without_spark_remote():
        return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


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
