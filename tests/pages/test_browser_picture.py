"""Pictures that a browser draws: what drives it may say what it likes, the reader gets a file or
one sentence. A made-up driver stands for the real one under load.
"""

from pathlib import Path

import pytest

from kiplab.cli.command import main
from kiplab.pages import browser_picture

LOUD = """
import logging, pathlib, sys, threading
logging.getLogger("asyncio").error("Task exception was never retrieved")

def write_fig_from_object_sync(orders, kopts, cancel_on_error):
    for order in orders:
        assert order["fig"]["layout"]["width"] == order["opts"]["width"]
        pathlib.Path(order["path"]).write_bytes(b"PNG")
    late = threading.Thread(target=lambda: 1 / 0)
    late.start(); late.join()
    print("noise", end="\\n")
"""
FAILING = """
def write_fig_from_object_sync(orders, kopts, cancel_on_error):
    raise RuntimeError("the page\\ndid not load")
"""
DYING = """
import os

def write_fig_from_object_sync(orders, kopts, cancel_on_error):
    os._exit(7)
"""
HANGING = """
import threading

def write_fig_from_object_sync(orders, kopts, cancel_on_error):
    threading.Event().wait()
"""


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A picture to be; the driver, in `tmp_path`, is found before the real one."""
    monkeypatch.setattr(browser_picture, "find_chromium", lambda: "/a/chromium")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / "a.png"


def drawn_by(driver: str, target: Path) -> int:
    (target.parent / "kaleido.py").write_text(driver)
    return main(["timeline", "kafka-14139", "-o", str(target)])


def test_what_the_driver_says_beside_its_work_is_not_printed(
    target: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert drawn_by(LOUD, target) == 0
    out, err = capfd.readouterr()
    assert out == f"{target}: Kafka 3.4: 100 committed records lost\n"
    assert err == ""
    assert target.read_bytes() == b"PNG"


@pytest.mark.parametrize(
    ("driver", "reason"),
    [
        (FAILING, "(the page did not load)"),
        (DYING, "(its driver ended with code 7)"),
        ("import nothing_that_exists", "(its driver ended with code 1)"),
    ],
)
def test_what_keeps_it_from_drawing_is_one_sentence(
    target: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    driver: str,
    reason: str,
) -> None:
    monkeypatch.setattr(browser_picture, "require_browser", lambda: "/a/chromium")
    assert drawn_by(driver, target) == 3
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"kiplab: the browser /a/chromium could not draw a.png {reason}; ")
    assert err.count("\n") == 1
    assert not target.exists()


def test_a_browser_that_never_answers_is_not_waited_for_without_end(
    target: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_picture, "PATIENCE_S", 1)
    assert drawn_by(HANGING, target) == 3
    assert "could not draw a.png (it took longer than 1 s)" in capfd.readouterr().err
    assert not target.exists()
