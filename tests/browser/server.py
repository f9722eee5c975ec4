"""`kiplab lab` as a student starts it, on a free port of this machine, with nobody's settings."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "kiplab-browser-test"
START_SECONDS, STOP_SECONDS = 60, 20


@contextmanager
def lab_server(folder: Path, lab: str, root: Path = ROOT) -> Iterator[str]:
    """The address of JupyterLab with `lab` open; the student's copies are in ``folder/labs``.

    `root` is the checkout of kiplab that runs.
    """
    port = _free_port()
    program = "import sys; from kiplab.cli.command import main; sys.exit(main())"
    command = [sys.executable, "-c", program, "lab", lab, "--no-browser", "--port", str(port)]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(folder, root), stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(process, address, folder / "server.log")
            yield f"{address}/lab/tree/{lab}?token={TOKEN}"
        finally:
            _stop(process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _environment(folder: Path, root: Path) -> dict[str, str]:
    places = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    homes = {place: str(folder / place.lower()) for place in places}
    settings = {"LabApp": {"expose_app_in_browser": True}, "IdentityProvider": {"token": TOKEN}}
    config = folder / "jupyter_config_dir"
    config.mkdir(parents=True)
    (config / "jupyter_lab_config.json").write_text(json.dumps(settings))
    path = os.pathsep.join(p for p in (str(root), os.environ.get("PYTHONPATH")) if p)
    # A student's shell has activated this Python's environment: the kernel is found there.
    return {
        **os.environ,
        **homes,
        "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
        "KIPLAB_LABS": str(folder / "labs"),
        "PYTHONPATH": path,
    }


def _wait(process: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Until it answers; each attempt waits on the network for at most a second."""
    from time import monotonic

    end = monotonic() + START_SECONDS
    while monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"kiplab lab stopped: {log.read_text()[-2000:]}")
        try:
            with urlopen(f"{address}/api", timeout=1):
                return
        except (URLError, TimeoutError):
            _pause(process)
    raise RuntimeError(f"kiplab lab did not answer: {log.read_text()[-2000:]}")


def _pause(process: subprocess.Popen[bytes]) -> None:
    """A moment, or less if the process ends."""
    try:
        process.wait(timeout=0.2)
    except subprocess.TimeoutExpired:
        return


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
