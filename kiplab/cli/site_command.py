"""`kiplab site`: the labs without a server, as one folder."""

import argparse
import sys
from pathlib import Path

from . import common_options
from .jupyter_settings import LAB_SETTINGS
from .labs_launcher import LabsError, shipped_labs


def add_site_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab site`."""
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="a new or former folder")
    parser.epilog = (
        "Any web server can serve the folder, at any address, and a page of it asks for nothing"
        " outside. What it is made of comes from the registries that pip and npm are set to, is"
        " checked by its hash, and is kept in the cache folder for the next time."
    )


def run_site(options: argparse.Namespace) -> int:
    """Build the folder, say each step on stderr, and how large it is.

    Raises MissingPieceError for what this machine lacks, CommandError.
    """
    from ..site.lite_folder import build_site

    out = Path(options.out)
    with common_options.writing(out):
        files = build_site(out, _labs(), LAB_SETTINGS, lambda step: print(step, file=sys.stderr))
    size = sum(file.stat().st_size for file in files)
    if options.json:
        return common_options.print_json({"out": str(out), "files": len(files), "bytes": size})
    print(f"{out}: {len(files)} files, {size / 1e6:.0f} MB")
    print(f"To look at it: {sys.executable} -m http.server -b 127.0.0.1 -d {out}")
    return common_options.DONE


def _labs() -> Path:
    with common_options.bad_input(LabsError):
        return shipped_labs()
