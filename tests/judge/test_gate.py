"""The gate between a controller and ZooKeeper: what is said behind it waits, in its order."""

import socket
import struct
from collections.abc import Iterator

import pytest

from kiplab.incident.reading.message_bytes import INT32
from kiplab.judge.zookeeper_era.gates import BackgroundLoop, watched_path
from tests.judge.acceptance.live_session import ShutGate

PATIENCE_S = 20


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


class Both:
    """A controller and a ZooKeeper with a gate between them."""

    def __init__(self, loop: BackgroundLoop) -> None:
        with socket.create_server(("127.0.0.1", 0)) as zookeeper:
            self.gate = ShutGate(loop, zookeeper.getsockname()[1])
            self.controller = socket.create_connection(("127.0.0.1", self.gate.port), PATIENCE_S)
            zookeeper.settimeout(PATIENCE_S)
            self.zookeeper, _ = zookeeper.accept()
        self.zookeeper.settimeout(PATIENCE_S)

    def close(self) -> None:
        self.controller.close()
        self.zookeeper.close()
        self.gate.close()

    def answer(self, text: bytes) -> None:
        """One frame of ZooKeeper's."""
        self.zookeeper.sendall(INT32.pack(len(text)) + text)

    def expect(self, *texts: bytes) -> None:
        """These frames are what the controller gets next."""
        framed = b"".join(INT32.pack(len(text)) + text for text in texts)
        assert self.heard(self.controller, len(framed)) == framed

    def heard(self, by: socket.socket, size: int) -> bytes:
        said = b""
        while len(said) < size:
            said += by.recv(size - len(said))
        return said


@pytest.fixture
def both(loop: BackgroundLoop) -> Iterator[Both]:
    both = Both(loop)
    yield both
    both.close()


def test_an_open_gate_lets_both_speak(both: Both) -> None:
    both.controller.sendall(b"question")
    assert both.heard(both.zookeeper, 8) == b"question"
    both.answer(b"answer")
    both.expect(b"answer")


def test_behind_a_shut_gate_only_the_controller_is_heard(both: Both) -> None:
    both.gate.shut()
    both.answer(b"changed")
    both.controller.sendall(b"question")
    assert both.heard(both.zookeeper, 8) == b"question"
    both.controller.setblocking(False)
    with pytest.raises(BlockingIOError):
        both.controller.recv(1)


def test_what_was_held_back_comes_in_order_when_it_opens(both: Both) -> None:
    both.gate.shut()
    both.answer(b"deleted,")
    both.answer(b"created,")
    both.gate.open()
    both.answer(b"changed")
    both.expect(b"deleted,", b"created,", b"changed")


def test_a_gate_that_is_closed_hangs_up_on_both(both: Both) -> None:
    both.gate.close()
    assert both.controller.recv(1) == b""
    assert both.zookeeper.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", both.gate.port))


def test_watches_that_are_held_back_come_one_by_one_and_all_else_passes(both: Both) -> None:
    def watch(path: bytes) -> bytes:
        return struct.pack(">iqiiii", -1, -1, 0, 4, 3, len(path)) + path

    both.gate.holds_watches = True
    both.answer(watch(b"/brokers/ids"))
    both.answer(watch(b"/controller"))
    both.answer(b"an answer to the controller")
    both.expect(b"an answer to the controller")
    assert both.gate.let_through("/controller")
    both.expect(watch(b"/controller"))
    assert both.gate.let_through("/brokers/ids")
    both.expect(watch(b"/brokers/ids"))
    assert watched_path(b"") is None
