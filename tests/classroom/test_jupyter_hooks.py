"""Kernels of the labs know widgets, and say what comes first where a name is missing.

What a kernel says is sent at once, over whatever connection Jupyter's server has chosen.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

from kiplab.classroom import jupyter_hooks
from kiplab.classroom.jupyter_hooks import what_comes_first, without_delay

EXTENSION = "kiplab.classroom.jupyter_hooks"


@pytest.fixture
def shell() -> Iterator[Any]:
    shells: Any = InteractiveShell
    made = shells.instance()
    made.extension_manager.load_extension(EXTENSION)
    yield made
    made.set_custom_exc((), None)
    made.clear_instance()


def test_a_cell_that_is_run_too_early_is_told_what_comes_first(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    result = shell.run_cell("lab = kiplab.Lab('kafka-14139', after=prediction)")
    said = capsys.readouterr()
    assert what_comes_first("kiplab") in said.err
    assert "Traceback" not in said.out + said.err
    assert not result.success  # so that Run All stops here


@pytest.mark.parametrize(
    ("cell", "error"),
    [("def wrong():\n    return missing\nwrong()", "NameError"), ("1 / 0", "ZeroDivisionError")],
)
def test_any_other_error_is_shown_as_python_does(
    shell: Any, capsys: pytest.CaptureFixture[str], cell: str, error: str
) -> None:
    shell.run_cell(cell)
    assert error in capsys.readouterr().out


LACKING = [
    (
        'with kiplab.extras.needed_by("a story"):\n    raise ModuleNotFoundError(name="numba")',
        "A story",
    ),
    (
        'raise kiplab.LackingError("There is no Java.", "Install one.")',
        "There is no Java. Install one",
    ),
]


@pytest.mark.parametrize(("cell", "begins"), LACKING)
def test_what_a_machine_lacks_is_one_sentence_without_a_traceback(
    shell: Any, capsys: pytest.CaptureFixture[str], cell: str, begins: str
) -> None:
    assert not shell.run_cell(f"import kiplab\n{cell}").success
    said = capsys.readouterr()
    assert "Traceback" not in said.out + said.err
    assert said.err.startswith(begins)
    assert said.err.endswith(".\n")
    assert said.err.count("\n") == 1


class Connection:
    """As the server's own, of which only `connect` matters here."""

    def __init__(self, websocket_handler: Any) -> None:
        self.websocket_handler = websocket_handler

    def connect(self) -> str:
        return f"connected after {self.websocket_handler.said}"


def a_handler() -> Any:
    handler = SimpleNamespace(said=[])
    handler.set_nodelay = handler.said.append
    return handler


def test_a_connection_is_told_not_to_wait_before_it_carries_anything() -> None:
    assert without_delay(Connection)(a_handler()).connect() == "connected after [True]"


def test_the_server_uses_it_for_every_kernel() -> None:
    application: Any = SimpleNamespace(
        settings={"kernel_websocket_connection_class": ZMQChannelsWebsocketConnection}
    )
    jupyter_hooks._load_jupyter_server_extension(SimpleNamespace(web_app=application))
    handler = object.__new__(KernelWebsocketHandler)
    handler.application = application
    used = handler.kernel_websocket_connection_class
    assert issubclass(used, ZMQChannelsWebsocketConnection)
    assert used is not ZMQChannelsWebsocketConnection
