"""The one error of everything that can keep Spark from working on this machine."""

from ..machine.lacking import LackingError


class SparkUnavailable(LackingError):  # noqa: N818 - a state of the machine, not a mistake in code
    """Spark cannot do what was asked."""
