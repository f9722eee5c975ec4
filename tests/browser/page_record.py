"""What a page did, for whoever must find out why a test failed: errors, warnings, messages.

The messages are those between the page and its kernel. A machine that stood still for seconds can
lose some, and a panel that is missing then is missing for no reason that the page could tell.
"""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from playwright.sync_api import Page, WebSocket

LONGEST = 2_000
"""Characters of one complaint in a report."""
SLOW_PLUGIN = "Plugin "
"""How JupyterLab begins two hundred warnings on a slow machine: this or that took long to load."""

TORN = "Kernel message validation error"
"""What JupyterLab says of a message that a kernel did not finish when it was killed."""


class PageRecord:
    """Writes down what `page` does from now on.

    `outside` are requests that left this machine, `complaints` what the console calls errors,
    `stacks` where these came from as far as the page knows it, `warnings` the console's warnings;
    `sent` and `received` count the messages of kernels by channel and type.
    """

    all: ClassVar[list[PageRecord]] = []
    """Of the pages that were opened in this process and are open still."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.outside: list[str] = []
        self.complaints: list[str] = []
        self.stacks: list[str] = []
        self.warnings: list[str] = []
        self.sent: Counter[str] = Counter()
        self.received: Counter[str] = Counter()
        self._listen()
        PageRecord.all.append(self)

    def _listen(self) -> None:
        self.page.on("request", lambda request: self._note_request(request.url))
        self.page.on("console", lambda said: self._note_word(said.type, said.text))
        self.page.on("pageerror", lambda error: self._note_error(str(error), error.stack or ""))
        self.page.on("websocket", self._note_socket)
        self.page.on("close", lambda _: PageRecord.all.remove(self))

    def _note_request(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.outside.append(url)

    def _note_word(self, kind: str, text: str) -> None:
        if kind == "error" and not text.startswith(TORN):
            self.complaints.append(text)
        if kind == "warning" and not text.startswith(SLOW_PLUGIN):
            self.warnings.append(text)

    def _note_error(self, text: str, stack: str) -> None:
        # JupyterLab writes of some torn messages to the console, and throws an error of others.
        if TORN not in text:
            self.complaints.append(text)
            self.stacks.append(stack)

    def _note_socket(self, socket: WebSocket) -> None:
        if "/channels" not in socket.url:
            return
        socket.on("framesent", lambda frame: self._count(self.sent, frame))
        socket.on("framereceived", lambda frame: self._count(self.received, frame))

    def _count(self, where: Counter[str], frame: Any) -> None:
        where[kind_of(frame)] += 1

    def report(self) -> str:
        """All of it, in words."""
        said = [
            ("errors", self.complaints),
            ("where they came from", self.stacks),
            ("warnings", self.warnings),
        ]
        lines = [f"{title}: {len(all)}" + _listed(all) for title, all in said]
        messages = [("messages to the kernel", self.sent), ("messages from it", self.received)]
        lines += [f"{title}: {kinds.total()}" + _listed(_each(kinds)) for title, kinds in messages]
        return "\n".join(lines)


def _listed(entries: list[str]) -> str:
    return "".join(f"\n  {entry[:LONGEST]}" for entry in entries)


def _each(kinds: Counter[str]) -> list[str]:
    return [f"{number:>5} {kind}" for kind, number in sorted(kinds.items())]


def kind_of(frame: bytes | str) -> str:
    """Channel and type of a message of the kernel's, in either way of writing it.

    In the newer one a frame begins with the number of its parts' places and these places, as 64-bit
    numbers; the first part is the channel, the second the header.
    """
    if isinstance(frame, str):
        message = json.loads(frame)
        return f"{message['channel']} {message['header']['msg_type']}"
    number = int.from_bytes(frame[:8], "little")
    places = [int.from_bytes(frame[8 * n : 8 * n + 8], "little") for n in range(1, number + 1)]
    channel, header = (frame[start:end] for start, end in pairwise(places[:3]))
    return f"{channel.decode()} {json.loads(header)['msg_type']}"
