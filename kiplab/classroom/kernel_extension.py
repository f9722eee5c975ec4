"""What a kernel of the labs knows before its first cell: widgets, and a sentence for a lost name.

`kiplab lab` and Binder load it by the kernel's argument ``--ext``. A kernel that was restarted
knows nothing of the cells above, and a student who runs one cell alone would be shown a NameError.
"""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython when the kernel starts."""
    import ipywidgets

    ipywidgets.load_ipython_extension(shell)
    shell.set_custom_exc((NameError,), _say_what_comes_first)


def _say_what_comes_first(
    shell: Any,
    kind: type[NameError],
    problem: NameError,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """A sentence for a name that the cell itself lacks; what is deeper down is Python's to tell."""
    if _is_in_the_cell(trace):
        print(what_comes_first(str(problem.name)), file=sys.stderr)
    else:
        shell.showtraceback((kind, problem, trace), tb_offset=tb_offset)


def _is_in_the_cell(trace: TracebackType) -> bool:
    """Whether a line of the cell raised it, and nothing that was called from there."""
    while trace.tb_next is not None:
        trace = trace.tb_next
    return trace.tb_frame.f_code.co_name == "<module>"


def what_comes_first(name: str) -> str:
    """What to do about a name that this kernel does not know."""
    return (
        f"This kernel does not know {name!r}: the cell that makes it has not been run since the"
        " kernel started.\nRun the cells from the top (Run > Run All Above Selected Cell), then"
        " this one again. What you locked in is kept."
    )
