"""`kiplab lab` as a student starts it, on a free port of this machine, with nobody's settings."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPResponse
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "kiplab-browser-test"
START_SECONDS, STOP_SECONDS = 60, 20
SAVED_WITHOUT_ASKING = {
    "@jupyterlab/docmanager-extension:plugin": {
        "autosave": False,
        "lastModifiedCheckMargin": 60_000,
    }
}
"""On a busy machine a file is written long after JupyterLab has read its time: it would ask in a
dialog whether somebody else has changed the file, and nobody answers.
"""


class LabServer(NamedTuple):
    """A JupyterLab that runs: its `base` address, and the folder of the student's copies."""

    base: str
    home: Path

    @property
    def labs(self) -> Path:
        """What it serves."""
        return self.home / "labs"

    def address_of(self, lab: str) -> str:
        """Of a notebook, by its path in the served folder."""
        return f"{self.base}/lab/tree/{lab}?token={TOKEN}"

    def stop_kernels(self) -> None:
        """The next module has the machine for itself."""
        for session in json.load(self._asked("GET", "")):
            with suppress(HTTPError):
                self._asked("DELETE", f"/{session['id']}").close()

    def forget_settings(self) -> None:
        """The next module finds nobody's theme."""
        shutil.rmtree(self.home / "settings", ignore_errors=True)

    def _asked(self, method: str, path: str) -> HTTPResponse:
        url = f"{self.base}/api/sessions{path}?token={TOKEN}"
        answer: HTTPResponse = urlopen(Request(url, method=method))
        return answer


@contextmanager
def lab_server(home: Path, root: Path = ROOT, python: str = sys.executable) -> Iterator[LabServer]:
    """`kiplab lab` of the checkout `root`, with the student's copies in ``home/labs``."""
    port = _free_port()
    program = "import sys; from kiplab.cli.command import main; sys.exit(main())"
    command = [python, "-c", program, "lab", "--no-browser", "--port", str(port)]
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(
            command, cwd=home, env=_environment(home, root), stdout=log, stderr=log
        )
        try:
            address = f"http://127.0.0.1:{port}"
            _wait(process, address, home / "server.log")
            yield LabServer(address, home)
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
    (config / "labconfig").mkdir(parents=True)
    overrides = config / "labconfig" / "default_setting_overrides.json"
    overrides.write_text(json.dumps(SAVED_WITHOUT_ASKING))
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
