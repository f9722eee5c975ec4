"""A Jupyter server extension: what a kernel says reaches the page at once.

A kernel answers a press with a short message ("busy") and then with the one that counts. By default
TCP holds the second back until the page has acknowledged the first, and the page's side waits up to
40 ms before it does (Nagle's algorithm against delayed acknowledgement): a third of the time from a
press to the new picture.
"""

from __future__ import annotations

from typing import Any

# Where Jupyter's server keeps what connects a page to a kernel: its own class, or a gateway's.
_CONNECTION = "kernel_websocket_connection_class"


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
