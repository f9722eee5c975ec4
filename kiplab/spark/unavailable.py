"""The errors of everything that can keep Spark from working on this machine."""

from ..machine.lacking import LackingError


class SparkUnavailable(LackingError):  # noqa: N818 - a state of the machine, not a mistake in code
    """Spark cannot do what was asked."""


class NoSuchMasterError(SparkUnavailable, ValueError):
    """What was named is no master at all: no machine has it."""
