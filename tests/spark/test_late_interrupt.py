"""Ctrl-C while Java starts: it waits, so that no Java is left behind."""

import signal
import threading

import pytest

from kiplab.spark.session import interrupted_afterwards


def test_what_was_begun_is_ended_before_it_is_interrupted() -> None:
    done: list[str] = []
    before = signal.getsignal(signal.SIGINT)

    def begin() -> None:
        with interrupted_afterwards():
            signal.raise_signal(signal.SIGINT)
            done.append("the rest")

    with pytest.raises(KeyboardInterrupt):
        begin()
    assert done == ["the rest"]
    assert signal.getsignal(signal.SIGINT) is before


def test_an_error_of_the_body_is_told_and_the_keys_work_again() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="no Java"), interrupted_afterwards():
        raise ValueError("no Java")
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_it_changes_nothing() -> None:
    seen: list[object] = []

    def work() -> None:
        with interrupted_afterwards():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]
