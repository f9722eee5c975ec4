"""What a failed test tells of its page."""

import json
from collections.abc import Callable
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import pytest

from tests.browser.conftest import pytest_runtest_makereport
from tests.browser.page_record import PageRecord, kind_of


class PageOfATest:
    """A page that does what a test says; `happens` is what Playwright would tell of."""

    url = "http://127.0.0.1/lab"

    def __init__(self) -> None:
        self._listening: dict[str, Callable[[Any], None]] = {}

    def on(self, event: str, heard: Callable[[Any], None]) -> None:
        self._listening[event] = heard

    def happens(self, event: str, **what: Any) -> None:
        self._listening[event](SimpleNamespace(**what))


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch) -> PageOfATest:
    monkeypatch.setattr(PageRecord, "all", [])
    return PageOfATest()


def in_parts(*parts: bytes) -> bytes:
    """A frame as newer servers write it."""
    first = 8 * (len(parts) + 2)
    places = [*accumulate(map(len, parts), initial=first)]
    return b"".join(number.to_bytes(8, "little") for number in (len(places), *places)) + b"".join(
        parts
    )


@pytest.mark.parametrize(
    "frame",
    [
        json.dumps({"channel": "shell", "header": {"msg_type": "comm_msg"}}),
        in_parts(b"shell", b'{"msg_type": "comm_msg"}', b"{}", b"{}", b"{}"),
    ],
)
def test_a_message_is_known_by_channel_and_type(frame: bytes | str) -> None:
    assert kind_of(frame) == "shell comm_msg"


def test_it_tells_errors_with_their_stacks_warnings_and_messages(page: Any) -> None:
    record = PageRecord(page)
    page.happens("console", type="error", text="what was said")
    page.happens("console", type="warning", text="a hint")
    page.happens("console", type="log", text="chatter")
    page.happens("pageerror", stack="Error: late\n  at boot.js")
    socket = PageOfATest()
    page.happens("websocket", url="ws://127.0.0.1/api/kernels/1/channels", on=socket.on)
    socket._listening["framesent"](in_parts(b"shell", b'{"msg_type": "execute_request"}'))
    told = record.report()
    for said in ("what was said", "a hint", "at boot.js", "1 shell execute_request"):
        assert said in told
    assert "chatter" not in told


def test_a_report_has_it_when_the_test_failed_and_else_not(page: Any) -> None:
    PageRecord(page)
    for failed, titles in ((True, [f"page {page.url}"]), (False, [])):
        hook = pytest_runtest_makereport()
        next(hook)
        report: Any = SimpleNamespace(failed=failed, sections=[])
        with pytest.raises(StopIteration):
            hook.send(report)
        assert [title for title, _ in report.sections] == titles


def test_a_page_that_is_closed_is_not_told_of(page: Any) -> None:
    PageRecord(page)
    page.happens("close")
    assert PageRecord.all == []
