"""Commands that write a folder: for a class, labs without a server, and what a lecturer shows.

The folder of a class is what students install from. It is also what JupyterHub's nbgitpuller and
Binder can open, once it is a repository: it has the notebooks, the page of the class and what to
install.
"""

import argparse
import os
import re
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote, urlencode

from msgspec.structs import asdict

from ..classroom.class_file import FILE, VARIABLE, ClassFile, ClassFileError, class_from, text_of
from ..classroom.sealed_texts import sealed_for
from . import common_options as common
from .jupyter_settings import LAB_SETTINGS
from .labs_launcher import LabsError, find_lab, shipped_labs

NOTEBOOKS = "kiplab-labs"
"""Where the notebooks are in the folder: `kiplab lab` finds them there and goes on with them."""
_PAGE = "handout.md"
_LAB_LINK = re.compile(r"\[([^][\n]+)\]\((\d\d-[\w-]+\.ipynb)[^)]*\)")
_AFTER_INSTALL = "#!/bin/bash\nexec python -m kiplab.cli.jupyter_settings\n"
"""What Binder does when everything is installed, and whoever makes the image of a hub."""
_ADDRESSES = {"address": "Binder and JupyterHub", "hub": "JupyterHub", "site": "the site"}
"""What class.toml may have, and which way to begin needs it."""


def run_handout(options: argparse.Namespace) -> int:
    """Write wheel, notebooks, class.toml and the page for students. Raises CommandError."""
    from ..site.page_wheels import write_whole_kiplab

    page, out = class_of(options.file), Path(options.out)
    content = Path(options.file).read_bytes()
    with common.writing(out):
        if out.is_dir() and any(out.iterdir()) and not (out / FILE).is_file():
            problem = f"{out} is not empty, and no {FILE} is in it"
            raise common.CommandError(f"{problem}: name a new folder")
        labs = copy_class_labs(page, out / NOTEBOOKS)
        wheel = write_whole_kiplab(out, shipped_labs(), partial(sealed_for, page.code))
        (out / FILE).write_bytes(content)
        for name, text in {
            "requirements.txt": f"./{wheel.name}[lab]\n",
            "runtime.txt": "python-3.12\n",
            "postBuild": _AFTER_INSTALL,
            _PAGE: handout(page, wheel.name, labs[0]),
        }.items():
            (out / name).write_text(text, encoding="utf-8", newline="\n")
    return _say(options, page, out)


def class_of(file: str) -> ClassFile:
    """The page of a class in that file. Raises CommandError for one that cannot be handed out."""
    with common.bad_input(ClassFileError):
        return class_from(text_of(file), file)


def copy_class_labs(page: ClassFile, folder: Path) -> list[str]:
    """Copy the labs of a class, and the pages that they link to; the names of its notebooks.

    Of a link to another lab only the words are left.
    Raises CommandError where no labs are, OSError.
    """
    with common.bad_input(LabsError):
        shipped = shipped_labs()
    there = sorted(path.name for path in shipped.glob("*.ipynb"))
    labs = [name for name in there if page.has(name.partition("-")[0])]
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*map(shipped.joinpath, labs), *shipped.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        text = _LAB_LINK.sub(lambda link: link[0] if link[2] in labs else link[1], text)
        (folder / path.name).write_bytes(text.encode())
    return labs


def handout(page: ClassFile, wheel: str, lab: str) -> str:
    """The page for students, in Markdown. A section that needs what class.toml lacks is left out.

    `wheel` is the name of the class's wheel, `lab` the notebook to begin with.
    """
    words = {name: str(value or "") for name, value in asdict(page).items()}
    dates = {"": page.deadline} | {f"lab {n}: ": rules.deadline for n, rules in page.lab.items()}
    own = (f"{of}{date.isoformat(' ', 'minutes')}" for of, date in dates.items() if date)
    words["deadline"] = "; ".join(dict.fromkeys(own))
    words |= {"binder": binder_link(page.address, lab), "hub": hub_link(page, lab)}
    words |= {"title": page.title or "kiplab", "wheel": wheel}
    text = Path(__file__).with_name(_PAGE).read_text(encoding="utf-8")
    parts = map(Template, re.split(r"^(?=## )", text, flags=re.MULTILINE))
    said = (part for part in parts if all(words[n] for n in part.get_identifiers()))
    return "".join(part.substitute(words) for part in said)


