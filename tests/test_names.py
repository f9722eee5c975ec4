"""One name, one thing in the whole package: who reads a name need not ask which one is meant."""

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import kiplab

PACKAGE = Path(kiplab.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py")
ROOMS = sorted(path.parent for path in PACKAGE.rglob("__init__.py"))


def test_no_two_modules_and_no_module_and_a_room_share_a_name() -> None:
    shared = _shared((path.stem, _place(path)) for path in (*MODULES, *ROOMS))
    assert not shared, f"call one of them otherwise: {shared}"


def test_no_two_modules_define_a_class_or_a_type_of_one_name() -> None:
    shared = _shared((name, _place(path)) for path in MODULES for name in _types(path.read_text()))
    assert not shared, f"call one of them after what only it is: {shared}"


def test_classes_and_types_are_told_from_constants() -> None:
    source = (
        "class Cut: ...\nEnds = tuple[int, int]\nROUTES = {}\n_E = 1\nlast = 2\n_Held: type = int"
    )
    assert list(_types(source)) == ["Cut", "Ends", "_Held"]


def _types(source: str) -> Iterator[str]:
    """Classes, private ones too, and what is assigned to a name that is written like one."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef):
            yield from _like_a_class([node.name])
        elif isinstance(node, ast.Assign):
            yield from _like_a_class(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield from _like_a_class([node.target.id])


def _like_a_class(names: Iterable[str]) -> list[str]:
    return [name for name in names if name.lstrip("_")[:1].isupper() and not name.isupper()]


def _place(path: Path) -> str:
    return str(path.relative_to(PACKAGE.parent))


def _shared(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    places = defaultdict(list)
    for name, place in found:
        places[name].append(place)
    return {name: there for name, there in places.items() if len(there) > 1}
