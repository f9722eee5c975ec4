"""`checked_block`: a block where Spark put it, refused where that is no place for it."""

import os
import sys
from collections.abc import Sequence

from ..kernel.machine_code import has_compiler
from ..parameters.scenario import Scenario
from ..pipeline.code_version import code_version
from ..pipeline.work_orders import FleetOrder, Partial
from .work_block import work_block

_TO_GO_WITHOUT = "NUMBA_DISABLE_JIT"
"""numba's own variable; its documentation says what it costs."""


class WrongPlaceError(RuntimeError):
    """An executor has other code than the one that ordered, or cannot compile the kernel."""


def checked_block(code: str, order: FleetOrder[Scenario]) -> Sequence[Partial]:
    """What `work_block` makes of it, where its code is the version `code`, and is compiled.

    Sources that change while a study runs reach the executors that start after that. Without numba
    the numbers are the same, thousands of times later, and nobody would be told why.

    Raises WrongPlaceError otherwise.
    """
    here = code_version(work_block.__module__)
    if here != code:
        raise WrongPlaceError(
            f"{sys.executable} has another version of kiplab ({here}) than the one that asked"
            f" ({code}); start Spark anew, so that it is sent this one"
        )
    if not has_compiler() and _TO_GO_WITHOUT not in os.environ:
        raise WrongPlaceError(
            f"{sys.executable} has no numba, without which this takes thousands of times as long;"
            f" install it there, or set {_TO_GO_WITHOUT}=1 there to go without"
        )
    return work_block(order)
