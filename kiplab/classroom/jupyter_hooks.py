"""Hooks of the labs' kernels and server: widgets, sentences for two errors, prompt answers.

`kiplab lab`, Binder and the site load it in each kernel. A restarted kernel has none of the names
of the cells above, and a student who runs one cell alone would get a bare NameError. What a machine
lacks is no mistake in a cell, and a traceback would hide what to do.

As a Jupyter server extension it sends a kernel's messages to the page at once. A kernel answers a
press with a short message ("busy") and then with the one that counts. By default TCP holds the
second back until the page has acknowledged the first, and the page's side waits up to 40 ms before
it does (Nagle's algorithm against delayed acknowledgement): a third of the time from a press to the
new picture.
"""

import sys
from traceback import walk_tb
from types import TracebackType
from typing import Any

from ..extras import MissingExtraError, in_a_page
from ..machine import LackingError
from .work_on_disk import hear_of_a_full_storage

_LACKING = (MissingExtraError, LackingError)
# Where Jupyter's server keeps what connects a page to a kernel: its own class, or a gateway's.
_CONNECTION = "kernel_websocket_connection_class"


def load_ipython_extension(shell: Any) -> None:
    """Called by IPython when the kernel starts."""
    import ipywidgets

    ipywidgets.load_ipython_extension(shell)
    shell.set_custom_exc((NameError, *_LACKING), _say)
    if in_a_page():
        hear_of_a_full_storage()


def _say(
    shell: Any,
    kind: type[Exception],
    problem: Exception,
    trace: TracebackType,
    tb_offset: int | None = None,
) -> None:
    """One sentence for what a machine lacks, and for a name that the cell itself lacks; what is
    deeper down is Python's to tell.
    """
    if isinstance(problem, _LACKING):
        said = str(problem).rstrip(".")
        print(f"{said[:1].upper()}{said[1:]}.", file=sys.stderr)
    # A line of the cell raised it, and nothing that was called from there.
    elif isinstance(problem, NameError) and [*walk_tb(trace)][-1][0].f_code.co_name == "<module>":
        print(what_comes_first(str(problem.name)), file=sys.stderr)
    else:
        shell.showtraceback((kind, problem, trace), tb_offset=tb_offset)


def what_comes_first(name: str) -> str:
    """What to do about a name that this kernel does not know."""
    return (
        f"This kernel does not know {name!r}: the cell that makes it has not been run since the"
        " kernel started.\nRun the cells from the top (Run > Run All Above Selected Cell), then"
        " this one again. What you locked in is kept."
    )


def without_delay(connection: type[Any]) -> type[Any]:
    """The same kind of connection, with TCP told to send each message as it comes."""

    class PromptConnection(connection):
        def connect(self) -> Any:
            self.websocket_handler.set_nodelay(True)
            return super().connect()

    return PromptConnection


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    settings = server.web_app.settings
    settings[_CONNECTION] = without_delay(settings[_CONNECTION])
