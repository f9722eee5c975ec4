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
