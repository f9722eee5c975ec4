"""`kiplab handout`: what an instructor gives to a class, as one folder.

The folder is what students install from. It is also what JupyterHub's nbgitpuller and Binder can
open, once it is a repository: it has the notebooks, the page of the class and what to install.
"""

import argparse
import re
import shutil
from functools import partial
from pathlib import Path
from string import Template
from urllib.parse import quote, urlencode

from msgspec.structs import asdict

from ..classroom.class_file import FILE, ClassFile, ClassFileError, class_from, text_of
from ..classroom.sealed_texts import sealed_for
from .common_options import DONE, CommandError, bad_input, complain, print_json, writing
from .labs_launcher import LabsError, shipped_labs

NOTEBOOKS = "kiplab-labs"
"""Where the notebooks are in the folder: `kiplab lab` finds them there and goes on with them."""
_PAGE = "handout.md"
_AFTER_INSTALL = "#!/bin/bash\nexec python -m kiplab.cli.jupyter_settings\n"
"""What Binder does when everything is installed, and whoever makes the image of a hub."""
_ADDRESSES = {"address": "Binder and JupyterHub", "hub": "JupyterHub", "site": "the site"}
"""What class.toml may have, and which way to begin needs it."""


def run_handout(options: argparse.Namespace) -> int:
    """Write wheel, notebooks, class.toml and the page for students. Raises CommandError."""
    from ..site.page_wheels import write_whole_kiplab

    page, out = class_of(options.file), Path(options.out)
    content = Path(options.file).read_bytes()
    with writing(out):
        if out.is_dir() and any(out.iterdir()) and not (out / FILE).is_file():
            raise CommandError(f"{out} is not empty, and no {FILE} is in it: name a new folder")
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
    with bad_input(ClassFileError):
        return class_from(text_of(file), file)


def copy_class_labs(page: ClassFile, folder: Path) -> list[str]:
    """Copy the labs of a class, and the pages that they link to; the names of its notebooks.

    Raises CommandError where no labs are, OSError.
    """
    with bad_input(LabsError):
        shipped = shipped_labs()
    there = sorted(path.name for path in shipped.glob("*.ipynb"))
    labs = [name for name in there if page.has(name.partition("-")[0])]
    folder.mkdir(parents=True, exist_ok=True)
    for path in (*map(shipped.joinpath, labs), *shipped.glob("*.md")):
        shutil.copyfile(path, folder / path.name)
    return labs


def handout(page: ClassFile, wheel: str, lab: str) -> str:
    """The page for students, in Markdown. A section that needs what class.toml lacks is left out.

    `wheel` is the name of the class's wheel, `lab` the notebook to begin with.
    """
    words = {name: str(value or "") for name, value in asdict(page).items()}
    words["deadline"] = page.deadline.isoformat(" ", "minutes") if page.deadline else ""
    words |= {"binder": binder_link(page.address, lab), "hub": hub_link(page, lab)}
    words |= {"title": page.title or "kiplab", "wheel": wheel}
    text = Path(__file__).with_name(_PAGE).read_text(encoding="utf-8")
    parts = map(Template, re.split(r"^(?=## )", text, flags=re.MULTILINE))
    return "".join(
        part.substitute(words) for part in parts if all(words[n] for n in part.get_identifiers())
    )


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
        complain(f"{options.file} has no {name}: {_PAGE} leaves out {_ADDRESSES[name]}")
    if options.json:
        return print_json({"out": str(out), "files": files, "without": missing})
    print(f"{out}: {len(files)} files; {_PAGE} is for students, the wheel is sealed")
    return DONE
