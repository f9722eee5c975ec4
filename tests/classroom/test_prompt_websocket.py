"""What a kernel says is sent at once, over whatever connection Jupyter's server has chosen."""

from types import SimpleNamespace
from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection
from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

from kiplab.classroom import prompt_websocket
from kiplab.classroom.prompt_websocket import without_delay


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
    prompt_websocket._load_jupyter_server_extension(SimpleNamespace(web_app=application))
    handler = object.__new__(KernelWebsocketHandler)
    handler.application = application
    used = handler.kernel_websocket_connection_class
    assert issubclass(used, ZMQChannelsWebsocketConnection)
    assert used is not ZMQChannelsWebsocketConnection
