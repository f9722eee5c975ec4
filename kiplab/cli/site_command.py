"""Commands that write a folder: the labs without a server, and what a lecturer shows of them."""

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..classroom.class_file import FILE, VARIABLE
from ..classroom.sealed_texts import sealed_for
from . import common_options
from .handout_command import class_of, copy_class_labs
from .jupyter_settings import LAB_SETTINGS
from .labs_launcher import LabsError, find_lab, shipped_labs

_LACKS = "What this machine lacks is said, and the rest is written: then the exit code is 3."


def add_site(parser: argparse.ArgumentParser) -> None:
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


def add_figures(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab figures`."""
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="a folder")
    parser.add_argument("lab", nargs="*", metavar="LAB", help="04 or kafka-14139; all without one")
    parser.epilog = (
        "In DIR: pictures as SVG and PNG, light and dark; index.html with their captions; slides in"
        f" decks; cards.html with paper exercises to print and cut out. {_LACKS}"
    )


def add_gallery(parser: argparse.ArgumentParser) -> None:
    """The options of `kiplab gallery`."""
    parser.add_argument("-o", "--out", required=True, metavar="DIR", help="a folder")
    parser.epilog = (
        "In DIR: index.html with the stories of the labs and what one copies to embed them, and a"
        f" page for every play. On a web server readers can change the runs. {_LACKS}"
    )


def run_figures(options: argparse.Namespace) -> int:
    """Write pictures, slides and cards. Raises CommandError."""
    from ..classroom.on_stage import picture_pages, slides_and_cards

    def write(out: Path, *about: Any) -> list[Path]:
        decks = slides_and_cards.write_decks(out / "decks", *about)
        cards = slides_and_cards.write_card_sheet(out, *about)
        return [*picture_pages.write_key_pictures(out, *about), *decks, *cards]

    return _show(options, options.lab, write)


def run_gallery(options: argparse.Namespace) -> int:
    """Write pages of timelines. Raises CommandError."""
    from ..classroom.on_stage.picture_pages import write_gallery

    return _show(options, [], write_gallery)


def _show(options: argparse.Namespace, asked: list[str], write: Callable[..., list[Path]]) -> int:
    from ..classroom.on_stage.marked_cells import lab_cells

    out, lacks = Path(options.out), list[Exception]()
    with common_options.bad_input(LabsError):
        labs = shipped_labs()
    names = sorted(path.name for path in labs.glob("*.ipynb"))
    found = {name: find_lab(name, names) for name in asked}
    if unknown := [name for name, lab in found.items() if lab is None]:
        there = ", ".join(name.removesuffix(".ipynb") for name in names)
        raise common_options.CommandError(f"there is no lab {unknown[0]!r}; there are {there}")
    with common_options.writing(out):
        out.mkdir(parents=True, exist_ok=True)
        cells = [lab_cells(labs / name) for name in names if not asked or name in found.values()]
        files = write(out, cells, lacks)
    said = [*dict.fromkeys(map(str, lacks))]
    for sentence in said:
        common_options.complain(f"left out: {sentence}")
    if options.json:
        written = [file.relative_to(out).as_posix() for file in files]
        common_options.print_json({"out": str(out), "files": written, "left_out": said})
    else:
        print(f"{out}: {len(files)} files; begin with {out / 'index.html'}")
    return common_options.LACKING if said else common_options.DONE
