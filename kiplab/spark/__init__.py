"""The room that knows Spark and nothing of Kafka: blocks of work in, one Arrow table out.

Importing it imports neither pyspark nor pyarrow, so it costs nothing until Spark is wanted.
"""

from ..machine.java import JavaNotFound as JavaNotFound
from .blocks import BlockFailed as BlockFailed
from .blocks import run_blocks_plainly as run_blocks_plainly
from .running_session import NoSuchMasterError as NoSuchMasterError
from .running_session import SparkUnavailable as SparkUnavailable
from .session import session as session
from .waves import run_blocks as run_blocks
