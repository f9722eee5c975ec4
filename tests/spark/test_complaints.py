"""Of what Spark says when something goes wrong, the one line that matters."""

import pytest

from kiplab.spark import SparkUnavailable
from kiplab.spark.running_session import complaint
from kiplab.spark.waves import explained_failure

NO_MODULE = """An exception was thrown from the Python worker:
Traceback (most recent call last):
ModuleNotFoundError: No module named 'msgspec'
"""
NO_PROGRAM = """An error occurred while calling o78.collectToPython.
: org.apache.spark.SparkException: Job aborted due to stage failure: Task 0 failed 4 times
java.io.IOException: Cannot run program "/no/python": error=2, No such file or directory
Caused by: java.io.IOException: error=2, No such file or directory
"""
REFUSED = """<_InactiveRpcError of RPC that terminated with:
\tstatus = StatusCode.UNAVAILABLE
\tdetails = "failed to connect to all addresses"
>"""


@pytest.mark.parametrize(
    ("report", "line"),
    [
        (NO_MODULE, "ModuleNotFoundError: No module named 'msgspec'"),
        (NO_PROGRAM, 'Cannot run program "/no/python"'),
        (REFUSED, "failed to connect to all addresses"),
        ("Out of memory.", "Out of memory"),
        ("", "RuntimeError"),
    ],
)
def test_a_report_has_one_line_that_matters(report: str, line: str) -> None:
    assert complaint(RuntimeError(report)) == line


def test_a_package_that_executors_lack_is_to_be_installed_there() -> None:
    told = r"'msgspec'\. Install it for the Python of the executors"
    with pytest.raises(SparkUnavailable, match=told), explained_failure():
        raise RuntimeError(NO_MODULE)