def binder_link(address: str, lab: str, folder: str = NOTEBOOKS) -> str:
    """Where Binder opens a lab of a repository; empty without one."""
    if not address:
        return ""
    path = urlencode({"urlpath": f"lab/tree/{folder}/{lab}"}, safe="/")
    return f"https://mybinder.org/v2/git/{quote(address, safe='')}/HEAD?{path}"


def hub_link(page: ClassFile, lab: str) -> str:
    """Where a JupyterHub with nbgitpuller copies the repository and opens a lab; or empty."""
    if not (page.hub and page.address):
        return ""
    name = page.address.rstrip("/").rpartition("/")[2].removesuffix(".git")
    asked = {"repo": page.address, "urlpath": f"lab/tree/{name}/{NOTEBOOKS}/{lab}"}
    return f"{page.hub.rstrip('/')}/hub/user-redirect/git-pull?{urlencode(asked, safe='/')}"


def _say(options: argparse.Namespace, page: ClassFile, out: Path) -> int:
    missing = [name for name in _ADDRESSES if not getattr(page, name)]
    files = sorted(path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file())
    for name in missing:
        common.complain(f"{options.file} has no {name}: {_PAGE} leaves out {_ADDRESSES[name]}")
    if options.json:
        return common.print_json({"out": str(out), "files": files, "without": missing})
    print(f"{out}: {len(files)} files; {_PAGE} is for students, the wheel is sealed")
    return common.DONE


# --- the labs without a server, and what a lecturer shows -----------------------------------------


def run_site(options: argparse.Namespace) -> int:
    """Build the folder, say each step on stderr, and how large it is.

    Raises MissingPieceError for what this machine lacks, CommandError.
    """
    from ..site.lite_folder import build_site

    out, say = Path(options.out), partial(print, file=sys.stderr)
    with common.writing(out), common.bad_input(LabsError):
        if options.page is None:
            files = build_site(out, shipped_labs(), LAB_SETTINGS, say)
        else:
            page = class_of(options.page)
            os.environ[VARIABLE] = page.code  # the first lab that is opened there asks for it
            with TemporaryDirectory() as labs:
                copy_class_labs(page, Path(labs))
                shutil.copyfile(options.page, Path(labs, FILE))
                sealed = partial(sealed_for, page.code)
                files = build_site(out, Path(labs), LAB_SETTINGS, say, sealed)
    size = sum(file.stat().st_size for file in files)
    if options.json:
        return common.print_json({"out": str(out), "files": len(files), "bytes": size})
    print(f"{out}: {len(files)} files, {size / 1e6:.0f} MB")
    print(f"To look at it: {sys.executable} -m http.server -b 127.0.0.1 -d {out}")
    return common.DONE


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
    with common.bad_input(LabsError):
        labs = shipped_labs()
    names = sorted(path.name for path in labs.glob("*.ipynb"))
    found = {name: find_lab(name, names) for name in asked}
    if unknown := [name for name, lab in found.items() if lab is None]:
        there = ", ".join(name.removesuffix(".ipynb") for name in names)
        raise common.CommandError(f"there is no lab {unknown[0]!r}; there are {there}")
    with common.writing(out):
        out.mkdir(parents=True, exist_ok=True)
        cells = [lab_cells(labs / name) for name in names if not asked or name in found.values()]
        files = write(out, cells, lacks)
    said = [*dict.fromkeys(map(str, lacks))]
    for sentence in said:
        common.complain(f"left out: {sentence}")
    if options.json:
        written = [file.relative_to(out).as_posix() for file in files]
        common.print_json({"out": str(out), "files": written, "left_out": said})
    else:
        print(f"{out}: {len(files)} files; begin with {out / 'index.html'}")
    return common.LACKING if said else common.DONE
