"""The version of the code that computed a study: results of different code are not added up."""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec, resolve_name
from typing import Any

_DIGITS = 12


@cache
def code_version(module: str) -> str:
    """12 hexadecimal digits of the source of `module`, and of all that it imports of its package.

    Found by reading import statements, whichever lines they stand in: nothing has to be listed.
    Read through the import system, so that it is the same for a folder and for a zip of it.
    """
    digest = sha256()
    for name, source in sorted(sources_of(module).items()):
        digest.update(f"{name} {len(source)}\n".encode() + source)
    return digest.hexdigest()[:_DIGITS]


def sources_of(module: str) -> dict[str, bytes]:
    """The source of `module` and of all that it imports of its own package, by name."""
    sources: dict[str, bytes] = {}
    ahead = [module]
    while ahead:
        name = ahead.pop()
        source = None if name in sources else _source(name)
        if source is not None:
            sources[name] = source
            ahead += _imported(name, source, within=module.partition(".")[0])
    return sources


def _source(module: str) -> bytes | None:
    """None for what is no module: a name that was imported from one."""
    try:
        spec = find_spec(module)
    except ModuleNotFoundError:
        return None
    if spec is None or spec.origin is None:
        return None
    loader: Any = spec.loader
    source: bytes = loader.get_data(spec.origin)
    return source


def _imported(module: str, source: bytes, within: str) -> Iterator[str]:
    """Modules of the package `within`, and names that may be modules."""
    spec = find_spec(module)
    package = (spec.parent if spec else None) or module
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = resolve_name("." * node.level + (node.module or ""), package)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] == within)
