"""The errors of everything that can keep Spark from working on this machine, and the one line that
matters in what Spark says when something goes wrong."""

import re

from ..machine import LackingError


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
