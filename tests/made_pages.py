"""Pages of `labs/` that are made of the tests: their tables, and whether one is as it is made.

`labs/fidelity.md` is made by tests/fidelity, `labs/ledger.md` by tests/ledger. `pytest --rewrite`
of the test that holds a page writes it.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from kiplab.protocol.releases import RELEASES

ROOT = Path(__file__).parents[1]
LABS = ROOT / "labs"
README = ROOT / "README.md"


def holds_as_made(file: Path, made: str, test: str, *, rewrite: bool) -> None:
    """Hold `file` to what is `made` of it, or write that; `test` is the file that calls this."""
    if rewrite:
        file.write_text(made, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == made, f"pytest --rewrite {test}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def span(releases: Sequence[str]) -> str:
    """Releases in a row as the first and the last: ``"3.5 to 3.9"``."""
    names = list(RELEASES)
    if not releases:
        return "none"
    if len(releases) == 1:
        return releases[0]
    first, last = names.index(releases[0]), names.index(releases[-1])
    in_a_row = list(releases) == names[first : last + 1]
    return f"{releases[0]} to {releases[-1]}" if in_a_row else ", ".join(releases)
