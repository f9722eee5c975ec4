"""What comments and docstrings point to is there: files by name, functions by their module."""

import ast
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import kiplab

ROOT = Path(__file__).resolve().parent.parent
FILES = [p.relative_to(ROOT) for part in ("kiplab", "tests") for p in (ROOT / part).rglob("*.py")]
PATHS = [f"/{file.as_posix()}" for file in FILES]
FILE = re.compile(r"(?<![\w*.])(?:[\w-]+/)*[\w-]+\.py\b")
REFERENCE = re.compile(r"(?<!`)`([a-z_]+)\.((?!py\b|js\b)[A-Za-z_]+)`(?!`)")


@cache
def prose(file: Path) -> list[tuple[int, str]]:
    """(line, text) of each comment, and of each string that is quoted as docstrings are."""
    with tokenize.open(ROOT / file) as source:
        return [
            (token.start[0], token.string)
            for token in tokenize.generate_tokens(source.readline)
            if token.type == tokenize.COMMENT or token.string.startswith('"""')
        ]


def pointers(pattern: re.Pattern[str]) -> Iterator[tuple[Path, int, re.Match[str]]]:
    """(file, line, match) of everything of that form in the prose of the package and its tests."""
    for file in FILES:
        if not pattern.search((ROOT / file).read_text("utf-8")):
            continue  # To find the prose of a file takes a hundred times as long.
        for line, text in prose(file):
            yield from ((file, line, found) for found in pattern.finditer(text))


def is_there(path: str) -> bool:
    return any(one.endswith(f"/{path}") for one in PATHS)


def is_defined(module: str, name: str) -> bool:
    """In a module of that name, as a module of a package of that name, or for everybody's use."""
    if module == "kiplab":
        return hasattr(kiplab, name)
    definition = re.compile(rf"^ *(?:def |class )?{name}\b", re.MULTILINE)
    sources = ((ROOT / file).read_text() for file in FILES if file.stem == module)
    return is_there(f"{module}/{name}.py") or any(definition.search(text) for text in sources)


def is_an_object(word: str, file: Path) -> bool:
    """Whether the file itself, or a library, calls something so: it is no module of ours."""
    names = (
        n.id for n in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(n, ast.Name)
    )
    ours = any(file.stem == word for file in FILES) or is_there(f"{word}/__init__.py")
    return word in names or (not ours and find_spec(word) is not None)


def test_a_file_that_is_pointed_to_is_there() -> None:
    found = list(pointers(FILE))
    assert len(found) > 20
    gone = [f"{file}:{line}: {m[0]}" for file, line, m in found if not is_there(m[0])]
    assert not gone, f"no such file (any more); point to where it is now: {gone}"


def test_what_is_named_with_its_module_is_in_that_module() -> None:
    """As in ``module.name``."""
    found = [(f, n, m) for f, n, m in pointers(REFERENCE) if not is_an_object(m[1], f)]
    assert len(found) > 20
    gone = [f"{file}:{line}: {m[0]}" for file, line, m in found if not is_defined(m[1], m[2])]
    assert not gone, f"no such thing there (any more); point to where it is now: {gone}"
