"""The shape of the house: imports go downwards only, and the lower floors stay light."""

import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import EXIT_STATUS_SUCCESS, lint_imports

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("IPython", "ipywidgets", "numpy", "pandas", "plotly", "pyarrow", "pyspark")


def test_imports_go_downwards_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    # It configures logging, and would silence every logger that there is for the tests after it.
    monkeypatch.setattr("importlinter.cli.logging_config.dictConfig", lambda _: None)
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert status == EXIT_STATUS_SUCCESS, capsys.readouterr().out


@pytest.mark.parametrize(
    "package",
    [
        "kiplab",
        "kiplab.protocol",
        "kiplab.engine",
        "kiplab.plays",
        "kiplab.explore",
        "kiplab.explore.search.explore_play",
        "kiplab.spark",
    ],
)
def test_importing_loads_nothing_heavy(package: str) -> None:
    """What contracts can't see: an import that reaches a heavy library by way of another one."""
    program = f"import {package}, sys; print(*(name for name in {HEAVY} if name in sys.modules))"
    fresh = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (fresh.returncode, fresh.stdout.split(), fresh.stderr) == (0, [], "")
