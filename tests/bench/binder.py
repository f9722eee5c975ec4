"""How much memory and disk a Binder machine needs: `python tests/bench/binder.py [--java]`.

Makes a fresh virtual environment of binder/requirements.txt, starts JupyterLab in it, runs every
lab there one after the other, and prints the most that server, kernel and their children had at
once. Without ``--java`` no Java can be found, as in the labs that need none.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from contextlib import suppress
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
SAMPLE_SECONDS, MB = 0.2, 1_000_000
LIMIT_MB = 1_000


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        python = _environment(folder / "venv")
        size = sum(f.lstat().st_size for f in (folder / "venv").rglob("*") if f.is_file()) / MB
        print(f"a fresh environment of binder/requirements.txt: {size:,.0f} MB on disk")
        labs = folder / "labs"
        shutil.copytree(ROOT / "labs", labs)
        server = _start_server(python, labs)
        try:
            for lab in sorted(labs.glob("*.ipynb")):
                peak, failed = _run(python, lab, server)
                verdict = f"target < {LIMIT_MB} MB" if not failed else "FAILED"
                print(f"{lab.name:<42}{peak:>10,.0f} MB  {verdict}", flush=True)
        finally:
            server.terminate()
            server.wait()


def _environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*command, "-r", "binder/requirements.txt"], cwd=ROOT, check=True)
    return python


def _settings(python: Path, labs: Path) -> dict[str, str]:
    """A shell in which that environment is active, and Java is hidden unless it was asked for."""
    kept = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = f"{python.parent}{os.pathsep}{kept['PATH']}"
    if "--java" not in sys.argv:
        kept.pop("JAVA_HOME", None)
        path = os.pathsep.join(p for p in path.split(os.pathsep) if not (Path(p) / "java").exists())
        # What lies beside Java on PATH is still wanted: shells and the like.
        path += os.pathsep + str(_without_java(labs.parent))
    submit = "--driver-memory 512m pyspark-shell"
    return {**kept, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_SUBMIT_ARGS": submit}


def _without_java(folder: Path) -> Path:
    tools = folder / "tools"
    tools.mkdir(exist_ok=True)
    for name in ("bash", "sh", "env", "uname", "git"):
        found, link = shutil.which(name), tools / name
        if found and not link.exists():
            link.symlink_to(found)
    return tools


def _start_server(python: Path, labs: Path) -> subprocess.Popen[bytes]:
    command = [str(python), "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--allow-root"]
    quiet = subprocess.DEVNULL
    return subprocess.Popen(
        command, cwd=labs, env=_settings(python, labs), stdout=quiet, stderr=quiet
    )


def _run(python: Path, lab: Path, server: subprocess.Popen[bytes]) -> tuple[float, bool]:
    """The most memory while `lab` runs, in MB, and whether it failed."""
    command = [str(python), "-m", "jupyter", "execute", "--inplace", lab.name]
    done = subprocess.Popen(
        command,
        cwd=lab.parent,
        env=_settings(python, lab.parent),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    peak = 0.0
    while True:
        peak = max(peak, _used(server.pid) + _used(done.pid))
        with suppress(subprocess.TimeoutExpired):
            _, said = done.communicate(timeout=SAMPLE_SECONDS)
            break
    if done.returncode:
        print(said.decode()[-2000:], file=sys.stderr)
    return peak, bool(done.returncode)


def _used(pid: int) -> float:
    """MB of a process and its children; what they share is counted once, where that is known."""
    total = 0
    with suppress(psutil.NoSuchProcess):
        for process in (psutil.Process(pid), *psutil.Process(pid).children(recursive=True)):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                found = process.memory_full_info()
                total += getattr(found, "pss", found.rss)
    return total / MB


if __name__ == "__main__":
    main()
