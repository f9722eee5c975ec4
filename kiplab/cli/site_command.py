"""`kiplab site`: the labs without a server, as one folder."""

import argparse
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ..classroom.class_file import FILE, VARIABLE
from ..classroom.sealed_texts import sealed_for
from . import common_options
from .handout_command import class_of, copy_class_labs
from .jupyter_settings import LAB_SETTINGS
from .labs_launcher import LabsError, shipped_labs


def add_site_options(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab site`."""
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="a new or former folder")
    parser.add_argument("--class", dest="page", metavar="FILE", help="the class.toml of a class")
    parser.epilog = (
        "Any web server can serve the folder, at any address, and a page of it asks for nothing"
        " outside. What it is made of comes from the registries that pip and npm are set to, is"
        " checked by its hash, and is kept in the cache folder for the next time. With a class, the"
        " folder has its labs and its class.toml, and exercises and explanations are sealed with"
        " its code."
    )


def run_site(options: argparse.Namespace) -> int:
    """Build the folder, say each step on stderr, and how large it is.

    Raises MissingPieceError for what this machine lacks, CommandError.
    """
    from ..site.lite_folder import build_site

    out, say = Path(options.out), partial(print, file=sys.stderr)
    with common_options.writing(out), common_options.bad_input(LabsError):
        if options.page is None:
            files = build_site(out, shipped_labs(), LAB_SETTINGS, say)
        else:
            page = class_of(options.page)
            os.environ[VARIABLE] = page.code  # the first lab that is opened there asks for it
            with TemporaryDirectory() as labs:
                copy_class_labs(page, Path(labs))
                shutil.copyfile(options.page, Path(labs, FILE))
                files = build_site(
                    out, Path(labs), LAB_SETTINGS, say, partial(sealed_for, page.code)
                )
    size = sum(file.stat().st_size for file in files)
    if options.json:
        return common_options.print_json({"out": str(out), "files": len(files), "bytes": size})
    print(f"{out}: {len(files)} files, {size / 1e6:.0f} MB")
    print(f"To look at it: {sys.executable} -m http.server -b 127.0.0.1 -d {out}")
    return common_options.DONE
