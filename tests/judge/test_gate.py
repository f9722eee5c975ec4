"""The gate between a controller and ZooKeeper: what is said behind it waits, in its order."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from kiplab.judge.zookeeper_era.background_loop import BackgroundLoop
from kiplab.judge.zookeeper_era.gate import Gate

PATIENCE_S = 20


@pytest.fixture
def loop() -> Iterator[BackgroundLoop]:
    with BackgroundLoop() as loop:
        yield loop


class Both:
    """A controller and a ZooKeeper with a gate between them."""

    def __init__(self, loop: BackgroundLoop) -> None:
        with socket.create_server(("127.0.0.1", 0)) as zookeeper:
            self.gate = Gate(loop, zookeeper.getsockname()[1])
            self.controller = socket.create_connection(("127.0.0.1", self.gate.port), PATIENCE_S)
            zookeeper.settimeout(PATIENCE_S)
            self.zookeeper, _ = zookeeper.accept()
        self.zookeeper.settimeout(PATIENCE_S)

    def close(self) -> None:
        self.controller.close()
        self.zookeeper.close()
        self.gate.close()

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
    both.zookeeper.sendall(b"answer")
    assert both.heard(both.controller, 6) == b"answer"


def test_behind_a_shut_gate_only_the_controller_is_heard(both: Both) -> None:
    both.gate.shut()
    both.zookeeper.sendall(b"changed")
    both.controller.sendall(b"question")
    assert both.heard(both.zookeeper, 8) == b"question"
    both.controller.setblocking(False)
    with pytest.raises(BlockingIOError):
        both.controller.recv(1)


def test_what_was_held_back_comes_in_order_when_it_opens(both: Both) -> None:
    both.gate.shut()
    both.zookeeper.sendall(b"deleted,")
    both.zookeeper.sendall(b"created,")
    both.gate.open()
    both.zookeeper.sendall(b"changed")
    assert both.heard(both.controller, 23) == b"deleted,created,changed"


def test_a_gate_that_is_closed_hangs_up_on_both(both: Both) -> None:
    both.gate.close()
    assert both.controller.recv(1) == b""
    assert both.zookeeper.recv(1) == b""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", both.gate.port))
