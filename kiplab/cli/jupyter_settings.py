"""Settings of JupyterLab, its server and its kernel that differ for the labs.

They are in the student's folder, in front of the user's own settings, which stay as they are. For
all who use a Python, as on a JupyterHub, ``python -m kiplab.cli.jupyter_settings`` writes them
beside that Python.
"""

import os
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec

# What kiplab keeps in the student's folder: the manifest, and settings apart from Jupyter's own.
PRIVATE = ".kiplab"
IDLE_MIN = 30
"""Minutes that a kernel goes on that does nothing while no page shows its lab."""
_FILE = tomllib.loads(Path(__file__).with_name("jupyter_settings.toml").read_text("utf-8"))
LAB_SETTINGS: dict[str, Any] = _FILE["lab"]
"""Of JupyterLab's plugins."""
# A page asks a kernel for the widgets that it has. One that has not imported ipywidgets yet sends
# it a slower way round, and if cells run meanwhile, the page takes each new widget for two.
_KERNEL_EXTENSION = "--ext=kiplab.classroom.jupyter_hooks"
_KERNEL = "python3"


def jupyter_arguments(folder: Path, lab: str, *, browser: bool, port: int | None) -> list[str]:
    """JupyterLab's arguments: this machine only, rooted in `folder`, with `lab` open."""
    arguments = [
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.root_dir={folder}",
        f"--ServerApp.open_browser={browser}",
        f"--LabApp.default_url=/lab/tree/{lab}",
        "--LabApp.extension_manager=readonly",
        # Its address and its troubles, without fifty lines of what it loaded.
        "--Application.log_level=WARN",
        f"--MappingKernelManager.cull_idle_timeout={IDLE_MIN * 60}",
        "--MappingKernelManager.cull_connected=False",
        # Ctrl-C means stop, and is not followed by a question.
        "--ServerApp.answer_yes=True",
    ]
    if port is not None:
        # Asked for by number, it is this port or none.
        arguments += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container one usually is root
        arguments.append("--ServerApp.allow_root=True")
    return arguments


def jupyter_environment(folder: Path) -> dict[str, str]:
    """What to add to the environment. Writes kiplab's settings beside the labs, in front of the
    user's own, which stay as they are; the layout of open tabs is kept there too."""
    private = folder / PRIVATE
    config, data = private / "jupyter", private / "share"
    write_settings(config)
    write_kernel(data)
    write_first_layout(private / "workspaces")
    return {
        "JUPYTER_CONFIG_PATH": _in_front(config, "JUPYTER_CONFIG_PATH"),
        "JUPYTER_PATH": _in_front(data, "JUPYTER_PATH"),
        "JUPYTERLAB_WORKSPACES_DIR": str(private / "workspaces"),
    }


def write_settings(config: Path) -> None:
    """What JupyterLab and its server are to do differently, in one of their folders of settings."""
    write_json(config / "labconfig" / "default_setting_overrides.json", LAB_SETTINGS)
    write_json(config / "jupyter_server_config.d" / "kiplab.json", _FILE["server"])


def write_first_layout(workspaces: Path) -> None:
    """How JupyterLab's window is laid out until somebody changes that. Changes nothing later."""
    from jupyterlab_server.workspaces_handler import WorkspacesManager

    kept = WorkspacesManager(str(workspaces))
    if not kept.load("default")["data"]:
        workspace = {"data": _FILE["first_layout"], "metadata": {"id": "default"}}
        kept.save("default", msgspec.json.encode(workspace).decode())


def write_kernel(data: Path) -> None:
    """Python's kernel with our extension, in a folder of Jupyter's; nothing without a kernel."""
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

    try:
        spec = KernelSpecManager().get_kernel_spec(_KERNEL)
    except NoSuchKernel:
        return
    starts = [word for word in spec.argv if word != _KERNEL_EXTENSION]
    folder = data / "kernels" / _KERNEL
    if not folder.exists():
        folder.mkdir(parents=True)
        for icon in Path(spec.resource_dir).glob("logo*"):
            shutil.copyfile(icon, folder / icon.name)
    write_json(folder / "kernel.json", {**spec.to_dict(), "argv": [*starts, _KERNEL_EXTENSION]})


def _in_front(folder: Path, variable: str) -> str:
    """A search path of folders that begins with this one."""
    paths = (str(folder), os.environ.get(variable))
    return os.pathsep.join(path for path in paths if path)


def write_json(path: Path, value: object) -> None:
    """Write a value, and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.format(msgspec.json.encode(value)) + b"\n")


if __name__ == "__main__":
    prefix = Path(*sys.argv[1:] or [sys.prefix])
    write_settings(prefix / "etc" / "jupyter")
    write_kernel(prefix / "share" / "jupyter")
