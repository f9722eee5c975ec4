"""Where it is kept what real controllers of ZooKeeper's time were heard to do in plays."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

CONTROL_RECORDINGS = Path(str(files(__package__))) / "recordings"
"""One file for each play, as `recorded_kafka` reads them."""
