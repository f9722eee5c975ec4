"""The labs that teach a clause, read off what each lab says, asks and shows.

Where a play or a rule shows a clause and no lab does, there is a reason: `untaught` of the clause,
or of one of its plays and rules under `[untaught]` of the file.
"""

import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache

from kiplab.plays.library import names
from tests.ledger.clauses import Clause, Seed
from tests.ledger.in_files import opened
from tests.made_pages import LABS, ROOT

_KIPLAB = ROOT / "kiplab"


def labs(clause: Clause) -> dict[str, bool]:
    """Its labs: true where one tells it or names it or its rules, false where one runs a play."""
    taught = clause.named("lab").union(*map(_naming, {clause.id, *clause.named("guard")}))
    return {lab: lab in taught for lab in sorted(taught.union(*map(_naming, clause.named("play"))))}


def not_taught(clause: Clause) -> bool:
    """Whether a play or a rule shows a clause, and no lab."""
    return bool(clause.named("guard") | clause.named("play")) and not labs(clause)


def unexplained(seed: Seed) -> Iterator[str]:
    """Rows that no lab teaches and that do not say why, and reasons that no row needs."""
    why = {clause.id: clause.untaught for clause in seed.clauses if not_taught(clause)}
    for id in (id for id in why if not why[id]):
        yield f"no lab teaches {id}: say why in `untaught`, in tests/ledger/{seed.file}"
    for reason in {*seed.untaught, *(c.untaught for c in seed.clauses)} - {"", *why.values()}:
        yield f"labs teach all of it now, take it out of tests/ledger/{seed.file}: {reason}"


@cache
def _naming(word: str) -> set[str]:
    whole = re.compile(rf"(?<![\w.-]){re.escape(word)}(?![\w/-]|\.\w)")
    return {lab.stem for lab in LABS.glob("*.ipynb") if whole.search(_text(lab.stem))}


@cache
def _text(lab: str) -> str:
    """A lab's cells, the explanations, tables and plays that they show, and its exercises."""
    notebook = json.loads((LABS / f"{lab}.ipynb").read_text("utf-8"))
    cells = "\n".join("".join(cell["source"]) for cell in notebook["cells"])
    begins = tuple(re.findall(r"([\w-]+-)\{", cells))  # of plays, in an f-string
    tables = (file for file in (_KIPLAB / "rows").iterdir() if f"kiplab.{file.stem}(" in cells)
    asked = tomllib.loads((_KIPLAB / "classroom" / "exercises.toml").read_text("utf-8"))["exercise"]
    parts = [cells, *opened(cells), *(table.read_text("utf-8") for table in tables)]
    parts += [play for play in names() if play.startswith(begins)]
    return "\n".join((*parts, *(str(one) for one in asked if one["lab"] == lab[:2])))
