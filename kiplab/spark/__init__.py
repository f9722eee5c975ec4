"""The room that knows Spark and nothing of Kafka: blocks of work in, one Arrow table out.

Importing it imports neither pyspark nor pyarrow, so it costs nothing until Spark is wanted.
"""

from ..machine.java import Java, JavaNotFound, find_java
from .blocks import BlockFailed, run_blocks_plainly
from .running_session import NoSuchMasterError, SparkUnavailable
from .session import session
from .waves import run_blocks

__all__ = [
    "BlockFailed",
    "Java",
    "JavaNotFound",
    "NoSuchMasterError",
    "SparkUnavailable",
    "find_java",
    "run_blocks",
    "run_blocks_plainly",
    "session",
]
